# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of belljar at random moments: no jar lives on, and the next start sweeps the rest.
SCRP-06, DS-CLEAN."""
import os
import random
import signal
import subprocess
import time

import oracle
import pytest
from harness import proc, run

ROUNDS = 300 if run.FULL else 30
SCRIPTS = {
    "sleep.sh": "sleep 1000\n",
    "spin.py": "import os\nos.fork()\nos.fork()\nwhile True: pass\n",
    "daemon.sh": "trap '' TERM HUP INT\nfor i in 1 2 3 4; do setsid sleep 1000 & done\nwait\n",
    "quick.sh": "true\n",
    "flood.sh": "yes\n",
    "files.py": "for i in range(10**9): open(f'/tmp/{i % 5000}', 'w').write('x')\n",
}


def start(mode, place, name):
    path = place / name
    if not path.exists():
        path.write_text(SCRIPTS[name])
    flags = ("--policy", "off", "--timeout", "100")
    return mode.start(*flags, path, stdout=open(os.devnull, "wb"), stderr=open(os.devnull, "wb"))


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def gone(before):
    """Our processes that are still there, zombies collected."""
    proc.reap()
    return {p: s for p, s in proc.descendants().items() if p not in before and s[1] != "Z"}


def end_of(started, before, patience=3.0):
    """What still lives after the kill."""
    try:
        started.popen.wait(patience)
    except subprocess.TimeoutExpired:
        pass  # the front is alive: it is told with the rest
    assert proc.wait_for(lambda: not gone(before), patience, 0.005), gone(before)


def starter_of(launcher):
    """The process between front and launcher."""
    stat = proc.stat(launcher) if launcher else None
    return stat[2] if stat else None


def sweep(mode, place):
    """One more start."""
    path = place / "sweep.sh"
    path.write_text("echo swept\n")
    done = mode.run(path)
    assert (done.status, done.out) == (0, b"swept\n"), done


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("mode_name", ["root", "rootless"])
def test_kill_at_random_moments(mode_name, mode_of, place, record_property, progress):
    mode = mode_of(mode_name)
    seed = int(os.environ.get("BELLJAR_SEED", random.SystemRandom().randrange(1 << 32)))
    rng = random.Random(seed)
    print(f"BELLJAR_SEED={seed}")
    snapshot = oracle.Snapshot(homes=[mode.user.home] if mode.user else [])
    before = set(proc.descendants())
    rounds = ROUNDS // (1 if mode_name == "root" else 2)
    record_property("kills", rounds)
    for i in range(rounds):
        started = start(mode, place, rng.choice(list(SCRIPTS)))
        # Most interesting things happen in the first 40 ms.
        time.sleep(rng.choice([rng.uniform(0, 0.04), rng.uniform(0, 0.25)]))
        victims = started.roles()
        victim = started.pid if i % 2 == 0 else rng.choice(victims)
        launcher = started.launcher()
        pillars = (started.pid, launcher, starter_of(launcher))
        kill(victim)
        if victim not in pillars:
            # A helper that may have done its work: the run goes on, so the front ends, too.
            time.sleep(rng.uniform(0, 0.02))
            kill(started.pid)
        end_of(started, before)
        progress(i + 1, rounds)
    sweep(mode, place)
    snapshot.assert_unchanged()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("which", ["front", "starter", "launcher"])
def test_kill_with_many_jars(which, root, place):
    """Twenty jars under one belljar die with it."""
    snapshot = oracle.Snapshot()
    before = set(proc.descendants())
    files = []
    for i in range(20):
        path = place / f"many{i}.sh"
        path.write_text("setsid sleep 1000 & sleep 1000\n")
        files.append(path)
    started = root.start("--jobs", "20", "--policy", "off", *files,
                         stdout=open(os.devnull, "wb"), stderr=open(os.devnull, "wb"))
    sleeping = lambda: sum(1 for c, _ in proc.descendants(started.pid).values() if c == "sleep")
    assert proc.wait_for(lambda: sleeping() >= 40, 20)
    launcher = started.launcher()
    kill({"front": started.pid, "starter": starter_of(launcher), "launcher": launcher}[which])
    end_of(started, before, 5.0)
    sweep(root, place)
    snapshot.assert_unchanged()


def test_killed_launcher_is_reported(root, place):
    """The front does not hang and does not call it a success."""
    path = place / "s.sh"
    path.write_text("echo up; sleep 1000\n")
    started = root.start("--policy", "off", path)
    assert started.read_line() == b"up\n"
    launcher = started.launcher()
    assert launcher and launcher != started.pid, "the launcher is a process of its own"
    kill(launcher)
    done = started.finish(10)
    assert done.status == 125 and b"belljar" in done.err, done
    sweep(root, place)


def test_a_live_belljar_is_not_swept(root, place):
    """Two belljars on one machine do not end each other."""
    path = place / "s.py"
    path.write_text("import time\nprint('up', flush=True)\ntime.sleep(1.5)\nprint('still up')\n")
    started = root.start(path)
    assert started.read_line() == b"up\n"
    for _ in range(5):
        sweep(root, place)
    done = started.finish(20)
    assert (done.status, done.out) == (0, b"up\nstill up\n"), done
