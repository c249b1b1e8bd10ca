#: item: 16
#: what: raises its priority and its limits
import ctypes
import errno
import os
import resource
import struct

from probe import REFUSED, check, done, fails, libc, refused, syscall

for policy in (os.SCHED_FIFO, os.SCHED_RR):
    for prio in (1, 50, 99):
        fails(f"policy {policy} {prio}", os.sched_setscheduler, 0, policy, os.sched_param(prio))
attr = ctypes.create_string_buffer(
    (48).to_bytes(4, "little") + (6).to_bytes(4, "little") + bytes(16) +
    (10**7).to_bytes(8, "little") + (2 * 10**7).to_bytes(8, "little") * 2)
refused("deadline", 314, 0, attr, 0)
for value in (-1, -20):
    fails(f"nice {value}", os.setpriority, os.PRIO_PROCESS, 0, value)
fails("priority of init", os.setpriority, os.PRIO_PROCESS, 1, 5)
fails("priority of init's group", os.setpriority, os.PRIO_PGRP, 1, 5)
fails("priority of the user", os.setpriority, os.PRIO_USER, 0, 5)
fails("scheduler of init", os.sched_setscheduler, 1, os.SCHED_IDLE, os.sched_param(0))
fails("affinity of init", os.sched_setaffinity, 1, {0})
refused("ioprio of init", 251, 1, 1, 3 << 13)
refused("ioprio of the user", 251, 3, os.getuid(), 3 << 13)
refused("ioprio real-time", 251, 1, 0, 1 << 13)
for name in (n for n in dir(resource) if n.startswith("RLIMIT_")):
    what = getattr(resource, name)
    soft, hard = resource.getrlimit(what)
    if hard == resource.RLIM_INFINITY or what == resource.RLIMIT_CORE:
        continue
    for new in (resource.RLIM_INFINITY, hard + 1):
        try:
            resource.setrlimit(what, (new, new))
            check(f"{name} raised over {hard}", False)
        except (OSError, ValueError):
            check("", True)
# One byte: no file, and no program of the machine that wants to hear of crashes. Zero would start it.
for new in ((0, 0), (0, 1), (2, 2), (-1, -1)):
    resource.prlimit(0, resource.RLIMIT_CORE, new)
    check(f"core files {new}", resource.getrlimit(resource.RLIMIT_CORE) == (1, 1))
    fails(f"core files {new} by pid", resource.prlimit, os.getpid(), resource.RLIMIT_CORE, new)
    check(f"core files {new} by pid", resource.getrlimit(resource.RLIMIT_CORE) == (1, 1))
    syscall(160, resource.RLIMIT_CORE, struct.pack("=qq", *new))
    check(f"core files, setrlimit {new}", resource.getrlimit(resource.RLIMIT_CORE) == (1, 1))
check("descriptors", resource.getrlimit(resource.RLIMIT_NOFILE)[1] <= 65536)
for pid in (1, os.getpid()):
    for name in (n for n in dir(resource) if n.startswith("RLIMIT_")):
        fails(f"{name} of {pid}", resource.prlimit, pid, getattr(resource, name), (10, 10))
    refused(f"a limit of {pid}", 302, pid | 1 << 32, resource.RLIMIT_NOFILE, struct.pack("=qq", 10, 10), 0)
refused("a limit, high bits", 302, 1 << 32, resource.RLIMIT_NOFILE, struct.pack("=qq", 10, 10), 0)
# Its own it may lower.
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
check("its own limit", resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE) == (100, 100))
for value in ("-1000", "-1"):
    try:
        with open("/proc/self/oom_score_adj", "w") as f:
            f.write(value)
        check("oom_score_adj lowered", False)
    except OSError:
        check("", True)
done()
