# SPDX-License-Identifier: Apache-2.0
"""What belljar's own processes may do while a script runs. DS-SEC."""
import os
import pathlib
import subprocess

import pytest

TOP = pathlib.Path(__file__).parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))
SCRIPT = "print('up', flush=True)\nimport sys\nsys.stdin.read()\n"


def status(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def child(pid):
    return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


@pytest.fixture
def processes(tmp_path, request):
    """Front, starter and launcher of a run that waits; started by way of what a test names."""
    script = tmp_path / "wait.py"
    script.write_text(SCRIPT)
    env = {**os.environ, "BELLJAR_STATE_DIR": str(tmp_path / "state")}
    way = getattr(request, "param", [])
    run = subprocess.Popen([*way, BELLJAR, "run", "--no-service", "--policy", "off", "--stdin", "-", str(script)],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
    try:
        assert run.stdout.readline() == b"up\n"
        starter = child(run.pid)
        seen = {"front": run.pid, "starter": starter, "launcher": child(starter)}
        yield {name: {**status(pid), "net": os.readlink(f"/proc/{pid}/ns/net")} for name, pid in seen.items()}
    finally:
        run.communicate()


@pytest.mark.unsanitized
def test_each_has_a_filter_and_no_way_to_more(processes):
    for name, seen in processes.items():
        assert seen["Seccomp"] == "2", f"{name} has no filter"
        assert seen["NoNewPrivs"] == "1", name


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has nothing to lose")
def test_root_is_given_up(processes):
    for key in ("CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(processes["front"][key], 16) == 0, key
    # Six capabilities, in a user namespace of its own, as somebody who owns nothing.
    assert bin(int(processes["launcher"]["CapPrm"], 16)).count("1") == 6
    assert bin(int(processes["launcher"]["CapBnd"], 16)).count("1") == 6
    assert int(processes["launcher"]["Uid"].split()[0]) >= 1900000000


WITHOUT_SETPCAP = ["setpriv", "--bounding-set", "-setpcap", "--inh-caps", "-setpcap"]


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has nothing to lose")
@pytest.mark.parametrize("processes", [WITHOUT_SETPCAP], indirect=True, ids=["without-setpcap"])
def test_root_is_given_up_where_the_bounding_set_has_to_stay(processes):
    """SCRP-05: as in a container that took this right away."""
    for name, kept in (("front", 0), ("starter", 1 << 1)):  # CAP_DAC_OVERRIDE
        for key in ("CapPrm", "CapEff"):
            assert int(processes[name][key], 16) == kept, (name, key)


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's launcher makes the network in the jar")
def test_the_launcher_has_no_network(processes):
    """SCRP-03: the starter makes the jar's network and does not stay in it; the launcher does."""
    ours = os.readlink("/proc/self/ns/net")
    assert processes["launcher"]["net"] != ours
    assert processes["starter"]["net"] == ours
