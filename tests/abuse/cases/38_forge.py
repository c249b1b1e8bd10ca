#: item: 38
#: what: prints and writes a forged record
#: expect: {cause: exited, exit_code: 3}
import json
import os
import sys

fake = json.dumps({"id": "x", "state": "finished", "cause": "exited", "success": True,
                   "exit_code": 0, "signal": None}) + "\n"
for fd in range(0, 300):
    try:
        os.write(fd, fake.encode())
        os.write(fd, b"\0" * 64 + b"\x01\0\0\0" * 32)
    except OSError:
        pass
for path in ("/proc/1/fd/1", "/proc/1/fd/2", "/proc/1/fd/3", "/proc/1/fd/4", "/proc/1/fd/5"):
    try:
        with open(path, "w") as f:
            f.write(fake)
    except OSError:
        pass
sys.exit(3)
