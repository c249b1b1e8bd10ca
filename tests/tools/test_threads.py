# SPDX-License-Identifier: Apache-2.0
"""QA: a test whose thread finds something wrong fails."""
import pathlib
import subprocess
import sys

INI = pathlib.Path(__file__).resolve().parents[1] / "pytest.ini"
TEST = """
import threading

def test_it():
    def look():
        assert {} == 1
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
"""


def test_a_thread_that_fails_fails_its_test(tmp_path):
    path = tmp_path / "test_thread.py"
    for number, status in ((1, 0), (2, 1)):
        path.write_text(TEST.format(number))
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-c", INI, f"--rootdir={tmp_path}", path],
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status, done.stdout
