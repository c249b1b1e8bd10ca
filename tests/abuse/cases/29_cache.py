#: item: 29
#: what: looks which pages of shared files are in memory, throws them out, empties the cache of the disk, has a module loaded
#: also: [floor]
import ctypes
import errno
import fcntl
import mmap
import os
import socket

from probe import check, done, fails, libc, refused, syscall

CLOSED = 999
file = os.open("/usr/bin/env", os.O_RDONLY)
size = os.fstat(file).st_size
fails("RWF_NOWAIT", os.preadv, file, [bytearray(1)], 0, os.RWF_NOWAIT, errs={errno.EOPNOTSUPP})
refused("mincore", 27, 0, 4096, 0, errs={errno.ENOSYS})
libc.mmap.restype = ctypes.c_void_p
at = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_PRIVATE, file, 0)
refused("MADV_PAGEOUT", 28, ctypes.c_void_p(at), mmap.PAGESIZE, 21, errs={errno.EINVAL})
# Answered as done, whatever they are about: the kernel did not hear of them.
os.posix_fadvise(CLOSED, 0, 0, os.POSIX_FADV_DONTNEED)
os.fsync(CLOSED)
os.fdatasync(CLOSED)
# Whoever asks for a bridge or a VLAN makes the kernel start a program, as root and outside of every limit.
for kind in socket.AF_UNIX, socket.AF_INET:
    with socket.socket(kind) as s:
        for request in (0x8940, 0x8941, 0x8982, 0x8983, 0x89A0, 0x89A1):
            fails(f"{request:#x}", fcntl.ioctl, s, request, bytes(64), errs={errno.ENOPKG})
# What programs do use works as ever.
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_SEQUENTIAL)
check("a plain read", os.preadv(file, [bytearray(4)], 0, 0) == 4)
check("an ordinary flag", os.preadv(file, [bytearray(4)], 0, os.RWF_HIPRI) == 4)
check("memory of its own", syscall(28, ctypes.c_void_p(at), mmap.PAGESIZE, mmap.MADV_WILLNEED)[0] == 0)
done()
