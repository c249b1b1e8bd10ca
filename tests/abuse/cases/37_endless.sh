#: item: 37
#: what: endless output on both streams; killed at the cap
#: args: [--timeout, "30"]
#: expect: {cause: output, status: 137}
#: truncated: [stdout]
#: seconds: 25
yes e >&2 &
yes o
