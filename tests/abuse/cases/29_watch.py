#: item: 29
#: what: watches files that all jars and the machine share, to see what others run, and holds one up for them
#: also: [floor]
import fcntl
import os
import signal

from probe import check, done, fails, libc, refused

refused("inotify_init", 253)
refused("inotify_init1", 294, 0)
refused("fanotify_init", 300, 0x200, 0)
folder = os.open("/usr/bin", os.O_RDONLY)
file = os.open("/usr/bin/env", os.O_RDONLY)
signal.signal(signal.SIGIO, signal.SIG_IGN)
fails("F_NOTIFY", fcntl.fcntl, folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS | fcntl.DN_MULTISHOT)
# The files of an image may belong to the script.
own = os.open("/tmp/own", os.O_CREAT | os.O_RDWR)
for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
    for fd in (file, own):
        fails(f"F_SETLEASE {kind}", fcntl.fcntl, fd, fcntl.F_SETLEASE, kind)
# What is shared within a machine by contents, too: PR_SET_MEMORY_MERGE, MADV_MERGEABLE.
check("all memory could be merged", libc.prctl(67, 1, 0, 0, 0) == -1)
done()
