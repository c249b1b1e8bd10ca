#: item: 19
#: what: mounts by the old and by the new calls
#: also: [floor]
from probe import REFUSED, check, done, refused

for fs in (b"tmpfs", b"proc", b"sysfs", b"cgroup", b"cgroup2", b"overlay", b"devtmpfs", b"devpts",
           b"mqueue", b"fuse", b"ext4", b"bpf", b"ramfs", b"tracefs", b"debugfs", b"nfs", b"9p"):
    refused(f"mount {fs}", 165, b"none", b"/tmp", fs, 0, 0)
    refused(f"fsopen {fs}", 430, fs, 0)
refused("mount bind", 165, b"/usr", b"/tmp", 0, 4096, 0)
for flags in (0, 1, 0x8001, 0x80001):
    refused(f"open_tree {flags:#x}", 428, -100, b"/", flags)
refused("open_tree_attr", 467, -100, b"/", 0, 0, 0)
refused("move_mount", 429, -100, b"/tmp", -100, b"/usr", 0)
refused("fsconfig", 431, 3, 0, 0, 0, 0)
refused("fsmount", 432, 3, 0, 0)
refused("fspick", 433, -100, b"/", 0)
refused("mount_setattr", 442, -100, b"/", 0, 0, 0)
refused("umount2", 166, b"/tmp", 2)
refused("pivot_root", 155, b"/tmp", b"/tmp")
refused("chroot", 161, b"/tmp")
refused("quotactl", 179, 0, 0, 0, 0)
refused("quotactl_fd", 443, 0, 0, 0, 0)
refused("sysfs", 139, 3)
refused("ustat", 136, 0, 0)
refused("_sysctl", 156, 0)
refused("statmount", 457, 0, 0, 0, 0)
refused("listmount", 458, 0, 0, 0, 0)
done()
