#: item: 8
#: what: makes and opens device nodes
#: also: [floor]
import os
import stat

from probe import REFUSED, check, done, fails, refused

for kind in (stat.S_IFCHR, stat.S_IFBLK):
    for major, minor in ((1, 1), (1, 2), (1, 3), (8, 0), (254, 0), (253, 0), (259, 0), (10, 232),
                         (10, 229), (5, 1), (7, 0), (10, 200), (0, 0)):
        dev = os.makedev(major, minor)
        for where in ("/tmp/node", "/work/node", "/dev/node"):
            fails(f"mknod {kind:o} {major}:{minor} {where}", os.mknod, where, kind | 0o666, dev)
        refused("mknodat", 259, -100, b"/tmp/node2", kind | 0o666, dev)
for name in ("mem", "kmem", "port", "kmsg", "sda", "sda1", "vda", "vda1", "nvme0n1", "xvda", "dm-0",
             "loop0", "loop-control", "kvm", "fuse", "net/tun", "vhost-net", "vsock", "userfaultfd",
             "mapper/control", "hpet", "rtc0", "console", "tty0", "tty1", "ttyS0", "vcs", "input",
             "snd", "dri", "cpu_dma_latency", "autofs", "uinput", "watchdog", "hwrng", "btrfs-control"):
    for flags in (os.O_RDONLY, os.O_RDWR):
        fails(f"open /dev/{name}", os.open, "/dev/" + name, flags | os.O_NONBLOCK)
harmless = {(1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 0), (5, 2)}
for top, dirs, files in os.walk("/dev"):
    for name in files:
        st = os.lstat(os.path.join(top, name))
        if stat.S_ISCHR(st.st_mode) or stat.S_ISBLK(st.st_mode):
            number = (os.major(st.st_rdev), os.minor(st.st_rdev))
            ok = stat.S_ISCHR(st.st_mode) and (number in harmless or number[0] == 136)
            check(f"{top}/{name} is {number}", ok)
for name in ("null", "zero", "random", "urandom", "full"):
    fd = os.open("/dev/" + name, os.O_RDWR if name in ("null", "zero") else os.O_RDONLY)
    os.close(fd)
    # The mode it has already: if this gets through, nothing on the host changes.
    fails(f"chmod /dev/{name}", os.chmod, "/dev/" + name, os.stat("/dev/" + name).st_mode & 0o7777)
    fails(f"unlink /dev/{name}", os.unlink, "/dev/" + name)
# RNDADDTOENTCNT, RNDZAPENTCNT, RNDRESEEDCRNG
import fcntl
fd = os.open("/dev/urandom", os.O_RDONLY)
for code in (0x40045201, 0x5204, 0x5207):
    fails(f"ioctl {code:#x}", fcntl.ioctl, fd, code, b"\0\0\0\0")
done()
