#: item: 36
#: what: dies of SIGBUS with core files asked for
#: expect: {cause: signal, signal: 7, status: 135}
ulimit -c unlimited 2>/dev/null
cd /tmp || exit 1
kill -BUS $$
