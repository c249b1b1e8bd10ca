#: item: 30
#: what: keeps memory in options of sockets and in unfinished datagrams, which the kernel allocates beside every limit
#: args: ["--memory", "64MiB"]
import ctypes
import errno
import socket
import struct

from probe import check, done, fails

TCP = socket.AF_INET, socket.SOCK_STREAM
TCP6 = socket.AF_INET6, socket.SOCK_STREAM
UDP = socket.AF_INET, socket.SOCK_DGRAM
UDP6 = socket.AF_INET6, socket.SOCK_DGRAM
UNIX = socket.AF_UNIX, socket.SOCK_DGRAM

# A filter that takes every packet.
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0xFFFF))
FILTER = struct.pack("HxxxxxxQ", 1, ctypes.addressof(code))
LO, GROUP, OTHER = (socket.inet_aton(a) for a in ("127.0.0.1", "225.0.0.1", "127.0.0.2"))
GROUP6 = socket.inet_pton(socket.AF_INET6, "ff02::1:3")


def address(ip):
    """A sockaddr_storage."""
    if len(ip) == 4:
        return struct.pack("=HH", socket.AF_INET, 0) + ip + bytes(120)
    return struct.pack("=HHI", socket.AF_INET6, 0, 0) + ip + bytes(104)


def join(*ips):
    return struct.pack("=I4x", 1) + b"".join(map(address, ips))


KEY = address(LO) + struct.pack("=BBHI", 0, 0, 4, 0) + b"abcd".ljust(80, b"\0")
HOPS = struct.pack("=QiiI4x", 20, 41, 52, 1)
LABEL = bytes(15) + b"\1" + struct.pack("=IBBHHH4x", 0, 0, 255, 1, 0, 0)
ROUTE = bytes((0, 2, 4, 0)) + bytes(20)

OPTIONS = [
    ("SO_ATTACH_FILTER", UNIX, 1, 26, FILTER),
    ("SO_ATTACH_REUSEPORT_CBPF", UDP, 1, 51, FILTER),
    ("IP_ADD_MEMBERSHIP", UDP, 0, 35, GROUP + LO),
    ("IP_ADD_SOURCE_MEMBERSHIP", UDP, 0, 39, GROUP + LO + OTHER),
    ("MCAST_JOIN_GROUP", UDP, 0, 42, join(GROUP)),
    ("MCAST_JOIN_SOURCE_GROUP", UDP, 0, 46, join(GROUP, OTHER)),
    ("IPV6_2292PKTOPTIONS", UDP6, 41, 6, HOPS * 2500),
    ("IPV6_JOIN_GROUP", UDP6, 41, 20, GROUP6 + struct.pack("=I", 1)),
    ("IPV6_FLOWLABEL_MGR", UDP6, 41, 32, LABEL),
    ("MCAST_JOIN_GROUP, IPv6", UDP6, 41, 42, join(GROUP6)),
    ("MCAST_JOIN_SOURCE_GROUP, IPv6", UDP6, 41, 46, join(GROUP6, GROUP6)),
    ("IPV6_RTHDR", UDP6, 41, 57, ROUTE),
    ("TCP_MD5SIG", TCP, 6, 14, KEY),
    ("TCP_MD5SIG, IPv6", TCP6, 6, 14, KEY),
    ("TCP_MD5SIG_EXT", TCP, 6, 32, KEY),
    ("TCP_AO_ADD_KEY", TCP, 6, 38, bytes(256)),
    ("UDP_CORK", UDP, 17, 1, struct.pack("=i", 1)),
    ("UDP_CORK, IPv6", UDP6, 17, 1, struct.pack("=i", 1)),
    ("UDP_ENCAP", UDP, 17, 100, struct.pack("=i", 2)),
]

for what, kind, level, option, value in OPTIONS:
    with socket.socket(*kind) as s:
        fails(what, s.setsockopt, level, option, value, errs={errno.ENOPROTOOPT})

# A datagram that waits for more of itself.
BLOCK = b"x" * 60000
for kind, place in (UDP, ("127.0.0.1", 9)), (UDP6, ("::1", 9)):
    with socket.socket(*kind) as s:
        s.connect(place)
        fails("send more", s.send, BLOCK, socket.MSG_MORE, errs={errno.EOPNOTSUPP})
        fails("sendto more", s.sendto, BLOCK, socket.MSG_MORE, place, errs={errno.EOPNOTSUPP})
        fails("sendmsg more", s.sendmsg, [BLOCK], [], socket.MSG_MORE, errs={errno.EOPNOTSUPP})

# What programs do use works as ever.
with socket.socket(*TCP) as s:
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    check("an ordinary option", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1)
with socket.socket(*UDP) as s:
    s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 2)
with socket.socket(*UDP6) as s:
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
done()
