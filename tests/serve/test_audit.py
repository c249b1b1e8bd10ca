# SPDX-License-Identifier: Apache-2.0
"""AUDIT: what the service writes down, and what is left of it after sudden deaths."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from serving import BELLJAR, Service

ENV = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere"}
CONFIG = "log_level: info\nstate_dir: {state}\napproval: {{rules: []}}\n{more}"


@pytest.fixture
def state(tmp_path):
    tmp_path.chmod(0o755)
    return tmp_path / "state"


def start(state, more=""):
    """A service; its settings are kept beside the state, for when it is gone."""
    it = Service(config=CONFIG.format(state=state, more=more)).ready()
    it.settings = str(state.parent / "c.yaml")
    pathlib.Path(it.settings).write_text(CONFIG.format(state=state, more=more))
    return it


def belljar(*args, config, code=0):
    done = subprocess.run([BELLJAR, *args, "-c", config], text=True, timeout=60, env=ENV,
                          capture_output=True)
    assert done.returncode == code, (args, done.stdout, done.stderr)
    return done.stdout


def lines(config, *args):
    return [json.loads(x) for x in
            belljar("audit", "export", *args, config=config).splitlines()]


@pytest.mark.parametrize("agent", [b"\xff\xfe", b"x" + "é".encode() * 60, b"yy" + "é".encode() * 60, b"\x1b[2J\x07"])
def test_no_agent_unsays_its_lines(state, agent):
    """Whatever an agent calls itself: the lines about its run name the run, the script and somebody."""
    it = start(state)
    run = it.run("print(1)", headers={"Belljar-Agent": agent.decode("latin-1")}).json["id"]
    it.stop()
    said = {x["kind"]: x["data"] for x in lines(it.settings) if x["kind"].startswith("run.")}
    assert said.keys() == {"run.start", "run.finish"} and {d["run"] for d in said.values()} == {run}
    assert said["run.start"]["script_sha256"] and said["run.start"]["actor"].startswith("agent ")
    assert said["run.start"]["actor"].isprintable()


def test_a_run_whose_start_cannot_be_written_is_ended(state):
    """The line is written while the script runs already: without it, the script ends, and nobody hears of it."""
    it = start(state, "audit: {max_size: 4KiB}\n")
    blocker = state / "audit/audit-000002.jsonl"
    blocker.mkdir()
    while it.run("print(1)").status == 200:
        assert (state / "audit/audit-000001.jsonl").stat().st_size < 4096
    began = time.monotonic()
    answer = it.run("import time; print('ran', flush=True); time.sleep(30)")
    assert answer.status == 500 and b"audit" in answer.body and b"ran" not in answer.body
    assert time.monotonic() - began < 15
    blocker.rmdir()
    assert it.run("print(1)").status == 200
    it.stop()
    belljar("audit", "verify", config=it.settings)


def test_life_of_a_service_is_on_record(state):
    it = start(state, "limits: {memory: 128MiB}\n")
    ok = it.run("print(1)").json
    refused = it.run("password = 'hunter2hunter2'").json
    pathlib.Path(it.config).write_text(CONFIG.format(state=state, more="limits: {memory: 64MiB}\n"))
    it.process.send_signal(signal.SIGHUP)
    it.wait_note("RELOADING=1")
    it.wait_note("READY=1")
    it.stop()
    log = lines(it.settings)
    kinds = [x["kind"] for x in log]
    assert kinds == ["audit.begin", "service.start", "run.start", "run.finish", "run.refuse",
                     "settings.change", "service.stop"]
    assert log[5]["data"]["changed"] == ["limits.memory"]
    assert log[2]["data"]["run"] == log[3]["data"]["run"] == ok["id"]
    assert log[3]["data"]["cause"] == "exited"
    assert (log[4]["data"]["run"], log[4]["data"]["cause"]) == (refused["id"], "rejected")
    assert log[2]["data"]["actor"] == f"uid {os.getuid()}"
    assert "hunter2" not in json.dumps(log)
    assert belljar("audit", "verify", config=it.settings).startswith("ok: 7 lines")
    # The head as an anchor, for the public half too.
    head = json.loads(belljar("audit", "head", config=it.settings))
    assert head["seq"] == 7 and head["sig"]
    public = state / "keys/audit.key.pub"
    belljar("audit", "verify", "--key", str(public), config=it.settings)
    assert [x["kind"] for x in lines(it.settings, "--from", "6")] == kinds[5:]


def test_every_change_is_found_from_the_command_line(state):
    it = start(state)
    for _ in range(3):
        it.run("echo 1", "bash")
    it.stop()
    log = state / "audit/audit-000001.jsonl"
    good = log.read_bytes()
    rows = good.splitlines(keepends=True)
    for bad, words in (
            (good.replace(b"exited", b"timeou"), "was changed"),
            (b"".join(rows[:3] + rows[4:]), "removed"),
            (b"".join(rows[:3] + [rows[4], rows[3]] + rows[5:]), "out of order"),
            (b"".join(rows[:3] + [rows[2]] + rows[3:]), "repeated"),
            (b"".join(rows[:4]), "cut off"),
            (b"", "cut off")):
        log.write_bytes(bad)
        out = belljar("audit", "verify", config=it.settings, code=1)
        assert words in out and ("audit-000001.jsonl:" in out or "audit.head" in out)
        report = [json.loads(x) for x in
                  belljar("audit", "verify", "--json", config=it.settings, code=1).splitlines()]
        assert report[-1]["problems"] == len(report) - 1
    log.write_bytes(good)
    belljar("audit", "verify", config=it.settings)
    (state / "audit.head").write_bytes(b"x" * 4096)
    assert "head" in belljar("audit", "verify", config=it.settings, code=1)
    for args in ((), ("frob",), ("verify", "show"), ("verify", "--from", "x"),
                 ("verify", "--key", "/nowhere")):
        belljar("audit", *args, config=it.settings, code=125)


def test_export_follows(state):
    it = start(state)
    follow = subprocess.Popen([BELLJAR, "audit", "export", "--follow", "-c", it.settings], env=ENV,
                              stdout=subprocess.PIPE, text=True)
    try:
        assert json.loads(follow.stdout.readline())["kind"] == "audit.begin"
        run = it.run("echo 1", "bash").json["id"]
        seen = [json.loads(follow.stdout.readline()) for _ in range(3)]
        assert [x["kind"] for x in seen] == ["service.start", "run.start", "run.finish"]
        assert seen[2]["data"]["run"] == run
    finally:
        follow.kill()
        follow.wait()
        it.stop()


def test_rotation_by_the_service(state, tmp_path):
    """The front is another user by then, and still begins the next file."""
    script = tmp_path / "x.sh"
    script.write_text("echo 1\n")
    it = start(state, "audit: {max_size: 4KiB}\n")
    for _ in range(12):
        it.run("echo 1", "bash")
    assert len(list((state / "audit").glob("audit-*.jsonl"))) >= 3
    # And what root writes beside it stays readable to it.
    for _ in range(4):
        belljar("run", str(script), config=it.settings)
        assert it.run("echo 1", "bash").status == 200
    belljar("audit", "verify", config=it.settings)
    it.stop()


def test_over_quota_on_the_command_line(state, tmp_path):
    """TENANT: exit status 126, and the result says why."""
    config = tmp_path / "c.yaml"
    config.write_text(CONFIG.format(state=state, more="tenant: me\n"))
    script = tmp_path / "x.sh"
    script.write_text("echo 1\n")
    belljar("tenant", "add", "me", "runs_per_minute=1", config=str(config))
    assert belljar("run", str(script), config=str(config)) == "1\n"
    out = json.loads(belljar("run", "--json", str(script), config=str(config), code=126))
    assert out["cause"] == "quota" and "runs_per_minute is 1" in out["error"]
    usage, = json.loads(belljar("usage", "--json", config=str(config)))["usage"]
    assert (usage["tenant"], usage["runs"]) == ("me", 1)


SYNCED = re.compile(r"^(\d+) +([\d.]+) (pwrite64|write|fdatasync|fsync)\(\d+<[^>]*/audit/([^>]+)>.*")
LASTED = re.compile(r"<([\d.]+)>$")


def gaps(trace):
    """For each line written to the log: how long until its file was made durable, in seconds; how many never
    were; and what each call to the disk took by itself."""
    waiting, found, begun, syncs = {}, [], {}, []
    for line in trace.splitlines():
        done = re.match(r"^(\d+) +([\d.]+) <\.\.\. (fdatasync|fsync) resumed", line)
        call = SYNCED.match(line)
        if call and "sync" in call[3]:
            begun[call[1]] = (call[4], float(call[2]))
        elif call:
            waiting.setdefault(call[4], []).append(float(call[2]))
        if (done or (call and "sync" in call[3] and "unfinished" not in line)) and (done or call)[1] in begun:
            name, since = begun.pop((done or call)[1])
            now = float(done[2]) if done else since + float(LASTED.search(line)[1])
            syncs.append(now - since)
            found += [now - t for t in waiting.get(name, ()) if t <= since]
            waiting[name] = [t for t in waiting.get(name, ()) if t > since]
    return found, sum(map(len, waiting.values())), syncs


def front_of(it):
    """The process that writes the log."""
    for pid in it.processes():
        links = [os.readlink(p) for p in pathlib.Path(f"/proc/{pid}/fd").iterdir() if p.exists()]
        if any("/audit.lock" in x for x in links):
            return pid
    pytest.fail("nobody writes the log")


def at_95(values):
    return sorted(values)[int(len(values) * 0.95)]


def durations(state, trace):
    """Of every line that a service writes, the seconds until it is durable; of every call, what the disk took."""
    it = start(state, "audit: {max_size: 16KiB}\nwarm: {slots: 0}\n")
    strace = subprocess.Popen(["strace", "-f", "-y", "-ttt", "-T", "-e", "trace=pwrite64,write,fdatasync,fsync",
                               "-o", trace, "-p", str(front_of(it))], stderr=subprocess.PIPE, text=True)
    try:
        assert "attached" in strace.stderr.readline()
        for _ in range(60):
            it.run("true", "bash")
        time.sleep(0.3)  # longer than any line may take
    finally:
        strace.send_signal(signal.SIGINT)
        strace.communicate()
        it.stop()
    took, never, syncs = gaps(trace.read_text())
    assert len(took) >= 120 and never == 0
    return sorted(took), syncs


def test_lines_are_durable_within_50_ms(state, record_property):
    """AUDIT: from the write of a line to the end of the fdatasync of its file, rotation included, as
    the kernel sees it."""
    # A line waits for two calls under way, for its group and for two calls of its own (docs/audit.md): with a disk
    # that takes more than 10 ms for each there is another try, and only then.
    for number in range(3):
        took, syncs = durations(state, state.parent / f"trace{number}")
        if at_95(syncs) <= 0.010:
            break
    record_property("disk ms", round(at_95(syncs) * 1e3, 1))
    record_property("lines", len(took))
    record_property("median ms", round(took[len(took) // 2] * 1e3, 1))
    record_property("slowest ms", round(took[-1] * 1e3, 1))
    # A busy machine may hold up a thread now and then, never most of them.
    assert at_95(took) <= 0.050, (took[-5:], sorted(syncs)[-5:])
