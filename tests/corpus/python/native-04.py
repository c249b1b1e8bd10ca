from ctypes.util import find_library
print(find_library('c'))
