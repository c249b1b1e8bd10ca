#: item: 13
#: what: the classic fork bomb
#: args: [--timeout, "20"]
#: expect: {cause: pids, status: 137}
#: basic: {expect: {any: [{cause: pids}, {cause: exited}, {cause: timeout}, {cause: signal}, {cause: oom}]}, args: [--timeout, "3"]}
#: seconds: 15
:(){ :|:& };:
wait
sleep 10
