#: item: 11
#: what: stops itself and its group; the deadline still comes
#: args: [--timeout, "1"]
#: expect: {cause: timeout, status: 124}
#: seconds: 4
kill -STOP 0
