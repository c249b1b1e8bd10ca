# SPDX-License-Identifier: Apache-2.0
"""Reads of the process table that survive processes that come and go."""
import ctypes
import os
import time

PR_SET_CHILD_SUBREAPER = 36
libc = ctypes.CDLL(None, use_errno=True)


def become_subreaper():
    """Orphans of a run become children of this process, so a leak can be told from strangers."""
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


def stat(pid):
    """(comm, state, ppid) or None when the process is gone."""
    text = read(f"/proc/{pid}/stat")
    if not text:
        return None
    head, _, tail = text.rpartition(b")")
    fields = tail.split()
    return head.split(b"(", 1)[1].decode("utf-8", "replace"), fields[0].decode(), int(fields[1])


def starttime(pid):
    text = read(f"/proc/{pid}/stat")
    return int(text.rpartition(b")")[2].split()[19]) if text else 0


def pids():
    return [int(n) for n in os.listdir("/proc") if n.isdigit()]


def descendants(root=None):
    """Every process below @root (this process by default), as {pid: (comm, state)}."""
    root = root or os.getpid()
    children = {}
    for pid in pids():
        st = stat(pid)
        if st:
            children.setdefault(st[2], []).append((pid, st))
    found, todo = {}, [root]
    while todo:
        for pid, st in children.get(todo.pop(), ()):
            found[pid] = (st[0], st[1])
            todo.append(pid)
    return found


def reap():
    """Collect orphans that were handed to this process and have ended."""
    seen = []
    for pid, (_, state) in descendants().items():
        if state != "Z":
            continue
        try:
            if stat(pid)[2] == os.getpid() and os.waitpid(pid, os.WNOHANG)[0]:
                seen.append(pid)
        except (ChildProcessError, TypeError):
            pass
    return seen


def owned_by(uids):
    """Processes whose real or effective uid is in @uids (any container of numbers)."""
    found = {}
    for pid in pids():
        for line in read(f"/proc/{pid}/status").splitlines():
            if line.startswith(b"Uid:"):
                if any(int(u) in uids for u in line.split()[1:3]):
                    found[pid] = stat(pid)
                break
    return found


def status_kib(pid, field):
    """A memory field of /proc/pid/status in KiB, 0 when the process is gone."""
    for line in read(f"/proc/{pid}/status").splitlines():
        if line.startswith(field.encode() + b":"):
            return int(line.split()[1])
    return 0


def exe(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def wait_for(condition, timeout=5.0, step=0.01):
    """Poll @condition until it gives something true; returns its last value."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(step)
