def ctypes_free(): return "ctypes"
print(ctypes_free())
