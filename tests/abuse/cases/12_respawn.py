#: item: 12
#: what: a chain of processes that fork and exit, faster than any scan of pids
#: seconds: 5
import os
import time

if os.fork() == 0:
    os.setsid()
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if os.fork():
                os._exit(0)
        except OSError:
            pass
time.sleep(0.3)
print("left a chain")
