#: item: [21, 22, 23, 24]
#: what: calls the kernel should not even look at
#: also: [floor]
import ctypes

from probe import done, refused

calls = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "add_key": 248, "request_key": 249, "keyctl": 250,
    "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "fanotify_init": 300,
    "fanotify_mark": 301, "lookup_dcookie": 212,
    "init_module": 175, "finit_module": 313, "delete_module": 176, "create_module": 174,
    "query_module": 178, "get_kernel_syms": 177, "kexec_load": 246, "kexec_file_load": 320,
    "reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163, "settimeofday": 164,
    "clock_settime": 227, "clock_adjtime": 305, "sethostname": 170, "setdomainname": 171,
    "iopl": 172, "ioperm": 173, "syslog": 103, "vhangup": 153, "nfsservctl": 180,
    "uselib": 134, "name_to_handle_at": 303, "open_by_handle_at": 304, "modify_ldt": 154,
    "future": 600,
}
for args in ((0,) * 6, (1,) * 6, (-1,) * 6, (2**31, 2**32 + 1, 2**63 - 1, 0, 0, 0)):
    for name, number in calls.items():
        refused(f"{name}{args}", number, *args)
# Each keyctl command, and bpf commands with a real buffer.
buf = ctypes.create_string_buffer(256)
for command in range(0, 33):
    refused(f"keyctl {command}", 250, command, -3, buf, 256, 0)
for command in range(0, 40):
    refused(f"bpf {command}", 321, command, buf, 128)
refused("add_key user", 248, b"user", b"x", b"y", 1, -3)
refused("reboot with magic", 169, 0xFEE1DEAD, 672274793, 0x1234567, 0)
done()
