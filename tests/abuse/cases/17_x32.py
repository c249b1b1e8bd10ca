#: item: 17
#: what: calls by the x32 numbers
#: also: [floor]
#: expect: {cause: seccomp, status: 159}
from probe import syscall

print(syscall(0x40000000 + 39), flush=True)
