# SPDX-License-Identifier: Apache-2.0
"""Every limit has a cause of its own, and a run under the limit is not disturbed. SCRP-04."""
import errno
import re
import resource

import pytest

from harness import run

pytestmark = pytest.mark.usefixtures("clean")

CASES = {
    # cause: (flags, language suffix, script, exit status, signal)
    "exited": ((), "sh", "exit 3\n", 3),
    "signal": ((), "sh", "kill -TERM $$\n", 143),
    "timeout": (("--timeout", "1"), "sh", "sleep 50\n", 124),
    "oom": (("--memory", "48M"), "py", "x = bytearray(200 << 20)\n", 137),
    "pids": (("--pids", "20"), "sh", "for i in {1..40}; do sleep 20 & done 2>/dev/null; wait\n", 137),
    "output": ((), "sh", "yes\n", 137),
    "seccomp": ((), "py", "import ctypes\nctypes.CDLL(None).syscall(0x40000027)\n", 159),
    "rejected": ((), "py", "def f(\n", 126),
}


@pytest.mark.parametrize("mode_name", ["root", "rootless"])
@pytest.mark.parametrize("cause", CASES)
def test_cause(cause, mode_name, mode_of, place):
    mode = mode_of(mode_name)
    flags, suffix, text, status = CASES[cause]
    script = place / f"s.{suffix}"
    script.write_text(text)
    off = () if cause == "rejected" else ("--policy", "off")
    done = mode.run("--json", *off, *flags, script)
    assert (done.record["cause"], done.status) == (cause, status), done
    if cause in ("oom", "pids", "output", "seccomp", "timeout"):
        assert done.record["error"], "a kill is explained"
        told = mode.run(*off, *flags, script)
        assert told.status == status
        assert cause.encode() in told.err.lower() or {
            "oom": b"memory", "pids": b"process", "timeout": b"timed out",
            "output": b"output", "seccomp": b"system call"}[cause] in told.err.lower(), told.err[-500:]


@pytest.mark.parametrize("flags,text", [
    (("--memory", "128M"), "x = bytearray(60 << 20)\nprint('fits')\n"),
    (("--pids", "20"), "import threading\nts=[threading.Thread() for _ in range(10)]\n"
                       "[t.start() for t in ts]\nprint('fits')\n"),
    (("--timeout", "5"), "import time\ntime.sleep(1)\nprint('fits')\n"),
    (("--tmp-size", "16M"), "open('/tmp/x','wb').write(bytes(10<<20))\nprint('fits')\n"),
    (("--cpus", "2"), "print('fits')\n"),
    (("--cpus", "0.1"), "print('fits')\n"),
])
def test_under_the_limit(flags, text, root, place):
    script = place / "s.py"
    script.write_text(text)
    done = root.run("--json", *flags, script)
    assert done.record["stdout"] == "fits\n" and done.status == 0, done


@pytest.mark.parametrize("size", ["8M", "33554432", "16MiB"])
def test_tmp_size(size, root, place):
    """DS-FS: /tmp and the working directory are limited, each."""
    limit = {"8M": 8 << 20, "33554432": 32 << 20, "16MiB": 16 << 20}[size]
    script = place / "s.py"
    script.write_text("""
import os
for d in ('/tmp', '/work'):
    n = 0
    try:
        with open(d + '/x', 'wb', 0) as f:
            while n < 1 << 27:
                n += f.write(bytes(65536))
    except OSError as e:
        pass
    print(n)
    os.unlink(d + '/x')
""")
    done = root.run("--json", "--tmp-size", size, script)
    written = list(map(int, done.record["stdout"].split()))
    assert len(written) == 2, done
    for n in written:
        assert limit * 0.9 - (1 << 17) <= n <= limit, done.record["stdout"]


def test_memory_limit_counts_the_whole_jar(root, place):
    """Processes and tmpfs together."""
    script = place / "s.py"
    script.write_text("""
import os, time
open('/tmp/x', 'wb').write(bytes(30 << 20))
if os.fork() == 0:
    x = bytearray(20 << 20); time.sleep(3); os._exit(0)
x = bytearray(20 << 20)
os.wait()
""")
    done = root.run("--json", "--memory", "64M", "--tmp-size", "64M", script)
    assert done.record["cause"] == "oom", done


def test_what_all_runs_share_is_not_called_their_own_limit(root, place):
    """A script that is killed for want of what all may have is not told that it used more than its own."""
    config = place / "c.yaml"
    config.write_text("native:\n  all_memory: 128MiB\n")
    script = place / "s.py"
    script.write_text("x = bytearray(300 << 20)\n")
    shared = root.run("--json", "--config", config, "--memory", "512MiB", script).record
    own = root.run("--json", "--config", config, "--memory", "64MiB", script).record
    assert (shared["cause"], own["cause"]) == ("oom", "oom")
    assert re.search("of the 512 MiB that the script may have: all runs together used it up", shared["error"])
    assert own["error"] == "Execution failed: the script used more than 64 MiB of memory"


def test_cpu_limit_holds(root, place):
    """A spinner with half a CPU gets half a CPU."""
    script = place / "s.sh"
    script.write_text("(while :; do :; done) & (while :; do :; done) & while :; do :; done\n")
    for cpus in (0.3, 1.0):
        r = root.run("--json", "--cpus", str(cpus), "--timeout", "1.5", script).record
        used = r["usage"]["cpu_ms"] / r["duration_ms"]
        assert used < cpus * 1.3 + 0.05, used
        assert used > 0.05, used


@pytest.mark.parametrize("flag,key", [("--max-output", "stdout")])
def test_truncation(flag, key, root, place):
    """SX-OUT: head and tail are kept, counts are true, the run goes on."""
    script = place / "s.py"
    script.write_text("print('HEAD' + 'x' * 300000 + 'TAIL')\nimport sys\nsys.exit(4)\n")
    r = root.run("--json", flag, "2K", script).record
    assert r["exit_code"] == 4 and r["meta"]["truncated"] == {"stdout": True, "stderr": False}
    assert r["stdout"].startswith("HEAD") and r["stdout"].rstrip("\n").endswith("TAIL")
    assert 1000 < len(r["stdout"].encode()) <= 2048 + 200 and r["meta"]["stdout_bytes"] == 300009
    # Output that fits exactly is not cut.
    script.write_text("import sys\nsys.stdout.write('x' * 2048)\n")
    r = root.run("--json", flag, "2K", script).record
    assert r["stdout"] == "x" * 2048 and not r["meta"]["truncated"]["stdout"]


def test_default_limits(root, place):
    """SCRP-04, SCRP-07: 512 MiB, 1 CPU, 100 processes, 60 s."""
    script = place / "s.sh"
    script.write_text("true\n")
    limits = root.run("--json", script).record["meta"]["resource_limits"]["effective"]
    values = set(limits.values())
    assert 512 << 20 in values and 100 in values, limits
    assert values & {60, 60000} and values & {1, 1000, 1.0}, limits


def test_a_peak_of_one_process_blames_nobody_else(mode_of, place):
    """Without cgroups the limit is on all processes together, and the peak is that of the largest."""
    script = place / "s.py"
    script.write_text("""
import os, time
for _ in range(5):
    if os.fork() == 0:
        x = bytearray(60 << 20); time.sleep(10); os._exit(0)
time.sleep(10)
""")
    record = mode_of("basic").run("--json", "--policy", "off", "--memory", "200MiB", script).record
    assert record["cause"] == "oom", record
    assert record["error"] == "Execution failed: the script used more than 200 MiB of memory"


@pytest.mark.parametrize("mode_name", ["basic"])
def test_basic_list(mode_name, mode_of, place):
    """What holds without cgroups: wall time, processes, files, output; and the record says what not."""
    mode = mode_of(mode_name)
    for cause in ("timeout", "output", "seccomp", "signal"):
        flags, suffix, text, status = CASES[cause]
        script = place / f"s.{suffix}"
        script.write_text(text)
        done = mode.run("--json", "--policy", "off", *flags, script)
        assert (done.record["cause"], done.status) == (cause, status), done
        iso = done.record["meta"]["isolation"]
        assert iso["cgroup"] == "none" and iso["layers"]["memory"] is False


# Scripts that say what they got of something. They cannot miss each other: each keeps what it has for a second.
GREEDY = {
    "memory": "import time\nx = bytearray(90 << 20)\nprint('got it', flush=True)\ntime.sleep(1)\n",
    "pids": """
import threading, time, sys
n = 0
try:
    for n in range(60):
        threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
except RuntimeError:
    pass
print(n, flush=True)
sys.stdout.flush()
import os
os._exit(0)
""",
    "cpus": """
import time
start, used = time.monotonic(), time.process_time()
while time.process_time() - used < 0.3:
    pass
print(time.monotonic() - start)
""",
}


@pytest.mark.parametrize("mode_name", ["root", "rootless"])
def test_all_jars_share_one_cap_of_memory(mode_name, mode_of, place):
    """SCRP-04: three scripts keep to their own limit and would not to that of all."""
    for i in range(3):
        (place / f"{i}.py").write_text(GREEDY["memory"])
    flags = ("--policy", "off", "--memory", "128M", "--jobs", "3", "--json")
    scripts = [place / f"{i}.py" for i in range(3)]
    free = mode_of(mode_name).run(*flags, *scripts)
    assert sorted(line["cause"] for line in free.records) == ["exited"] * 3, free
    done = mode_of(mode_name).run(*flags, *scripts, env={"BELLJAR_NATIVE_ALL_MEMORY": "200M"})
    causes = [line["cause"] for line in done.records]
    assert "oom" in causes and "exited" in causes, done


def test_all_jars_share_one_cap_of_processes(root, place):
    """SCRP-04."""
    script = place / "s.py"
    script.write_text(GREEDY["pids"])
    flags = ("--policy", "off", "--pids", "100")
    assert root.run(*flags, script).out == b"59\n"
    done = root.run(*flags, "--json", script, env={"BELLJAR_NATIVE_ALL_PIDS": "20"})
    assert done.record["cause"] in ("exited", "pids") and int(done.record["stdout"]) < 20, done


def test_all_jars_share_one_cap_of_cpus(root, place):
    """SCRP-04: also when a run alone may have more."""
    script = place / "s.py"
    script.write_text(GREEDY["cpus"])
    done = root.run("--policy", "off", script, env={"BELLJAR_NATIVE_ALL_CPUS": "0.2"})
    assert done.status == 0 and float(done.out) > 1, done


def test_without_cgroups_each_process_has_its_cpu_time(mode_of, place):
    """SCRP-04: the machine has nothing better there."""
    script = place / "s.py"
    script.write_text("import resource\nprint(resource.getrlimit(resource.RLIMIT_CPU))\n")
    flags = ("--timeout", "7", "--cpus", "2", "--policy", "off")
    assert mode_of("basic").run(*flags, script).out == b"(15, 15)\n"
    assert mode_of("root").run(*flags, script).out == b"(-1, -1)\n"


# Descriptors that are sent and not received: more than a process with that limit may leave on the way.
ON_THEIR_WAY = """
import array, socket, time
pairs = []
try:
    while True:
        pairs.append(socket.socketpair())
        near, far = pairs[-1]
        for _ in range(4):
            near.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [far.fileno()] * 250))])
except OSError as error:
    print(error.errno, flush=True)
time.sleep(30)
"""


def test_descriptors_on_their_way_keep_nobody_waiting(mode_of, place):
    """What the kernel counts by uid is shared where jars share one: another run fails then, and says why. It hung."""
    mode = mode_of("one-uid")
    become = mode.user.become(mode.delegated)

    def enter():
        become()
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))

    holds, hello = place / "holds.py", place / "hello.py"
    holds.write_text(ON_THEIR_WAY)
    hello.write_text("print('hello')\n")
    beside = mode.start("--policy", "off", holds)
    try:
        assert beside.read_line() == f"{errno.ETOOMANYREFS}\n".encode()
        done = run.Started([mode.binary, "run", "--json", hello], mode.env(), enter=enter, cwd="/").finish(20)
        assert (done.status, done.record["cause"]) == (125, "infrastructure"), done
        assert "descriptors of this user" in done.record["error"], done
        # Who may have more is not in the way of it.
        assert mode.json(hello).record["stdout"] == "hello\n"
    finally:
        beside.kill()
