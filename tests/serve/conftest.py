# SPDX-License-Identifier: Apache-2.0
"""Services for the tests: one shared by a file, and as many more as a test starts."""
import ctypes
import os
import pathlib
import tempfile

import pytest

from serving import Service

STATE = pathlib.Path("/var/lib/belljar")


def pytest_configure(config):
    """Every service and program here has a state directory of its own: the machine's is shut away
    for as long as this process lives, so that whoever reaches for it fails."""
    if os.geteuid() != 0 or config.option.collectonly:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    STATE.mkdir(mode=0o700, exist_ok=True)
    if (libc.unshare(0x20000) != 0 or libc.mount(None, b"/", None, 1 << 18 | 1 << 14, None) != 0 or
            libc.mount(b"bjtest", bytes(STATE), b"tmpfs", 1 | 2 | 4, b"mode=0500") != 0):
        raise OSError(ctypes.get_errno(), f"cannot shut {STATE} away")


@pytest.fixture
def serve():
    """Start services; all are stopped at the end."""
    started = []

    def start(*args, **kwargs):
        started.append(Service(*args, **kwargs))
        return started[-1]

    yield start
    for service in started:
        service.stop()


@pytest.fixture(scope="module")
def open_folder():
    """A folder that other users may enter. Those of pytest are shut whenever another pytest starts."""
    with tempfile.TemporaryDirectory(prefix="bj-open-") as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


@pytest.fixture(scope="module")
def service():
    it = Service().ready()
    yield it
    it.stop()
