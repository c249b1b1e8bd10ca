# SPDX-License-Identifier: Apache-2.0
"""The lines about the service: waiting interpreters, bursts, memory.

Requests go through serve_bench, a small C client on a kept connection, or through `belljar run`,
which finds the service by itself; each line says which.
"""
import contextlib
import io
import json
import math
import os
import pathlib
import secrets
import socket
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "tests/docker"))

HELLO = "print(1)\n"
NUMPY = "import numpy\nprint(int(numpy.arange(5).sum()))\n"
TABLES = "import numpy, pandas\nprint(int(pandas.Series(numpy.arange(5)).sum()))\n"
PYTHON = "/usr/bin/python3"
BASH = "/usr/bin/bash"
P99_RUNS = 1500


class Service:
    """`belljar serve` with settings of its own, ended by its pid."""

    def __init__(self, belljar, client, **settings):
        self.belljar, self.client, self.settings = belljar, client, settings

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="bj-bench-"))
        self.socket = f"{self.folder}/{secrets.token_hex(4)}.sock"
        lines = [f"{key}: {value}" for key, value in self.settings.items()]
        config = pathlib.Path(self.folder, "config.yaml")
        config.write_text("\n".join(["log_level: error", f"state_dir: {self.folder}/state", *lines]) + "\n")
        notes = self.stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        notes.bind(f"{self.folder}/notify")
        notes.settimeout(30)
        self.process = subprocess.Popen(
            [self.belljar, "serve", "--socket", self.socket, "--config", config],
            env={**os.environ, "BELLJAR_STATE_DIR": f"{self.folder}/state", "NOTIFY_SOCKET": f"{self.folder}/notify"})
        self.stack.callback(self.stop)
        while "READY=1" not in notes.recv(4096).decode():
            pass
        return self

    def __exit__(self, *_):
        self.stack.close()

    def stop(self):
        self.process.terminate()
        self.process.wait(60)

    def ask(self, script, language="python", count=1, connections=1, pause=0, word="", warm=False):
        """([seconds], seconds in all). With @warm only answers of waiting interpreters count."""
        body = pathlib.Path(self.folder, "body")
        body.write_text(json.dumps({"script": script, "language": language}))
        done = subprocess.run([self.client, self.socket, body, str(count), str(connections), str(pause), word],
                              check=True, capture_output=True, text=True)
        *rows, last = (line.split() for line in done.stdout.splitlines())
        return [float(s) for s, was in rows if was == "1" or not warm], float(last[1])

    def metrics(self):
        """{name with labels: value} of what the service says of itself."""
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(self.socket)
            sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            text = b"".join(iter(lambda: sock.recv(65536), b"")).decode().partition("\r\n\r\n")[2]
        rows = [line.rsplit(" ", 1) for line in text.splitlines() if " " in line and not line.startswith("#")]
        return {name: float(value) for name, value in rows}

    def slots(self, kind="python"):
        """(ready, coming) jars of a kind, as the service counts them."""
        seen = self.metrics()
        return tuple(int(seen[f'belljar_slots{{kind="{kind}",state="{state}"}}']) for state in ("ready", "coming"))

    def wait_ready(self, count, kind="python"):
        """Until exactly so many wait and no other is on its way."""
        for _ in range(3000):
            if self.slots(kind) == (count, 0):
                return
            time.sleep(0.01)
        raise TimeoutError(f"{self.slots(kind)} of {kind} wait, not {count}")

    def wait_warm(self, script=HELLO, language="python"):
        """Until interpreters wait, and a moment more for all of them to be there."""
        for _ in range(300):
            if self.ask(script, language, warm=True)[0]:
                break
            time.sleep(0.1)
        time.sleep(2)


def bare(*command, env=None):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)
    return time.perf_counter() - start


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def figure(value):
    """Three digits that count, and no power of ten: 1000 is not 1e+03."""
    return f"{value:.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


class Table:
    """Rows of what was measured, with what is asked of it."""

    def __init__(self, title, note=""):
        self.title, self.note = title, note
        self.rows = []

    def add(self, what, value, unit="", at_most=None, at_least=None):
        met = (at_most is None or value <= at_most) and (at_least is None or value >= at_least)
        asked = f"at most {at_most}" if at_most is not None else f"at least {at_least}" if at_least is not None else ""
        self.rows.append((what, f"{figure(value)} {unit}".strip(), asked, met))
        print(f"bench: {what}: {figure(value)} {unit} {asked} {'' if met else 'MISSED'}", flush=True)

    def missed(self):
        return [row for row in self.rows if not row[3]]

    def lines(self):
        yield f"## {self.title}\n"
        if self.note:
            yield self.note + "\n"
        yield "| | measured | asked | |\n|---|---|---|---|"
        for what, value, asked, met in self.rows:
            yield f"| {what} | {value} | {asked} | {('met' if met else 'missed') if asked else ''} |"
        yield ""


def against_bare(table, service, name, script, language, command, rounds, limit, p99=None, least=0):
    """One request after the other, with rests, while the bare command takes turns. At least @least requests: a
    hundredth of them must be more than a few. Those that open a connection, right after the bare commands, count
    like all others."""
    ours, first, theirs = [], [], []
    for _ in range(rounds):
        seconds = service.ask(script, language, count=max(15, math.ceil(least / rounds)), pause=15,
                              word='"stdout":"1\\n"')[0]
        first.append(seconds[0])
        ours += seconds
        theirs += [bare(*command) for _ in range(8)]
    p50, base = statistics.median(ours), statistics.median(theirs)
    table.add(f"bare {name}, p50", base * 1e3, "ms")
    table.add(f"sealed {name} through the socket, p50", p50 * 1e3, "ms")
    table.add(f"the same, p99 of {len(ours)} runs", percentile(ours, 0.99) * 1e3, "ms", at_most=p99)
    table.add(f"the first on each of {len(first)} connections, p50", statistics.median(first) * 1e3, "ms")
    table.add(f"sealed {name} over bare, p50", p50 / base, at_most=limit)


def latency(belljar, client, rounds):
    table = Table("Waiting interpreters, one run at a time",
                  "Asked by a C client on a kept connection, check included, 15 ms of rest between two runs.")
    hello = [PYTHON, "-I", "-c", "print(1)"]
    with Service(belljar, client, warm="{slots: 8}") as service:
        service.wait_warm()
        against_bare(table, service, "python3 -I -c", HELLO, "python", hello, rounds, 0.10, 5, least=P99_RUNS)
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(HELLO)
            file.flush()
            env = {**os.environ, "BELLJAR_SERVE_SOCKET": service.socket}
            seconds = [bare(belljar, "run", file.name, env=env) for _ in range(rounds * 5)]
        table.add("the same through `belljar run`, p50", statistics.median(seconds) * 1e3, "ms")
        service.wait_warm("echo 1\n", "bash")
        against_bare(table, service, "bash -c", "echo 1\n", "bash", [BASH, "-c", "echo 1"], rounds, 1.3)
    with Service(belljar, client, warm="{slots: 1, heavy_slots: 0, bash_slots: 0, jars: 8, max: 1}") as service:
        service.wait_warm()
        every_slot_busy(table, service, hello, rounds)
    return table


class Kept:
    """A connection that is kept. It is read in Python, which adds to what is measured."""

    def __init__(self, service):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(service.socket)

    def send(self, script):
        body = json.dumps({"script": script, "language": "python"}).encode()
        self.sock.sendall(b"POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def result(self):
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.more()
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.lower().splitlines() if line.startswith(b"content-length:"))
        while len(body) < length:
            body += self.more()
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"not the answer that was expected: {body}")
        return json.loads(body)

    def more(self):
        data = self.sock.recv(65536)
        if not data:
            raise ConnectionError("the service hung up")
        return data

    def close(self):
        self.sock.close()


def forked_on_demand(service, holder, asker):
    """Seconds of a run that comes while a script holds the only slot; None when that was not so after all."""
    service.wait_ready(1)
    service.wait_ready(8, "empty")
    holder.send("import time\ntime.sleep(0.1)\n")
    for _ in range(100):
        if service.slots() == (0, 0):
            break
    on_demand = service.slots() == (0, 0) and service.slots("empty")[0] > 0
    start = time.perf_counter()
    asker.send(HELLO)
    result = asker.result()
    took = time.perf_counter() - start
    holder.result()
    if not on_demand:
        return None
    # From a zygote: one that starts from nothing is not warm.
    if result["stdout"] != "1\n" or not result["meta"]["warm"]:
        raise RuntimeError(f"not forked on demand: {result}")
    return took


def every_slot_busy(table, service, hello, rounds):
    """The only slot is held by a script that sleeps, and no other is on its way: the service refills once no run is
    young. So the next run is forked on demand, in an empty jar. It comes in vain, so the slot after that is replaced
    at once: such a turn does not count."""
    ours, theirs = [], []
    with contextlib.closing(Kept(service)) as holder, contextlib.closing(Kept(service)) as asker:
        for _ in range(rounds * 16):
            took = forked_on_demand(service, holder, asker)
            if took is not None:
                ours.append(took)
                theirs += [bare(*hello) for _ in range(2)]
            if len(ours) == rounds * 4:
                break
        else:
            raise RuntimeError("a slot is there whatever holds them")
    p50, base = statistics.median(ours), statistics.median(theirs)
    table.add(f"with the only slot busy and none ready, forked on demand, {len(ours)} runs, p50", p50 * 1e3, "ms")
    table.add("the same over bare", p50 / base, at_most=0.40)


def bursts(belljar, client, rounds):
    """As many at once as slots wait."""
    table = Table("Bursts up to the pool size", "As many requests at once as slots wait, each on a connection of its own; all are "
                  "answered by an interpreter that waited. Single runs of the same service, one after the other, take turns.")
    for count in 8, 32:
        settings = f"{{slots: {count}, max: {count}, heavy_slots: 0, bash_slots: 0}}"
        with Service(belljar, client, warm=settings) as service:
            service.wait_warm()
            together, singles = [], []
            for _ in range(max(5, rounds)):
                service.wait_ready(count)
                rows, seconds = service.ask(HELLO, count=count, connections=count, word='"stdout":"1\\n"', warm=True)
                if len(rows) != count:
                    raise RuntimeError(f"{len(rows)} of {count} were answered by an interpreter that waited")
                together.append(seconds)
                service.wait_ready(count)
                singles += service.ask(HELLO, count=count if count < 15 else 15, pause=15, warm=True)[0]
        burst, single = statistics.median(together), statistics.median(singles)
        table.add(f"one run alone, {count} wait, p50", single * 1e3, "ms")
        table.add(f"{count} at once, until all are answered, median of {len(together)}", burst * 1e3, "ms")
        table.add(f"the same for each run, over one alone", burst / count / single, at_most=1.0)
    return table


def recording(belljar, client, rounds):
    """What records, audit and approval rules cost: the same run with all of it and without."""
    table = Table("Records", "Two services take turns; C client, kept connection, 15 ms of rest between two runs.")
    with contextlib.ExitStack() as stack:
        on = stack.enter_context(Service(belljar, client, warm="{slots: 8}"))
        off = stack.enter_context(Service(belljar, client, warm="{slots: 8}", record="{enabled: false}",
                                          audit="{enabled: false}"))
        times = {on: [], off: []}
        for service in times:
            service.wait_warm()
        for _ in range(rounds):
            for service, seconds in times.items():
                seconds += service.ask(HELLO, count=15, pause=15, warm=True)[0]
    with_it, without = (statistics.median(times[s]) for s in (on, off))
    table.add("warm run without records and audit, p50", without * 1e3, "ms")
    table.add("warm run with them, p50", with_it * 1e3, "ms")
    table.add("with over without, p50", with_it / without, at_most=1.15)
    return table


def modules(belljar, client, rounds):
    table = Table("Preloaded modules", "Debian's python3-numpy and python3-pandas; C client, kept connections.")
    names = "{slots: 4, heavy_slots: 100, max: 100}"
    with Service(belljar, client, warm=names, serve="{concurrency: 200}") as service:
        service.wait_warm(TABLES)
        wait_slots(service, 100)
        times = []
        for _ in range(max(3, rounds // 4)):
            times.append(service.ask(NUMPY, count=100, connections=100, word='"stdout":"10\\n"')[1])
            wait_slots(service, 100)
        table.add("100 runs with numpy at once, all answered, median", statistics.median(times) * 1e3, "ms",
                  at_most=150)
        ours, theirs = [], []
        for _ in range(rounds):
            ours += service.ask(TABLES, count=5, pause=20, word='"stdout":"10\\n"')[0]
            theirs.append(bare(PYTHON, "-I", "-c", TABLES))
    table.add("bare `import numpy, pandas`, p50", statistics.median(theirs) * 1e3, "ms")
    table.add("sealed, p50", statistics.median(ours) * 1e3, "ms")
    table.add("bare over sealed", statistics.median(theirs) / statistics.median(ours), at_least=30)
    return table


def docker_rate(runs):
    """Containers a second with Debian's engine: one static program, two at a time."""
    from engine import Daemon

    folder = tempfile.mkdtemp(prefix="bjd-", dir="/var/tmp")
    daemon = Daemon(folder)
    try:
        daemon.start()
        image = io.BytesIO()
        with tarfile.open(fileobj=image, mode="w") as tar:
            tar.add("/bin/busybox", "busybox")
        docker = ["docker", "-H", daemon.url]
        subprocess.run([*docker, "import", "-", "hello"], input=image.getvalue(), check=True, stdout=subprocess.DEVNULL)
        one = [*docker, "run", "--rm", "--network", "none", "hello", "/busybox", "echo", "1"]
        bare(*one)
        start, live = time.perf_counter(), []
        for _ in range(runs):
            if len(live) == 2:
                live.pop(0).wait()
            live.append(subprocess.Popen(one, stdout=subprocess.DEVNULL))
        for process in live:
            process.wait()
        return runs / (time.perf_counter() - start)
    finally:
        daemon.remove()


def throughput(belljar, client, rounds):
    table = Table("Sustained", "Fresh jars, each used once: four kept connections, no rest; Python hello, check "
                  "included. Docker runs a static `echo`, two at a time, in the same minutes.")
    rates, starts = [], []
    with Service(belljar, client, warm="{slots: 32}") as service:
        service.wait_warm()
        for _ in range(3):
            count = 100 * rounds
            rates.append(count / service.ask(HELLO, count=count, connections=4, word='"stdout":"1\\n"')[1])
            starts += [bare(PYTHON, "-I", "-c", "print(1)") for _ in range(rounds)]
    table.add("jars a second", statistics.median(rates), at_least=400)
    # A machine that is slower today makes fewer jars, and starts Python later.
    table.add("jars in the time of one bare python3 -I -c", statistics.median(rates) * statistics.median(starts))
    if os.geteuid() == 0 and os.path.exists("/usr/sbin/dockerd"):
        docker = docker_rate(max(6, rounds))
        table.add("`docker run` a second", docker)
        table.add("jars over `docker run`", statistics.median(rates) / docker, at_least=50)
    return table


# --- memory -----------------------------------------------------------------------------------


def below(pid):
    try:
        own = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [p for child in own for p in (int(child), *below(int(child)))]


def waiting(service):
    """{pid: (name, PSS in MiB, jar)} of the processes in jars: those in a pid namespace of their own."""
    found = {}
    for pid in below(service.process.pid):
        with contextlib.suppress(OSError, IndexError, StopIteration):
            status = dict(line.split(":\t", 1) for line in open(f"/proc/{pid}/status"))
            if len(status["NSpid"].split()) < 3:
                continue
            with open(f"/proc/{pid}/smaps_rollup") as rollup:
                pss = next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
            found[pid] = (status["Name"].strip(), pss / 1024, os.readlink(f"/proc/{pid}/ns/pid"))
    return found


def wait_slots(service, count):
    for _ in range(600):
        if len({jar for name, _, jar in waiting(service).values() if name not in ("jar-init", "jar-nursery")}) >= count:
            break
        time.sleep(0.1)
    time.sleep(0.5)


def memory(belljar, client, _rounds):
    table = Table("Memory", "PSS of what waits in one jar; pages that it shares with its zygote and with its "
                  "relatives count in parts.")
    with Service(belljar, client, warm="{slots: 40, bash_slots: 40, heavy_slots: 0}") as service:
        service.wait_warm()
        wait_slots(service, 80)
        found = waiting(service).values()
    for name, limit in (("python3", 3), ("bash", 0.5)):
        jars = {}
        for process, pss, jar in found:
            if process.startswith(name):
                jars[jar] = jars.get(jar, 0) + pss
        table.add(f"{name} that waits, median of {len(jars)}", statistics.median(jars.values()), "MiB", at_most=limit)
    thousand(table, belljar, client)
    return table


def thousand(table, belljar, client, count=1000, seconds=60):
    """So many scripts alive at once: each sleeps for longer than it takes to start them all."""
    before = available()
    start = time.perf_counter()
    with Service(belljar, client, warm="{slots: 64}", limits="{timeout: 120}",
                 serve="{concurrency: 1100, max_connections: 1200}") as service:
        service.wait_warm()
        run = subprocess.Popen([client, service.socket, sleeper(service, seconds), str(count), str(count), "0"],
                               stdout=subprocess.PIPE, text=True)
        alive, low = 0, before
        while run.poll() is None:
            time.sleep(1)
            alive = max(alive, in_flight(service))
            low = min(low, available())
        out = run.stdout.read().splitlines()
    table.add("scripts alive at once", alive, at_least=count)
    table.add("memory taken meanwhile", (before - low) / 1024, "GiB", at_most=24)
    table.add("of them, answered right", len(out) - 1, at_least=count)
    table.add("seconds in all", time.perf_counter() - start, "s")


def in_flight(service):
    """Runs under way, as the service counts them."""
    return int(service.metrics()["belljar_runs_in_flight"])


def sleeper(service, seconds):
    body = pathlib.Path(service.folder, "sleep")
    body.write_text(json.dumps({"script": f"import time\ntime.sleep({seconds})\nprint(1)\n", "language": "python"}))
    return body


def available():
    """MiB."""
    with open("/proc/meminfo", encoding="ascii") as info:
        return next(int(line.split()[1]) for line in info if line.startswith("MemAvailable")) / 1024


def tables(belljar, rounds):
    client = str(pathlib.Path(belljar).parent.parent / "bench/serve_bench")
    for measure in latency, bursts, recording, modules, throughput, memory:
        yield measure(belljar, client, rounds)
