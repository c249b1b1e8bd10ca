#: item: 18
#: what: makes namespaces by unshare, clone and clone3
#: also: [floor]
import ctypes
import os
import struct

from probe import REFUSED, check, done, refused, syscall

flags = {"user": 0x10000000, "pid": 0x20000000, "net": 0x40000000, "mnt": 0x20000, "ipc": 0x8000000,
         "uts": 0x4000000, "cgroup": 0x2000000, "time": 0x80}
for name, flag in flags.items():
    for extra in (0, 0x10000000, 0x200, 0x400):
        refused(f"unshare {name} {extra:#x}", 272, flag | extra)
    if name == "time":
        continue
    for extra in (0, 0x10000000):
        ret, err = syscall(56, flag | extra | 17, 0, 0, 0, 0)
        if ret == 0:
            os._exit(0)
        check(f"clone {name} gave {ret} {err}", ret == -1 and err in REFUSED)
    # The upper half of a register must not hide a flag.
    ret, err = syscall(56, (1 << 40) | flag | 17, 0, 0, 0, 0)
    if ret == 0:
        os._exit(0)
    check(f"clone {name} with high bits gave {ret}", ret == -1)
for flag in [0, *flags.values()]:
    args = ctypes.create_string_buffer(struct.pack("11Q", flag, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0))
    ret, err = syscall(435, args, 88)
    if ret == 0:
        os._exit(0)
    check(f"clone3 {flag:#x} gave {ret} {err}", ret == -1 and err == 38)
done()
