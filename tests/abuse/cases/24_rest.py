#: item: 24
#: what: old, rare and unknown calls, which are not on the allow-list
from probe import done, refused

calls = {
    "vserver": 236, "afs_syscall": 183, "security": 185, "tuxcall": 184, "putpmsg": 182,
    "getpmsg": 181, "mbind": 237, "set_mempolicy": 238, "set_mempolicy_home_node": 450,
    "migrate_pages": 256, "move_pages": 279, "epoll_ctl_old": 214, "epoll_wait_old": 215,
    "far": 100000, "below the x32 bit": 0x3FFFFFFF,
}
for args in ((0,) * 6, (1,) * 6, (-1,) * 6):
    for name, number in calls.items():
        refused(f"{name}{args}", number, *args)
done()
