#: item: 30
#: what: hides memory in access lists and attributes of files, which the kernel keeps beside every limit
#: args: ["--memory", "64MiB"]
import errno
import os
import struct

from probe import check, done, fails, refused

UNUSED = 0xFFFFFFFF
# The largest that an attribute may be: the kernel takes 128 KiB for it.
LIST = (struct.pack("<I", 2) + struct.pack("<HHI", 1, 7, UNUSED) + struct.pack("<HHI", 2, 7, os.getuid()) * 8186 +
        b"".join(struct.pack("<HHI", tag, 7, UNUSED) for tag in (4, 16, 32)))
NONE = {errno.EOPNOTSUPP}

for place in ("/tmp", "/work", "/dev/shm"):
    path = f"{place}/dir"
    os.mkdir(path)
    fd = os.open(path, os.O_RDONLY)
    for name in ("system.posix_acl_access", "system.posix_acl_default", "user.a", "trusted.a", "security.a"):
        for follow in True, False:
            fails(f"{name} of {path}", os.setxattr, path, name, LIST, follow_symlinks=follow, errs=NONE)
        fails(f"{name} of a descriptor", os.setxattr, fd, name, LIST, errs=NONE)
        refused(f"setxattrat {name}", 463, -100, path.encode(), 0, name.encode(), 0, 0,
                errs=NONE | {errno.ENOSYS, errno.EPERM})
    check("nothing is there", os.listxattr(path) == [])
done()
