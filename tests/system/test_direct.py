# SPDX-License-Identifier: Apache-2.0
"""The backend direct: nothing is sealed off, but what it promises holds."""
import json
import os
import pathlib
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))


@pytest.fixture
def direct(tmp_path):
    def run(text, *flags, suffix="py", allow="true", **kwargs):
        script = tmp_path / f"s.{suffix}"
        script.write_text(text)
        done = subprocess.run(
            [BELLJAR, "run", "--backend", "direct", "--json", *flags, str(script)],
            env={**os.environ, "BELLJAR_ALLOW_UNSAFE": allow, "TMPDIR": str(tmp_path)},
            capture_output=True, timeout=60, check=False, **kwargs)
        return {**json.loads(done.stdout), "status": done.returncode}

    yield run
    assert not list(tmp_path.glob("belljar-direct-*")), "the run's directory is left"


def test_refused_unless_allowed(direct):
    """DS-FALL: direct refuses to run unless allow_unsafe is set."""
    result = direct("print(1)", allow="false")
    assert result["status"] == 125 and "allow_unsafe" in result["error"]


def test_runs_and_says_what_it_is(direct, tmp_path):
    """SX-LOCAL RESULT: same result shape, and no layer is claimed that does not hold."""
    result = direct("import sys\nprint(sys.stdin.read())\nopen('out/a', 'w').write('x')",
                    "--stdin", "-", "--out", str(tmp_path / "o"), input=b"hi")
    assert result["stdout"] == "hi\n" and result["meta"]["runtime"] == "direct"
    assert (tmp_path / "o/a").read_text() == "x"
    layers = result["meta"]["isolation"]["layers"]
    assert not layers["seccomp"] and not layers["network_namespace"] and not layers["memory"]


def test_imports_are_blocked(direct):
    """SX-AST DS-FALL: without a wall the import list is one."""
    assert direct("import socket")["cause"] == "rejected"


@pytest.mark.parametrize("text, suffix, cause", [
    ("(1", "py", "rejected"), ("while True: pass", "py", "timeout"),
    ("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", "sh", "output"),
    ("kill -SEGV $$", "sh", "signal"), ("exit 9", "sh", "exited")])
def test_causes(direct, text, suffix, cause):
    """SCRP-07 SX-OUT EXIT: deadline and output cap hold here too."""
    os.environ["BELLJAR_LIMITS_OUTPUT_CAP"] = "64KiB"
    try:
        assert direct(text, "--timeout", "2", "--trust", suffix=suffix)["cause"] == cause
    finally:
        del os.environ["BELLJAR_LIMITS_OUTPUT_CAP"]


def test_the_whole_tree_dies(direct, tmp_path):
    """SCRP-06 SCRP-07: children that left the session and lost their parent die too."""
    result = direct(f"for i in 1 2 3; do (setsid sh -c 'echo $$ >> {tmp_path}/pids; sleep 300' &) ; "
                    f"done; while [ $(wc -l < {tmp_path}/pids) -lt 3 ]; do :; done; sleep 300",
                    "--timeout", "3", "--trust", suffix="sh")
    assert result["cause"] == "timeout" and result["meta"]["cleanup_success"]
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 3
    for pid in pids:
        assert not pathlib.Path(f"/proc/{pid}").exists()


STUBBORN = {
    "without rights": "import os\nos.makedirs('a/b/c')\nopen('a/b/c/f', 'w').close()\n"
                      "for d in ('a/b/c', 'a/b', 'a', '..', '.'):\n    os.chmod(d, 0)\n",
    "read-only": "import os\nos.makedirs('a/b')\nopen('a/b/f', 'w').close()\nos.chmod('a/b', 0o500)\nos.chmod('a', 0o500)\n",
    "deeper than a path": "import os\nfor _ in range(100):\n    os.mkdir('d' * 200)\n    os.chdir('d' * 200)\n"
                          "open('f', 'w').close()\n",
    "deep and wide": "import os\nfor i in range(300):\n    os.mkdir('0')\n    os.mkdir('1')\n    open('2', 'w').close()\n"
                     "    os.symlink('/', '3')\n    os.chdir('0')\n",
}


@pytest.mark.parametrize("shape", STUBBORN)
def test_nothing_is_left_whatever_its_shape(shape, mode_of, place):
    """SCRP-06: of an ordinary user's run, for whom rights count."""
    mode = mode_of("basic")
    place.chmod(0o777)
    script = place / "s.py"
    script.write_text(STUBBORN[shape])
    done = mode.json("--backend", "direct", script, env={"BELLJAR_ALLOW_UNSAFE": "true", "TMPDIR": str(place)})
    assert done.record["cause"] == "exited" and done.status == 0, done
    assert done.record["meta"]["cleanup_success"] is True
    assert [p.name for p in place.iterdir()] == ["s.py"]
