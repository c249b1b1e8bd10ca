# SPDX-License-Identifier: Apache-2.0
"""Whoever starts belljar may have odd habits: streams closed, signals ignored, a tight umask."""
import json
import os
import pathlib
import random
import resource
import signal
import socket
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))
SCRIPT = b"print(open('/etc/hostname').read().strip(), 6 * 7)\n"
SAYS = b"belljar 42\n"


def run(*args, text=SCRIPT, before=None, **kwargs):
    done = subprocess.run([BELLJAR, "run", "--language", "python", *args], input=text, timeout=60,
                          capture_output=True, check=False, preexec_fn=before, **kwargs)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(name="hello")
def hello_script(tmp_path):
    path = tmp_path / "hello.py"
    path.write_bytes(SCRIPT)
    return str(path)


@pytest.mark.parametrize("mask", [0, 0o077, 0o777])
def test_umask(mask):
    """SCRP-01: the caller's umask does not reach into the jar."""
    assert run("-", before=lambda: os.umask(mask)) == (0, SAYS, b"")


def test_umask_of_the_script():
    """SX-DIR: a script has the umask of a fresh login."""
    text = b"import os\nprint(oct(os.umask(0)))\n"
    assert run("-", text=text, before=lambda: os.umask(0o777)) == (0, b"0o22\n", b"")


@pytest.mark.parametrize("number", [signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE])
def test_ignored_signals(number):
    """SCRP-07: an ignored SIGCHLD would make the kernel hide the end of every child."""
    assert run("-", before=lambda: signal.signal(number, signal.SIG_IGN)) == (0, SAYS, b"")


def test_blocked_signals():
    """SCRP-01: the script starts with no signal blocked or ignored but SIGSYS."""
    text = (b"import signal\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, []))\n"
            b"print([s.name for s in signal.valid_signals() if isinstance(s, signal.Signals)\n"
            b"       and signal.getsignal(s) == signal.SIG_IGN])\n")

    def before():
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    code, out, err = run("-", text=text, before=before)
    assert (code, err) == (0, b"")
    # Python itself ignores SIGPIPE and SIGXFSZ.
    assert out == b"set()\n['SIGPIPE', 'SIGXFSZ', 'SIGSYS']\n"


@pytest.mark.parametrize("closed", [(0,), (0, 2), (2,)])
def test_closed_streams(hello, closed):
    """SCRP-08: with closed streams the script's output still comes out where it can."""
    def before():
        for fd in closed:
            os.close(fd)

    code, out, _ = run(hello, text=None, before=before)
    assert (code, out) == (0, SAYS)


@pytest.mark.parametrize("closed", [(1,), (0, 1)])
def test_closed_output(hello, closed):
    """SCRP-08: no place for the output is one sentence and exit status 125."""
    def before():
        for fd in closed:
            os.close(fd)

    code, _, err = run(hello, text=None, before=before)
    assert code == 125
    assert err == b"belljar: cannot write the script's output: Bad file descriptor\n"
    code, _, err = run("--json", hello, text=None, before=before)
    assert code == 125
    assert err == b"belljar: cannot write to standard output: Bad file descriptor\n"


def test_all_closed(hello):
    """SCRP-08: nothing to say it on, but the status is right."""
    assert run(hello, text=None, before=lambda: os.closerange(0, 3))[0] == 125


def test_script_from_closed_input():
    """SCRP-01: standard input that is closed is an error, not an empty script."""
    code, _, err = run("-", text=None, before=lambda: os.close(0))
    assert code == 125
    assert err == b"belljar: cannot read -: Bad file descriptor\n"


def test_descriptors_of_the_caller_stay_out(tmp_path):
    """DS-FS: what the caller has open is not open in the jar."""
    secret = tmp_path / "secret"
    secret.write_text("canary")
    text = b"import os\nprint(sorted(os.listdir('/proc/self/fd')))\n"
    with open(secret, encoding="ascii") as file:
        code, out, _ = run("-", text=text, pass_fds=[file.fileno()])
    # 3 is the directory that is being listed.
    assert (code, out) == (0, b"['0', '1', '2', '3']\n")


def test_few_descriptors():
    """SX-LOCAL: a low limit on open files is enough for one run."""
    assert run("-", before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))) == (
        0, SAYS, b"")


def test_descriptors_that_others_of_the_user_have_in_flight(hello):
    """The kernel counts them together, and refuses more than anybody may have open: said at once, with what to do."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)

    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))

    with here, there:
        for _ in range(2):
            socket.send_fds(here, [b"x"], [0] * 100)
        code, out, err = run("--no-service", hello, text=None, before=few)
        assert (code, out) == (125, b"")
        assert err == b"belljar: too many descriptors are in flight; run fewer at once (cause: infrastructure)\n"
    assert run("--no-service", hello, text=None, before=few) == (0, SAYS, b"")


def test_limits_of_the_caller_stay():
    """SCRP-04: who is limited more tightly than a jar stays so; what is looser is lowered."""
    text = (b"import resource as r\nprint(r.getrlimit(r.RLIMIT_MEMLOCK), r.getrlimit(r.RLIMIT_NOFILE), "
            b"r.getrlimit(r.RLIMIT_SIGPENDING))\n")

    def before():
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (4096, 8192))
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 500))
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (5000, 5000))

    assert run("-", text=text, before=before) == (0, b"(8192, 8192) (500, 500) (1024, 1024)\n", b"")


def test_too_few_uids_are_refused(tmp_path):
    """CFG: two user ids are one too few, since every run has two of its own."""
    config = tmp_path / "belljar.yaml"
    config.write_text("native:\n  uid_count: 2\n")
    code, _, err = run("--config", str(config), "-")
    assert code == 125
    assert b"native.uid_count" in err and b"3" in err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root picks the user ids")
def test_no_two_runs_share_a_uid(tmp_path):
    """SCRP-05: with user ids for one run, a second waits until the first has ended."""
    config = tmp_path / "belljar.yaml"
    base = random.randrange(1 << 30, 1800000000)  # nobody else's
    config.write_text(f"native:\n  uid_base: {base}\n  uid_count: 3\n")
    names = []
    for i in range(2):
        path = tmp_path / f"{i}.py"
        path.write_text("import time\nbegun = time.monotonic()\ntime.sleep(0.3)\nprint(begun, time.monotonic())\n")
        names.append(str(path))
    code, out, err = run("--no-service", "--config", str(config), "--jobs", "2", "--json", *names, text=None)
    assert code == 0, (out, err)
    lives = sorted([float(t) for t in json.loads(line)["stdout"].split()] for line in out.splitlines())
    assert len(lives) == 2 and lives[0][1] < lives[1][0], lives


PLAIN = """#!/usr/bin/python3
import ctypes, os, sys
{habit}
os.execv({binary!r}, [{binary!r}, *sys.argv[1:]])
"""


def with_habit(mode, place, habit):
    """The program of a mode, started by somebody who did this before."""
    path = place / "habit"
    path.write_text(PLAIN.format(habit=habit, binary=str(mode.binary)))
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", ["root", "rootless", "basic"])
def test_lazy_timers(name, mode_of, place):
    """SCRP-07: a caller whose timers may be late (TimerSlackNSec= of systemd) has deadlines that are not."""
    lazy = with_habit(mode_of(name), place, "ctypes.CDLL(None).prctl(29, ctypes.c_ulong(5 * 10**9))")
    script = place / "sleep.sh"
    script.write_text("sleep 30\n")
    done = mode_of(name).json("--timeout", "0.3", str(script), binary=lazy)
    assert done.record["cause"] == "timeout"
    assert done.record["duration_ms"] < 2000


@pytest.mark.parametrize("name", ["root", "rootless"])
def test_addresses_that_do_not_change(name, mode_of, place):
    """DS-SEC: a caller without random addresses (setarch -R) has scripts with them."""
    fixed = with_habit(mode_of(name), place, "ctypes.CDLL(None).personality(0x40000)")
    script = place / "where.sh"
    script.write_text("cat /proc/self/personality\n")
    assert mode_of(name).json(str(script), binary=fixed).record["stdout"] == "00000000\n"


@pytest.mark.parametrize("name", ["root", "rootless"])
@pytest.mark.parametrize("words", ["best-effort, first in line", "idle"])
def test_a_class_at_the_disk(name, words, mode_of, place):
    """DS-SEC: what ionice gave the caller, a script has not."""
    value = {"best-effort, first in line": 2 << 13, "idle": 3 << 13}[words]
    nice = with_habit(mode_of(name), place, f"assert ctypes.CDLL(None).syscall(251, 1, 0, {value}) == 0")
    script = place / "class.py"
    script.write_text("import ctypes\nprint(ctypes.CDLL(None).syscall(252, 1, 0))\n")
    plain = mode_of(name).json(str(script)).record["stdout"]
    assert mode_of(name).json(str(script), binary=nice).record["stdout"] == plain
