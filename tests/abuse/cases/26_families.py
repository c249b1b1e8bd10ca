#: item: 26
#: what: opens sockets of every family, type and protocol
#: also: [floor]
import ctypes
import errno
import os

from probe import check, done, syscall

ALLOWED = {1, 2, 10}
NO = {errno.EPERM, errno.EACCES, errno.EAFNOSUPPORT, errno.ENOSYS, errno.ESOCKTNOSUPPORT,
      errno.EPROTONOSUPPORT, errno.EINVAL, errno.ENOTSUP}
for family in [*range(0, 47), 100, 255, 2**16 + 2, -1]:
    for kind in (1, 2, 3, 4, 5, 6, 10):
        for extra in (0, 0o2000000):
            fd, err = syscall(41, family, kind | extra, 0)
            good = family in ALLOWED and kind in (1, 2, 5) or (family, kind) == (1, 3)
            if fd >= 0:
                os.close(fd)
                check(f"socket({family}, {kind}) opened", good)
            else:
                check(f"socket({family}, {kind}) gave {err}", err in NO)
                if family not in ALLOWED and 0 <= family < 46:
                    check(f"socket({family}, {kind}) reached the kernel: {err}",
                          err in (errno.EPERM, errno.EACCES, errno.EAFNOSUPPORT, errno.ENOSYS))
    # The kernel does not look at the upper half of the register.
    for kind in (1, 2, 3):
        fd, err = syscall(41, family + (1 << 32), kind, 0)
        if fd >= 0:
            os.close(fd)
        check(f"socket({family}, {kind}) with high bits opened", fd < 0 or family in ALLOWED)
for protocol in (0, 1, 2, 6, 17, 58, 132, 255):
    for family in (2, 10):
        fd, err = syscall(41, family, 3, protocol)
        check(f"raw {family} {protocol}", fd < 0)
for family in set(range(0, 46)) - {1}:
    pair = (ctypes.c_int * 2)()
    check(f"socketpair {family}", syscall(53, family, 1, 0, pair)[0] < 0)
done()
