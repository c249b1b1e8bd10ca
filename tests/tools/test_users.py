# SPDX-License-Identifier: Apache-2.0
"""The users of tests: made and removed although others change /etc/passwd meanwhile."""
import os
import pathlib
import pwd
import secrets
import threading
import time

import pytest

from harness.modes import change_users

LOCK = pathlib.Path("/etc/passwd.lock")


@pytest.mark.skipif(os.geteuid() != 0, reason="makes users")
def test_the_lock_of_others_is_waited_for():
    name = f"bjt{os.getpid()}-{secrets.token_hex(3)}"
    LOCK.write_text(f"{os.getpid()}\0")  # as useradd writes it: the pid of one that lives
    free = threading.Timer(0.5, LOCK.unlink)
    start = time.monotonic()
    free.start()
    try:
        change_users("useradd", "--no-create-home", name)
        assert time.monotonic() - start > 0.4
        assert pwd.getpwnam(name)
    finally:
        free.join()
        change_users("userdel", "--force", name, check=False)
    with pytest.raises(KeyError):
        pwd.getpwnam(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="makes users")
def test_what_never_can_be_is_said():
    with pytest.raises(RuntimeError, match="useradd ended with"):
        change_users("useradd", "--no-create-home", "root")
