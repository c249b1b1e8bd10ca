# SPDX-License-Identifier: Apache-2.0
"""Events, stop and prune of the Engine API, as a real engine reports them."""
import json
import pathlib
import secrets
import time

import pytest

from engine import wait_until
from test_cleanup import SLEEP, children, kill_all
from test_faults import lone_jar, serve


def container_events(jar, since):
    """[(action, attributes)] of all containers since then, in order. An exec is no part of a life."""
    lines = [json.loads(line) for line in jar.engine.events(since).splitlines()]
    return [(e["Action"], e["Actor"]["Attributes"]) for e in lines
            if e["Type"] == "container" and not e["Action"].startswith("exec")]


def actions(jar, since):
    return [action for action, _ in container_events(jar, since)]


def dead_owner(jar, *names):
    """A track of an owner that is not there any more; its id."""
    owner = secrets.token_hex(16)
    (jar.state / "docker").mkdir(parents=True, exist_ok=True, mode=0o700)
    (jar.state / "docker" / f"{owner}.active").write_text("".join(f"+{name}\n" for name in names))
    return owner


def test_the_engine_saw_one_life(jar):
    """SX-DOCKER SCRP-06: one run is one container: made, started, attached to, ended, removed, in this order,
    and each of these events bears the labels of the run."""
    since = time.time()
    result = jar.run("print(1)")
    wait_until(lambda: "destroy" in actions(jar, since), 20, "the container is gone")
    seen = container_events(jar, since)
    life = [action for action, _ in seen if action in ("create", "start", "attach", "die", "destroy")]
    assert life == ["create", "start", "attach", "die", "destroy"]
    assert {a["belljar.run"] for _, a in seen} == {result["id"]}
    assert len({(a["belljar.owner"], a["name"]) for _, a in seen}) == 1


def test_only_the_broker_speaks_to_the_engine(jar):
    """SX-DOCKER: the front, which reads what is foreign, has no client of the engine in it: that is loaded by
    the broker alone, after the fork."""
    process = jar.start(SLEEP)
    assert process.stdout.readline() == "up\n"
    [broker] = children(process.pid)
    loaded = {pid: "libcurl" in pathlib.Path(f"/proc/{pid}/maps").read_text() for pid in (process.pid, broker)}
    process.terminate()
    process.communicate()
    assert loaded == {process.pid: False, broker: True}


def test_an_oom_that_only_the_events_tell_of(jar):
    """SCRP-09 SX-DOCKER: a child is killed for memory and the script takes the helper along, which would have
    said so; the engine's events still do."""
    since = time.time()
    result = jar.run(
        "import os, signal, time\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    x = bytearray(1 << 30)\n"
        "status = os.waitpid(child, 0)[1]\n"
        "print(os.WTERMSIG(status), flush=True)\n"
        "time.sleep(1)\n"
        "os.kill(os.getppid(), signal.SIGKILL)\n"
        "time.sleep(60)\n", "--trust", "--memory", "64MiB", "--timeout", "30")
    assert result["stdout"] == "9\n", result
    assert (result["cause"], result["signal"]) == ("oom", 9), result
    assert "oom" in actions(jar, since)


def test_a_deadline_kills(jar):
    """SCRP-07: what is out of time is killed at once, not asked to stop."""
    since = time.time()
    assert jar.run("while True: pass", "--timeout", "1")["cause"] == "timeout"
    wait_until(lambda: "destroy" in actions(jar, since), 20, "the container is gone")
    assert [a["signal"] for action, a in container_events(jar, since) if action == "kill"][:1] == ["9"]


def test_a_sweep_stops_what_runs(jar):
    """DS-CLEAN: the container of a dead owner runs, so that a plain removal is refused: it is stopped and
    then removed."""
    process = jar.start(SLEEP)
    assert process.stdout.readline() == "up\n"
    kill_all(process)
    since = time.time()
    assert jar.gc() == 1
    seen = container_events(jar, since)
    assert [action for action, _ in seen if action in ("stop", "destroy")] == ["stop", "destroy"]
    assert "15" in [a["signal"] for action, a in seen if action == "kill"], "asked before it is forced"


def test_three_steps(tmp_path):
    """DS-CLEAN: remove; stop and remove by force; kill and remove, for as long as the engine says no."""
    name = "belljar-" + secrets.token_hex(16)
    seen = []

    def answer(handler):
        handler.path = handler.path.split("/", 2)[2]
        if handler.command == "DELETE" and name in handler.path:
            seen.append(handler.path.replace(name, "NAME"))
            handler.say(409 if len([s for s in seen if "?v=1" in s]) < 4 else 204, b'{"message":"busy"}')
        elif name in handler.path:
            seen.append(handler.path.replace(name, "NAME"))
            handler.say(204)
        else:
            handler.say(200, b"[]")

    server = serve(tmp_path / "s", answer)
    jar = lone_jar(f"unix://{tmp_path}/s", tmp_path)
    dead_owner(jar, name)
    jar.gc()
    server.shutdown()
    force = "containers/NAME?v=1&force=1"
    assert seen == ["containers/NAME?v=1", "containers/NAME/stop?t=1", force,
                    "containers/NAME/kill", force, "containers/NAME/kill", force]
    assert not list(jar.state.glob("docker/*.active"))


@pytest.fixture
def make(jar):
    """Makes things in the engine as a broker would, and takes them away again."""
    made = []

    def create(kind, owner, **fields):
        status, answer = jar.engine.request("POST", f"/{kind}/create",
                                            {"Labels": {"belljar.owner": owner} if owner else {}, **fields})
        assert status == 201, answer
        made.append(f"/{kind}/{answer.get('Id') or answer['Name']}?force=1")
        return answer.get("Id") or answer["Name"]

    yield create
    for path in made:
        jar.engine.request("DELETE", path)


def exists(jar, kind, name):
    path = f"/containers/{name}/json" if kind == "containers" else f"/volumes/{name}"
    return jar.engine.request("GET", path)[0] == 200


def test_prune_takes_what_bears_the_label_of_the_dead(jar, make):
    """DS-CLEAN: a stopped container and a volume that no track names go by their owner's label. The same of
    a living owner and of nobody stay."""
    dead = dead_owner(jar)
    other = secrets.token_hex(16)
    things = {owner: [(kind, make(kind, owner, **fields)) for kind, fields in
                      (("containers", {"Image": "belljar/bash:5.2", "Cmd": ["true"]}), ("volumes", {}))]
              for owner in (dead, other, None)}
    jar.gc()
    left = {owner: [exists(jar, *thing) for thing in made] for owner, made in things.items()}
    assert left == {dead: [False, False], other: [True, True], None: [True, True]}
    assert not list(jar.state.glob("docker/*.active"))
