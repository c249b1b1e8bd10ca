# SPDX-License-Identifier: Apache-2.0
"""Services and command lines with a state directory of their own."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serve"))

import pytest  # noqa: E402

from keeping import Place  # noqa: E402


@pytest.fixture
def place(tmp_path):
    it = Place(tmp_path)
    yield it
    it.stop()
