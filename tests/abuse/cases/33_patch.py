#: item: 33
#: what: interrupts every CPU of the machine, by having the kernel rewrite its own code or collapse pages
#: also: [floor]
import ctypes
import errno
import fcntl
import mmap
import socket

from probe import check, done, fails, libc, refused

TCP, UDP = socket.SOCK_STREAM, socket.SOCK_DGRAM
STAMPS = [(f"SO_TIMESTAMP {option}", kind, socket.SOL_SOCKET, option) for kind in (TCP, UDP) for option in (29, 35, 63, 64)]
REST = [("UDP_GRO", UDP, socket.IPPROTO_UDP, 104), ("TCP_TX_DELAY", TCP, socket.IPPROTO_TCP, 37)]
HOPS = {socket.AF_INET: ("IP_MINTTL", UDP, socket.IPPROTO_IP, 21),
        socket.AF_INET6: ("IPV6_MINHOPCOUNT", UDP, socket.IPPROTO_IPV6, 73)}

for family in socket.AF_INET, socket.AF_INET6:
    for what, kind, level, option in [*STAMPS, *REST, HOPS[family]]:
        with socket.socket(family, kind) as s:
            fails(what, s.setsockopt, level, option, 1, errs={errno.ENOPROTOOPT})
    with socket.socket(family, UDP) as s:
        # The question when the last datagram came turns the clock on for those to come.
        for request in (0x8906, 0x8907, 0x80108906, 0x80108907):
            fails(f"{request:#x}", fcntl.ioctl, s, request, bytes(16), errs={errno.ENOTTY})

# One huge page instead of many small ones, at once.
HUGE = 2 << 20
libc.mmap.restype = ctypes.c_void_p
page = -(-libc.mmap(None, 2 * HUGE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0) // HUGE) * HUGE
ctypes.memset(page, 1, 1)
refused("MADV_COLLAPSE", 28, ctypes.c_void_p(page), HUGE, 25, errs={errno.EINVAL})

# What programs do use works as ever.
check("memory in huge pages", libc.madvise(ctypes.c_void_p(page), HUGE, mmap.MADV_HUGEPAGE) == 0)
with socket.socket(type=UDP) as s:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 2)
    s.setsockopt(socket.IPPROTO_UDP, 103, 1400)  # UDP_SEGMENT
with socket.socket() as s:
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000)
    check("an ordinary option", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 1000)
done()
