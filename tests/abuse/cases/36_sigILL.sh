#: item: 36
#: what: dies of SIGILL with core files asked for
#: expect: {cause: signal, signal: 4, status: 132}
ulimit -c unlimited 2>/dev/null
cd /tmp || exit 1
kill -ILL $$
