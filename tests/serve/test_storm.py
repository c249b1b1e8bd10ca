# SPDX-License-Identifier: Apache-2.0
"""Load, sudden death under load, and long use. With BELLJAR_FULL=1 (make soak) the full counts."""
import concurrent.futures
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import signal
import sys
import threading
import time

import pytest

from serving import born, wait_until
from test_warm import children, find_nursery, find_zygote

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "abuse"))
import oracle  # noqa: E402

FULL = os.environ.get("BELLJAR_FULL") == "1"
SETTINGS = "warm: {slots: 4, bash_slots: 2, jars: 2, max: 16, preload: 'json,re,random'}\ncheck: {policy: off}\n"
CGROUPS = pathlib.Path("/sys/fs/cgroup")


def leftovers():
    """Cgroups of jars, by name."""
    return {str(p) for p in CGROUPS.rglob("belljar.*") if p.is_dir()}


def tree(pid):
    """All processes below @pid, each with its birth: over many runs, pids come again."""
    try:
        return {p for child in children(pid) for p in ((child, born(child)), *tree(child))}
    except (FileNotFoundError, ProcessLookupError):
        return set()


def alive(process):
    pid, when = process
    if born(pid) != when:
        return False
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def proof(language):
    """A script, and what only a run of it can say."""
    word = os.urandom(8).hex()
    if language == "python":
        return f"import hashlib\nprint(hashlib.sha256(b'{word}').hexdigest())", hashlib.sha256(word.encode()).hexdigest()
    return f"printf %s {word} | sha256sum | cut -c1-64", hashlib.sha256(word.encode()).hexdigest()


class Clients:
    """Threads that ask until told to stop, each on its own connection, again after a hang-up."""

    def __init__(self, service, count, languages=("python", "bash"), images=("host",)):
        self.service, self.languages, self.images = service, languages, images
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.statuses, self.wrong, self.other, self.broken = {}, [], [], 0
        self.threads = [threading.Thread(target=self.work, daemon=True) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def note(self, status, body, expected):
        with self.lock:
            self.statuses[status] = self.statuses.get(status, 0) + 1
            if status == 200 and json.loads(body)["stdout"] != expected + "\n":
                self.wrong.append(body)
            elif status not in (200, 429, 500, 503):
                self.wrong.append(body)
            elif status in (500, 503):
                self.other.append(json.loads(body)["detail"])

    def work(self):
        conn = None
        while not self.stop.is_set():
            language = random.choice(self.languages)
            script, expected = proof(language)
            try:
                conn = conn or self.service.connect(timeout=60)
                conn.request("POST", "/v1/executions", json.dumps({"script": script, "language": language,
                                                                     "image": random.choice(self.images)}),
                             {"Content-Type": "application/json"})
                answer = conn.getresponse()
                self.note(answer.status, answer.read(), expected)
                if answer.status == 429:
                    assert int(answer.headers["Retry-After"]) >= 1
                    self.stop.wait(0.05)
            except (OSError, http.client.HTTPException):
                with self.lock:
                    self.broken += 1
                conn = None
                time.sleep(0.02)

    def end(self, seconds=90):
        self.stop.set()
        for thread in self.threads:
            thread.join(seconds)
        assert not any(thread.is_alive() for thread in self.threads), "a request hangs"


def find_victim(service, victim):
    """Its pid, or None while parts are being replaced."""
    try:
        front, starter = service.processes()
        if victim == "front":
            return front
        if victim == "launcher":
            return children(starter)[0]
        return (find_zygote if victim == "zygote" else find_nursery)(service.process.pid)
    except (ValueError, IndexError, FileNotFoundError):
        return None


def kill_under_load(service, clients, victim):
    """SIGKILL to one of its processes while it answers; all that there were before."""
    served = clients.statuses.get(200, 0)
    wait_until(lambda: clients.statuses.get(200, 0) > served + 5, 60)
    seen, pids = tree(service.process.pid), []
    # After some that came to nothing the launcher rests, up to 32 s, before it starts another.
    wait_until(lambda: pids.append(find_victim(service, victim)) or pids[-1], 60)
    os.kill(pids[-1], signal.SIGKILL)
    return seen


@pytest.mark.soak
@pytest.mark.skipif(os.geteuid() != 0, reason="sees the namespaces of others")
@pytest.mark.parametrize("victim", ["front", "launcher", "zygote", "nursery"])
def test_sudden_death_under_load(serve, victim, record_property, progress):
    """DS-CLEAN: no wrong result, no answer without its run, no jar left, back in service by itself."""
    around = oracle.Snapshot()
    service = serve(config=SETTINGS).ready()
    clients = Clients(service, 6)
    seen = set()
    rounds = 20 if FULL else 10 if victim == "nursery" else 3
    for i in range(rounds):
        progress(i, rounds)
        seen |= kill_under_load(service, clients, victim)
    record_property("kills", rounds)
    served = clients.statuses.get(200, 0)
    wait_until(lambda: clients.statuses.get(200, 0) > served + 10, 60)
    clients.end()
    assert not clients.wrong, clients.wrong[:3]
    if victim in ("zygote", "nursery"):
        assert set(clients.statuses) == {200} and clients.broken == 0, clients.statuses
    keep = tree(service.process.pid)
    wait_until(lambda: not any(map(alive, seen - keep)))
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(60) == 0
    # Empty cgroups too; those of a service that lives are its own to keep.
    wait_until(lambda: not left_behind(around), 10)


def left_behind(around):
    return [(kind, what) for kind, what in around.extra() if kind in ("cgroup", "mount")]


@pytest.mark.soak
@pytest.mark.timeout(400)
def test_five_hundred_clients(serve, record_property):
    """DS-PAR: every request is answered or refused properly, none hangs."""
    service = serve(config=SETTINGS + "serve: {concurrency: 50, queue: 200}\n").ready()
    clients = Clients(service, 500)
    time.sleep(60 if FULL else 6)
    clients.end(120)
    record_property("answers", clients.statuses)
    assert not clients.wrong, clients.wrong[:3]
    assert set(clients.statuses) <= {200, 429}, (clients.statuses, clients.other[:3])
    assert clients.broken == 0
    assert clients.statuses[200] > 50
    wait_until(lambda: service.metrics()["belljar_runs_in_flight"] == 0)


def cancel_runs(service, until, seed, cancelled):
    """Ask for runs, cold ones and warm ones, and hang up after some milliseconds."""
    source = random.Random(seed)
    while time.monotonic() < until:
        body = {"script": "import time\ntime.sleep(9)", "language": "python"}
        if source.random() < 0.6:
            body["files"] = [{"name": "a", "text": "b"}]
        conn = service.connect()
        conn.request("POST", "/v1/executions", json.dumps(body), {"Content-Type": "application/json"})
        time.sleep(source.random() * 0.012)
        conn.close()
        cancelled.append(seed)


@pytest.mark.soak
def test_cancelled_at_any_moment(serve, record_property):
    """DS-CLEAN: also between the fork of a script's process and the word about it. No jar stays, no zygote is blamed."""
    service = serve(config=SETTINGS.replace("slots: 4, bash_slots: 2, jars: 2, max: 16", "slots: 1, bash_slots: 0, jars: 1, max: 2")).ready()
    cancelled, until = [], time.monotonic() + (60 if FULL else 6)
    threads = [threading.Thread(target=cancel_runs, args=(service, until, seed, cancelled)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    record_property("cancelled", len(cancelled))
    wait_until(lambda: service.metrics()["belljar_runs_in_flight"] == 0)
    metrics = service.metrics()
    assert metrics['belljar_runs_total{backend="native",cause="infrastructure"}'] == 0
    assert metrics['belljar_zygotes_replaced_total{reason="wrong"}'] == 0
    began = time.monotonic()
    service.process.send_signal(signal.SIGTERM)
    # Only the service: there are the records of all these runs to remove, too.
    assert service.process.wait(60) == 0
    took = time.monotonic() - began
    record_property("seconds to stop", round(took, 1))
    assert took < 8


# --- long use ---------------------------------------------------------------------------------

# (language, script, cause, weight): good ones and hostile ones. What burns a whole CPU is rare, or nothing else
# would run.
MIX = [
    ("python", "print(sum(range(1000)))", "exited", 100),
    ("python", "import json, re\nprint(json.dumps({'a': re.sub('x', 'y', 'xx')}))", "exited", 80),
    ("bash", "for i in 1 2 3; do echo $i; done | wc -l", "exited", 80),
    ("python", "raise ValueError('no')", "exited", 40),
    ("python", "import os\nfor i in range(50):\n    if os.fork() == 0: os._exit(0)\n", "exited", 4),
    ("python", "open('/tmp/f', 'wb').write(bytes(1 << 20))\nprint(open('/etc/shadow').read())", "exited", 20),
    ("bash", "(sleep 60 &) ; (setsid sleep 60 &); echo out", "exited", 20),
    ("python", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "signal", 20),
    ("python", "x = bytearray(128 << 20)", "oom", 4),
    ("bash", "exec 2>/dev/null; f() { f | f & }; f; sleep 9", "pids", 1),
    ("python", "while True: print('x' * 100000)", "output", 1),
    ("python", "def f(:", "rejected", 20),
    ("python", "while True: pass", "timeout", 2),
]
CLIENTS = 12


def measure(service):
    """(descriptors, KiB of own memory) of front and launcher."""
    front, starter = service.processes()
    found = []
    for pid in front, children(starter)[0]:
        rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
        found.append((len(os.listdir(f"/proc/{pid}/fd")), int(re.search(r"Private_Dirty:\s+(\d+)", rollup)[1])))
    return found


class Samples:
    """KiB of the front's own memory, over the time of a `with`."""

    def __init__(self, service):
        self.service, self.kib, self.over = service, [], threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def work(self):
        while not self.over.wait(5 if FULL else 0.25):
            self.kib.append(measure(self.service)[0][1])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def quarters(self):
        """The mean of each quarter of the time."""
        n = max(len(self.kib) // 4, 1)
        return [round(sum(part) / len(part)) for part in (self.kib[i * n:(i + 1) * n] for i in range(4)) if part]


def run_one(conn, row):
    """Ask for one run of the mix; what is wrong with the answer, or None."""
    language, script, cause, _ = row
    body = {"script": script, "language": language, "timeout": 0.5 if cause == "timeout" else 60}
    if cause == "oom":
        body["memory"] = "64MiB"
    conn.request("POST", "/v1/executions", json.dumps(body), {"Content-Type": "application/json"})
    answer = conn.getresponse()
    result = json.loads(answer.read())
    # What eats memory may be ended by Python itself.
    if answer.status != 200 or result["cause"] not in (cause, "exited" if cause == "oom" else cause):
        return (cause, answer.status, result)
    return None


def run_mix(service, rows, progress):
    """Run them all, many clients at once; each takes a new connection now and then. What went wrong."""
    left, total, lock, bad = list(rows), len(rows), threading.Lock(), []

    def client():
        while True:
            with lock:
                mine, left[:] = left[-20:], left[:-20]
                progress(total - len(left), total)
            if not mine:
                return
            conn = service.connect(timeout=120)
            bad.extend(filter(None, [run_one(conn, row) for row in mine]))
            conn.close()

    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        for future in [pool.submit(client) for _ in range(CLIENTS)]:
            future.result()
    return bad


def rest(service):
    """Until nothing runs and every pool is as it was."""
    wait_until(lambda: service.metrics()["belljar_runs_in_flight"] == 0)
    time.sleep(8 if FULL else 2)


@pytest.mark.soak
@pytest.mark.skipif(os.geteuid() != 0, reason="reads the memory of others")
@pytest.mark.timeout(20000 if FULL else 300)
def test_soak(serve, record_property, progress):
    """SCRP-06, DS-CLEAN: many runs, good and hostile; memory and descriptors stay flat, nothing is left."""
    count = int(os.environ.get("BELLJAR_SOAK_RUNS", 100_000 if FULL else 250))
    around = oracle.Snapshot()
    service = serve(config=SETTINGS + "serve: {keep: 50}\nrecord: {enabled: false}\n").ready()
    source = random.Random(7)
    rows = source.choices(MIX, [row[3] for row in MIX], k=count)
    # Every row at least once, however few there are; and some before the first look.
    bad = run_mix(service, [*MIX, *rows[:max(count // 10, 60)]], progress)
    rest(service)
    before = measure(service)
    begun = time.monotonic()
    with Samples(service) as samples:
        bad += run_mix(service, rows, progress)
    took = time.monotonic() - begun
    rest(service)
    after = measure(service)
    for name, was, now in zip(("front", "launcher"), before, after):
        record_property(f"{name} descriptors", f"{was[0]} then {now[0]}")
        record_property(f"{name} KiB", f"{was[1]} then {now[1]}")
    quarters = samples.quarters()
    record_property("front KiB by quarters", quarters)
    record_property("runs", count)
    record_property("runs a second", round(count / took))
    assert not bad, bad[:3]
    (front_fds, front_kib), (launcher_fds, launcher_kib) = after
    assert front_fds <= before[0][0] + 8
    # Pools may differ by a few jars in the moment of looking.
    assert launcher_fds <= before[1][0] + 16 * 24
    assert front_kib <= before[0][1] * 1.5 + 4096
    assert launcher_kib <= before[1][1] * 1.5 + 512
    # What the first half fills (buffers, the runs kept) is full by then.
    assert quarters[-1] <= quarters[-2] * 1.1 + 1024, quarters
    below = tree(service.process.pid)
    mine = {p for p in leftovers() if any(str(pid) in (pathlib.Path(p) / "cgroup.procs").read_text().split()
                                          for pid, _ in below if (pathlib.Path(p) / "cgroup.procs").exists())}
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(60) == 0
    wait_until(lambda: not any(map(alive, below)))
    assert not mine & leftovers()
    wait_until(lambda: not left_behind(around), 10)


@pytest.mark.soak
@pytest.mark.skipif(os.geteuid() != 0, reason="reads the memory of others")
@pytest.mark.timeout(2000 if FULL else 300)
def test_soak_with_records(serve, record_property, progress):
    """SCRP-06: what the front needs to keep records does not grow with them."""
    count = 20_000 if FULL else 250
    service = serve(config=SETTINGS + "serve: {keep: 50}\nlimits: {output_cap: 4MiB}\n").ready()
    most = next(row for row in MIX if row[2] == "output")
    rows = random.Random(7).choices(MIX, [row[3] for row in MIX], k=count)
    # As many large outputs at once as there ever can be: that is what it needs at most.
    bad = run_mix(service, [*MIX, *[most] * (480 if FULL else 120), *rows[:60]], progress)
    rest(service)
    before = measure(service)[0]
    with Samples(service) as samples:
        bad += run_mix(service, rows, progress)
    rest(service)
    after = measure(service)[0]
    record_property("front descriptors", f"{before[0]} then {after[0]}")
    record_property("front KiB", f"{before[1]} then {after[1]}")
    record_property("front KiB by quarters", samples.quarters())
    record_property("runs", count)
    assert not bad, bad[:3]
    assert after[0] <= before[0] + 8
    assert after[1] <= before[1] * 1.1 + 1024
    assert samples.quarters()[-1] <= samples.quarters()[-2] * 1.1 + 1024, samples.quarters()
