#: item: 7
#: what: runs code from memory and through the loader; only what is documented works
import os
import shutil
import subprocess

from probe import check, done, fails, in_child, refused, syscall

MFD_CLOEXEC, MFD_NOEXEC_SEAL, MFD_EXEC = 1, 8, 16
for flags in (0, MFD_CLOEXEC, MFD_EXEC, MFD_EXEC | MFD_CLOEXEC, 2, 4):
    refused(f"memfd_create {flags:#x}", 319, b"x", flags)
fd, err = syscall(319, b"x", MFD_CLOEXEC | MFD_NOEXEC_SEAL)
if fd >= 0:
    os.write(fd, open("/usr/bin/true", "rb").read())
    check("exec of a sealed memfd", in_child(lambda: os.execv(f"/proc/self/fd/{fd}", ["x"])) == 1)
    fails("fchmod of a sealed memfd", os.fchmod, fd, 0o755)
refused("memfd_secret", 447, 0)

# The loader reads the file and maps it: noexec forbids the mapping.
shutil.copyfile("/usr/bin/id", "/tmp/id")
for loader in ("/lib64/ld-linux-x86-64.so.2", "/usr/lib64/ld-linux-x86-64.so.2"):
    if os.path.exists(loader):
        got = subprocess.run([loader, "/tmp/id"], capture_output=True)
        check(f"{loader} ran a copy as {got.stdout}", b"uid=0" not in got.stdout)

# An interpreter runs what it reads, and is as contained as before.
with open("/tmp/x.py", "w") as f:
    f.write("import os\ntry:\n os.setuid(0)\nexcept OSError:\n print('contained')\n")
got = subprocess.run(["/usr/bin/python3", "/tmp/x.py"], capture_output=True)
check(f"interpreter said {got}", got.stdout == b"contained\n")
done()
