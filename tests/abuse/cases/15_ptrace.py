#: item: 15
#: what: traces, reads and steals from other processes
#: also: [floor]
import ctypes
import os
import signal
import time

from probe import check, done, refused, syscall

child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
for pid in (1, os.getppid(), child, 0):
    for request in (16, 0x4206, 0, 8, 2, 0x420E):  # attach, seize, traceme, kill, peek, getinfo
        refused(f"ptrace {request:#x} {pid}", 101, request, pid, 0, 0)
    buf = ctypes.create_string_buffer(64)
    vec = (ctypes.c_size_t * 2)(ctypes.addressof(buf), 64)
    refused(f"process_vm_readv {pid}", 310, pid, vec, 1, vec, 1, 0)
    refused(f"process_vm_writev {pid}", 311, pid, vec, 1, vec, 1, 0)
    refused(f"kcmp {pid}", 312, pid, child, 0, 0, 0)
refused("process_madvise", 440, -1, 0, 0, 0, 0)
refused("process_mrelease", 448, -1, 0)
fd, err = syscall(434, child, 0)
if fd >= 0:
    refused("pidfd_getfd", 438, fd, 0, 0)
for pid in (1, os.getppid()):
    for name in ("mem", "environ", "fd", "ns/mnt", "exe", "map_files"):
        try:
            os.open(f"/proc/{pid}/{name}", os.O_RDONLY)
            check(f"opened /proc/{pid}/{name}", False)
        except OSError:
            check("", True)
os.kill(child, signal.SIGKILL)
done()
