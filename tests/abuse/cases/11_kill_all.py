#: item: 11
#: what: signals everything it can name
#: seconds: 10
import os
import signal

from probe import check, done, in_child, syscall

me = os.getpid()
for sig in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGHUP, 34, 64):
    for pid in [1, os.getppid(), -1, int(os.environ["CANARY_PID"]), *range(3, 40), 2**15, 2**22 - 1]:
        if pid in (me, 0):
            continue
        try:
            os.kill(pid, sig)
        except OSError:
            pass
    syscall(234, 1, 1, sig)
    syscall(129, 1, sig, 0)
    syscall(297, 1, 1, sig, 0)
    fd, err = syscall(434, 1, 0)
    if fd >= 0:
        syscall(424, fd, sig, 0, 0)
        os.close(fd)
check("init answers", os.path.exists("/proc/1") or True)
check("children still work", in_child(lambda: 7) == 7)
done()
