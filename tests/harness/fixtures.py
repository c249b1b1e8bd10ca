# SPDX-License-Identifier: Apache-2.0
"""Set-up of the black-box tests: a private view of the temporary directories, the modes, a clean
machine. A conftest.py takes all of it by `from harness.fixtures import *`. The tests need root and
leave the machine as they found it."""
import ctypes
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import oracle
import pytest

from harness import modes, proc, run

__all__ = ["pytest_configure", "user", "lone_user", "root", "mode_of", "place", "clean"]

CLONE_NEWNS = 0x20000
MS_PRIVATE_REC = 1 << 18 | 1 << 14
MS_NOSUID_NODEV = 2 | 4
PRIVATE = ("/tmp", "/var/tmp", "/dev/shm")
# Where root's runs are recorded unless a test says otherwise.
STATE = "/var/lib/belljar"
_done = []


def _inside(path, parents):
    return any(os.path.commonpath([os.path.realpath(path), p]) == p for p in parents)


def _private_tmp():
    """Own, empty temporary directories: whatever is there after a run was left by it."""
    needed = [run.ROOT, run.BINARY, sys.executable, os.environ.get("GCOV_PREFIX", "/")]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0 or libc.mount(None, b"/", None, MS_PRIVATE_REC, None) != 0:
        raise OSError(ctypes.get_errno(), "cannot make a private mount namespace")
    _private_state()
    if any(_inside(p, PRIVATE) for p in needed):
        return
    for path in PRIVATE:
        if libc.mount(b"bjtest", path.encode(), b"tmpfs", MS_NOSUID_NODEV, b"mode=1777") != 0:
            raise OSError(ctypes.get_errno(), f"cannot mount a private {path}")


def _private_state():
    """Records of the tests' own runs: an empty place that goes with this process."""
    Path(STATE).mkdir(mode=0o700, exist_ok=True)
    if ctypes.CDLL(None).mount(b"bjtest", STATE.encode(), b"tmpfs", MS_NOSUID_NODEV, b"mode=0700") != 0:
        raise OSError(f"cannot mount a private {STATE}")


def pytest_configure(config):
    if _done or config.option.collectonly:
        return
    if not run.BINARY.exists():
        raise pytest.UsageError(f"{run.BINARY} is missing: run `make build` or set BELLJAR")
    _done.append(True)
    os.umask(0o022)
    # A test run that is told to stop gives back its user, cgroups and processes.
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("told to stop", 143))
    proc.become_subreaper()
    if os.geteuid() == 0:
        _private_tmp()


def _need_root():
    """Said in one place, so that the tests that need no root still run without it."""
    if os.geteuid() != 0:
        pytest.skip("makes users, cgroups and mounts: run it as root")


@pytest.fixture(scope="session")
def user():
    _need_root()
    made = modes.User(run.BINARY)
    yield made
    made.close()


@pytest.fixture(scope="session")
def lone_user():
    """One without subordinate ids."""
    _need_root()
    made = modes.User(run.BINARY, subids=False)
    yield made
    made.close()


@pytest.fixture(scope="session")
def root():
    """The plain mode: root, cold."""
    _need_root()
    return modes.MODES["root"]()


@pytest.fixture(scope="session")
def mode_of(request):
    """Modes by name; the temporary user is only made when one asks for it."""
    _need_root()
    made = {}

    def get(name):
        if name not in made:
            mode = modes.MODES[name]()
            owner = "user" if mode.uid == "own" else "lone_user"
            made[name] = mode.bind(request.getfixturevalue(owner)) if mode.rootless else mode
        return made[name]
    return get


@pytest.fixture
def place():
    """A world-readable directory for the scripts and inputs of one test."""
    path = Path(tempfile.mkdtemp(prefix="bjt-place-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def clean():
    """The machine is as it was when the test ends."""
    before = oracle.Snapshot()
    yield before
    before.assert_unchanged()
