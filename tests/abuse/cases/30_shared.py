#: item: 30
#: what: takes memory as System V segments, shared mappings and pipe buffers
#: args: [--memory, 64M]
#: expect: {any: [{cause: oom, status: 137}, {cause: exited, exit_code: 0}]}
#: modes: [root, rootless]
#: seconds: 15
import ctypes
import mmap
import os

from probe import libc, syscall

total = 0
libc.shmat.restype = ctypes.c_void_p
for _ in range(16):
    shmid, err = syscall(29, 0, 16 << 20, 0o1600)
    if shmid < 0:
        break
    where = libc.shmat(shmid, None, 0)
    ctypes.memset(where, 1, 16 << 20)
    total += 16 << 20
for _ in range(16):
    m = mmap.mmap(-1, 16 << 20)
    m.write(b"x" * (16 << 20))
    total += 16 << 20
    keep = globals().setdefault("keep", [])
    keep.append(m)
print("ESCAPE: took", total)
raise SystemExit(1)
