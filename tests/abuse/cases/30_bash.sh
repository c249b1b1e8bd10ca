#: item: 30
#: what: a bash variable that grows without end
#: args: [--memory, 48M]
#: expect: {cause: oom, status: 137}
#: modes: [root, rootless]
#: seconds: 20
x=0123456789abcdef
while :; do x=$x$x; done
