#: item: 14
#: what: traps everything; its children do, too
#: args: [--timeout, "1"]
#: expect: {cause: timeout, status: 124}
#: seconds: 3
for s in {1..64}; do trap '' "$s" 2>/dev/null; done
for i in 1 2 3; do (while :; do :; done) & done
while :; do sleep 100; done
