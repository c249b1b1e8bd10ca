#: item: 30
#: what: locks memory and reads a zero file into memory without end
#: args: [--memory, 48M]
#: expect: {any: [{cause: oom, status: 137}, {cause: exited, exit_code: 3}]}
#: modes: [root, rootless]
#: seconds: 15
import mmap
import sys

from probe import libc

libc.mlockall(7)
try:
    m = mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)
    for i in range(0, 1 << 30, 4096):
        m[i] = 1
except (OSError, MemoryError):
    sys.exit(3)
print("ESCAPE: held 1 GiB")
