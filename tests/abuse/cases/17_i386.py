#: item: 17
#: what: enters the kernel by int 0x80, where numbers mean other calls
#: also: [floor]
#: expect: {any: [{cause: seccomp, status: 159}, {cause: signal, signal: 11}]}
import ctypes
import mmap

# mov eax, 20 (getpid); int 0x80; ret
code = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"
m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
m.write(code)
fn = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
print("ESCAPE:", fn(), flush=True)
