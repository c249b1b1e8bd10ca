# SPDX-License-Identifier: Apache-2.0
"""What a crash or a full disk leaves: no answered run lost, no half artifact, nothing that lies."""
import ctypes
import json
import os
import random
import re
import signal
import subprocess
import threading
import time

import pytest

from keeping import AGENT, BELLJAR, Place

ROUNDS = 200 if os.environ.get("BELLJAR_FULL") == "1" else 15


def settled(place):
    """No run is left under way once somebody looked; the database is whole."""
    rows = place.history("--limit", "10000")
    assert place.database().execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert not [r for r in rows if r["state"] in ("running", "queued")], rows[:3]
    return {r["id"]: r for r in rows}


def check_artifacts(place, rows):
    for folder, files in place.artifacts().items():
        assert not folder.startswith("."), folder
        assert json.loads(files["result.json"])["result"]["id"] == folder.rsplit("-", 1)[1]


def load(service, answered, stop, rng):
    """Ask until the service is gone; note every id that was answered, and how."""
    while not stop.is_set():
        kind = rng.randrange(4)
        try:
            if kind == 0:
                answer = service.run("print(1)")
            elif kind == 1:
                answer = service.run("raise SystemExit(4)")
            elif kind == 2:
                answer = service.run("sleep 0.05", "bash", headers={"Prefer": "respond-async"})
            else:
                answer = service.run("print('x' * 30000)")
        except Exception as e:  # the service died under it
            if isinstance(e, AssertionError):
                raise
            return
        if answer.status in (200, 202):
            answered.append((answer.json["id"], answer.status, answer.json.get("cause")))


def kill_hard(service):
    """The front, and then the keeper: at any instruction."""
    for pid in [*service.processes(), service.process.pid]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    service.process.wait()


@pytest.mark.timeout(1800)
def test_killed_at_any_moment(place, record_property):
    """AUDIT, SX-ART: SIGKILL under load; whatever was answered is on record, the rest is interrupted."""
    answered = []
    for round_ in range(ROUNDS):
        rng = random.Random(round_)
        service = place.serve("warm: {slots: 2}\n")
        stop = threading.Event()
        threads = [threading.Thread(target=load, args=(service, answered, stop, random.Random(round_ * 7 + i)))
                   for i in range(3)]
        for t in threads:
            t.start()
        time.sleep(rng.uniform(0.02, 0.5))
        kill_hard(service)
        stop.set()
        for t in threads:
            t.join()
    rows = settled(place)
    assert answered
    for run, status, cause in answered:
        assert run in rows, run
        if status == 200:
            assert (rows[run]["state"], rows[run]["cause"]) == ("finished", cause)
        else:
            assert rows[run]["state"] in ("finished", "interrupted")
    check_artifacts(place, rows)
    record_property("kills", ROUNDS)
    record_property("answered runs", len(answered))


def test_a_dead_owner_is_interrupted_and_a_live_one_is_not(place):
    slow = place.script("import time; print('up', flush=True); time.sleep(60)")
    started = [subprocess.Popen([BELLJAR, "run", "--no-service", slow], env=place.env, stdout=subprocess.PIPE)
               for _ in range(2)]
    for it in started:
        assert it.stdout.readline() == b"up\n"
    assert {r["state"] for r in place.history()} == {"running"}
    started[0].kill()
    started[0].wait()
    assert sorted(r["state"] for r in place.history()) == ["interrupted", "running"]
    started[1].terminate()
    started[1].wait()
    assert sorted(r["state"] for r in place.history()) == ["finished", "interrupted"]


@pytest.fixture
def tiny(tmp_path):
    """A state directory on a file system of 12 MiB, in a mount namespace of this test's own thread."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0:
        pytest.skip("mounts: run it as root")
    top = tmp_path / "tiny"
    top.mkdir()
    assert libc.mount(b"bjtest", bytes(top), b"tmpfs", 0, b"size=12m,mode=0700") == 0
    it = Place(tmp_path)
    it.state = top / "state"
    it.env["BELLJAR_STATE_DIR"] = str(it.state)
    yield it, top
    it.stop()
    assert libc.umount2(bytes(top), 2) == 0


def fill_up(top):
    fd = os.open(top / "ballast", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        while True:
            os.write(fd, bytes(4096))
    except OSError:
        os.close(fd)


def test_a_full_disk_refuses_new_runs_and_loses_none(tiny):
    """A clear error before anything runs; a run that began is finished on record."""
    place, top = tiny
    place.run("print(1)")
    slow = place.script("import sys; print('up', flush=True); sys.stdin.readline(); print('y' * 15000)")
    under_way = subprocess.Popen([BELLJAR, "run", "--no-service", "--stdin", "-", "--json", slow], env=place.env,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    until = time.monotonic() + 20
    while "running" not in {r["state"] for r in place.history()}:
        assert time.monotonic() < until
    fill_up(top)
    out, _ = under_way.communicate("go\n", timeout=30)
    result = json.loads(out)
    assert result["success"] is True
    assert place.show(result["id"])["cause"] == "exited"
    fill_up(top)
    refused = place.run("print('must not run')")
    assert refused.returncode == 125 and refused.stdout == "" and "space" in refused.stderr.lower(), refused
    (top / "ballast").unlink()
    assert place.run("print(2)").stdout == "2\n"
    assert place.database().execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_a_service_on_a_full_disk(tiny):
    """503 and Retry-After while it is full; everything answered before is there; then it goes on."""
    place, top = tiny
    service = place.serve()
    good = [service.run(f"print({i})").json["id"] for i in range(5)]
    fill_up(top)
    statuses = []
    for _ in range(30):
        answer = service.run("print('x' * 18000)")
        statuses.append(answer.status)
        if answer.status == 200:
            good.append(answer.json["id"])
        if answer.status == 503:
            assert "Retry-After" in answer.headers
    assert 503 in statuses and set(statuses) <= {200, 503, 500}, statuses
    failed = re.search(r"^belljar_store_errors_total (\d+)$", service.ask("GET", "/metrics").body.decode(), re.M)
    assert int(failed[1]) > 0, "nobody who watches would hear of it"
    (top / "ballast").unlink()
    assert service.run("print(3)").status == 200
    rows = {r["id"] for r in place.history("--limit", "500")}
    assert set(good) <= rows
    assert not [f for f in place.artifacts() if f.startswith(".")]
