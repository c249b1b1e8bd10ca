import cffi
ffi = cffi.FFI()
