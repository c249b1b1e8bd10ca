#: item: 12
#: what: leaves daemons behind, with and without the streams
#: seconds: 5
#: stdout: "^started\n$"
import os
import signal
import sys
import time


def daemon(depth, keep):
    if os.fork():
        return
    os.setsid()
    for sig in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, signal.SIG_IGN)
    for _ in range(depth):
        if os.fork():
            os._exit(0)
        os.setsid() if os.getpid() != os.getsid(0) else None
    if not keep:
        for fd in (0, 1, 2):
            os.close(fd)
    while True:
        time.sleep(1000)


for depth in range(4):
    daemon(depth, False)
    daemon(depth, True)
os.write(1, b"started\n")
