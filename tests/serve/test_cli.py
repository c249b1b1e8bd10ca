# SPDX-License-Identifier: Apache-2.0
"""The command line and a service: the same results, the same statuses: EXIT, RESULT."""
import concurrent.futures
import json
import os
import signal
import subprocess
import time

import pytest

from serving import BELLJAR, ENV

SCRIPTS = {
    "hello": ("python", "print('hi')", []),
    "both streams": ("bash", "echo out; echo err >&2; exit 7", []),
    "bytes": ("python", "import sys; sys.stdout.buffer.write(b'\\xff\\x00\\n')", []),
    "signal": ("bash", "kill -TERM $$", []),
    "timeout": ("python", "while True: pass", ["--timeout", "0.3"]),
    "rejected": ("python", "api_key = 'secret123'", []),
    "syntax": ("python", "def foo(", []),
    "strict": ("python", "import os", ["--policy", "strict"]),
    "clamped": ("bash", "echo 1", ["--timeout", "1h"]),
    "profile": ("bash", "echo 1", ["--profile", "analysis"]),
    "env": ("bash", "echo $A", ["--env", "A=b c"]),
    "limits": ("bash", "ulimit -u; echo 1", ["--memory", "64MiB", "--pids", "20", "--cpus", "0.5"]),
}


def cli(service, *args, data=None, **kwargs):
    env = dict(ENV)
    if service:
        env["BELLJAR_SERVE_SOCKET"] = service.socket
    return subprocess.run([BELLJAR, *args], input=data, capture_output=True, env=env, timeout=60,
                          **kwargs)


def requests(service):
    return sum(value for name, value in service.metrics().items()
               if name.startswith("belljar_runs_total"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_same_output_and_status(service, name):
    """EXIT: a service changes who does it, not what comes out."""
    language, text, flags = SCRIPTS[name]
    before = requests(service)
    remote = cli(service, "run", "-l", language, *flags, "-", data=text.encode())
    assert requests(service) == before + 1
    local = cli(None, "run", "--no-service", "-l", language, *flags, "-", data=text.encode())
    assert (remote.returncode, remote.stdout, remote.stderr) == \
        (local.returncode, local.stdout, local.stderr)


@pytest.mark.parametrize("name", ["hello", "rejected", "timeout", "clamped", "limits"])
def test_same_json(service, name):
    """RESULT"""
    language, text, flags = SCRIPTS[name]
    args = ["run", "--json", "-l", language, *flags, "-"]
    remote = json.loads(cli(service, *args, data=text.encode()).stdout)
    local = json.loads(cli(None, *args, data=text.encode()).stdout)
    for result in (remote, local):
        for key in ("id", "started_ms", "duration_ms", "usage"):
            del result[key]
        del result["meta"]["warm"]  # only a service has interpreters that wait
    assert remote == local


def test_inputs_arguments_and_standard_input(service, tmp_path):
    """SCRP-01"""
    (tmp_path / "data.bin").write_bytes(b"\x00\xff")
    (tmp_path / "in.txt").write_text("typed")
    (tmp_path / "s.py").write_text(
        "import sys; print(open('data.bin','rb').read(), sys.stdin.read(), sys.argv[1:])")
    before = requests(service)
    done = cli(service, "run", "--in", "data.bin", "--stdin", "in.txt", "s.py", "--", "a", "b",
               cwd=tmp_path)
    assert requests(service) == before + 1
    assert done.stdout.startswith(b"b'\\x00\\xff' typed ['a', 'b']")


@pytest.mark.parametrize("flags", [
    ["--no-service"], ["--trust"], ["--policy", "off"], ["--max-output", "1KiB"], ["--jobs", "1"],
    ["--memory", "1GiB"], ["--stdin", "-"], ["--tmp-size", "1MiB"],
])
def test_what_a_service_cannot_do_runs_here(service, tmp_path, flags):
    """A flag that only this process can honour is honoured."""
    (tmp_path / "s.sh").write_text("echo here")
    before = requests(service)
    done = cli(service, "run", *flags, str(tmp_path / "s.sh"), data=b"")
    assert done.returncode == 0
    assert requests(service) == before


def test_out_runs_here(service, tmp_path):
    (tmp_path / "s.sh").write_text("mkdir -p out; echo x > out/f")
    done = cli(service, "run", "--out", str(tmp_path / "o"), str(tmp_path / "s.sh"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "o/f").read_text() == "x\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_service_of_another_user_is_not_used(service, open_folder):
    """Only root's or the caller's own: anybody could put a socket somewhere."""
    code = ("import socket,sys,os\ns=socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\n"
            "os.chmod(sys.argv[1],0o777)\ns.listen()\nprint('up',flush=True)\n"
            "c,_=s.accept()\nprint(c.recv(100),flush=True)\n")
    os.chmod(open_folder, 0o777)
    path = str(open_folder / "evil.sock")
    evil = subprocess.Popen(["/usr/bin/python3", "-c", code, path], stdout=subprocess.PIPE,
                            user="nobody", group="nogroup", extra_groups=[])
    try:
        assert evil.stdout.readline() == b"up\n"
        done = subprocess.run([BELLJAR, "run", "-l", "bash", "-"], input=b"echo safe",
                              capture_output=True, timeout=60,
                              env={**ENV, "BELLJAR_SERVE_SOCKET": path})
        assert done.stdout == b"safe\n"
        assert evil.stdout.readline() == b"b''\n"
    finally:
        evil.kill()
        evil.wait()


def start_run(service, tmp_path, text, *flags):
    (tmp_path / "long.sh").write_text(text)
    return subprocess.Popen([BELLJAR, "run", *flags, str(tmp_path / "long.sh")],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**ENV, "BELLJAR_SERVE_SOCKET": service.socket})


def test_output_is_live_and_ctrl_c_cancels(service, tmp_path):
    """EXIT: 130, and the run is gone."""
    run = start_run(service, tmp_path, "echo begun; sleep 60")
    assert run.stdout.readline() == b"begun\n"
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=20)
    assert run.returncode == 130
    assert b"cancelled" in err
    assert service.metrics()["belljar_runs_in_flight"] == 0


def test_a_run_whose_client_is_killed_is_cancelled(service, tmp_path):
    run = start_run(service, tmp_path, "echo begun; sleep 60")
    assert run.stdout.readline() == b"begun\n"
    run.kill()
    run.communicate()
    until = time.monotonic() + 10
    while service.metrics()["belljar_runs_in_flight"]:
        assert time.monotonic() < until


def test_a_service_that_dies_is_told(serve, tmp_path):
    """EXIT: 125, one sentence."""
    it = serve().ready()
    run = start_run(it, tmp_path, "echo begun; sleep 60")
    assert run.stdout.readline() == b"begun\n"
    it.process.kill()
    it.process.wait()
    _, err = run.communicate(timeout=20)
    assert run.returncode == 125
    assert b"went away" in err


def test_ps_kill_and_top(serve):
    it = serve().ready()
    done = cli(it, "run", "-l", "bash", "-", data=b"exit 3")
    assert done.returncode == 3
    run = it.start("sleep 60")
    it.wait_state(run, "running")
    listed = cli(it, "ps").stdout.decode().splitlines()
    assert len(listed) == 2
    assert listed[1].split()[:3] == [run, "bash", "running"]
    assert len(cli(it, "ps", "--all").stdout.splitlines()) == 3
    assert len(json.loads(cli(it, "ps", "--json").stdout)["executions"]) == 2
    assert len(cli(it, "top").stdout.splitlines()) == 3
    assert cli(it, "kill", run[:10]).returncode == 0
    assert it.ended(run)["cause"] == "cancelled"
    done = cli(it, "kill", run)
    assert done.returncode == 1
    assert b"ended already" in done.stderr
    assert b"no run zz" in cli(it, "kill", "zz").stderr
    for _ in range(16):
        it.start("true")
    firsts = [e["id"][0] for e in json.loads(cli(it, "ps", "--json").stdout)["executions"]]
    assert b"more than one" in cli(it, "kill", max(firsts, key=firsts.count)).stderr


def test_what_runs_is_seen_behind_all_that_ended_since(serve):
    """The list comes in pages; what is under way may be on the last one."""
    it = serve(config="serve: {keep: 1200}\nrecord: {enabled: false}\n").ready()
    run = it.start("sleep 300", timeout=300)
    it.wait_state(run, "running")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in pool.map(lambda _: it.run("api_key = 'secret123'"), range(1100)):
            pass
    assert [line.split()[0] for line in cli(it, "ps").stdout.decode().splitlines()[1:]] == [run]
    top = cli(it, "top").stdout.decode().splitlines()
    assert len(top) == 41 and top[1].split()[0] == run
    everything = cli(it, "ps", "--all").stdout.decode().splitlines()[1:]
    ids = [line.split()[0] for line in everything]
    assert len(ids) == len(set(ids)) == 1101 and ids[-1] == run
    assert len(json.loads(cli(it, "ps", "--json").stdout)["executions"]) == 1101
    assert cli(it, "kill", run[:12]).returncode == 0
    assert it.ended(run)["cause"] == "cancelled"


def test_top_shows_what_a_live_run_uses(serve):
    """SCRP-09: CPU time and memory while it runs, both growing."""
    it = serve().ready()
    run = it.start("hold = bytearray(64 << 20)\nwhile True:\n    pass\n", language="python")
    it.wait_state(run, "running")

    def used():
        row = next(line.split() for line in cli(it, "top").stdout.decode().splitlines() if run in line)
        assert row[2] == "running"
        return [float(word) if word != "-" else 0 for word in row[5:7]]

    wait_for(lambda: used()[1] > 64)
    before = used()[0]
    wait_for(lambda: used()[0] > before > 0)
    assert cli(it, "kill", run).returncode == 0


def wait_for(check):
    until = time.monotonic() + 20
    while not check():
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.parametrize("verb", [["ps"], ["kill", "x"], ["top"]])
def test_without_a_service(verb, tmp_path):
    done = cli(None, *verb, "--socket", str(tmp_path / "none"))
    assert done.returncode == 125
    assert b"belljar serve" in done.stderr
    assert cli(None, "kill").returncode == 125
    assert cli(None, "ps", "extra").returncode == 125
    assert cli(None, "top", "extra").returncode == 125


def test_kill_needs_an_id(serve):
    """A variable that was not set does not end the one run there is."""
    it = serve().ready()
    run = it.start("sleep 60")
    it.wait_state(run, "running")
    done = cli(it, "kill", "")
    assert done.returncode == 1 and b"belljar ps" in done.stderr
    assert json.loads(cli(it, "ps", "--json").stdout)["executions"][0]["state"] == "running"
