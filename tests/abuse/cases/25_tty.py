#: item: 25
#: what: types into a terminal, whatever stands in the upper bits
#: also: [floor]
import ctypes
import os

from probe import check, done, fails, refused, syscall

buf = ctypes.create_string_buffer(b"x\n")
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
for fd in (0, 1, 2, 99):
    for code in (TIOCSTI, TIOCLINUX):
        for high in (0, 1 << 32, 0xFFFFFFFF << 32, 1 << 62):
            refused(f"ioctl {fd} {code | high:#x}", 16, fd, code | high, buf)
for path in ("/dev/tty", "/dev/console", "/dev/tty0", "/dev/tty1", "/dev/vcs", "/dev/vcsa1",
             "/dev/ttyS0", "/dev/hvc0", "/dev/pts/0", "/dev/pts/1"):
    fails("open " + path, os.open, path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
check("TIOCSCTTY", syscall(16, 0, 0x540E, 1)[0] == -1)
check("a session of the host", os.getsid(0) in (os.getpid(), 1, 2, 0) or os.getsid(0) < 10)
done()
