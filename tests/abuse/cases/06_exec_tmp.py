#: item: 6
#: what: runs programs and scripts from every writable place
import errno
import mmap
import os
import shutil

from probe import check, done, fails, in_child, syscall


def cannot_run(what, program):
    """A child that could execute it would end with 0."""
    def attempt():
        try:
            os.execv(program, ["prog"])
        except OSError as e:
            return e.errno
    code = in_child(attempt)
    check(f"{what} gave {code}", code in (errno.EACCES, errno.EPERM))


def execveat(fd):
    return syscall(322, fd, b"", 0, 0, 0x1000)[1]


places = ["/tmp", "/work", "/work/out", "/dev/shm", "/dev/mqueue", "/run", "/var/tmp"]
tested = 0
for place in places:
    prog = place + "/prog"
    try:
        shutil.copyfile("/usr/bin/true", prog)
        os.chmod(prog, 0o755)
    except OSError:
        continue
    tested += 1
    cannot_run("execve " + prog, prog)
    fd = os.open(prog, os.O_RDONLY)
    cannot_run("fexecve " + prog, fd)
    cannot_run("exec by /proc " + prog, f"/proc/self/fd/{fd}")
    check("execveat " + prog, in_child(lambda: execveat(fd)) in (errno.EACCES, errno.EPERM))
    fails("mmap PROT_EXEC " + prog, mmap.mmap, fd, 4096, mmap.MAP_PRIVATE,
          mmap.PROT_READ | mmap.PROT_EXEC, errs={errno.EPERM, errno.EACCES})
    m = mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ)
    script = place + "/script"
    with open(script, "w") as f:
        f.write("#!/bin/sh\necho ESCAPE: ran\n")
    os.chmod(script, 0o755)
    cannot_run("exec script " + script, script)
check("no writable place was found", tested >= 2)
done()
