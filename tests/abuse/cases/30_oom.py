#: item: 30
#: what: allocates past the limit
#: args: [--memory, 64M]
#: expect: {cause: oom, status: 137}
#: modes: [root, rootless]
#: seconds: 15
x = []
while True:
    x.append(bytearray(1 << 20))
