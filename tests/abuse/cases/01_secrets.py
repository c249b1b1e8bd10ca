#: item: 1
#: what: reads host secrets and canaries through every kind of path
import glob
import os

from probe import check, done, fails, libc, refused, syscall

canaries = os.environ["CANARY_FILES"].split(":")
secret = ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/sudoers", "/root/.bashrc",
          "/root/.ssh/id_rsa", "/var/log/dpkg.log", "/var/lib/dpkg/status", "/run/utmp",
          "/boot/grub/grub.cfg", "/proc/kcore", "/proc/kmsg", "/proc/sysrq-trigger",
          "/sys/kernel/debug", "/sys/fs/cgroup", "/etc/ssh/sshd_config", "/etc/machine-id"]
ways = ["{}", "/proc/self/root{}", "/work/../..{}", "/tmp/../../../..{}", "/proc/self/cwd/..{}",
        "/usr/../proc/1/root{}", "/dev/fd/../..{}"]
for path in canaries + secret:
    for way in ways:
        fails("open " + way.format(path), os.open, way.format(path), os.O_RDONLY)
for path in ("/root", "/home", "/var", "/run", "/boot", "/mnt", "/media", "/srv", "/lost+found"):
    try:
        entries = os.listdir(path)
    except OSError:
        continue
    check(f"{path} shows {entries[:5]}", not entries)

# A link is resolved inside the jar, too.
for i, path in enumerate(canaries):
    os.symlink(path, f"/tmp/link{i}")
    fails("link to " + path, os.open, f"/tmp/link{i}", os.O_RDONLY)

# Handles name files past any mount.
handle = (b"\x08\0\0\0\x01\0\0\0" + b"\x02" + bytes(63))
for fd in (os.open("/", os.O_RDONLY), os.open("/usr", os.O_RDONLY), os.open("/tmp", os.O_RDONLY)):
    refused("open_by_handle_at", 304, fd, handle, os.O_RDONLY)

# chroot and the way up from a directory that was open before it.
refused("chroot", 161, b"/tmp")
os.chdir("/")
for _ in range(64):
    os.chdir("..")
check("climbed above /", os.stat(".").st_ino == os.stat("/").st_ino)
names = glob.glob("/proc/[0-9]*/environ")
for path in names:
    try:
        check(path + " holds a token", b"canary-" not in open(path, "rb").read().replace(
            b"bjt-canary-", b""))
    except OSError:
        pass
done()
