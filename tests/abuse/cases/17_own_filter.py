#: item: 17
#: what: installs filters of its own, of which the machine has one store for all
#: also: [floor]
import ctypes
import errno
import struct

from probe import REFUSED, check, done, libc, refused

code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
prog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
for flags in range(64):
    refused(f"seccomp with {flags}", 317, 1, flags, prog)
ctypes.set_errno(0)
check("a filter by prctl", libc.prctl(22, 2, prog, 0, 0) == -1 and ctypes.get_errno() in REFUSED | {errno.EINVAL})
# Every refusal still stands.
refused("mount", 165, b"x", b"/tmp", b"tmpfs", 0, 0)
refused("unshare", 272, 0x10000000)
refused("bpf", 321, 0, 0, 0)
refused("keyctl", 250, 0, 0)
refused("io_uring_setup", 425, 1, 0)
refused("ptrace", 101, 0, 0, 0, 0)
check("no_new_privs could be cleared", libc.prctl(38, 0, 0, 0, 0) != 0)
check("seccomp could be switched off", libc.prctl(22, 0, 0, 0, 0) != 0)
check("strict mode loosened it", libc.prctl(21, 0, 0, 0, 0) == 2)
done()
