gdb -p 1
