#: item: 35
#: what: opens descriptors of many kinds until it is refused
#: expect: {any: [{cause: exited, exit_code: 0}, {cause: oom}]}
#: seconds: 15
import os
import select
import socket

from probe import check, done, syscall


def exhaust(what, make):
    held = []
    try:
        while len(held) < 200000:
            fd = make()
            if isinstance(fd, int) and fd < 0:
                raise OSError(24, "refused")
            held.append(fd)
        check(f"{what}: no limit", False)
    except OSError:
        check("", True)
    for fd in held:
        if isinstance(fd, int):
            os.close(fd)
        elif isinstance(fd, tuple):
            [os.close(f) for f in fd]
        else:
            fd.close()
    print(what, len(held))


exhaust("open", lambda: os.open("/dev/null", os.O_RDONLY))
exhaust("pipe", os.pipe)
exhaust("socket", lambda: socket.socket(socket.AF_UNIX))
exhaust("epoll", select.epoll)
exhaust("eventfd", lambda: syscall(290, 0, 0)[0])
exhaust("timerfd", lambda: syscall(283, 1, 0)[0])
exhaust("dup", lambda: os.dup(0))
done()
