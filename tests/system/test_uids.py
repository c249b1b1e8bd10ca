# SPDX-License-Identifier: Apache-2.0
"""Every live jar has a kernel uid of its own, also when two belljars run at once (SCRP-05)."""
import os
import pathlib
import subprocess

import pytest

TOP = pathlib.Path(__file__).parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))
SCRIPT = "print('up', flush=True)\nimport sys\nsys.stdin.read()\n"


def script_uids(pid):
    """The kernel uids of the python3 processes below @pid."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    found = set()
    for child in children:
        found |= script_uids(child)
        if pathlib.Path(f"/proc/{child}/comm").read_text() == "python3\n":
            status = pathlib.Path(f"/proc/{child}/status").read_text()
            found.add(int(status.split("Uid:")[1].split()[0]))
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user may have one uid only")
def test_two_belljars_do_not_share_uids(tmp_path):
    script = tmp_path / "wait.py"
    script.write_text(SCRIPT)
    command = [BELLJAR, "run", "--no-service", "--policy", "off", "--stdin", "-", str(script)]
    runs = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for run in runs:
            assert run.stdout.readline() == b"up\n"
        uids = [script_uids(run.pid) for run in runs]
        assert all(len(found) == 1 for found in uids), uids
        assert uids[0] != uids[1]
        assert all(uid >= 1900000000 for found in uids for uid in found)
    finally:
        for run in runs:
            run.communicate()


SQUAT = """
import socket, subprocess, sys
held = []
for block in range(256):
    held.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    held[-1].bind("\\0belljar.uids.%d" % (1900000000 + block * 4096))
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace")
def test_without_free_uids_nothing_runs(tmp_path):
    """When every block of uids is taken, root refuses; its jars do not share one (SCRP-05)."""
    script = tmp_path / "x.py"
    script.write_text("print('ran')\n")
    done = subprocess.run(["unshare", "-n", "/usr/bin/python3", "-c", SQUAT, BELLJAR, "run", "--no-service", script],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 125
    assert done.stdout == "" and "no user ids are free" in done.stderr
