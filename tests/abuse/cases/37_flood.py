#: item: 37
#: what: 8 MiB on both streams at once; truncated, and the run goes on
#: truncated: [stdout, stderr]
#: seconds: 10
#: bytes: {stdout: 8388608, stderr: 8388608}
import os
import threading


def flood(fd, byte):
    for _ in range(128):
        left = byte * 65536
        while left:
            left = left[os.write(fd, left):]


ts = [threading.Thread(target=flood, args=a) for a in ((1, b"o"), (2, b"e"))]
for t in ts:
    t.start()
for t in ts:
    t.join()
