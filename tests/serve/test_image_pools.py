# SPDX-License-Identifier: Apache-2.0
"""Interpreters that wait for several images: each image has its own, nothing of one is seen in another, they
come and go with demand, memory and the images themselves."""
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

from serving import BELLJAR, private_env, wait_until
from test_storm import Clients, alive, kill_under_load, tree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from archives import Layer, docker_save, shell_layer  # noqa: E402

FULL = os.environ.get("BELLJAR_FULL") == "1"
WARM = "warm: {slots: 2, heavy_slots: 0, bash_slots: 1, jars: 1, max: 6, preload: json%s}\ncheck: {policy: off}\n"
WHO = "print(open('/opt/who').read())"
# Of the machine's Python, what it starts with and what a zygote needs.
MODULES = ("*.py", "__pycache__/*.pyc", "collections/**/*.py*", "ctypes/*.py", "encodings/*.py", "importlib/**/*.py",
           "json/*.py", "re/*.py", "lib-dynload/_ctypes.*", "lib-dynload/_json.*", "sitecustomize.py")
PLENTY = "MemTotal: 1000 kB\nMemFree: 900 kB\nMemAvailable: 900 kB\n"
SHORT = "MemTotal: 1000 kB\nMemFree: 9 kB\nMemAvailable: 009 kB\n"


def libraries(*files):
    """What programs are linked to."""
    found = {}
    for file in files:
        text = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
        found |= dict.fromkeys(word for word in text.split() if word.startswith("/"))
    return list(found)


@pytest.fixture(scope="module")
def python_layer():
    """A small Python of this machine."""
    real = pathlib.Path("/usr/bin/python3").resolve()
    home = pathlib.Path(f"/usr/lib/{real.name}")
    files = {file for pattern in MODULES for file in home.glob(pattern) if file.is_file()}
    layer = Layer()
    for name in [str(real), *libraries(str(real), *map(str, home.glob("lib-dynload/_ctypes.*"))), *sorted(map(str, files))]:
        path = pathlib.Path(name)
        layer.add(name.lstrip("/"), data=path.read_bytes(), mode=0o755, mtime=int(path.stat().st_mtime))
    return layer.symlink("usr/bin/python3", real.name).bytes()


class Store:
    def __init__(self, folder, python):
        self.dir, self.python, self.shell = folder / "images", python, shell_layer().bytes()
        self.env = private_env(folder, BELLJAR_IMAGES_DIR=str(self.dir))

    def image(self, *words, data=None):
        done = subprocess.run([BELLJAR, "image", *words], env=self.env, input=data, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def remove(self, name):
        """What a service kept for it is gone in a moment; how long that is depends on the machine."""
        wait_until(lambda: subprocess.run([BELLJAR, "image", "rm", name], env=self.env, capture_output=True,
                                          timeout=60).returncode == 0, 60)

    def make(self, name, who):
        """An image with a Python and a Bash that knows who it is."""
        mark = Layer().dir("opt").add("opt/who", data=who.encode()).bytes()
        self.image("import", "-", "--name", name, data=docker_save([self.python, self.shell, mark], tag=name))
        return next(i["digest"] for i in json.loads(self.image("ls", "--json")) if i["name"] == name)


@pytest.fixture
def store(tmp_path, python_layer):
    return Store(tmp_path, python_layer)


def settings(store, *names, more=""):
    return WARM % more + f"images: {{dir: {store.dir}, allow: [{', '.join(names)}]}}\n"


def ask(service, image, script=WHO, **fields):
    answer = service.run(script, image=image, **fields)
    assert answer.status == 200, answer.body
    return answer.json


def until_warm(service, image, **fields):
    """A run that an interpreter waited for; every one before it is right, too."""
    for _ in range(600):
        result = ask(service, image, **fields)
        assert result["exit_code"] == 0, result
        if result["meta"]["warm"]:
            return result
        time.sleep(0.02)
    pytest.fail("nobody waits")


def gauge(service, name, image):
    return service.metrics()[f'belljar_{name}{{image="{image}"}}']


def test_each_image_has_interpreters_of_its_own(serve, store):
    """SCRP-02, SCRP-08: the first run in an image starts from nothing, the next find one waiting."""
    digests = {name: store.make(name, name) for name in ("one:1", "two:1")}
    service = serve(config=settings(store, "one:1", "two:1")).ready()
    assert gauge(service, "image_zygotes", "one:1") == 0
    for name, digest in digests.items():
        assert not ask(service, name)["meta"]["warm"]
        result = until_warm(service, name)
        assert result["stdout"] == f"{name}\n"
        assert result["meta"]["image"] == {"name": name, "digest": digest}
        assert until_warm(service, name, script="read -r l < /opt/who || :; echo $l", language="bash")["stdout"] == f"{name}\n"
        assert gauge(service, "image_zygotes", name) == 1
        assert ask(service, digest)["stdout"] == f"{name}\n"
    here = until_warm(service, "host", script="import os\nprint(os.path.exists('/opt/who'))")
    assert here["stdout"] == "False\n" and here["meta"]["image"] is None


def test_only_images_of_the_settings(serve, store):
    """DS-CFG: another image is refused; one that is allowed and missing comes when it is imported."""
    store.make("one:1", "one")
    service = serve(config=settings(store, "two:1")).ready()
    assert service.run(WHO, image="one:1").status == 403
    answer = service.run(WHO, image="two:1")
    assert answer.status == 400 and "there is no image two:1" in answer.json["detail"]
    store.make("two:1", "two")
    wait_until(lambda: service.run(WHO, image="two:1").status == 200)
    assert ask(service, "two:1")["stdout"] == "two\n"


def runs(service):
    return sum(value for name, value in service.metrics().items() if name.startswith("belljar_runs_total"))


def run_by_name(service, store, image, **env):
    """What `belljar run --image` says, and how many runs the service did meanwhile."""
    before = runs(service)
    done = subprocess.run([BELLJAR, "run", "--json", "--image", image, "-l", "python", "-"], input=WHO, text=True,
                          env={**store.env, "BELLJAR_SERVE_SOCKET": service.socket, "BELLJAR_CHECK_POLICY": "default", **env},
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), runs(service) - before


def test_a_run_of_ones_own_finds_the_service(serve, store, tmp_path, python_layer):
    """SCRP-08: `belljar run --image` goes to a service that has these very bytes, and to no other."""
    digest = store.make("one:1", "one")
    store.make("two:1", "two")
    service = serve(config=settings(store, "one:1").replace("check: {policy: off}\n", "")).ready()
    until_warm(service, "one:1")
    for name in ("one:1", digest):
        result, by_service = run_by_name(service, store, name)
        assert by_service == 1
        assert result["stdout"] == "one\n" and result["meta"]["image"] == {"name": "one:1", "digest": digest}
    result, by_service = run_by_name(service, store, "two:1")
    assert (result["stdout"], by_service) == ("two\n", 0), "the service does not allow that one"
    other = Store(tmp_path / "other", python_layer)
    other.make("one:1", "another one")
    result, by_service = run_by_name(service, other, "one:1")
    assert (result["stdout"], by_service) == ("another one\n", 0), "the service knows another by that name"


def test_what_is_held_means_these_bytes(serve, store):
    """APPROVE: an image that changed under a held run is not run by the decision about the old one."""
    old = store.make("one:1", "old")
    service = serve(config=settings(store, "one:1").replace("check: {policy: off}\n", "")).ready()
    held = service.run(WHO, image="one:1", headers={"Belljar-Agent": "tester"})
    assert held.status == 202 and held.json["state"] == "pending"
    store.make("one:1", "new")
    wait_until(lambda: ask(service, "one:1")["stdout"] == "new\n")
    store.remove(old)
    assert service.ask("POST", f"/v1/executions/{held.json['id']}/approve").status == 200
    *_, (last, problem) = service.events(f"/v1/executions/{held.json['id']}/events")
    assert last == "problem" and "the image one:1 is another one now" in problem["detail"]
    seen = service.ended(held.json["id"])
    assert (seen["cause"], seen["success"], seen["exit_code"]) == ("infrastructure", False, None)


def test_what_is_decided_means_the_bytes_of_the_setting(serve, store):
    """APPROVE: also where no image is asked for, a decision holds for the bytes that were there, waiting or not."""
    agent = {"Belljar-Agent": "tester"}
    store.make("one:1", "old")
    config = settings(store).replace("check: {policy: off}\n", "image: one:1\n").replace(", allow: []", "")
    service = serve(config=config).ready()
    decided, waiting = (service.run(WHO + end, headers=agent).json["id"] for end in ("", "#"))
    assert service.ask("POST", f"/v1/executions/{decided}/approve").status == 200
    assert service.ended(decided)["result"]["stdout"] == "old\n"
    assert service.run(WHO, headers=agent).json["stdout"] == "old\n", "the very same run"
    store.make("one:1", "new")
    wait_until(lambda: service.run(WHO).json["stdout"] == "new\n")
    assert service.run(WHO, headers=agent).status == 202, "the same script over other bytes is another run"
    assert service.ask("POST", f"/v1/executions/{waiting}/approve").status == 200
    seen = service.ended(waiting)
    assert (seen["cause"], seen["success"], seen["exit_code"]) == ("infrastructure", False, None)


def test_without_the_native_jar_there_is_no_store(serve, tmp_path):
    """DS-CFG: a service that can show no image neither makes a place for them nor runs in one."""
    folder = tmp_path / "none"
    service = serve(config=f"backend: direct\nallow_unsafe: true\nimages: {{dir: {folder}, allow: [one:1]}}\n").ready()
    assert service.run("print(1)", image="one:1").status == 400
    assert not folder.exists()


def test_an_image_that_is_listed_twice_is_counted_once(serve, store):
    """DS-MON: no two lines of the metrics have the same name and labels."""
    one = store.make("one:1", "one")
    two = store.make("one:1", "two")
    listed = ("host", "one:1", f"one:1@{one}", one, "one:1")
    service = serve(config=settings(store, *listed)).ready()
    lines = service.ask("GET", "/metrics").body.decode().splitlines()
    names = [line.rsplit(" ", 1)[0] for line in lines if not line.startswith("#")]
    assert len(names) == len(set(names))
    assert {f'belljar_image_zygotes{{image="{image}"}}' for image in ("host", "one:1", one)} <= set(names)
    for image, who, digest in (("one:1", "two", two), (f"one:1@{one}", "one", one), (one, "one", one)):
        result = ask(service, image)
        assert result["stdout"] == f"{who}\n" and result["meta"]["image"]["digest"] == digest
    assert service.run(WHO, image=f"one:1@sha256:{'0' * 64}").status == 403


@pytest.mark.soak
def test_scripts_of_two_images_do_not_see_each_other(serve, store):
    """SCRP-06: neither files, modules, interpreters nor mounts of one image or script are in another."""
    digests = {name: store.make(name, name) for name in ("one:1", "two:1")}
    service = serve(config=settings(store, *digests)).ready()
    places = "('/tmp', '/work', '/dev/shm', '/work/out')"
    script = (
        "import os, sys, builtins, json\n"
        f"seen = [n for n in {places} for f in os.listdir(n) if f != 'out']\n"
        "seen += [x for x in (getattr(builtins, 'mark', None), os.environ.get('MARK'), getattr(json, 'mark', None)) if x]\n"
        "mounts = open('/proc/self/mountinfo').read() + open('/proc/self/maps').read()\n"
        "print(seen, len(sys.argv), open('/opt/who').read(), [d for d in %r if d in mounts], os.listdir('/opt'))\n"
        "builtins.mark = json.mark = os.environ['MARK'] = 'here'\n"
        f"for n in {places}:\n"
        "    open(n + '/mark', 'w').write('x')\n"
    )
    for name in digests:
        until_warm(service, name)
    warm = 0
    for i in range(1000 if FULL else 60):
        name, other = (("one:1", "two:1"), ("two:1", "one:1"))[i % 2]
        result = ask(service, name, script=script % [digests[other].removeprefix("sha256:")])
        assert result["stdout"] == f"[] 1 {name} [] ['who']\n", result
        warm += result["meta"]["warm"]
    assert warm > 10


def test_the_image_asked_for_longest_ago_makes_room(serve, store):
    """DS-PAR: no more images than the settings say have interpreters waiting."""
    for name in "one:1", "two:1":
        store.make(name, name)
    service = serve(config=settings(store, "one:1", "two:1", more=", images: 1")).ready()
    for name, other in ("one:1", "two:1"), ("two:1", "one:1"), ("one:1", "two:1"):
        assert until_warm(service, name)["stdout"] == f"{name}\n"
        assert gauge(service, "image_zygotes", other) == 0 and gauge(service, "image_slots_target", other) == 0
        wait_until(lambda: service.metrics()[f'belljar_image_slots{{image="{other}",state="ready"}}'] == 0)
    assert service.metrics()['belljar_zygotes_replaced_total{reason="unused"}'] >= 2


def test_they_follow_demand_and_memory(serve, store, tmp_path):
    """DS-PAR: an image's number grows with a burst and shrinks without; when memory is short it has none."""
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(PLENTY)
    store.make("one:1", "one")
    service = serve(config=settings(store, "one:1"), env={"BELLJAR_MEMINFO": str(meminfo)}).ready()
    until_warm(service, "one:1")
    rest = 3  # a Python, a Bash, an empty jar
    for run in [service.start("import time; time.sleep(0.1)", "python", image="one:1") for _ in range(16)]:
        service.ended(run)
    assert gauge(service, "image_slots_target", "one:1") > rest
    wait_until(lambda: gauge(service, "image_slots_target", "one:1") == rest, 60)
    with open(meminfo, "r+") as file:
        file.write(SHORT)
    wait_until(lambda: gauge(service, "image_zygotes", "one:1") == 0)
    wait_until(lambda: service.metrics()['belljar_image_slots{image="one:1",state="ready"}'] == 0)
    result = ask(service, "one:1")
    assert result["stdout"] == "one\n" and not result["meta"]["warm"]
    with open(meminfo, "r+") as file:
        file.write(PLENTY)
    until_warm(service, "one:1")


def test_another_image_of_the_same_name(serve, store):
    """SCRP-06: a new image is never served by what was made for the old one."""
    old = store.make("one:1", "old")
    service = serve(config=settings(store, "one:1")).ready()
    assert until_warm(service, "one:1")["stdout"] == "old\n"
    new = store.make("one:1", "new")
    seen = []
    while seen[-5:] != ["new"] * 5:
        result = ask(service, "one:1")
        seen.append(result["stdout"].strip())
        assert result["meta"]["image"]["digest"] == {"old": old, "new": new}[seen[-1]]
        assert len(seen) < 2000
    assert seen == sorted(seen, reverse=True), "the old one came back"
    assert until_warm(service, "one:1")["stdout"] == "new\n"
    store.remove(old)


def test_an_image_is_removed_under_the_service(serve, store):
    """SCRP-06: what waits for an image lets go of it; a run in it does not."""
    store.make("one:1", "one")
    service = serve(config=settings(store, "one:1")).ready()
    until_warm(service, "one:1")
    store.remove("one:1")
    assert [p.name for p in store.dir.iterdir() if len(p.name) == 64] == []
    wait_until(lambda: service.run(WHO, image="one:1").status == 400)
    assert ask(service, "host", script="print(1)")["stdout"] == "1\n"


@pytest.mark.soak
@pytest.mark.skipif(os.geteuid() != 0, reason="sees the namespaces of others")
@pytest.mark.parametrize("victim", ["front", "launcher", "zygote"])
def test_sudden_death_with_images_in_use(serve, store, victim):
    """DS-CLEAN: no wrong result, no jar left, back in service by itself, in every image."""
    images = ("host", "one:1", "two:1")
    for name in images[1:]:
        store.make(name, name)
    service = serve(config=settings(store, *images[1:])).ready()
    clients = Clients(service, 6, ("python",), images)
    seen = set()
    for _ in range(20 if FULL else 3):
        seen |= kill_under_load(service, clients, victim)
    served = clients.statuses.get(200, 0)
    wait_until(lambda: clients.statuses.get(200, 0) > served + 10, 60)
    clients.end()
    assert not clients.wrong, clients.wrong[:3]
    for name in images[1:]:
        assert until_warm(service, name)["stdout"] == f"{name}\n"
    keep = tree(service.process.pid)
    wait_until(lambda: not any(map(alive, seen - keep)))
