# SPDX-License-Identifier: Apache-2.0
"""Leaves something of every kind that could outlive a run."""
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
for place in ("/tmp", "/work", "/work/out", "/dev/shm", "/dev/mqueue", os.environ.get("HOME", "/tmp")):
    try:
        with open(place + "/residue", "x" if place != os.environ.get("HOME") else "w") as f:
            f.write("left")
    except FileExistsError:
        raise SystemExit("ESCAPE: residue in " + place)
    except OSError:
        pass
for number, args in ((29, (77, 4096, 0o3666)), (68, (77, 0o3666)), (64, (77, 1, 0o3666))):
    ctypes.set_errno(0)
    if libc.syscall(number, *args) < 0 and ctypes.get_errno() == 17:
        raise SystemExit("ESCAPE: an IPC object was left")
libc.syscall(240, b"residue", 0o302, 0o666, None)
if os.fork() == 0:
    os.setsid()
    os.execv("/bin/sleep", ["sleep", "1000"])
print("left")
