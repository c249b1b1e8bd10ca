#: item: 12
#: what: makes children of its own parent, which does not know them, by CLONE_PARENT
#: also: [floor]
#: seconds: 10
import os

from probe import check, done, refused, syscall

PARENT, VM, VFORK, CLONE, CLONE3 = 0x8000, 0x100, 0x4000, 56, 435

for flags in (PARENT, PARENT | 17, PARENT | VM | VFORK, PARENT | 0x400, 1 << 40 | PARENT | 17):
    ret, err = syscall(CLONE, flags, 0, 0, 0, 0)
    if ret == 0:
        os._exit(0)
    check(f"clone {flags:#x} gave {ret} {err}", ret == -1 and err == 1)
refused("unshare", 272, PARENT, errs={1, 22, 38})
done()
