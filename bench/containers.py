# SPDX-License-Identifier: Apache-2.0
"""The backend docker against the docker command with the same flags, against native, and bare.

An engine of its own, with the stand-in images, is started and ended by its pid. The commands take turns.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import serve

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/docker"))
from engine import Daemon, wait_until  # noqa: E402

IMAGE = "belljar/python:3.11"
FLAGS = ["--network", "none", "--memory", "512m", "--memory-swap", "512m", "--cpus", "1",
         "--pids-limit", "100", "--user", "65534:65534", "--read-only", "--tmpfs",
         "/tmp:noexec,nosuid,nodev,size=64m", "--tmpfs", "/work:noexec,nosuid,nodev,size=64m",
         "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--init",
         "--log-driver", "none"]
# Many short loops that time only themselves: the clock and the CPU time of each.
CPU = """\
import time
start, used = time.perf_counter(), time.process_time()
x = 0
for i in range(1_500_000):
    x = (x * 31 + i) & 0xFFFFFFFF
print(time.perf_counter() - start, time.process_time() - used)
"""
POOL = 4


def timed(command, env):
    start = time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, check=True, text=True)
    return time.perf_counter() - start, done.stdout


def quiet(engine, containers=0):
    """Wait until what was left of the last run is gone: it would be part of the next one's time."""
    wait_until(lambda: len(engine.containers()) == containers, 60, "the engine is quiet")


def warm_times(belljar, client, engine, rounds):
    settings = {"backend": "docker", "docker": json.dumps(
        {"host": engine.url, "python_image": IMAGE, "pool": POOL})}
    with serve.Service(belljar, client, **settings) as service:
        service.ask(serve.HELLO, count=2)
        times = []
        for _ in range(rounds):
            quiet(engine, POOL)
            time.sleep(0.2)
            times += service.ask(serve.HELLO, warm=True)[0]
    return times


def add_loops(table, belljar, engine, env, rounds, script):
    """The loop in a container over the same loop of a bare interpreter, taking turns. What else runs only
    ever adds to the clock, so its lower quartile says more than the median."""
    commands = {"bare": ["/usr/bin/python3", "-I", script], "docker": [belljar, "run", "--no-service", script]}
    clock, used = ({name: [] for name in commands} for _ in range(2))
    for turn in range(2 * rounds):
        for name in sorted(commands, reverse=turn % 2 == 0):
            words = timed(commands[name], env)[1].split()
            clock[name].append(float(words[0]))
            used[name].append(float(words[1]))
            quiet(engine)
    median = {name: statistics.median(values) for name, values in used.items()}
    low = {name: statistics.quantiles(values, n=4)[0] for name, values in clock.items()}
    table.add("CPU-bound loop, bare python3, CPU time", median["bare"] * 1e3, "ms")
    table.add("the same in a container", median["docker"] * 1e3, "ms")
    table.add("over bare python3, CPU time", median["docker"] / median["bare"], at_most=1.05)
    table.add("over bare python3, by the clock, lower quartile", low["docker"] / low["bare"], at_most=1.05)


def measure(belljar, client, engine, rounds, folder):
    table = serve.Table("Containers", "Python hello in Debian's Docker engine: the `docker run --rm` command "
                        "with the same flags and image, and belljar's backend docker.")
    hello, cpu = pathlib.Path(folder, "h.py"), pathlib.Path(folder, "c.py")
    hello.write_text(serve.HELLO)
    cpu.write_text(CPU)
    env = {**os.environ, "DOCKER_HOST": engine.url, "BELLJAR_DOCKER_PYTHON_IMAGE": IMAGE,
           "BELLJAR_BACKEND": "docker", "BELLJAR_STATE_DIR": folder, "BELLJAR_RECORD_ENABLED": "false"}
    native = {**env, "BELLJAR_BACKEND": "native"}
    sealed = [belljar, "run", "--no-service"]
    plain = ["docker", "run", "--rm", *FLAGS, IMAGE, "python3", "-I", "-c"]
    times = {"plain": [], "cold": [], "native": []}
    for _ in range(rounds):
        for name, command, where in (("plain", [*plain, "print(1)"], env), ("cold", [*sealed, hello], env),
                                     ("native", [*sealed, hello], native)):
            times[name].append(timed(command, where)[0])
            quiet(engine)
    times["warm"] = warm_times(belljar, client, engine, rounds)
    median = {name: statistics.median(values) for name, values in times.items()}
    for name, what in (("plain", "`docker run --rm`"), ("cold", "belljar, cold"),
                       ("warm", "belljar, a container waits"), ("native", "belljar native, cold")):
        table.add(what, median[name] * 1e3, "ms")
    table.add("cold over `docker run`", median["cold"] / median["plain"], at_most=1.0)
    table.add("warm over `docker run`", median["warm"] / median["plain"], at_most=0.5)
    # All of a cold run is more than the creation of its container.
    table.add("creation of a container, at the very most", max(times["cold"]), "s", at_most=3)
    add_loops(table, belljar, engine, env, rounds, str(cpu))
    return table


def tables(belljar, rounds):
    if os.geteuid() != 0 or not shutil.which("dockerd", path="/usr/sbin:/usr/bin") or not shutil.which("mmdebstrap"):
        return
    client = str(pathlib.Path(belljar).parent.parent / "bench/serve_bench")
    daemon = Daemon(tempfile.mkdtemp(prefix="bjd-", dir="/var/tmp"))
    try:
        daemon.start()
        subprocess.run([belljar, "image", "build", "--docker", "python"], check=True, capture_output=True,
                       env={**os.environ, "DOCKER_HOST": daemon.url, "TMPDIR": "/var/tmp"})
        with tempfile.TemporaryDirectory() as folder:
            yield measure(belljar, client, daemon, max(6, rounds), folder)
    finally:
        daemon.remove()
