# SPDX-License-Identifier: Apache-2.0
"""Whatever dies, and whenever: nothing is left after the next sweep."""
import os
import pathlib
import random
import signal
import time

import pytest

from engine import wait_until

SLEEP = "import time\nprint('up', flush=True)\ntime.sleep(60)"
ROUNDS = int(os.environ.get("BELLJAR_KILL_ROUNDS", "100" if "BELLJAR_FULL" in os.environ else "10"))


def children(pid):
    found = []
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(word) for word in path.read_text().split()]
    return found


def tree(pid):
    """A process and all below it, stopped on the way so that none is missed."""
    try:
        os.kill(pid, signal.SIGSTOP)
        return [pid] + [p for child in children(pid) for p in tree(child)]
    except (ProcessLookupError, FileNotFoundError):
        return []


def kill_all(process):
    for pid in tree(process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.communicate()


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_kill_everything_at_any_moment(jar, record_property, progress):
    """DS-CLEAN SCRP-06: SIGKILL of all processes of a run, at a random moment; then one sweep."""
    chance = random.Random(7)
    for i in range(ROUNDS):
        process = jar.start(SLEEP)
        time.sleep(chance.uniform(0, 0.8))
        kill_all(process)
        jar.gc()
        assert jar.engine.leftovers() == []
        progress(i + 1, ROUNDS)
    if "BELLJAR_FULL" in os.environ:
        record_property("kills", ROUNDS)


def test_the_next_start_sweeps(jar):
    """DS-CLEAN DS-MON: a dead owner's container is removed by the next run, without being asked."""
    process = jar.start(SLEEP)
    assert process.stdout.readline() == "up\n"
    kill_all(process)
    assert len(jar.engine.containers()) == 1
    assert jar.run("print(1)")["success"]
    wait_until(lambda: not jar.engine.leftovers(), 20, "the next run swept")


def test_live_owners_are_left_alone(jar):
    """DS-CLEAN: a sweep touches only what belongs to the dead."""
    process = jar.start(SLEEP)
    assert process.stdout.readline() == "up\n"
    assert jar.gc() == 0
    assert len(jar.engine.containers()) == 1
    process.terminate()
    process.communicate()


def test_strangers_are_left_alone(jar):
    """DS-CLEAN: a container that is not ours survives a sweep."""
    status, made = jar.engine.request("POST", "/containers/create?name=stranger",
                                      {"Image": "belljar/bash:5.2", "Cmd": ["true"]})
    assert status == 201, made
    try:
        assert jar.gc() == 0
        assert "stranger" in jar.engine.containers()
    finally:
        jar.engine.request("DELETE", "/containers/stranger?force=1")


def test_expired_orphans_go_without_a_track(jar):
    """DS-CLEAN: an orphan of a machine that is gone is found by its label when its time is over."""
    for name, expires in ("belljar-old", int(time.time()) - 10), ("belljar-new", 1 << 40):
        status, _ = jar.engine.request(
            "POST", f"/containers/create?name={name}",
            {"Image": "belljar/bash:5.2", "Cmd": ["true"],
             "Labels": {"belljar.owner": "x", "belljar.expires": str(expires)}})
        assert status == 201
    try:
        assert jar.gc() == 1
        assert jar.engine.containers() == ["belljar-new"]
    finally:
        jar.engine.request("DELETE", "/containers/belljar-new?force=1")


@pytest.mark.parametrize("who", ["worker", "broker"])
def test_each_part_may_die(jar, who):
    """DS-CLEAN: the broker cleans up after a worker, and a worker after its broker."""
    process = jar.start(SLEEP)
    assert process.stdout.readline() == "up\n"
    [broker] = children(process.pid)
    [worker] = children(broker)
    os.kill(worker if who == "worker" else broker, signal.SIGKILL)
    out, err = process.communicate(timeout=30)
    assert process.returncode != 0, (out, err)
    wait_until(lambda: not jar.engine.leftovers(), 20, "the container is gone")
    jar.gc()
