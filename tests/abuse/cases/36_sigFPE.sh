#: item: 36
#: what: dies of SIGFPE with core files asked for
#: expect: {cause: signal, signal: 8, status: 136}
ulimit -c unlimited 2>/dev/null
cd /tmp || exit 1
kill -FPE $$
