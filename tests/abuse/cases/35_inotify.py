#: item: 35
#: what: takes inotify instances and watches, which the kernel counts for the machine's user too
#: seconds: 15
import ctypes
import os

from probe import check, done, libc


def instances():
    held = []
    while len(held) < 1000 and (fd := libc.inotify_init()) >= 0:
        held.append(fd)
    return held


held = instances()
check(f"{len(held)} instances", 1 <= len(held) <= 16)
watches = 0
for i in range(6000):
    name = f"/tmp/{i}"
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
    if libc.inotify_add_watch(held[0], name.encode(), ctypes.c_uint32(0xFFF)) < 0:
        break
    watches += 1
check(f"{watches} watches", 1000 <= watches <= 4096)
done()
