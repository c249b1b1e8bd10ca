#: item: 36
#: what: a true segmentation fault with core files asked for
#: expect: {cause: signal, signal: 11, status: 139}
import ctypes
import os
import resource

try:
    resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))
except (OSError, ValueError):
    pass
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
os.chdir("/tmp")
ctypes.string_at(8)
