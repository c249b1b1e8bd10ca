# SPDX-License-Identifier: Apache-2.0
"""The abuse matrix once more, in interpreters that waited: each case ends as it must, and as it does
when it is started from nothing."""
import os
import pathlib
import re
import shlex
import socket
import sys
import urllib.parse

import pytest

from serving import Service, wait_until
from test_warm import below, run_warm

ABUSE = pathlib.Path(__file__).resolve().parents[1] / "abuse"
sys.path.insert(0, str(ABUSE))
import oracle  # noqa: E402
import test_abuse as matrix  # noqa: E402
from harness import proc  # noqa: E402
from harness.fixtures import lone_user, mode_of, place, user  # noqa: E402,F401

FIELDS = {"--timeout": ("timeout", float), "--memory": ("memory", str), "--pids": ("pids", int),
          "--cpus": ("cpus", float)}
# What no request can ask for: a service with that setting is asked. Its slots have that size.
LIMITS = {"--tmp-size": "tmp_size", "--max-output": "max_output"}
# What an input would bring is in the script: a run with inputs is started from nothing.
PROBE = f"""\
import sys, types
sys.modules['probe'] = types.ModuleType('probe')
exec(compile({(ABUSE / 'lib/probe.py').read_text()!r}, 'probe.py', 'exec'), sys.modules['probe'].__dict__)
"""
INSTEAD = {
    "02_own_files.py": ('check("no input was seen", os.path.isfile("/work/probe.py"))\n', ""),
    "10_same_place.py": ('exec(open("/work/residue.py").read())\n', (ABUSE / "lib/residue.py").read_text()),
}
# Without cgroups the sum of resident pages counts what forks of a waiting interpreter share, once for each.
SUMMED = {"13_bomb.py": {"any": [{"cause": "pids"}, {"cause": "timeout"}, {"cause": "oom"}]}}
CASES = matrix.CASES
# Once is enough for what takes long, and limits are as root's: not again by others, nor started from nothing.
LONG = {14, 30, 31, 33, 34, 37, 38, 40}
PAIRS = [(who, name) for who in ("root", "rootless", "basic") for name, case in CASES.items()
         if who in matrix.modes_of(case) and (who == "root" or not matrix.items(case) & LONG)]


def arguments(case):
    """(fields of a request, limits of a service) for the options of `belljar run`."""
    args = [str(a) for a in case.get("args", ())]
    asked, limits = {}, {"timeout": "60s"}
    for name, value in zip(args[::2], args[1::2]):
        if name in LIMITS:
            limits[LIMITS[name]] = value
        else:
            asked[FIELDS[name][0]] = FIELDS[name][1](value)
    return asked, limits


class Around(oracle.Snapshot):
    """A machine on which services of ours run, and others have files in /tmp."""

    def __init__(self, owners, services):
        self.owners, self.services = owners, services
        super().__init__()

    def extra(self):
        ours = {pid for s in self.services for pid in (s.process.pid, *proc.descendants(s.process.pid))}
        return [(kind, what) for kind, what in super().extra()
                if not (kind == "process" and what[0] in ours) and not (kind == "file" and self.foreign(what))]

    def foreign(self, path):
        try:
            owner = os.lstat(path).st_uid
        except OSError:
            return True
        folders = [s.folder.name for s in self.services]
        return path.startswith(tuple(folders) or "\0") or (owner not in self.owners and 0 < owner < 65536)


class Host:
    """Who runs the services of a case: one service for each set of limits, one set of canaries."""

    def __init__(self, mode):
        self.mode, self.services = mode, {}
        ids = (mode.user.uid, mode.user.gid) if mode.user else (0, 0)
        self.bait = oracle.Canaries(*ids)
        self.owners = {ids[0]}
        self.before = self.around()

    def around(self):
        return Around(self.owners, list(self.services.values()))

    def service(self, limits):
        key = tuple(sorted(limits.items()))
        if key not in self.services:
            text = ", ".join(f"{name}: {value}" for name, value in key)
            config = ("warm: {slots: 2, bash_slots: 2, jars: 1}\ncheck: {policy: off}\n"
                      f"artifacts: {{files: true}}\nlimits: {{{text}}}\n")
            self.services[key] = Service(config=config, mode=self.mode).ready()
        return self.services[key]

    def close(self):
        while self.services:
            assert self.services.popitem()[1].stop() == 0
        try:
            self.before.assert_unchanged(10)
        finally:
            self.bait.close()


@pytest.fixture(scope="module")
def host(mode_of):  # noqa: F811
    """Hosts by mode; when all is stopped, the machine is as it was."""
    proc.become_subreaper()
    made = {}

    def get(name):
        if name not in made:
            for other in [made.pop(n) for n in list(made)]:
                other.close()
            made[name] = Host(mode_of(name))
        return made[name]

    yield get
    for it in made.values():
        it.close()
    proc.libc.prctl(proc.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def crowds(service):
    """Jars with more in them than an init and what waits, which is two processes for Bash. They are two
    namespaces deep."""
    jars = {}
    for pid in below(service.process.pid):
        try:
            status = dict(line.split(":\t", 1) for line in open(f"/proc/{pid}/status"))
            space = os.readlink(f"/proc/{pid}/ns/pid")
        except OSError:
            continue
        if len(status["NSpid"].split()) == 3 and "Z" not in status["State"]:
            jars.setdefault(space, []).append(status["Name"].strip())
    usual = [["jar-init"], ["jar-init", "python3"], ["bash", "jar-init"], ["bash", "bash", "jar-init"]]
    return [names for names in jars.values() if sorted(names) not in usual]


def test_the_matrix_is_covered():
    """All of it, as root: what is not here is `known`."""
    assert {name for who, name in PAIRS if who == "root"} == set(CASES)


def as_script(name, case, env):
    """The text of a case, with what would come from elsewhere."""
    text = case["text"]
    if name in INSTEAD:
        assert INSTEAD[name][0] in text
        text = text.replace(*INSTEAD[name])
    if name.endswith(".py"):
        return (PROBE if "probe" in text else "") + text
    # Bash waits for scripts without variables only.
    return "".join(f"export {k}={shlex.quote(v)}\n" for k, v in env.items() if k in text) + text


def beside(service, case):
    """A run that goes on meanwhile; its id."""
    if "beside" not in case:
        return None
    it = service.start((ABUSE / "lib" / case["beside"]).read_text(), "python", timeout=50)
    for name, data in service.events(f"/v1/executions/{it}/events"):
        if name == "stdout" and "ready" in data.get("text", ""):
            return it
    raise AssertionError("it did not get ready")


def check_out(service, want, result):
    """What is kept of out/ is what may be."""
    top = f"/v1/executions/{result['id']}/artifacts"
    answer = service.ask("GET", top)
    kept = {a["name"][len("files/"):]: a["bytes"] for a in answer.json["artifacts"]
            if a["name"].startswith("files/")} if answer.status == 200 else {}
    if "only" in want:
        assert set(kept) == set(want["only"]), kept
    assert len(kept) <= want.get("max_files", len(kept))
    assert sum(kept.values()) <= want.get("max_bytes", 1 << 62)
    for name in kept:
        text = service.ask("GET", f"{top}/files/{urllib.parse.quote(name)}").body.decode(errors="replace")
        assert text == want.get("contents", {}).get(name, text)
        assert not [word for word in want.get("never", ()) if word in text]


def check_result(case, mode, result):
    expect = case.get("expect", matrix.EXITED)
    allowed = [{"cause": "exited"}] if case.get("any") else expect.get("any", [expect])
    keys = ("cause", "exit_code", "signal")
    assert any(all(result[k] == e[k] for k in keys if k in e) for e in allowed), (allowed, result)
    assert "ESCAPE" not in result["stdout"] + result["stderr"], result
    if "done()" in case["text"] and result["cause"] == "exited":
        assert ", escaped 0\n" in result["stdout"], result
    if "stdout" in case:
        assert re.search(case["stdout"], result["stdout"]), result
    for stream in case.get("truncated", ()):
        assert result["meta"]["truncated"][stream] is True
    for stream, count in case.get("bytes", {}).items():
        assert result["meta"][stream + "_bytes"] == count
    assert result["meta"]["cleanup_success"] is True
    assert result["meta"]["isolation"]["uid"] == mode.uid
    assert not mode.full or all(result["meta"]["isolation"]["layers"].values())


def check_cold(mode, folder, case, script, suffix, env, result):
    """Started from nothing it ends in the same way, under the same layers."""
    file = folder / ("script" + suffix)
    file.write_text(script)
    out = folder / "out"
    out.mkdir()
    out.chmod(0o777)
    given = [a for k, v in env.items() for a in ("--env", f"{k}={v}")] if suffix == ".py" else []
    state = {} if mode.user else {"BELLJAR_STATE_DIR": str(folder / "state")}
    done = mode.json("--no-service", *given, *case.get("args", ()), *(["--out", out] if "out" in case else []), file,
                     env=state)
    assert not done.record["meta"]["warm"]
    if "any" not in case.get("expect", {}):
        assert [done.record[k] for k in ("cause", "exit_code", "signal")] == [
            result[k] for k in ("cause", "exit_code", "signal")], (done, result)
    assert done.record["meta"]["isolation"] == result["meta"]["isolation"]
    assert done.record["meta"]["truncated"] == result["meta"]["truncated"]


@pytest.mark.skipif(os.geteuid() != 0, reason="makes users and cgroups")
@pytest.mark.parametrize("who,name", PAIRS)
def test_case(host, place, who, name):  # noqa: F811
    """SCRP-03, SCRP-04, SCRP-05, SCRP-06, SCRP-07: a waiting interpreter is as sealed as a fresh one."""
    it = host(who)
    mode, bait = it.mode, it.bait
    case = dict(CASES[name], **(CASES[name].get("basic", {}) if not mode.full else {}))
    if not mode.full and name in SUMMED:
        case["expect"] = SUMMED[name]
    asked, limits = arguments(case)
    env = dict(entry.split("=", 1) for entry in bait.env[1::2]) | {"CANARY_HOST": socket.gethostname()}
    suffix = pathlib.Path(name).suffix
    script = as_script(name, case, env)
    service = it.service(limits)
    around = it.around()
    if "before" in case:
        run_warm(service, (ABUSE / "lib" / case["before"]).read_text())
    other = beside(service, case)
    result = run_warm(service, script, language="python" if suffix == ".py" else "bash", **asked,
                      **({"env": env} if suffix == ".py" else {}))
    if other:
        assert service.ask("DELETE", f"/v1/executions/{other}").status in (200, 202)
    assert not bait.untouched()
    assert bait.token not in result["stdout"] + result["stderr"]
    around.assert_unchanged()
    wait_until(lambda: not crowds(service), 5)
    check_result(case, mode, result)
    if "out" in case:
        check_out(service, case["out"], result)
    if not matrix.items(case) & LONG:
        check_cold(mode, place, case, script, suffix, env, result)
