# SPDX-License-Identifier: Apache-2.0
"""The deadline on a loaded machine: no user instruction runs 10 ms after it. SCRP-07.

The script writes the time in a tight loop in four processes, so the last time that one of them wrote
is the last moment it ran. The launcher writes the script's file and starts the clock in the next moment, so
the file tells when that was, or up to a tick of the kernel earlier. Memory is given back later: when the kernel has
reaped the script.
"""
import os
import statistics
import subprocess

import pytest
from harness import run

RUNS = 200 if run.FULL else 30
LIMIT_MS = 10.0
SECONDS = 0.5

TICKS = """
stat -c 'written %.9Y' "$0"
tick() {
	while :; do
		echo "$EPOCHREALTIME"
		for i in {1..20}; do :; done
	done
}
for i in 1 2 3; do tick & done
tick
"""


@pytest.fixture
def load():
    """Busy loops beside the script, ended by pid."""
    hogs = [subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"]) for _ in range(4)]
    yield hogs
    for hog in hogs:
        hog.kill()
        hog.wait()


def overshoot(mode, script, cpus):
    """Milliseconds after the deadline: until the last instruction that left a trace, and until the kernel had
    reaped the script."""
    r = mode.json("--timeout", str(SECONDS), "--cpus", cpus, "--max-output", "16M", script).record
    assert r["cause"] == "timeout", r["error"]
    lines = r["stdout"].split()
    written = float(lines[lines.index("written") + 1])
    ticks = [float(l) for l in lines if len(l) == 17]
    assert len(ticks) > 20, "the script hardly ran"
    return (max(ticks) - written - SECONDS) * 1000, r["duration_ms"] - SECONDS * 1000


def summary(what, late):
    late = sorted(late)
    p99 = late[min(len(late) - 1, int(len(late) * 0.99))]
    return (f"{what} after the deadline, {len(late)} runs: median {statistics.median(late):.2f} ms, "
            f"p99 {p99:.2f} ms, worst {late[-1]:.2f} ms")


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_overshoot_as_root_under_load(root, place, load, clean, record_property, progress):
    script = place / "ticks.sh"
    script.write_text(TICKS)
    # With a quota, which must be lifted for the kill, and without one.
    late = []
    for i in range(RUNS):
        late.append(overshoot(root, script, "0.5" if i % 2 else "2"))
        progress(i + 1, RUNS)
    ran, reaped = [l[0] for l in late], [l[1] for l in late]
    report = summary("last instruction", ran) + "; " + summary("reaped", reaped)
    print(report)
    record_property("overshoot", report)
    path = os.environ.get("BELLJAR_REPORT")
    if path:
        with open(path, "a") as f:
            f.write(report + "\n")
    assert max(ran) <= LIMIT_MS, report
    assert statistics.median(reaped) <= LIMIT_MS, report
    assert min(reaped) >= 0, report


def test_output_so_far_is_returned(root, place):
    """What was written before the deadline is there, unflushed Python buffers aside."""
    script = place / "s.py"
    script.write_text("import sys, time\nfor i in range(50000): sys.stdout.write('%06d\\n' % i)\n"
                      "sys.stdout.flush()\ntime.sleep(60)\n")
    done = root.run("--timeout", "1", script)
    assert done.status == 124
    lines = done.out.split()
    assert lines[0] == b"000000"


def test_timeout_counts_wall_time_of_every_kind(root, place):
    """Sleeping, spinning, waiting and being stopped all count."""
    for text in ("sleep 60", "while :; do :; done", "read -r x < <(sleep 60)", "kill -STOP $$"):
        script = place / "s.sh"
        script.write_text(text + "\n")
        r = root.run("--json", "--policy", "off", "--timeout", "0.3", script).record
        assert r["cause"] == "timeout" and 300 <= r["duration_ms"] < 600, (text, r["duration_ms"])
