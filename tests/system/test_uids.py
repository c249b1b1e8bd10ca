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


# Hold the claim of every block, as that many belljars would.
HOLD = """
import fcntl, os, struct, subprocess, sys
held = os.open("/run/belljar/uids", os.O_RDWR | os.O_CREAT, 0o600)
for block in range(256):
    lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 1900000000 + block * 4096, 1, 0)
    fcntl.fcntl(held, 37, lock)  # F_OFD_SETLK
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""
# In a mount namespace with a /run of its own: other tests claim blocks meanwhile.
OWN_RUN = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /run && mkdir -m 755 /run/belljar && exec "$@"', "sh"]


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a mount namespace")
def test_without_free_uids_nothing_runs(tmp_path):
    """When every block of uids is taken, root refuses; its jars do not share one (SCRP-05)."""
    script = tmp_path / "x.py"
    script.write_text("print('ran')\n")
    done = subprocess.run([*OWN_RUN, "/usr/bin/python3", "-c", HOLD, BELLJAR, "run", "--no-service", script],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 125
    assert done.stdout == "" and "no user ids are free" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace")
def test_a_claim_holds_in_every_network_namespace(tmp_path):
    """SCRP-05: two belljars of one machine do not share uids, wherever their networks are."""
    script = tmp_path / "wait.py"
    script.write_text(SCRIPT)
    command = [BELLJAR, "run", "--no-service", "--policy", "off", "--stdin", "-", str(script)]
    runs = [subprocess.Popen([*before, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for before in ([], ["unshare", "-n"])]
    try:
        for run in runs:
            assert run.stdout.readline() == b"up\n"
        uids = [script_uids(run.pid) for run in runs]
        assert uids[0] and uids[1] and not uids[0] & uids[1]
    finally:
        for run in runs:
            run.communicate()


@pytest.mark.skipif(os.geteuid() != 0, reason="acts as another user")
def test_others_cannot_take_roots_uids(tmp_path):
    """SCRP-05: an ordinary user can neither lock the claims nor put others in their place."""
    script = tmp_path / "wait.py"
    script.write_text(SCRIPT)
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c"]
    run = subprocess.Popen([BELLJAR, "run", "--no-service", "--policy", "off", "--stdin", "-", str(script)],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert run.stdout.readline() == b"up\n"
        assert os.path.exists("/run/belljar/uids")
        for attempt in (": </run/belljar/uids", ": >>/run/belljar/uids", "rm -f /run/belljar/uids", "touch /run/belljar/x"):
            assert subprocess.run([*as_nobody, attempt], capture_output=True).returncode != 0, attempt
    finally:
        run.communicate()


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a mount namespace")
def test_a_place_that_others_can_write_to_is_not_used():
    """SCRP-05: where /run/belljar is open to all, the claims go to a directory that is not."""
    bad = 'chmod 777 /run/belljar && mount -t tmpfs none /tmp && "$@" && test ! -e /run/belljar/uids && test -d /tmp/belljar-0'
    done = subprocess.run([*OWN_RUN, "sh", "-c", bad, "sh", BELLJAR, "run", "--no-service", "--language", "python", "-"],
                          input="print('ran')\n", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr
