# SPDX-License-Identifier: Apache-2.0
"""Memory and descriptors of the supervisor stay flat over many runs."""
import os
import time

import pytest
from harness import proc, run

RUNS = 10000 if run.FULL else 250
MIB = 1024


def fds(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def watch(started, out, progress):
    """Samples of the long-lived processes: {pid: [(records so far, RSS KiB, fds)]}."""
    series = {}
    while started.popen.poll() is None:
        count = out.stat().st_size
        for pid in started.roles():
            series.setdefault(pid, []).append((count, proc.status_kib(pid, "VmRSS"), fds(pid)))
        progress(f"{count} bytes of results", f"{RUNS} runs")
        time.sleep(0.05 if RUNS < 1000 else 0.5)
    longest = max(map(len, series.values()))
    # With the last result out, the records of all are brought in: that is no run any more.
    end = out.stat().st_size
    return {pid: [sample for sample in s if sample[0] < end] for pid, s in series.items() if len(s) > longest * 0.6}


@pytest.mark.soak
@pytest.mark.unsanitized
@pytest.mark.timeout(1800)
def test_flat_over_many_runs(root, place, clean, record_property, progress):
    script = place / "s.sh"
    script.write_text("echo hello\n")
    out = place / "records"
    with open(out, "wb") as f:
        started = root.start("--quiet", "--json", "--jobs", "4", *[script] * RUNS, stdout=f)
        series = watch(started, out, progress)
        done = started.finish(1700)
    assert done.status == 0, done.err[-500:]
    lines = out.read_bytes().splitlines()
    assert len(lines) == RUNS and all(b'"hello\\n"' in l for l in lines)
    assert started.pid in series
    record_property("runs", RUNS)
    for pid, samples in series.items():
        third = len(samples) // 3
        early, late = samples[third // 2:third + 1], samples[-third:]
        # A sample may meet two jars more on their way out; a leak grows with every run.
        for what, index, slack in (("memory", 1, 2 * MIB), ("descriptors", 2, 40)):
            if what == "memory" and run.counted(run.BINARY):
                continue
            a, b = max(s[index] for s in early), max(s[index] for s in late)
            record_property(f"{what} of process {list(series).index(pid)}", f"{a} then {b}")
            assert b <= a + slack, f"{what} of pid {pid} grew from {a} to {b}"
