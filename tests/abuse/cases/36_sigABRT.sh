#: item: 36
#: what: dies of SIGABRT with core files asked for
#: expect: {cause: signal, signal: 6, status: 134}
ulimit -c unlimited 2>/dev/null
cd /tmp || exit 1
kill -ABRT $$
