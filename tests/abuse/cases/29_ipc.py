#: item: 29
#: what: meets another jar and the host over IPC, abstract sockets, shared memory, pids
#: beside: ipc_hold.py
import os
import socket

from probe import check, done, syscall

for key in (4242, int(os.environ["CANARY_KEY"])):
    for number, what, args in ((29, "shmget", (key, 0, 0)), (68, "msgget", (key, 0)),
                               (64, "semget", (key, 0, 0))):
        got, err = syscall(number, *args)
        check(f"{what} {key} found {got}", got == -1)
for shmid in [*range(0, 64), *range(32768, 32800)]:
    check(f"shmat {shmid}", syscall(30, shmid, 0, 0o10000)[0] == -1)
check("a message queue", syscall(240, b"held", 0, 0, 0)[0] == -1)
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    s = socket.socket(socket.AF_UNIX, kind)
    try:
        s.connect("\0held")
        check("the other jar's abstract socket", False)
    except OSError:
        check("", True)
s = socket.socket()
s.settimeout(1)
try:
    s.connect(("127.0.0.1", 4242))
    check("the other jar's port", False)
except OSError:
    check("", True)
for path in ("/dev/shm/held", "/tmp/held", "/work/held"):
    check(f"{path} is there", not os.path.exists(path))
check("foreign processes", len([p for p in os.listdir("/proc") if p.isdigit()]) < 6)
for path in ("/proc/net/unix", "/proc/sysvipc/shm"):
    try:
        check(f"{path} shows the other", b"held" not in open(path, "rb").read())
    except OSError:
        pass
check(f"host name {os.uname().nodename}", os.uname().nodename != os.environ.get("CANARY_HOST"))
done()
