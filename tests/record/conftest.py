# SPDX-License-Identifier: Apache-2.0
"""Services and command lines with a state directory of their own."""
import ctypes
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serve"))

import pytest  # noqa: E402

from keeping import Place  # noqa: E402


def pytest_configure(config):
    """Mounts of these tests are seen by nobody else."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0 and not config.option.collectonly and (
            libc.unshare(0x20000) != 0 or libc.mount(None, b"/", None, 1 << 18 | 1 << 14, None) != 0):
        raise OSError(ctypes.get_errno(), "cannot make a private mount namespace")


@pytest.fixture
def place(tmp_path):
    it = Place(tmp_path)
    yield it
    it.stop()
