#: item: 9
#: what: gains a uid, a group or a capability
#: also: [floor]
import ctypes
import glob
import os
import shutil
import stat
import subprocess

from probe import check, done, fails, in_child, libc, refused, syscall

check(f"uid {os.getresuid()}", os.getresuid() == (65534,) * 3)
check(f"gid {os.getresgid()}", 0 not in os.getresgid())
check(f"groups {os.getgroups()}", 0 not in os.getgroups())
for fn, args in ((os.setuid, (0,)), (os.seteuid, (0,)), (os.setreuid, (0, 0)), (os.setgid, (0,)),
                 (os.setresuid, (0, 0, 0)), (os.setresgid, (0, 0, 0)), (os.setegid, (0,)),
                 (os.setgroups, ([0],)), (os.setuid, (1,)), (os.setuid, (1000,))):
    fails(f"{fn.__name__}{args}", fn, *args)
before, _ = syscall(122, 0)  # setfsuid answers the old one, always
check("setfsuid worked", syscall(122, -1)[0] != 0)

status = dict(l.split(":\t", 1) for l in open("/proc/self/status").read().splitlines() if ":\t" in l)
for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
    check(f"{name} is {status[name]}", int(status[name], 16) == 0)
check("no_new_privs is off", status["NoNewPrivs"] == "1")
check("seccomp is off", status["Seccomp"] == "2")
check("no_new_privs could be cleared", libc.prctl(38, 0, 0, 0, 0) == -1)
header = ctypes.create_string_buffer((0x20080522).to_bytes(4, "little") + bytes(4))
refused("capset", 126, header, b"\xff" * 24)
for cap in (0, 7, 21, 38, 39):
    check(f"ambient {cap}", libc.prctl(47, 2, cap, 0, 0) == -1)
    check(f"bounding {cap}", libc.prctl(23, cap, 0, 0, 0) <= 0)
check("securebits", libc.prctl(28, 0, 0, 0, 0) == -1 or libc.prctl(27, 0, 0, 0, 0) == 0)

# A setuid copy of ours, and every setuid program of the host.
shutil.copyfile("/usr/bin/id", "/tmp/id")
try:
    os.chmod("/tmp/id", 0o6755)
except OSError:
    pass
check("exec of a setuid copy", in_child(lambda: os.execv("/tmp/id", ["id"])) == 1)
fails("file capability", os.setxattr, "/tmp/id", "security.capability",
      b"\x01\0\0\x02" + b"\xff" * 16)
found = 0
for path in glob.glob("/usr/bin/*") + glob.glob("/usr/sbin/*"):
    try:
        st = os.stat(path)
    except OSError:
        continue
    if st.st_mode & (stat.S_ISUID | stat.S_ISGID):
        check(f"{path} is on a mount with suid", os.statvfs(path).f_flag & os.ST_NOSUID)
for argv in (["su", "-c", "id -u"], ["sudo", "-n", "id", "-u"], ["newgrp"], ["pkexec", "id", "-u"],
             ["mount", "-t", "tmpfs", "x", "/tmp"], ["passwd", "-d", "root"],
             ["setpriv", "--reuid", "0", "id", "-u"], ["chfn", "x"], ["umount", "/usr"]):
    try:
        got = subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        continue
    check(f"{argv} gave {got.stdout!r}", got.stdout.strip() != b"0")
    check(f"{argv} succeeded", got.returncode != 0 or argv[0] == "newgrp")
done()
