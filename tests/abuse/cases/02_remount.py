#: item: 2
#: what: remounts read-only and noexec mounts, unmounts what covers the host
import os

from probe import check, done, fails, libc, refused, syscall

MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_MOVE = 1, 32, 4096, 16384, 8192
for path in (b"/", b"/usr", b"/tmp", b"/work", b"/proc", b"/dev", b"/etc"):
    for flags in (MS_REMOUNT, MS_REMOUNT | MS_BIND, MS_BIND, MS_BIND | MS_REC, MS_MOVE, 1 << 18,
                  1 << 20, MS_REMOUNT | MS_RDONLY):
        refused(f"mount {path} {flags:#x}", 165, b"/", path, b"", flags, 0)
    for flags in (0, 1, 2, 8):
        refused(f"umount2 {path} {flags}", 166, path, flags)
    attr = (0).to_bytes(8, "little") + (1 | 8).to_bytes(8, "little") + bytes(16)
    refused(f"mount_setattr {path}", 442, -100, path, 0x8000, attr, 32)
for path in ("/", "/usr", "/bin"):
    check(f"{path} is writable", os.statvfs(path).f_flag & os.ST_RDONLY)
for path in ("/tmp", "/work", "/dev/shm"):
    if os.path.isdir(path):
        flag = os.statvfs(path).f_flag
        check(f"{path} lacks noexec", flag & os.ST_NOEXEC)
        check(f"{path} lacks nosuid", flag & os.ST_NOSUID)
        check(f"{path} lacks nodev", flag & os.ST_NODEV)
done()
