# SPDX-License-Identifier: Apache-2.0
"""The abuse matrix of tests/abuse in containers, all checks off: the same scripts end the same way, bait
on the host stays untouched, and no container, volume, network or file is left.

Proves SX-DOCKER, DS-CLEAN, SCRP-03, SCRP-04, SCRP-05, SCRP-06, SCRP-07, SX-OUT, DS-FS, DS-SEC.
"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time
from types import SimpleNamespace

import oracle
import pytest
from test_abuse import CASES, check_out, check_outcome

from engine import wait_until
from runner import BELLJAR

HERE = pathlib.Path(__file__).parent
ABUSE = HERE.parent / "abuse"

# All of them in `make soak`; in `make test` one of each kind.
FULL = "BELLJAR_FULL" in os.environ
SOME = ["01_secrets.py", "02_write.py", "03_fds.py", "04_links.py", "05_proc_root.py", "06_exec_tmp.py",
        "11_kill_all.py", "12_daemon.py", "13_bomb.py", "14_ignore.py", "18_userns.py", "19_mount.py",
        "21_to_24_calls.py", "27_network.py", "30_oom.py", "31_full.sh", "34_sleep.py", "37_flood.py",
        "38_forge.py", "40_obfuscated.sh"]

# Where a container ends a script in another way than a jar.
SAME_USER = {"expect": {"any": [{"cause": "exited"}, {"cause": "signal"}, {"cause": "pids"}]}}
DIFFERS = {
    # Helper and script share a user: a script that kills all it can kill, kills the helper.
    "11_kill_all.py": SAME_USER,
    # A chain that runs on is counted against the limit of processes until its end.
    "12_respawn.py": SAME_USER,
}

# What a jar refuses and a container grants: lines of the scripts' own reports, with the reason.
OWN_IMAGE = r"found /var/lib/|/var shows|open \S*/var/lib/dpkg/status"  # the image's own files, not the host's
SYSFS = r"open \S*/sys/kernel/debug|/sys/"                   # read-only and empty
INIT = r"/proc/1/|1's \w+ can be opened|of init"            # the engine's init is the script's user
GRANTED = {
    "01_search.sh": OWN_IMAGE + r"|^/var/lib/", "01_secrets.py": OWN_IMAGE + "|" + SYSFS,
    # To open it is not to write it: that takes a capability.
    "02_write.py": INIT + r"|/proc/self/uid_map",
    "03_fds.py": INIT, "05_proc_root.py": INIT, "15_ptrace.py": INIT, "16_priority.py": INIT,
    "20_setns.py": INIT,
    # There is no terminal to push to: the kernel says so instead of the profile.
    "25_tty.py": r"ioctl .* gave -1, (ENOTTY|EBADF)",
}


def grant(name, record):
    """Take what a container may grant out of a report; what is left must be nothing."""
    lines = record["stdout"].splitlines()
    left = [line for line in lines if not re.search(GRANTED[name], line)]
    if len(left) == len(lines):
        return record["exit_code"]
    if not any("ESCAPE" in line for line in left):
        left = [re.sub(r", escaped \d+", ", escaped 0", line) for line in left]
        record["exit_code"] = 0
    record["stdout"] = "\n".join(left) + "\n"
    return record["exit_code"]


@pytest.fixture(scope="module")
def bait():
    canaries = oracle.Canaries()
    yield canaries
    canaries.close()


@pytest.mark.soak
@pytest.mark.parametrize("name", [n for n in CASES if FULL or n in SOME])
def test_case(jar, bait, tmp_path, name):
    case = {**CASES[name], **DIFFERS.get(name, {})}
    script = pathlib.Path(shutil.copy(ABUSE / "cases" / name, tmp_path))
    probe = shutil.copy(ABUSE / "lib/probe.py", tmp_path)
    inputs = ["--in", probe] if script.suffix == ".py" else []
    if name == "10_same_place.py":
        inputs += ["--in", shutil.copy(ABUSE / "lib/residue.py", tmp_path)]
    out = ["--out", str(tmp_path / "o")] if "out" in case else []
    (tmp_path / "o").mkdir()
    if "before" in case:
        assert jar.run((ABUSE / "lib" / case["before"]).read_text(), "--policy", "off")["success"]
    started = time.monotonic()
    words = [BELLJAR, "run", "--no-service", "--json", "--policy", "off", *inputs, *bait.env,
             "--env", "CANARY_HOST=" + socket.gethostname(), *map(str, case.get("args", ())), *out,
             str(script)]
    done = subprocess.run(words, env={**jar.env, "SECRET_TOKEN": bait.token}, capture_output=True,
                          timeout=case.get("seconds", 20) + 60, check=False)
    assert done.stdout, done.stderr
    record = json.loads(done.stdout)
    status = grant(name, record) if name in GRANTED else done.returncode
    run = SimpleNamespace(record=record, status=status, stderr=done.stderr,
                          # A container costs more to make than a jar.
                          seconds=time.monotonic() - started - 10)
    assert bait.untouched() == []
    assert bait.token.encode() not in done.stdout + done.stderr
    check_outcome(case, run)
    assert record["meta"]["cleanup_success"] and record["meta"]["runtime"] == "docker"
    if "out" in case:
        check_out(case["out"], tmp_path / "o", record)
    wait_until(lambda: not jar.engine.leftovers(), 20, "nothing is left")


