#: item: 30
#: what: closes connections that cannot end; the machine has one number of them for all, and past it each one that closes is reset
#: also: [floor]
import errno
import socket
import time

from probe import check, done, fails

COUNT = 200
FIN_WAIT1 = "04"


def waiting():
    """How many connections that nobody holds still try to say their last."""
    with open("/proc/self/net/tcp") as table:
        return sum(line.split()[3] == FIN_WAIT1 for line in table)


door = socket.socket()
door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
door.bind(("127.0.0.1", 0))
door.listen(COUNT)
for _ in range(COUNT):
    with socket.create_connection(door.getsockname()) as s:
        s.setblocking(False)
        s.send(bytes(10000))
check("they wait", waiting() > COUNT // 2)

# As the kernel is set, more than fifty seconds.
end = time.monotonic() + 5
while waiting() and time.monotonic() < end:
    time.sleep(0.05)
check(f"{waiting()} wait for ever", not waiting())

# The time that those who have said it wait for the other side: two minutes, for which they count.
with socket.socket() as s:
    fails("TCP_LINGER2", s.setsockopt, socket.IPPROTO_TCP, socket.TCP_LINGER2, 120, errs={errno.ENOPROTOOPT})
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes(8))
done()
