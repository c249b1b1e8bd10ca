#: item: 34
#: what: a deadline that is no whole second
#: args: [--timeout, "0.25"]
#: expect: {cause: timeout, status: 124}
#: seconds: 1.5
sleep 3600
