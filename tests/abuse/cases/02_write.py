#: item: 2
#: what: changes the root, the system directories and their attributes in every way
import os
import shutil

from probe import check, done, fails, syscall

dirs = ["/", "/usr", "/usr/bin", "/usr/lib", "/etc", "/bin", "/lib", "/lib64", "/sbin", "/dev",
        "/proc", "/proc/sys", "/usr/local", "/usr/share"]
for d in dirs:
    if not os.path.isdir(d):
        continue
    fails("create in " + d, os.open, d + "/x", os.O_CREAT | os.O_WRONLY, 0o600)
    fails("mkdir in " + d, os.mkdir, d + "/x")
    fails("symlink in " + d, os.symlink, "y", d + "/x")
    fails("mkfifo in " + d, os.mkfifo, d + "/x")
    fails("chmod " + d, os.chmod, d, os.stat(d).st_mode & 0o7777)
    fails("rename " + d, os.rename, d, "/tmp/moved")
    fails("utime " + d, os.utime, d)
    fails("tmpfile in " + d, os.open, d, os.O_TMPFILE | os.O_RDWR, 0o600)
files = ["/usr/bin/env", "/usr/bin/python3", "/usr/bin/bash", "/etc/passwd", "/bin/sh",
         "/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/ld.so.cache"]
for f in files:
    if not os.path.exists(f):
        continue
    real = os.path.realpath(f)
    fails("write " + f, os.open, f, os.O_WRONLY)
    fails("truncate " + f, os.truncate, f, 0)
    fails("unlink " + f, os.unlink, f)
    fails("chmod " + f, os.chmod, f, os.stat(f).st_mode & 0o7777)
    fails("chown " + f, os.chown, f, 65534, 65534)
    fails("link " + f, os.link, f, "/tmp/hard")
    fails("xattr " + f, os.setxattr, real, "user.x", b"1")
    fails("replace " + f, os.replace, "/tmp", f)
for f in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger",
          "/proc/self/uid_map", "/proc/self/setgroups", "/proc/1/oom_score_adj",
          "/sys/kernel/uevent_helper", "/proc/sys/vm/overcommit_memory", "/proc/1/comm",
          "/proc/sys/fs/binfmt_misc/register", "/proc/scsi/scsi", "/proc/irq/default_smp_affinity"):
    fails("open for write " + f, os.open, f, os.O_WRONLY)
shutil.rmtree("/usr/share", ignore_errors=True)
check("rm -r of /usr/share worked", os.listdir("/usr/share"))
for f in ("/proc/self/exe", "/proc/1/exe"):
    fails("write " + f, os.open, f, os.O_WRONLY)
done()
