#: item: 36
#: what: dies of SIGTRAP with core files asked for
#: expect: {cause: signal, signal: 5, status: 133}
ulimit -c unlimited 2>/dev/null
cd /tmp || exit 1
kill -TRAP $$
