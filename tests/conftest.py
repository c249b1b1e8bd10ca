# SPDX-License-Identifier: Apache-2.0
"""What holds for every stage."""
import os


def pytest_collection_modifyitems(config, items):
    """`make sanitize` leaves out what is marked unsanitized."""
    if os.environ.get("BELLJAR_SANITIZED") != "1":
        return
    out = [i for i in items if i.get_closest_marker("unsanitized")]
    config.hook.pytest_deselected(items=out)
    items[:] = [i for i in items if i not in out]
