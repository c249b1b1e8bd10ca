# SPDX-License-Identifier: Apache-2.0
"""libbelljar in programs that are not ours: what it does, and what it leaves alone."""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BELLJAR = pathlib.Path(os.environ.get("BELLJAR", TOP / "build/src/belljar")).resolve()
BUILD = BELLJAR.parents[1]
HOST = BUILD / "tests/host"
EMBED = BUILD / "src/embed"
EXITED = 1


def host(mode, **kwargs):
    done = subprocess.run([HOST, mode], capture_output=True, text=True, timeout=60, check=False,
                          **kwargs)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_the_example():
    """SCRP-08, SCRP-09, DS-PAR: the example runs one script a thread, each with its result."""
    scripts = ["print(6 * 7)", "import sys; sys.exit(3)", "def foo(", "while True: pass"]
    done = subprocess.run([EMBED, *scripts], capture_output=True, text=True, timeout=60,
                          check=False)
    assert (done.returncode, done.stderr) == (0, "")
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [r["cause"] for r in results] == ["exited", "exited", "rejected", "timeout"]
    assert results[0]["stdout"] == "42\n"
    assert results[1]["exit_code"] == 3
    assert results[2]["validation_failed"] and results[3]["timeout"]
    assert len({r["id"] for r in results}) == 4


def test_only_the_header_is_exported():
    """SX-LOCAL: the library gives a program the names of belljar.h and no other."""
    out = subprocess.check_output(["nm", "-D", "--defined-only", BUILD / "src/libbelljar.so"],
                                  text=True)
    exported = set(re.findall(r" T (\w+)", out))
    header = (TOP / "include/belljar.h").read_text()
    declared = set(re.findall(r"\b(bj_\w+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)))
    assert exported == declared


@pytest.mark.unsanitized
def test_installed_it_builds_a_program(tmp_path):
    """SX-LOCAL: header, library and pkg-config file are all a user needs."""
    subprocess.run(["/usr/bin/meson", "install", "-C", BUILD, "--no-rebuild", "--quiet",
                    "--destdir", tmp_path], check=True, capture_output=True, timeout=60,
                   env={**os.environ, "BELLJAR_TEST_INSTALL": "1"})
    pc = next(tmp_path.rglob("belljar.pc"))
    env = {**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_SYSROOT_DIR": str(tmp_path)}
    flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "belljar"], env=env,
                                    text=True).split()
    subprocess.run(["cc", "-Wall", "-Werror", TOP / "examples/embed.c", *flags, "-pthread", "-o",
                    tmp_path / "embed"], check=True, timeout=60)
    done = subprocess.run([tmp_path / "embed", "print(1)"], capture_output=True, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": str(pc.parent.parent)}, timeout=60,
                          check=False)
    assert done.returncode == 0 and json.loads(done.stdout)["stdout"] == "1\n"


def test_a_test_build_is_not_installed(tmp_path):
    """What can leave out a layer never gets where it would be used."""
    options = json.loads(subprocess.check_output(["/usr/bin/meson", "introspect", "--buildoptions", BUILD]))
    if not next(o["value"] for o in options if o["name"] == "faults"):
        pytest.skip("this build has no faults")
    done = subprocess.run(["/usr/bin/meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", tmp_path],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0 and "test build" in done.stdout + done.stderr
    assert not [p for p in tmp_path.rglob("*") if p.name == "belljar" and p.is_file() and os.access(p, os.X_OK)]
    assert not list(tmp_path.rglob("libbelljar.so*"))


@pytest.mark.parametrize("mode,lines", [
    ("sigpipe", [f"{EXITED} 0 read enough"] * 20),
    ("reaper", [f"{EXITED} 0 reaped"]),
    ("ignore", [f"{EXITED} 0 ignored"]),
    ("habits", [f"{EXITED} 0 as before", "same", "no child"]),
    ("threads", [f"{EXITED} 0 threads"] * 15),
    ("two", [f"{EXITED} 0 one", f"{EXITED} 0 two"]),
])
def test_hosts(mode, lines):
    """SX-LOCAL: a host keeps its signals, descriptors, children and threads, and they do not
    disturb a run."""
    assert host(mode) == (0, lines, "")


def children(pid):
    """The processes below @pid, all generations."""
    found = []
    try:
        tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
        for child in " ".join((t / "children").read_text() for t in tasks).split():
            found += [int(child), *children(int(child))]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_gone(pids, seconds=10):
    end = time.monotonic() + seconds
    while any(is_alive(p) for p in pids) and time.monotonic() < end:
        time.sleep(0.02)
    return [p for p in pids if is_alive(p)]


def settled(pid, copy, seconds=10):
    """Our processes below the host, when those of its run are gone: the answer comes before their end."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = {p: is_alive(p) and pathlib.Path(f"/proc/{p}/comm").read_text() for p in children(pid) if p != copy}
        if not {"python3\n", "jar-init\n"} & set(found.values()):
            return list(found)
        time.sleep(0.01)
    return pytest.fail("the run is still there")


@pytest.fixture(name="staying")
def staying_host():
    """A host with an open handle, and a forked copy of itself: (host, copy, launcher pids)."""
    with subprocess.Popen([HOST, "stay"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == f"{EXITED} 0 here\n"
        pid, copy = map(int, process.stdout.readline().split())
        yield process, copy, settled(pid, copy)
        process.kill()
        if is_alive(copy):
            os.kill(copy, signal.SIGKILL)


def test_handlers_of_the_host_stay_in_the_host(staying):
    """SX-LOCAL: no process of ours runs the host's code on a signal."""
    _, _, ours = staying
    assert len(ours) >= 2
    for pid in ours:
        caught = re.search(r"^SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(),
                           re.MULTILINE)
        # The launcher has one of its own, against real-time overrun.
        assert int(caught.group(1), 16) & ~(1 << signal.SIGXCPU - 1) == 0


def test_death_of_the_host_ends_everything(staying):
    """SCRP-06: also when a forked copy of the host still has every descriptor open."""
    process, copy, ours = staying
    process.kill()
    process.wait()
    assert wait_gone(ours) == []
    assert is_alive(copy)


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user needs a delegated cgroup for this")
def test_cleanup_all_sweeps_what_died_later():
    """DS-CLEAN: leftovers of a belljar that died after the handle was opened."""
    with subprocess.Popen([HOST, "cleanup"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as sweeper:
        assert sweeper.stdout.readline() == f"{EXITED} 0 open\n"
        with subprocess.Popen([HOST, "stay"], stdout=subprocess.PIPE, text=True) as victim:
            victim.stdout.readline()
            pid, copy = map(int, victim.stdout.readline().split())
            ours = children(pid)
            for number in signal.SIGSTOP, signal.SIGKILL:
                for p in [pid, copy, *ours]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(p, number)
        assert wait_gone(ours) == []
        out, _ = sweeper.communicate("go\n", timeout=60)
    assert out.splitlines() == ["1", "0", f"{EXITED} 0 still open"]
