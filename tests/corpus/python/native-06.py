c = __import__('ctypes')
c.string_at(0)
