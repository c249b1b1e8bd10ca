# SPDX-License-Identifier: Apache-2.0
"""Given to every Python case as an input: says what was tried and whether it was refused."""
import ctypes
import errno
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
tried = 0
escapes = []

# What a refusal by policy looks like; anything else means the kernel began to work on it.
REFUSED = {errno.EPERM, errno.ENOSYS, errno.EACCES}


def name(number):
    return errno.errorcode.get(number, number)


def escape(what):
    escapes.append(str(what))
    print("ESCAPE:", what, flush=True)


def check(what, holds):
    """A statement that must hold."""
    global tried
    tried += 1
    if not holds:
        escape(what)


def syscall(number, *args):
    """(result, errno) of a raw system call."""
    ctypes.set_errno(0)
    plain = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    result = libc.syscall(ctypes.c_long(number), *plain)
    return result, ctypes.get_errno()


def refused(what, number, *args, errs=REFUSED):
    """The call must fail with one of @errs."""
    result, err = syscall(number, *args)
    check(f"{what} gave {result}, {name(err)}", result == -1 and err in errs)


def fails(what, fn, *args, errs=None, **kw):
    """The call must raise OSError, with one of @errs if given."""
    try:
        result = fn(*args, **kw)
    except OSError as e:
        check(f"{what} failed with {name(e.errno)}", errs is None or e.errno in errs)
        return
    check(f"{what} succeeded: {result!r}", False)


def in_child(fn):
    """Run @fn in a forked child: its exit code, or -signal."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = fn() or 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def done():
    print(f"tried {tried}, escaped {len(escapes)}", flush=True)
    sys.exit(1 if escapes or not tried else 0)
