# SPDX-License-Identifier: Apache-2.0
"""The Python SDK as people install it: offline, typed, reproducible: TOOL, DOCS."""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
SDK = TOP / "sdk/python"
# Nothing can be fetched: the index is a closed port.
OFFLINE = {"PATH": "/usr/bin:/bin", "PIP_NO_INDEX": "1", "PIP_INDEX_URL": "http://127.0.0.1:9",
           "PIP_DISABLE_PIP_VERSION_CHECK": "1", "HOME": "/nowhere"}


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy: nothing may be written into the checkout."""
    copy = tmp_path_factory.mktemp("sdk") / "python"
    shutil.copytree(SDK, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    folder = tmp_path_factory.mktemp("venv")
    run("/usr/bin/python3", "-m", "venv", folder)
    return folder


@pytest.mark.parametrize("how", [[], ["-e"]])
def test_pip_install_offline(tree, venv, service, how):
    pip = [venv / "bin/python", "-m", "pip"]
    run(*pip, "install", "-q", *how, tree, env=OFFLINE)
    said = run(venv / "bin/python", "-c", "import belljar, sys; "
               "print(belljar.Client(sys.argv[1]).run('print(42)').stdout, belljar.__file__)",
               f"unix:{service.socket}", cwd="/", env=OFFLINE)
    assert said.startswith("42\n") and str(tree if how else venv) in said
    assert re.search(r"Version: 0\.1\.0", run(*pip, "show", "belljar", env=OFFLINE))
    run(*pip, "check", env=OFFLINE)
    run(*pip, "uninstall", "-q", "-y", "belljar", env=OFFLINE)


def test_a_wheel_from_the_source_archive_is_the_same(tree, tmp_path):
    """sdist, then wheel: the same bytes as the wheel of the tree."""
    build = "import sys; sys.path.insert(0, 'backend'); import belljar_build as b; print(b.{}(sys.argv[1]))"
    archive = run(sys.executable, "-B", "-c", build.format("build_sdist"), tmp_path, cwd=tree).strip()
    with tarfile.open(tmp_path / archive) as tar:
        tar.extractall(tmp_path)
    sums = []
    for root in (tree, tmp_path / "belljar-0.1.0"):
        out = tmp_path / f"out{len(sums)}"
        out.mkdir()
        name = run(sys.executable, "-B", "-c", build.format("build_wheel"), out, cwd=root).strip()
        assert name == "belljar-0.1.0-py3-none-any.whl"
        sums.append(hashlib.sha256((out / name).read_bytes()).hexdigest())
    assert sums[0] == sums[1]


def test_types_hold(tree):
    """Strictly typed, and a user's program sees the types."""
    user = tree.parent / "user.py"
    user.write_text("import belljar\n"
                    "r = belljar.Client().run('x')\n"
                    "reveal_type(r.exit_code)\nreveal_type(r.findings[0].line)\n"
                    "async def f() -> None:\n"
                    "    reveal_type(await belljar.ScriptExecutor().execute('x', 'python', 1))\n")
    said = run("mypy", "--strict", "--cache-dir", tree.parent / "cache", tree / "belljar", user,
               env={"PATH": "/usr/bin:/bin", "MYPYPATH": str(tree)})
    for kind in ('"Union[builtins.int, None]"', '"builtins.int"', "ExecutionResult"):
        assert kind in said, said


def test_only_the_standard_library(tree):
    allowed = set(sys.stdlib_module_names) | {"belljar"}
    for path in (tree / "belljar").glob("*.py"):
        for name in re.findall(r"^\s*(?:import|from) ([a-z_]\w*)", path.read_text(), re.MULTILINE):
            assert name in allowed, (path, name)
