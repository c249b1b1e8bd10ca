# SPDX-License-Identifier: Apache-2.0
"""Start, reload, stop and sudden death of the service: DS-CLEAN, SCRP-06."""
import errno
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import tempfile
import threading
import time
import types

import pytest

from harness.ports import free_port
from serving import BELLJAR, ENV, TOP, Service, wait_until


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid):
    out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True,
                         check=True)
    return sorted(map(int, out.stdout.split()))


def tree(pid):
    """All processes below @pid."""
    out = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    parents = dict(tuple(map(int, line.split())) for line in out.stdout.splitlines())
    found, more = set(), {pid}
    while more:
        found |= more
        more = {child for child, parent in parents.items() if parent in found} - found
    return found - {pid}


def answers(it):
    """Whether it runs scripts; while a part is being replaced it may hang up."""
    try:
        return it.run("echo back", "bash").status == 200
    except (OSError, http.client.HTTPException):
        return False


def test_a_stale_socket_is_replaced(serve):
    it = serve()
    it.ready()
    it.process.kill()
    it.process.wait()
    assert os.path.exists(it.socket)
    it.process = subprocess.Popen([BELLJAR, "serve", "--socket", it.socket],
                                  env={**ENV, "NOTIFY_SOCKET": f"{it.folder.name}/notify"},
                                  stderr=subprocess.DEVNULL)
    try:
        it.wait_note("READY=1")
        assert it.run("echo 1", "bash").status == 200
    finally:
        it.process.terminate()
        assert it.process.wait(20) == 0
    assert not os.path.exists(it.socket)


def test_two_services_on_one_path_are_refused(service):
    done = subprocess.run([BELLJAR, "serve", "--socket", service.socket], capture_output=True,
                          text=True, env=ENV, timeout=20)
    assert done.returncode == 125
    assert "another service" in done.stderr
    assert service.run("echo 1", "bash").status == 200


def test_what_is_no_socket_is_left_alone(serve, tmp_path):
    path = tmp_path / "file"
    path.write_text("precious")
    done = subprocess.run([BELLJAR, "serve", "--socket", str(path)], capture_output=True,
                          text=True, env=ENV, timeout=20)
    assert done.returncode == 125
    assert path.read_text() == "precious"


def test_a_place_that_cannot_be_had(tmp_path):
    """Another place is what helps, and nothing is left at this one."""
    long = tmp_path / ("x" * 108)
    for path in (long, tmp_path / "no/such/place", pathlib.Path("/proc/s")):
        done = subprocess.run([BELLJAR, "serve", "--socket", path], capture_output=True, text=True, env=ENV, timeout=20)
        assert done.returncode == 125 and done.stderr.count("\n") == 1, done
        assert ("longer than 107 bytes" if path == long else "--socket") in done.stderr, done
    assert not list(tmp_path.iterdir())


def test_a_socket_somebody_listens_on_is_left_alone(tmp_path):
    path = str(tmp_path / "other.sock")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(path)
        other.listen()
        done = subprocess.run([BELLJAR, "serve", "--socket", path], capture_output=True, text=True,
                              env=ENV, timeout=20)
    assert done.returncode == 125
    assert "listens" in done.stderr


@pytest.mark.parametrize("args, words", [
    (["extra"], "extra"),
    (["--socket", "/" + "x" * 200], "longer"),
    (["--user", "no-such-user-here"], "serve.user"),
    (["--listen", "nonsense"], "HOST:PORT"),
    (["--config", "/nowhere/x.yaml"], "/nowhere/x.yaml"),
    (["--sokcet", "x"], "did you mean --socket"),
])
def test_wrong_arguments(args, words, tmp_path):
    done = subprocess.run([BELLJAR, "serve", "--socket", str(tmp_path / "s"), *args],
                          capture_output=True, text=True, timeout=20,
                          env={**ENV, "BELLJAR_SERVE_API_KEY": "x" * 20})
    assert done.returncode == 125
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_stop_lets_runs_finish(serve):
    """DS-CLEAN: SIGTERM, and the client still gets its answer."""
    it = serve().ready()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(it.run("sleep 2; echo end", "bash")))
    thread.start()
    wait_until(lambda: it.metrics()["belljar_runs_in_flight"] == 1)
    it.process.terminate()
    it.wait_note("STOPPING=1")
    thread.join(20)
    assert answers[0].json["stdout"] == "end\n"
    assert it.process.wait(20) == 0
    assert not os.path.exists(it.socket)


def test_nobody_waits_for_a_service_that_stops(serve, tmp_path):
    """Whoever comes when it takes no more is turned away at once, over TCP too, and the manager knows how long it may take."""
    port = free_port()
    it = serve("--listen", f"127.0.0.1:{port}", env={"BELLJAR_SERVE_API_KEY": "x" * 20},
               config="serve: {grace: 60s}\n").ready()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(it.run("sleep 3; echo end", "bash")))
    thread.start()
    wait_until(lambda: it.metrics()["belljar_runs_in_flight"] == 1)
    it.process.terminate()
    assert "EXTEND_TIMEOUT_USEC=68000000" in it.wait_note("STOPPING=1").split("\n")
    wait_until(lambda: not os.path.exists(it.socket))
    with pytest.raises(FileNotFoundError):
        it.ask("GET", "/healthz")

    def refused():
        with socket.socket() as sock:
            return sock.connect_ex(("127.0.0.1", port)) == errno.ECONNREFUSED

    wait_until(refused)
    assert thread.is_alive() and it.process.poll() is None  # all that was in its time
    thread.join(20)
    assert answers[0].json["stdout"] == "end\n"
    assert it.process.wait(20) == 0


def test_stop_cancels_what_takes_too_long(serve):
    """DS-CLEAN"""
    it = serve(config="serve: {grace: 300ms}\n").ready()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(it.run("sleep 60", "bash")))
    thread.start()
    wait_until(lambda: it.metrics()["belljar_runs_in_flight"] == 1)
    begun = time.monotonic()
    it.process.send_signal(signal.SIGINT)
    assert it.process.wait(20) == 0
    assert time.monotonic() - begun < 8
    thread.join(20)
    assert answers[0].json["cause"] == "cancelled"


def test_reload_changes_settings_and_spares_runs(serve):
    """CFG: new limits for new runs; the old launcher ends with its last run."""
    it = serve().ready()
    old = it.start("sleep 4; echo survived")
    it.wait_state(old, "running")
    before = set(it.processes())
    pathlib.Path(it.config).write_text("limits: {memory: 64MiB}\nserve: {queue: 7}\n")
    it.process.send_signal(signal.SIGHUP)
    it.wait_note("RELOADING=1")
    it.wait_note("READY=1")
    result = it.run("echo new", "bash").json
    assert result["meta"]["resource_limits"]["effective"]["memory_bytes"] == 64 << 20
    assert len(it.processes()) == 3
    ended = it.ended(old)
    assert ended["result"]["stdout"] == "survived\n"
    assert ended["result"]["meta"]["resource_limits"]["effective"]["memory_bytes"] == 512 << 20
    wait_until(lambda: len(it.processes()) == 2)
    assert len(before & set(it.processes())) == 1


def test_a_reload_that_is_wrong_changes_nothing(serve):
    """CFG"""
    it = serve().ready()
    pathlib.Path(it.config).write_text("limits: {memory: lots}\n")
    it.process.send_signal(signal.SIGHUP)
    it.wait_note("RELOADING=1")
    it.wait_note("READY=1")
    assert "stay as they were" in it.said()
    assert it.run("echo 1", "bash").status == 200


def test_a_reload_that_the_front_refuses_changes_nothing(serve):
    """CFG: what only the front finds wrong; the launcher that came for it ends, and is not missed."""
    it = serve().ready()
    before = it.processes()
    rules = pathlib.Path(it.folder.name, "rules.yaml")
    rules.write_text("rules: 1\n")
    os.chmod(it.folder.name, 0o755)
    pathlib.Path(it.config).write_text(f"check: {{rules_file: {rules}}}\nlimits: {{pids: 33}}\n")
    it.process.send_signal(signal.SIGHUP)
    it.wait_note("RELOADING=1")
    it.process.send_signal(signal.SIGHUP)  # while the front still has to answer
    wait_until(lambda: it.said().count("stay as they were") == 2 and it.processes() == before)
    assert "starting another" not in it.said()
    assert it.run("echo", "bash").json["meta"]["resource_limits"]["effective"]["pids"] == 100
    # Whoever dies afterwards is replaced as it was.
    os.kill(children(it.processes()[1])[0], signal.SIGKILL)
    wait_until(lambda: it.run("echo back", "bash").status == 200)
    rules.write_text("secrets: []\n")
    it.process.send_signal(signal.SIGHUP)
    wait_until(lambda: it.run("echo", "bash").json["meta"]["resource_limits"]["effective"]["pids"] == 33)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_reload_needs_no_rights_of_the_front(serve):
    """The settings file may be root's alone: the keeper reads it."""
    it = serve().ready()
    os.chmod(it.config, 0o600)
    pathlib.Path(it.config).write_text("limits: {pids: 33}\n")
    it.process.send_signal(signal.SIGHUP)
    it.wait_note("RELOADING=1")
    it.wait_note("READY=1")
    assert it.run("echo", "bash").json["meta"]["resource_limits"]["effective"]["pids"] == 33


@pytest.mark.parametrize("victim", ["front", "launcher"])
def test_sudden_death_of_a_part(serve, victim):
    """DS-CLEAN: SIGKILL of front or launcher: no jar left, back in service by itself."""
    it = serve().ready()
    answers = []

    def ask():
        try:
            answers.append(it.run("sleep 30; echo never", "bash").status)
        except (OSError, http.client.HTTPException) as error:
            answers.append(type(error).__name__)

    thread = threading.Thread(target=ask)
    thread.start()
    wait_until(lambda: it.metrics()["belljar_runs_in_flight"] == 1)
    below = tree(it.process.pid)
    # The starter waits for the launcher, which is pid 1 of the jars' namespace.
    pid = it.processes()[0] if victim == "front" else children(it.processes()[1])[0]
    os.kill(pid, signal.SIGKILL)
    thread.join(20)
    # No answer, or one that says that belljar failed: never a wrong one.
    assert answers and answers[0] != 200
    it.wait_note("READY=1")
    assert it.run("echo back", "bash").json["stdout"] == "back\n"
    keep = {it.process.pid, *tree(it.process.pid)}
    wait_until(lambda: not any(alive(pid) for pid in below - keep))


def test_a_launcher_dies_before_its_front_is_up(serve):
    """DS-CLEAN: the front asks for nothing and would wait for ever; the keeper starts another launcher."""
    it = serve().ready()
    for _ in range(3):
        wait_until(lambda: len(it.processes()) == 2)
        old = it.processes()
        os.kill(old[0], signal.SIGKILL)
        while len(fresh := [pid for pid in it.processes() if pid not in old]) < 2:
            pass
        os.kill(fresh[1], signal.SIGKILL)
        # It may have come up just before that: then a run can meet its end.
        wait_until(lambda: it.run("echo back", "bash").status == 200)


@pytest.fixture
def profile(tmp_path):
    """A file that a launcher cannot be started without."""
    path = tmp_path / "profile.json"
    path.write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW"}))
    return path


def kill_without(it, profile, victim):
    """SIGKILL to front or launcher at a time when no launcher can be started. Where the file is meanwhile."""
    away = profile.rename(f"{profile}.away")
    os.kill(it.processes()[0] if victim == "front" else children(it.processes()[1])[0], signal.SIGKILL)
    wait_until(lambda: str(profile) in it.said())
    return away


@pytest.mark.parametrize("victim", ["front", "launcher"])
def test_a_launcher_that_cannot_be_started_is_tried_again(serve, profile, victim):
    """DS-CLEAN: what it needs may be missing for a moment only."""
    it = serve(config=f"seccomp: {profile}\n").ready()
    kill_without(it, profile, victim).rename(profile)
    wait_until(lambda: answers(it), 10)
    assert it.metrics()[f'belljar_restarts_total{{part="{victim}"}}'] >= 1


@pytest.mark.parametrize("victim", ["front", "launcher"])
def test_a_launcher_that_never_can_be_started_ends_the_service(serve, profile, victim):
    """DS-CLEAN: a service manager sees that it cannot go on; nothing lives on."""
    it = serve(config=f"seccomp: {profile}\n").ready()
    below = tree(it.process.pid)
    kill_without(it, profile, victim)
    assert it.process.wait(20) == 125
    assert "again and again" in it.said()
    wait_until(lambda: not any(alive(pid) for pid in below))


def test_a_manager_that_does_not_read_holds_nobody(serve):
    """The keeper tells it how things stand; its children do not wait for that."""
    it = serve().ready()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as full:
        full.setblocking(False)
        full.connect(f"{it.folder.name}/notify")
        with pytest.raises(BlockingIOError):
            while True:
                full.send(b"STATUS=")
    os.kill(it.processes()[0], signal.SIGKILL)
    wait_until(lambda: "was not told READY=1" in it.said(), 10)
    os.kill(it.processes()[0], signal.SIGKILL)
    assert it.run("echo back", "bash").json["stdout"] == "back\n"
    it.process.send_signal(signal.SIGTERM)
    assert it.process.wait(20) == 0


def test_sudden_death_of_the_keeper(serve):
    """DS-CLEAN: nothing lives on."""
    it = serve().ready()
    run = it.start("sleep 60")
    it.wait_state(run, "running")
    below = tree(it.process.pid)
    assert len(below) >= 4
    it.process.kill()
    it.process.wait()
    wait_until(lambda: not any(alive(pid) for pid in below))


@pytest.mark.skipif(os.geteuid() != 0, reason="stops a process of another uid")
def test_a_launcher_that_hangs_dies_with_the_keeper(serve):
    """DS-CLEAN: it cannot notice; the starter does, and leaves no jar and no cgroup."""
    it = serve().ready()
    run = it.start("sleep 60")
    it.wait_state(run, "running")
    below = tree(it.process.pid)
    launcher = children(it.processes()[1])[0]
    places = {line.strip().split(":", 2)[2] for line in open(f"/proc/{launcher}/cgroup") if "belljar." in line}
    assert places
    os.kill(launcher, signal.SIGSTOP)
    it.process.kill()
    it.process.wait()
    wait_until(lambda: not any(alive(pid) for pid in below), 25)
    tops = {re.match(r".*/belljar\.[^/]*", place)[0] for place in places}  # the owner's, not what is in it
    left = [d for top in tops for d in pathlib.Path("/sys/fs/cgroup").glob(f"*{top}")]
    assert not left


def test_nothing_is_left_of_descriptors_and_threads(serve):
    """SCRP-06: after runs of every kind the front is as it was."""
    it = serve().ready()
    front = it.processes()[0]

    def fds():
        return len(os.listdir(f"/proc/{front}/fd"))

    def round_of_runs():
        it.run("echo 1", "bash", stdin="x", files=[{"name": "a", "text": "b"}])
        it.run("api_key = 'secret123'")
        it.run("x", "perl")
        it.run("sleep 9", "bash", timeout=0.05)
        it.ended(it.start("echo 2"))
        list(it.events("/v1/executions", "POST", {"script": "echo 3", "language": "bash"},
                       {"Accept": "text/event-stream"}))

    round_of_runs()
    wait_until(lambda: it.metrics()["belljar_connections"] == 1)
    before = fds()
    for _ in range(10):
        round_of_runs()
    wait_until(lambda: it.metrics()["belljar_connections"] == 1)
    wait_until(lambda: fds() <= before)
    # The thread of the last connection ends after what it says of itself.
    wait_until(lambda: len(os.listdir(f"/proc/{front}/task")) <= 4)


# --- the service manager ---------------------------------------------------------------------

ACTIVATE = """
import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(50)
os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])
"""


def test_socket_activation(tmp_path):
    """The socket is the manager's: it was there before, and stays after."""
    path = str(tmp_path / "activated.sock")
    notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notes.bind(str(tmp_path / "notify"))
    notes.settimeout(20)
    process = subprocess.Popen(
        ["/usr/bin/python3", "-c", ACTIVATE, path, BELLJAR, "serve"],
        env={**ENV, "NOTIFY_SOCKET": str(tmp_path / "notify")})
    try:
        assert b"READY=1" in notes.recv(1000)
        it = Service.__new__(Service)
        it.socket = path
        assert it.run("echo $LISTEN_FDS-", "bash").json["stdout"] == "-\n"
    finally:
        process.terminate()
        assert process.wait(20) == 0
        notes.close()
    assert os.path.exists(path)


def listens(path):
    """It has its name a moment before."""
    with socket.socket(socket.AF_UNIX) as sock:
        return sock.connect_ex(path) == 0


def test_activation_by_systemd_itself(tmp_path):
    path = str(tmp_path / "by-systemd.sock")
    process = subprocess.Popen(["systemd-socket-activate", "-E",
                                f"BELLJAR_STATE_DIR={ENV['BELLJAR_STATE_DIR']}",
                                "--listen", path, BELLJAR, "serve"], env=ENV, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: listens(path))
        it = Service.__new__(Service)
        it.socket = path
        assert it.run("echo 1", "bash").json["stdout"] == "1\n"
    finally:
        process.terminate()
        assert process.wait(20) == 0


def test_sockets_passed_to_another_process_are_not_taken(serve):
    it = serve(env={"LISTEN_FDS": "1", "LISTEN_PID": "1"}).ready()
    assert it.run("echo 1", "bash").status == 200


def test_passed_descriptors_that_do_not_listen_are_refused(tmp_path):
    code = ACTIVATE.replace("s.listen(50)", "pass")
    done = subprocess.run(["/usr/bin/python3", "-c", code, str(tmp_path / "s"), BELLJAR, "serve"],
                          capture_output=True, text=True, env=ENV, timeout=20)
    assert done.returncode == 125
    assert "no listening socket" in done.stderr


def test_units_are_sound(tmp_path):
    """DOCS: systemd reads the units without a word."""
    for name in ("belljar.service", "belljar.socket"):
        text = (TOP / "contrib/systemd" / name).read_text()
        (tmp_path / name).write_text(text.replace("/usr/bin/belljar", BELLJAR))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no",
                           *map(str, tmp_path.glob("belljar.*"))],
                          capture_output=True, text=True, timeout=60)
    ours = [line for line in (done.stdout + done.stderr).splitlines() if "belljar" in line]
    assert not ours, ours


def test_other_backends_are_served(serve):
    """DS-FALL: the keeper starts whatever the settings call for and hands it to the front."""
    it = serve(config="backend: direct\nallow_unsafe: true\n").ready()
    result = it.run("echo direct", "bash").json
    assert (result["stdout"], result["meta"]["runtime"]) == ("direct\n", "direct")
    assert it.run("echo", "bash", backend="direct").status == 403


@pytest.fixture
def own_service(open_folder):
    """A service of an ordinary user on a machine that delegates no cgroup: (service, environment, who)."""
    if os.geteuid() != 0:
        pytest.skip("needs root to become somebody else")
    runtime = pathlib.Path(tempfile.mkdtemp(dir=open_folder))
    uid = 20000 + os.getpid() % 10000
    os.chown(runtime, uid, uid)
    who = {"user": uid, "group": uid, "extra_groups": []}
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", "XDG_RUNTIME_DIR": str(runtime),
           "XDG_STATE_HOME": str(runtime)}
    with open(runtime / "log", "w", encoding="utf-8") as log:
        process = subprocess.Popen([BELLJAR, "serve"], stderr=log, **who, env={**env, "BELLJAR_NATIVE_REQUIRE": "basic"})
    try:
        it = Service.__new__(Service)
        it.process, it.folder = process, types.SimpleNamespace(name=runtime)
        it.socket = str(runtime / "belljar/belljar.sock")
        wait_until(lambda: os.path.exists(it.socket))
        yield it, env, who
    finally:
        process.terminate()
        assert process.wait(20) == 0


def test_an_ordinary_user_has_a_service_of_their_own(own_service):
    """SX-LOCAL: no root needed; the socket stands in $XDG_RUNTIME_DIR."""
    it, env, who = own_service
    assert it.run("echo mine", "bash").json["stdout"] == "mine\n"
    done = subprocess.run([BELLJAR, "run", "-l", "bash", "-"], input=b"echo yours", **who,
                          env=env, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"yours\n")
    assert it.metrics()['belljar_runs_total{backend="native",cause="exited"}'] == 2


def test_a_front_that_cannot_be_forked_is_tried_again(own_service):
    """DS-CLEAN: there may be no room for a process for a moment only; root has no such limit."""
    it, _, who = own_service

    def limit(processes):
        subprocess.run(["prlimit", f"--pid={it.process.pid}", f"--nproc={processes}:"], **who, check=True)

    wait_until(lambda: answers(it))
    front, before = it.processes()[0], resource.getrlimit(resource.RLIMIT_NPROC)[0]
    limit(0)
    os.kill(front, signal.SIGKILL)
    wait_until(lambda: "cannot start the front" in it.said())
    it.process.send_signal(signal.SIGHUP)  # there is nobody to hand new settings to
    limit("unlimited" if before == resource.RLIM_INFINITY else before)
    wait_until(lambda: answers(it), 10)
    assert it.metrics()['belljar_restarts_total{part="front"}'] == 1
    assert "stay as they were" not in it.said()


@pytest.mark.parametrize("language, script, said", [
    ("python", "import resource\nprint(*resource.getrlimit(resource.RLIMIT_CPU))", "8 8\n"),
    ("bash", "ulimit -S -t; ulimit -H -t", "8\n8\n")])
def test_without_cgroups_what_waited_has_its_cpu_time(own_service, language, script, said):
    """SCRP-04: also an interpreter that was started before anybody knew its script's deadline."""
    it = own_service[0]
    results = []

    def warm():
        results.append(it.run(script, language, timeout=7).json)
        return results[-1]["meta"]["warm"]

    wait_until(warm)
    assert {r["stdout"] for r in results} == {said}, results
