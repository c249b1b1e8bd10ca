#: item: 17
#: what: tries to be killed by a filter of its own, so that the record says so
#: expect: {cause: exited, exit_code: 3}
import ctypes
import os
import struct
import sys

from probe import libc, syscall

ops = struct.pack("HBBI", 0x20, 0, 0, 0) + struct.pack("HBBI", 0x15, 0, 1, 110) + \
    struct.pack("HBBI", 6, 0, 0, 0x80000000) + struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)
code = ctypes.create_string_buffer(ops)
prog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(code)))
if syscall(317, 1, 0, prog)[0] != 0:
    sys.exit(3)
os.getppid()
sys.exit(1)
