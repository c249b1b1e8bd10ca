# SPDX-License-Identifier: Apache-2.0
"""The oracle of the abuse matrix: what must hold on the host after every case.

Canaries are things a script that got out would touch: a file, listeners on loopback, a process, a
System V segment. A Snapshot remembers processes, cgroups, mounts and files, and names what is
there afterwards and was not before. Processes are told apart by descent (the tests are the
subreaper of every run) and files by a private /tmp, so other belljars on the machine do not
disturb; cgroups of others are recognised by their lock and by the strangers in them.
"""
import ctypes
import fcntl
import os
import re
import secrets
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

from harness import modes, proc

WATCHED = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/var/lib", "/var/cache")
# Made by the tests themselves.
OURS = ("bjt-", "pytest-of-")
STATE_NAMES = ("belljar",)
# Root's place for sockets and locks; what is in it is looked at.
BY_DESIGN = {"/run/belljar"}
PATIENCE = 3.0
SHM_RDONLY = 0o10000
LIMIT_KIB = 48 * 1024


class Canaries:
    """Bait on the host. `env` tells a script where to look; the token must never come back."""

    def __init__(self, uid=0, gid=0):
        self.token = "canary-" + secrets.token_hex(16)
        self.name = "bjt-canary-" + secrets.token_hex(6)
        self.files = [Path(d) / self.name for d in ("/tmp", "/var/tmp", "/dev/shm")]
        for path in self.files:
            path.write_text(self.token)
            path.chmod(0o666)
        self.tcp = self._listen(socket.AF_INET, ("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.listeners = [self.tcp]
        try:
            self.listeners.append(self._listen(socket.AF_INET6, ("::1", self.port)))
        except OSError:
            pass  # no IPv6 on this machine
        self.listeners.append(self._listen(socket.AF_UNIX, "\0" + self.name))
        path = f"/tmp/{self.name}.sock"
        self.listeners.append(self._listen(socket.AF_UNIX, path))
        os.chmod(path, 0o777)
        self.socket_path = path
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        self.udp.setblocking(False)
        self.key = secrets.randbelow(1 << 30) + 1
        self._shm(0o1666)
        self.process = self._process(uid, gid)

    @staticmethod
    def _listen(family, address):
        s = socket.socket(family, socket.SOCK_STREAM)
        s.bind(address)
        s.listen(16)
        s.setblocking(False)
        return s

    def _shm(self, flags):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.shmat.restype = ctypes.c_void_p
        self.shmid = libc.shmget(self.key, 4096, flags)
        if self.shmid < 0:
            raise OSError(ctypes.get_errno(), "shmget")
        where = libc.shmat(self.shmid, None, 0)
        ctypes.memmove(where, self.token.encode(), len(self.token))
        libc.shmdt(ctypes.c_void_p(where))

    def _shm_is_whole(self):
        libc = ctypes.CDLL(None)
        libc.shmat.restype = ctypes.c_void_p
        where = libc.shmat(self.shmid, None, SHM_RDONLY)
        if where == ctypes.c_void_p(-1).value:
            return False
        held = ctypes.string_at(where, 4096)
        libc.shmdt(ctypes.c_void_p(where))
        return held == self.token.encode().ljust(4096, b"\0")

    def _process(self, uid, gid):
        return subprocess.Popen(["/bin/sleep", "100000"], user=uid, group=gid, extra_groups=[],
                                env={"TOKEN": self.token}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def env(self):
        """What a script is told, as --env arguments."""
        told = {"CANARY_FILES": ":".join(map(str, self.files)), "CANARY_NAME": self.name,
                "CANARY_PORT": str(self.port), "CANARY_KEY": str(self.key),
                "CANARY_PID": str(self.process.pid), "CANARY_SOCKET": self.socket_path}
        return [a for k, v in told.items() for a in ("--env", f"{k}={v}")]

    def untouched(self):
        """Names of the canaries that were touched."""
        touched = []
        for path in self.files:
            st = path.lstat() if path.exists() else None
            if not st or path.read_text() != self.token or st.st_mode & 0o7777 != 0o666:
                touched.append(f"the file {path}")
        for s in self.listeners:
            try:
                s.accept()[0].close()
                touched.append(f"the listener {s.getsockname()}")
            except BlockingIOError:
                pass
        try:
            touched.append(f"a datagram {self.udp.recvfrom(100)}")
        except BlockingIOError:
            pass
        st = proc.stat(self.process.pid)
        if self.process.poll() is not None or st[1] not in "SR":
            touched.append("the process")
        if not self._shm_is_whole():
            touched.append("the segment")
        return touched

    def close(self):
        for path in [*self.files, Path(self.socket_path)]:
            path.unlink(missing_ok=True)
        for s in [*self.listeners, self.udp]:
            s.close()
        ctypes.CDLL(None).shmctl(self.shmid, 0, None)
        self.process.kill()
        self.process.wait()


def _cgroups():
    """{directory: inode} of every cgroup in every hierarchy."""
    found = {}
    for top in modes.hierarchies():
        for path, dirs, _ in os.walk(top):
            for name in dirs:
                if name.startswith(OURS):
                    continue  # the directory itself; what a run leaves below it counts
                full = os.path.join(path, name)
                try:
                    found[full] = os.stat(full).st_ino
                except OSError:
                    pass
    return found


def _own_memory_base():
    """Where our own belljars make their memory (v1) or unified (v2) cgroups."""
    for line in proc.read("/proc/self/cgroup").decode().splitlines():
        _, names, path = line.split(":", 2)
        if "memory" in names.split(",") or (modes.PURE_V2 and not names):
            return str(modes.CGROUP / ("" if modes.PURE_V2 else "memory")) + path
    return None


def _other_owner(path, everything):
    """Whether a `belljar.BOOT.RANDOM` directory is that of another belljar: one that is alive (it
    holds the lock), or one that started from another memory cgroup than ours."""
    names = [part for part in path.split("/") if part.startswith("belljar.")]
    if not names:
        return False
    same = [p for p in everything if p.endswith("/" + names[0])]
    for p in same:
        try:
            fd = os.open(p, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(fd)
    bases = {os.path.dirname(p) for p in same if "/memory/" in p}
    ours = {_own_memory_base(), *(b for b in bases if "/bjt-" in b)}
    return bool(bases) and not bases & ours


def _in_use(path):
    """Whether a file of claims has a lock: its last user removes it, and another belljar still is one."""
    if os.path.basename(path) != "uids":
        return False
    try:
        with open(path, "rb") as f:
            asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            return struct.unpack("hhqqi4x", fcntl.fcntl(f, fcntl.F_GETLK, asked))[0] != fcntl.F_UNLCK
    except OSError:
        return False


def _strangers(path, everything):
    """Whether a cgroup belongs to processes that are not ours."""
    if _other_owner(path, everything):
        return True
    mine = set(proc.descendants())
    for top, _, _ in os.walk(path):
        for pid in proc.read(os.path.join(top, "cgroup.procs")).split():
            if int(pid) and int(pid) not in mine:
                return True
    return False


def _mounts():
    return set(proc.read("/proc/self/mountinfo").decode().splitlines())


def _is_watched(directory, name):
    if name.startswith(OURS):
        return False
    if name.startswith(STATE_NAMES):
        return True
    # A shared directory has other users. What a script could leave there belongs to an id of its
    # own, never to root; what belljar leaves has its name.
    try:
        owner = os.lstat(os.path.join(directory, name)).st_uid
    except OSError:
        return False
    return directory in ("/tmp", "/var/tmp", "/dev/shm") and owner != 0


def _files(homes=()):
    found = set()
    for directory in WATCHED:
        try:
            names = os.listdir(directory)
        except OSError:
            continue
        for name in names:
            if _is_watched(directory, name):
                found |= _tree(os.path.join(directory, name))
    for home in homes:
        found |= _tree(str(home))
    return found - BY_DESIGN


# Records and artifacts are there to stay; scripts have no way to write to them.
KEPT = re.compile(r"^/var/lib/belljar(/|$)|^/[^.]+/\.local(/state(/belljar(/.*)?)?)?$")


def _tree(path):
    return {found for found in _whole_tree(path) if not KEPT.search(found)}


def _whole_tree(path):
    found = {path}
    for top, dirs, files in os.walk(path):
        found.update(os.path.join(top, n) for n in dirs + files)
    return found


def _host_cores():
    """Where a core file would fall: the directory the test started belljar in."""
    return {n for d in ("/", os.getcwd()) for n in os.listdir(d) if n.startswith("core")}


def _devices():
    """{path: (mode, uid, gid)} of the nodes that a jar shows: binds of the host's own."""
    found = {}
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        st = os.stat("/dev/" + name)
        found["/dev/" + name] = (st.st_mode & 0o7777, st.st_uid, st.st_gid)
    return found


CREATOR = 4  # the column of /proc/sysvipc/shm


def _ipc(ours):
    """Shared memory of a living process that is not one of @ours is another test's canary."""
    found = set()
    for kind in ("shm", "sem", "msg"):
        for fields in map(bytes.split, proc.read(f"/proc/sysvipc/{kind}").splitlines()[1:]):
            creator = int(fields[CREATOR]) if kind == "shm" else 0
            if not creator or creator in ours or not proc.stat(creator):
                found.add(kind + fields[1].decode())
    return found


class Snapshot:
    """The machine as it is now. @homes are directories that must not grow; @uids are kernel uids
    that only runs of this test use; @keep are state files a run may leave by design."""

    def __init__(self, homes=(), uids=(), keep=()):
        self.homes, self.uids, self.keep = homes, uids, keep
        proc.reap()
        self.before = self._take()
        self.devices = _devices()

    def _take(self):
        ours = set(proc.descendants())
        return {"process": ours, "cgroup": _cgroups(), "mount": _mounts(), "file": _files(self.homes),
                "core file": _host_cores(), "ipc object": _ipc({os.getpid(), *ours}),
                "uid": set(proc.owned_by(self.uids)) if self.uids else set()}

    def extra(self):
        """What is there now and was not before: [(kind, what)]."""
        proc.reap()
        now, found = self._take(), []
        for pid in now["process"] - self.before["process"]:
            if proc.stat(pid):
                found.append(("process", (pid, proc.stat(pid))))
        for path, inode in now["cgroup"].items():
            if self.before["cgroup"].get(path) != inode and not _strangers(
                    path, now["cgroup"]):
                if os.path.isdir(path):
                    found.append(("cgroup", path))
        for kind in ("mount", "core file", "ipc object", "uid"):
            found += [(kind, what) for what in now[kind] - self.before[kind]]
        found += [("device", f"{path} is {now}, was {self.devices[path]}")
                  for path, now in _devices().items() if now != self.devices[path]]
        found += [("file", what) for what in now["file"] - self.before["file"]
                  if not what.startswith(tuple(self.keep) or ("\0",)) and not _in_use(what)]
        return found

    def _repair(self):
        """A device node that was changed would break the machine for everyone: put it back."""
        for path, (mode, uid, gid) in self.devices.items():
            if _devices()[path] != (mode, uid, gid):
                os.chown(path, uid, gid)
                os.chmod(path, mode)

    def settled(self, patience=PATIENCE):
        """The extras that do not go away by themselves within @patience seconds."""
        end = time.monotonic() + patience
        found = self.extra()
        while found and time.monotonic() < end:
            time.sleep(0.02)
            found = self.extra()
        return found

    def assert_unchanged(self, patience=PATIENCE):
        left = self.settled(patience)
        self._repair()
        assert not left, "left behind: " + "; ".join(f"{k} {w}" for k, w in left[:10])


def verify(canaries, snapshot, done, sanitized=False):
    """All of the oracle that does not depend on the case; AssertionError names what broke."""
    touched = canaries.untouched()
    assert not touched, f"the script reached {touched}"
    for stream in (done.out, done.err):
        assert canaries.token.encode() not in stream, "the script read a canary"
    snapshot.assert_unchanged()
    if not sanitized:
        assert done.peak_kib < LIMIT_KIB, f"belljar grew to {done.peak_kib} KiB"


if __name__ == "__main__":
    sys.exit("this is a library: run pytest tests/abuse")
