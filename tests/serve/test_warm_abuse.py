# SPDX-License-Identifier: Apache-2.0
"""The abuse matrix once more, in interpreters that waited: each case ends as it must, and as it does
when it is started from nothing."""
import os
import pathlib
import sys

import pytest
import yaml

from serving import Service
from test_warm import run_warm

ABUSE = pathlib.Path(__file__).resolve().parents[1] / "abuse"
sys.path.insert(0, str(ABUSE))
import oracle  # noqa: E402

FIELDS = {"--timeout": ("timeout", float), "--memory": ("memory", str), "--pids": ("pids", int),
          "--cpus": ("cpus", float)}
SETTINGS = "warm: {slots: 4, bash_slots: 4, jars: 2}\ncheck: {policy: off}\nlimits: {timeout: 60s}\n"


def header(path):
    lines = [line[3:] for line in path.read_text().splitlines() if line.startswith("#: ")]
    return yaml.safe_load("\n".join(lines))


def fields(case):
    """The options of `belljar run` as fields of a request; None when one cannot be."""
    args = [str(a) for a in case.get("args", ())]
    pairs = list(zip(args[::2], args[1::2]))
    if any(name not in FIELDS for name, _ in pairs):
        return None
    return {FIELDS[name][0]: FIELDS[name][1](value) for name, value in pairs}


def fits(path, case):
    """Cases with inputs, files or neighbours of their own are started from nothing. Bash waits for
    scripts without variables only."""
    return (not {"out", "before", "beside", "known"} & set(case) and fields(case) is not None
            and "root" in case.get("modes", ["root"]) and "/work/probe.py" not in path.read_text()
            and (path.suffix == ".py" or "CANARY" not in path.read_text()))


CASES = {p.name: (p, header(p)) for p in sorted((ABUSE / "cases").iterdir()) if p.suffix in (".py", ".sh")}
CASES = {name: both for name, both in CASES.items() if fits(*both)}

# What a case would import from an input.
PROBE = f"""\
import sys, types
sys.modules['probe'] = types.ModuleType('probe')
exec(compile({(ABUSE / 'lib/probe.py').read_text()!r}, 'probe.py', 'exec'), sys.modules['probe'].__dict__)
"""


@pytest.fixture(scope="module")
def warm():
    service = Service(config=SETTINGS).ready()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def bait():
    canaries = oracle.Canaries()
    yield canaries
    canaries.close()


def test_the_matrix_is_covered():
    assert len(CASES) >= 50, sorted(CASES)


@pytest.mark.skipif(os.geteuid() != 0, reason="the matrix runs rootless elsewhere")
@pytest.mark.parametrize("name", CASES)
def test_case(warm, bait, name):
    """SCRP-03, SCRP-04, SCRP-05, SCRP-06, SCRP-07: a waiting interpreter is as sealed as a fresh one."""
    path, case = CASES[name]
    script, asked = path.read_text(), fields(case)
    if path.suffix == ".py":
        script = (PROBE if "probe" in script else "") + script
        asked["env"] = dict(entry.split("=", 1) for entry in bait.env[1::2])
    result = run_warm(warm, script, language="python" if path.suffix == ".py" else "bash", **asked)
    expect = case.get("expect", {"cause": "exited", "exit_code": 0})
    allowed = [{"cause": "exited"}] if case.get("any") else expect.get("any", [expect])
    keys = ("cause", "exit_code", "signal")
    assert any(all(result[k] == e[k] for k in keys if k in e) for e in allowed), (allowed, result)
    assert "ESCAPE" not in result["stdout"] + result["stderr"], result
    assert bait.token not in result["stdout"] + result["stderr"]
    assert all(result["meta"]["isolation"]["layers"].values())
    assert result["meta"]["cleanup_success"] is True
