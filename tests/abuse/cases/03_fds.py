#: item: 3
#: what: looks for descriptors that were left open
import fcntl
import os

from probe import check, done

for fd in list(range(3, 4096)) + [2**16, 2**20 - 1, 2**31 - 1]:
    try:
        fcntl.fcntl(fd, fcntl.F_GETFD)
    except OSError:
        continue
    link = "?"
    try:
        link = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        pass
    check(f"descriptor {fd} is open: {link}", False)
for fd in (0, 1, 2):
    try:
        check(f"fd {fd} is a directory", not os.path.isdir(f"/proc/self/fd/{fd}"))
    except OSError:
        pass
seen = set(os.listdir("/proc/self/fd"))
check(f"/proc/self/fd shows {seen}", len(seen) <= 4)
for pid in ("1", str(os.getppid())):
    try:
        check(f"/proc/{pid}/fd shows {os.listdir('/proc/' + pid + '/fd')}", False)
    except OSError:
        pass
check("cwd is not /work", os.getcwd() == "/work")
done()
