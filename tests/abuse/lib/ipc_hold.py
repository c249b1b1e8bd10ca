# SPDX-License-Identifier: Apache-2.0
"""Holds one of every kind of IPC object until its input ends."""
import ctypes
import os
import socket
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
for number, args in ((29, (4242, 4096, 0o3666)), (68, (4242, 0o3666)), (64, (4242, 1, 0o3666))):
    libc.syscall(number, *args)
libc.syscall(240, b"held", 0o102, 0o666, None)
a = socket.socket(socket.AF_UNIX)
a.bind("\0held")
a.listen()
d = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
d.bind("\0held-datagram")
t = socket.create_server(("127.0.0.1", 4242))
for path in ("/dev/shm/held", "/tmp/held", "/work/held"):
    try:
        with open(path, "w") as f:
            f.write("held")
    except OSError:
        pass
print("ready", flush=True)
time.sleep(60)
