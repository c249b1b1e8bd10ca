# SPDX-License-Identifier: Apache-2.0
"""What holds for every stage."""
import os
import sys
import time

import pytest


def pytest_collection_modifyitems(config, items):
    """`make sanitize` leaves out what is marked unsanitized."""
    if os.environ.get("BELLJAR_SANITIZED") != "1":
        return
    out = [i for i in items if i.get_closest_marker("unsanitized")]
    config.hook.pytest_deselected(items=out)
    items[:] = [i for i in items if i not in out]


@pytest.fixture
def progress(request):
    """progress(done, of): how far a long test is, on the terminal, every ten seconds of `make soak`."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    begun = last = time.monotonic()

    def tell(done, of):
        nonlocal last
        now = time.monotonic()
        if os.environ.get("BELLJAR_FULL") != "1" or now - last < 10:
            return
        last = now
        with capture.global_and_fixture_disabled():
            print(f"\n{request.node.name}: {done} of {of} after {now - begun:.0f} s", file=sys.stderr, flush=True)

    return tell
