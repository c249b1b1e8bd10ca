#: item: 20
#: what: joins namespaces by files and by pidfds
#: also: [floor]
import os

from probe import check, done, refused, syscall

for pid in ("self", "1", str(os.getppid())):
    for ns in ("mnt", "net", "pid", "user", "uts", "ipc", "cgroup", "time", "pid_for_children"):
        try:
            fd = os.open(f"/proc/{pid}/ns/{ns}", os.O_RDONLY)
        except OSError:
            check("", True)
            continue
        check(f"{pid}'s {ns} can be opened", pid == "self")
        for kind in (0, 0x20000, 0x10000000, 0x40000000):
            refused(f"setns {pid} {ns} {kind:#x}", 308, fd, kind)
        os.close(fd)
for pid in (1, os.getpid(), os.getppid() or 1):
    fd, err = syscall(434, pid, 0)
    if fd >= 0:
        refused(f"setns of pidfd {pid}", 308, fd, 0x7E020000)
refused("setns of nothing", 308, -1, 0)
done()
