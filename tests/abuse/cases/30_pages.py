#: item: 30
#: what: keeps memory that the kernel counts for nobody, pages of devices in sockets, pages of sockets, reports of what was sent
#: args: ["--memory", "64MiB"]
#: also: [floor]
import errno
import os
import socket
import struct

from probe import check, done, fails, refused

LO = "127.0.0.1"
zero = os.open("/dev/zero", os.O_RDONLY)
out, into = os.pipe()
near, far = socket.socketpair()

# 1.5 GiB in three seconds: pages of a device, of a file under /proc, of TCP.
for source in (zero, os.open("/proc/self/maps", os.O_RDONLY)):
    refused("splice", 275, source, 0, into, 0, 4096, 0, errs={errno.EINVAL})
    fails("sendfile to a socket", os.sendfile, near.fileno(), source, None, 4096, errs={errno.EINVAL})
    fails("sendfile to a pipe", os.sendfile, into, source, None, 4096, errs={errno.EINVAL})

# 1.2 GiB in a second of CPU time: what was received is mapped, and not counted any more.
door = socket.create_server((LO, 0))
client = socket.create_connection(door.getsockname())
server, _ = door.accept()
fails("SO_ZEROCOPY", client.setsockopt, socket.SOL_SOCKET, 60, 1, errs={errno.ENOPROTOOPT})
fails("TCP_ZEROCOPY_RECEIVE", server.getsockopt, socket.IPPROTO_TCP, 35, 40, errs={errno.ENOPROTOOPT})


def check_reports(what, sock):
    """None waits."""
    seen = held = 0
    try:
        while True:
            held += len(sock.recvmsg(1 << 17, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)[0])
            seen += 1
    except BlockingIOError:
        check(f"{seen} reports of {what} hold {held} bytes", seen == 0)


# Half a GiB in a second: a report of when something was sent holds what was sent. It can be asked for with each message.
WHEN = [(socket.SOL_SOCKET, kind, struct.pack("=I", 0x2 | 0x100 | 0x200)) for kind in (37, 65)]
BLOCK = b"x" * 50000
for family, ip in (socket.AF_INET, LO), (socket.AF_INET6, "::1"):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        for option in (37, 65):
            fails("SO_TIMESTAMPING", s.setsockopt, socket.SOL_SOCKET, option, 0x10 | 0x2, errs={errno.ENOPROTOOPT})
        s.bind((ip, 0))
        for control in WHEN:
            s.sendmsg([BLOCK], [control], 0, s.getsockname()[:2])
        check_reports("sending", s)
    # A report of an error holds the beginning of what was sent.
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        level, option = (0, 11) if family == socket.AF_INET else (41, 25)
        s.setsockopt(level, option, 1)
        s.sendto(BLOCK, (ip, 9))
        check_reports("errors", s)
for control in WHEN:
    client.sendmsg([b"x"], [control])
    server.recv(1)
check_reports("TCP", client)
done()
