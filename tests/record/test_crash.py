# SPDX-License-Identifier: Apache-2.0
"""What a crash or a full disk leaves: no answered run lost, no half artifact, nothing that lies."""
import collections
import ctypes
import fcntl
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import threading
import time

import pytest

import disks
from keeping import BELLJAR, Place

FULL = os.environ.get("BELLJAR_FULL") == "1"
KILLS = int(os.environ.get("BELLJAR_SERVICE_KILLS", 200 if FULL else 6))
PIECE = 50  # kills of one test: each must end in time on a slow machine
TENANT = {"concurrency": 8, "cpu_seconds": 1000000}


def settled(place):
    """No run is left under way once somebody looked; the database is whole."""
    rows = place.history("--limit", "10000")
    assert place.database().execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert not [r for r in rows if r["state"] in ("running", "queued")], rows[:3]
    return {r["id"]: r for r in rows}


class Answers:
    """What clients were told, and must find again."""

    def __init__(self):
        self.ended = {}      # run: cause
        self.accepted = []   # 202
        self.decided = {}    # run: approved or denied
        self.statuses = collections.Counter()

    def take(self, answer):
        self.statuses[answer.status] += 1
        if answer.status == 200:
            self.ended[answer.json["id"]] = answer.json["cause"]
        elif answer.status == 202:
            self.accepted.append(answer.json["id"])
        else:
            assert answer.status in (429, 500, 503), answer.body
        return answer


def decide(service, answers, run, rng):
    what = rng.choice(("approve", "deny"))
    answer = service.ask("POST", f"/v1/executions/{run}/{what}", {"reason": "a crash test"})
    answers.statuses[answer.status] += 1
    if answer.status == 200:
        answers.decided[run] = what


def ask_one(service, key, answers, rng):
    head = {"Authorization": f"Bearer {key}"}
    kind = rng.randrange(6)
    if kind == 0:
        answers.take(service.run("print(1)", headers=head))
    elif kind == 1:
        answers.take(service.run("raise SystemExit(4)", headers=head))
    elif kind == 2:
        answers.take(service.run("sleep 0.02", "bash", headers={**head, "Prefer": "respond-async"}))
    elif kind == 3:
        answers.take(service.run("print('x' * 30000)", headers=head))
    elif kind == 4:
        answers.take(service.run("open('out/f', 'w').write('left')", headers=head))
    else:
        waits = answers.take(service.run(f"print({rng.random()})  # ask", headers=head, policy="strict"))
        if waits.status == 202:
            decide(service, answers, waits.json["id"], rng)


def load(service, key, answers, rng):
    """Ask until the service is gone."""
    while True:
        try:
            ask_one(service, key, answers, rng)
        except AssertionError:
            raise
        except Exception:  # it died under the request: no answer was given
            return


def kill_hard(service, rng):
    """Front, launcher and keeper in any order, at any instruction."""
    victims = [service.process.pid, *service.processes()]
    rng.shuffle(victims)
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    service.process.wait()


CONFIG = """
warm: {slots: 1}
artifacts: {files: true}
audit: {max_size: 256KiB}
approval: {rules: [ask tenant=asks, allow]}
"""


class Siege:
    """Kills under load on one disk, and what must hold after them."""

    def __init__(self, tmp_path, disk, seed):
        self.rng = random.Random(seed)
        self.disk = disk
        self.place = Place(tmp_path)
        self.place.state = disk.top / "state"
        self.place.env["BELLJAR_STATE_DIR"] = str(self.place.state)
        self.answers = Answers()
        self.refused_starts = 0

    def prepare(self):
        """A tenant whose runs go, and one whose runs wait for a person."""
        self.keys = []
        for name in ("t", "asks"):
            done = self.place.cli("tenant", "add", name, *(f"{k}={v}" for k, v in TENANT.items()))
            assert done.returncode == 0, done.stderr
            self.keys.append(self.place.cli("key", "add", "--tenant", name, "--role", "run").stdout.strip())

    def start(self):
        """A service. It may refuse a disk that fails, in a sentence; then the disk gets well."""
        if self.rng.random() < 0.2:
            self.disk.trouble(self.rng)
        try:
            return self.place.serve(CONFIG, **self.disk.env)
        except (pytest.fail.Exception, TimeoutError):
            dead = self.place.services[-1]
            assert dead.process.wait(20) == 125, dead.said()
            self.refused_starts += 1
        self.disk.peace()
        return self.place.serve(CONFIG, **self.disk.env)

    def round(self):
        service = self.start()
        threads = [threading.Thread(target=load, args=(service, self.keys[i == 3], self.answers,
                                                       random.Random(self.rng.random())))
                   for i in range(4)]
        for t in threads:
            t.start()
        if self.rng.random() < 0.5:
            self.wait_for_answers()
        time.sleep(self.rng.uniform(0.01, 0.3))
        self.disk.trouble(self.rng)
        time.sleep(self.rng.uniform(0, 0.15))
        kill_hard(service, self.rng)
        for t in threads:
            t.join()
        self.place.services.pop().stop()
        self.disk.peace()

    def wait_for_answers(self, seconds=10):
        """A busy machine may take its time; kills before the first answer alone prove little."""
        had, until = len(self.answers.ended), time.monotonic() + seconds
        while len(self.answers.ended) == had and time.monotonic() < until:
            time.sleep(0.005)

    # --- what must hold --------------------------------------------------------------------------

    def check_records(self):
        rows = settled(self.place)
        for run, cause in self.answers.ended.items():
            assert (rows[run]["state"], rows[run]["cause"]) == ("finished", cause), rows[run]
        for run in self.answers.accepted:
            assert run in rows
        for run, what in self.answers.decided.items():
            assert rows[run]["approval"] == {"approve": "approved", "deny": "denied"}[what]
        return rows

    def check_artifacts(self, rows):
        """No half folder, none without a row, no row without its folder."""
        found = self.place.artifacts()
        for folder, files in found.items():
            assert not folder.startswith("."), folder
            assert json.loads(files["result.json"])["result"]["id"] == folder.rsplit("-", 1)[1]
        with self.place.database() as db:
            named = {name for (name,) in db.execute("SELECT artifact FROM executions WHERE artifact NOT NULL")}
        assert named == set(found), (named - set(found), set(found) - named)

    def check_audit(self):
        done = self.place.cli("audit", "verify")
        assert done.returncode == 0, done.stdout + done.stderr
        lines = [json.loads(x) for x in self.place.cli("audit", "export").stdout.splitlines()]
        count = collections.Counter((x["kind"], x["data"].get("run")) for x in lines)
        for run in self.answers.ended:
            assert count["run.start", run] == 1 and count["run.finish", run] == 1, run
        for run, what in self.answers.decided.items():
            assert count["approval." + what, run] == 1, run
        return len(lines)

    def check_quotas(self):
        """Nothing is held by the dead, nothing is charged twice, nothing answered went for free."""
        with self.place.database() as db:
            assert db.execute("SELECT count(*) FROM reservations").fetchone() == (0,)
            for row in db.execute("SELECT runs, cpu_us, memory_mib_ms, output_bytes, artifact_bytes,"
                                  " cost_micros FROM usage"):
                assert min(row) >= 0, row
            charged = db.execute("SELECT coalesce(sum(runs), 0) FROM usage").fetchone()[0]
            begun = db.execute("SELECT count(*) FROM executions WHERE state IN (3, 4)").fetchone()[0]
        ran = sum(cause == "exited" for cause in self.answers.ended.values())
        assert ran <= charged <= begun

    def check(self):
        self.place.serve(CONFIG).stop()  # whoever comes next puts things right
        self.place.services.clear()
        rows = self.check_records()
        self.check_artifacts(rows)
        self.check_quotas()
        return len(rows), self.check_audit()


@pytest.fixture
def siege(tmp_path, request):
    kind, piece = request.param
    if kind != "sound" and os.geteuid() != 0:
        pytest.skip("mounts: run it as root")
    tmp_path.chmod(0o755)
    disk = disks.KINDS[kind](tmp_path / "disk")
    it = Siege(tmp_path, disk, f"{kind} {piece}")
    it.kills = min(PIECE, KILLS - piece * PIECE)
    yield it
    it.place.stop()
    disk.close()


PIECES = [(kind, piece) for kind in disks.KINDS for piece in range((KILLS + PIECE - 1) // PIECE)]


@pytest.mark.soak
@pytest.mark.timeout(230)
@pytest.mark.parametrize("siege", PIECES, indirect=True, ids=lambda p: f"{p[0]}-{p[1]}")
def test_killed_at_any_moment(siege, record_property):
    """AUDIT, SX-ART, APPROVE, TENANT: SIGKILL under load. Whatever was answered is on record, in the
    audit log and on the bill; the rest is interrupted; nothing is left half."""
    siege.prepare()
    for _ in range(siege.kills):
        siege.round()
    rows, lines = siege.check()
    assert siege.answers.ended and siege.answers.decided, siege.answers.statuses
    if siege.disk.count() is not None:
        assert siege.disk.count() > 0
        record_property("troubles of the disk", siege.disk.count())
    record_property("kills", siege.kills)
    record_property("answered runs", len(siege.answers.ended))
    record_property("decisions", len(siege.answers.decided))
    record_property("answers", dict(siege.answers.statuses))
    record_property("starts refused", siege.refused_starts)
    record_property("records", rows)
    record_property("audit lines", lines)


def test_first_runs_at_once_share_a_new_database(place):
    """Making it is the one thing for which SQLite does not wait by itself."""
    quick = place.script("print('up')")
    for turn in range(25):
        env = {**place.env, "BELLJAR_STATE_DIR": f"{place.env['BELLJAR_STATE_DIR']}-{turn}"}
        started = [subprocess.Popen([BELLJAR, "run", "--no-service", quick], env=env, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE) for _ in range(6)]
        assert [(it.communicate(timeout=30), it.returncode) for it in started] == [((b"up\n", b""), 0)] * 6


def readers(place, count):
    return [subprocess.Popen([BELLJAR, "history", "--json", "--limit", "10000"], env=place.env, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(count)]


def write_runs(place, count):
    """One run, and its lines in the journal again and again under other ids."""
    assert place.run("print(1)").returncode == 0
    with open(place.state / "records/journal", "r+b") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        last = journal.read().splitlines()[-2:]
        for _ in range(count - 1):
            run = b'"id":"%032x"' % random.getrandbits(128)
            journal.writelines(re.sub(rb'"id":"[0-9a-f]+"', run, line) + b"\n" for line in last)


def test_readers_at_once_after_a_kill(place):
    """AUDIT: readers that die in the middle of bringing lines in, a log that is not empty, and an index of it that
    nobody finished: whoever else reads waits for its turn and sees every run."""
    rng = random.Random(6)
    for turn in range(12):
        write_runs(place, 80)
        started = readers(place, 10)
        time.sleep(rng.uniform(0, 0.1))
        dead = rng.sample(started, 3)
        for it in dead:
            it.kill()
        for it in started:
            out, said = it.communicate(timeout=120)
            assert it in dead or (it.returncode, said, len(out.splitlines())) == (0, "", 80 * (turn + 1))
        assert (place.state / "records/belljar.db-wal").stat().st_size > 0
        with open(place.state / "records/belljar.db-shm", "r+b") as index:
            index.write(bytes(136))  # its header, as a death in mid-write leaves it: the next one mends it


def test_readers_wait_for_a_slow_writer(place):
    """Whoever writes may be starved or wait for its disk for longer than anybody expects."""
    assert place.run("print(1)").returncode == 0
    assert len(place.history()) == 1
    slow = sqlite3.connect(place.state / "records/belljar.db", isolation_level=None)
    slow.execute("BEGIN IMMEDIATE")
    assert place.run("print(2)").returncode == 0  # needs no database
    started = readers(place, 4)
    time.sleep(12)
    assert [it.poll() for it in started] == [None] * 4
    slow.execute("COMMIT")
    slow.close()
    assert [(len(it.communicate(timeout=60)[0].splitlines()), it.returncode) for it in started] == [(2, 0)] * 4


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


def test_a_tenant_on_a_full_disk(tiny):
    """What cannot be reserved does not run, and can be sent again: 503, not a failure of the service."""
    place, top = tiny
    assert place.cli("tenant", "add", "t", "concurrency=4").returncode == 0
    head = {"Authorization": "Bearer " + place.cli("key", "add", "--tenant", "t", "--role", "run").stdout.strip()}
    service = place.serve("approval: {rules: [allow]}\n")
    assert service.run("print(1)", headers=head).status == 200
    fill_up(top)
    answers = [service.run("print(2)", headers=head) for _ in range(20)]
    assert {a.status for a in answers} <= {200, 503} and answers[-1].status == 503, [a.status for a in answers]
    assert "Retry-After" in answers[-1].headers
    (top / "ballast").unlink()
    assert service.run("print(3)", headers=head).status == 200
