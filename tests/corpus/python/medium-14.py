import mmap
m = mmap.mmap(-1, 4096)
