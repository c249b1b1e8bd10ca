import ctypes as c
c.memmove(a, b, 10)
