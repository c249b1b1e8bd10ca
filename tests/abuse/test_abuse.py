# SPDX-License-Identifier: Apache-2.0
"""The abuse matrix: every script in cases/, in every mode, with all checks off.

A case says in its `#:` header what it does and how it must end:
  item       the number(s) in the matrix
  what       one line
  args       options of `belljar run`
  expect     {cause, exit_code, signal, status}, or {any: [..]} of such; default: exits with 0
  modes      where it runs; default: root, rootless, basic; also: more of them; ONE_UID adds one-uid
  basic      what differs under `require: basic`
  seconds    how long the whole call may take; default 20
  stdout     a pattern the output must match
  out        {only, contents, refused, never, max_files, max_bytes}: what --out may hold
  truncated  streams that must be marked as truncated, and `bytes` their true sizes
  cpu_share  CPUs the run may have used at most
  before     a script of lib/ that ran to its end before, beside: one that runs meanwhile
  any        the exit code does not matter

Proves SCRP-03, SCRP-04, SCRP-05, SCRP-06, SCRP-07, SX-OUT, SX-DIR, DS-FS, DS-SEC.
"""
import os
import re
import shutil
import socket
import stat
from pathlib import Path

import oracle
import pytest
import yaml
from harness import modes, run

HERE = Path(__file__).parent
EXITED = {"cause": "exited", "exit_code": 0}


def header(path):
    lines = [l[3:] for l in path.read_text().splitlines() if l.startswith("#: ")]
    return dict(yaml.safe_load("\n".join(lines)), text=path.read_text())


CASES = {p.name: header(p) for p in sorted((HERE / "cases").iterdir()) if p.suffix in (".py", ".sh")}
DEFAULT_MODES = ["root", "rootless", "basic"]
# With one uid, what reaches for files, processes, the kernel, IPC: limits are as with many. Not what waits.
ONE_UID = {*range(1, 14), *range(15, 30), 35, 36}


def items(case):
    """Its numbers in the matrix."""
    return set(case["item"] if isinstance(case["item"], list) else [case["item"]])


def modes_of(case):
    some = case.get("modes", DEFAULT_MODES) + case.get("also", [])
    return some + (["one-uid"] if "rootless" in some and items(case) & ONE_UID else [])


PAIRS = [(mode, name) for mode in modes.MODES for name, case in CASES.items()
         if mode in modes_of(case)]


def test_every_item_has_a_case():
    """The matrix has 40 items; 39 is test_exit.py."""
    covered = {39}
    for case in CASES.values():
        covered |= items(case)
    assert covered == set(range(1, 41)), sorted(set(range(1, 41)) - covered)


@pytest.fixture(scope="module")
def bait(request):
    """One set of canaries per kind of caller."""
    made = {}

    def get(mode):
        ids = (mode.user.uid, mode.user.gid) if mode.rootless else (0, 0)
        if ids not in made:
            made[ids] = oracle.Canaries(*ids)
        return made[ids]
    yield get
    for canaries in made.values():
        canaries.close()


@pytest.fixture
def out_dir(place):
    path = place / "out"
    path.mkdir()
    path.chmod(0o777)
    return path


def matches(expect, done):
    got = dict(done.record, status=done.status)
    return all(got[key] == value for key, value in expect.items())


def check_outcome(case, done):
    expect = case.get("expect", EXITED)
    allowed = expect["any"] if "any" in expect else [expect]
    if case.get("any"):
        allowed = [{"cause": "exited"}]
    assert any(matches(e, done) for e in allowed), f"expected {allowed}, got {done}"
    assert "ESCAPE" not in done.record["stdout"] + done.record["stderr"], done
    if done.record["cause"] == "exited":
        assert done.status == done.record["exit_code"]
    if "done()" in case["text"] and done.record["cause"] == "exited":
        # A script that was replaced by another program would exit with 0, too.
        assert ", escaped 0\n" in done.record["stdout"], done
    if "stdout" in case:
        assert re.search(case["stdout"], done.record["stdout"]), done
    assert done.seconds < case.get("seconds", 20), f"took {done.seconds:.1f} s"


def check_meta(case, mode, done):
    meta = done.record["meta"]
    assert meta["cleanup_success"] is True
    assert meta["runtime"] == "native" and meta["policy"] == "off"
    assert meta["isolation"]["uid"] == mode.uid
    layers = meta["isolation"]["layers"]
    missing = {k for k, on in layers.items() if not on}
    # Without a cgroup these cannot be enforced, and all else is.
    assert missing == (set() if mode.full else {"memory", "cpu", "pids"})
    assert meta["isolation"]["cgroup"] in (("v1", "v2") if mode.full else ("none",))
    for stream in case.get("truncated", ()):
        assert meta["truncated"][stream] is True, f"{stream} is not marked"
    for stream, count in case.get("bytes", {}).items():
        assert meta[stream + "_bytes"] == count
    if "cpu_share" in case:
        used = done.record["usage"]["cpu_ms"] / done.record["duration_ms"]
        assert used < case["cpu_share"] * 1.25 + 0.05, f"used {used:.2f} CPUs"


def check_out(want, path, record):
    """Only plain files came out, and only what may."""
    found = {}
    for top, dirs, files in os.walk(path):
        for name in dirs + files:
            full = os.path.join(top, name)
            st = os.lstat(full)
            rel = os.path.relpath(full, path)
            assert stat.S_ISREG(st.st_mode), f"{rel!r} came out as {st.st_mode:o}"
            assert st.st_mode & 0o7111 == 0, f"{rel!r} came out with mode {st.st_mode:o}"
            found[rel] = st
    told = record["meta"]["out"]
    assert told["files"] == len(found)
    if "only" in want:
        assert set(found) == set(want["only"])
    for name, text in want.get("contents", {}).items():
        assert (path / name).read_text() == text
    for text in want.get("never", ()):
        for name in found:
            assert text not in (path / name).read_text(errors="replace")
    assert len(found) <= want.get("max_files", len(found))
    assert sum(s.st_size for s in found.values()) <= want.get("max_bytes", 1 << 62)
    assert told["refused"] >= want.get("refused", 0)


def prepare(mode, case, bait):
    """What comes before a case; returns a run that goes on beside it."""
    if "before" in case:
        first = mode.json(HERE / "lib" / case["before"])
        assert first.record["cause"] == "exited", first
    if "beside" in case:
        other = mode.start("--policy", "off", "--timeout", "50", HERE / "lib" / case["beside"])
        assert other.read_line() == b"ready\n"
        return other
    return None


@pytest.mark.parametrize("mode_name,name", PAIRS)
def test_case(mode_name, name, mode_of, bait, place, out_dir):
    mode = mode_of(mode_name)
    case = dict(CASES[name], **(CASES[name].get("basic", {}) if not mode.full else {}))
    canaries = bait(mode)
    script = Path(shutil.copy(HERE / "cases" / name, place))
    lib = [Path(shutil.copy(HERE / "lib" / n, place)) for n in ("probe.py", "residue.py")
           if n == "probe.py" or name == "10_same_place.py"]
    inputs = [a for p in lib if script.suffix == ".py" for a in ("--in", p)]
    host = ["--env", "CANARY_HOST=" + socket.gethostname()]
    out = ["--out", out_dir] if "out" in case else []
    snapshot = oracle.Snapshot(homes=[mode.user.home] if mode.user else [])
    beside = prepare(mode, case, bait)
    try:
        # The host's own environment holds a token: it must not get in.
        done = mode.json(*inputs, *canaries.env, *host, *case.get("args", ()), *out, script,
                         env={"SECRET_TOKEN": canaries.token}, timeout=case.get("seconds", 20) + 20)
    finally:
        if beside:
            beside.kill()
    oracle.verify(canaries, snapshot, done, sanitized=run.sanitized(mode.binary))
    check_outcome(case, done)
    check_meta(case, mode, done)
    if "out" in case:
        check_out(case["out"], out_dir, done.record)
