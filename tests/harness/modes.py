# SPDX-License-Identifier: Apache-2.0
"""Who runs belljar and with which cgroups. A mode is one line in MODES."""
import contextlib
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from harness import run

CGROUP = Path("/sys/fs/cgroup")
PURE_V2 = (CGROUP / "cgroup.controllers").exists()
V1 = ("memory", "pids", "cpu", "cpuacct", "cpu,cpuacct", "unified")


def hierarchies():
    """The mounted cgroup hierarchies of this machine."""
    if PURE_V2:
        return [CGROUP]
    return [p for p in sorted(CGROUP.iterdir()) if p.is_dir() and not p.is_symlink()]


BUSY = 1  # useradd and userdel: somebody else holds the lock of /etc/passwd, or of a file beside it


def change_users(*command, check=True, seconds=30):
    """Run useradd or userdel, again while another run on this machine is at it."""
    until = time.monotonic() + seconds
    while True:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != BUSY or time.monotonic() > until:
            break
        time.sleep(0.1)  # nobody tells when that lock is free
    if check and done.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()}")


class User:
    """An ordinary user with a random name, a home and a readable copy of the binary; with ranges of
    subordinate ids or with its one uid."""

    def __init__(self, binary, subids=True):
        sweep_users()
        self.name = f"bjt{os.getpid()}-{secrets.token_hex(3)}"
        self.dir = Path(tempfile.mkdtemp(prefix="bjt-"))
        self.dir.chmod(0o755)
        self.home = self.dir / "home"
        self.cgroup = f"/bjt-{os.getpid()}-{secrets.token_hex(3)}"
        self.cgroup_dirs = []
        self.binary = Path(shutil.copy(binary, self.dir / "belljar"))
        self.binary.chmod(0o755)
        none = [] if subids else ["--key", "SUB_UID_COUNT=0", "--key", "SUB_GID_COUNT=0"]
        change_users("useradd", "--no-create-home", "--home-dir", self.home, "--user-group",
                     "--shell", "/usr/sbin/nologin", *none, self.name)
        self.uid = int(subprocess.check_output(["id", "-u", self.name]))
        self.gid = int(subprocess.check_output(["id", "-g", self.name]))
        self.home.mkdir(mode=0o700)
        os.chown(self.home, self.uid, self.gid)
        self._delegate()

    def _delegate(self):
        for top in [CGROUP] if PURE_V2 else [CGROUP / n for n in V1 if (CGROUP / n).is_dir()]:
            if PURE_V2:
                (top / "cgroup.subtree_control").write_text("+memory +pids +cpu")
            path = top / self.cgroup[1:]
            path.mkdir()
            self.cgroup_dirs.append(path)
            self._give(path)
            if PURE_V2:
                (path / "caller").mkdir()
                self._give(path / "caller")

    def _give(self, path):
        for target in (path, path / "cgroup.procs", path / "tasks", path / "cgroup.threads",
                       path / "cgroup.subtree_control"):
            if target.exists():
                os.chown(target, self.uid, self.gid)

    def place(self):
        """Where the caller itself must stand so that it may move children below."""
        if PURE_V2:
            return CGROUP / self.cgroup[1:] / "caller/cgroup.procs"
        unified = CGROUP / "unified" / self.cgroup[1:]
        return unified / "cgroup.procs" if unified.is_dir() else None

    def become(self, delegated):
        place = self.place() if delegated else None

        def enter():
            if place:
                place.write_text("0")
            os.setgroups([])
            os.setresgid(self.gid, self.gid, self.gid)
            os.setresuid(self.uid, self.uid, self.uid)
        return enter

    def close(self):
        for path in self.cgroup_dirs:
            remove_cgroups(path)
        change_users("userdel", "--force", self.name, check=False)
        shutil.rmtree(self.dir, ignore_errors=True)


def remove_cgroups(path):
    """Remove a cgroup directory of ours with all below it, deepest first."""
    for top, _, _ in os.walk(path, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(top)


def sweep_users():
    """Remove users and cgroups of test runs that were killed."""
    for top in hierarchies():
        for path in top.glob("bjt-*-??????"):
            if not Path(f"/proc/{path.name.split('-')[1]}").exists():
                remove_cgroups(path)
    passwd = Path("/etc/passwd").read_text()
    for name in re.findall(r"^(bjt(\d+)-[0-9a-f]{6}):", passwd, re.M):
        if not Path(f"/proc/{name[1]}").exists():
            change_users("userdel", "--force", name[0], check=False)


class Mode:
    """One way to run: as whom, with which settings."""

    def __init__(self, name, rootless=False, delegated=False, require="full", flags=(), uid="own"):
        self.name = name
        self.uid = uid  # what the result says of the kernel uids of jars
        self.rootless = rootless
        self.delegated = delegated
        self.require = require
        self.flags = list(flags)
        self.user = None
        self.binary = run.BINARY

    def bind(self, user):
        """Give a rootless mode its user."""
        if self.rootless:
            self.user = user
            self.binary = user.binary
        return self

    @property
    def full(self):
        return self.require == "full"

    def settings(self):
        """What makes the mode, as variables."""
        env = {}
        if self.delegated:
            env["BELLJAR_NATIVE_CGROUP"] = self.user.cgroup
        if self.require != "full":
            env["BELLJAR_NATIVE_REQUIRE"] = self.require
        return env

    def env(self, **extra):
        env = run.environment()
        if self.user:
            env.update(HOME=str(self.user.home), USER=self.user.name, LOGNAME=self.user.name)
        else:
            env.update(HOME="/root", USER="root", LOGNAME="root")
        env.update(self.settings())
        env.update(extra)
        return env

    def start(self, *args, env=None, verb="run", binary=None, **kw):
        """Start `belljar run ARGS` in this mode."""
        argv = [binary or self.binary, verb, *self.flags, *args]
        enter = self.user.become(self.delegated) if self.user else None
        kw.setdefault("cwd", "/")
        return run.Started(argv, self.env(**(env or {})), enter=enter, **kw)

    def run(self, *args, timeout=60.0, **kw):
        return self.start(*args, **kw).finish(timeout)

    def json(self, *args, **kw):
        """Run with --json and checks off: containment never depends on them."""
        return self.run("--json", "--policy", "off", *args, **kw)

    def __repr__(self):
        return self.name


MODES = {
    "root": lambda: Mode("root"),
    "rootless": lambda: Mode("rootless", rootless=True, delegated=True),
    "basic": lambda: Mode("basic", rootless=True, require="basic"),
    # No range in /etc/subuid: a script has the uid of its jar's init.
    "one-uid": lambda: Mode("one-uid", rootless=True, delegated=True, uid="shared"),
    # A profile of the caller's that allows everything: what no profile may give back stays refused.
    "floor": lambda: Mode("floor", flags=["--seccomp", run.ROOT / "tests/abuse/lib/allow-all.json"]),
}
