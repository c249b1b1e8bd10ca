# SPDX-License-Identifier: Apache-2.0
"""`belljar doctor`: each miss is found in a tree that has it, with the fix that helps.

A fixture tree is a root directory with the few files that the checks read. The healthy one passes;
each case breaks one thing.
"""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))
USER = 4711
NAMESPACES = ["user", "pid", "mnt", "net", "ipc", "uts", "cgroup"]
OWN = "sys/fs/cgroup/user.slice/belljar.scope"
V2_MOUNT = "30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
PROC_MOUNT = "21 20 0:20 / /proc rw - proc proc rw\n"


def write(root, path, text, mode=0o644):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    target.chmod(mode)


@pytest.fixture
def tree(tmp_path):
    """The root of a machine where everything is as it should be, for an ordinary user."""
    root = tmp_path / "root"
    write(root, "proc/sys/kernel/osrelease", "6.1.0-13-amd64\n")
    for name in NAMESPACES:
        write(root, f"proc/self/ns/{name}", "")
        write(root, f"proc/sys/user/max_{name}_namespaces", "15000\n")
    write(root, "proc/sys/kernel/seccomp/actions_avail", "kill_process errno allow\n")
    write(root, "sys/kernel/security/lsm", "lockdown,capability,landlock,yama\n")
    write(root, "proc/self/mountinfo", PROC_MOUNT + V2_MOUNT)
    write(root, "proc/self/cgroup", "0::/user.slice/belljar.scope\n")
    write(root, "proc/self/status", f"Name:\tbelljar\nGroups:\t{USER} \n")
    write(root, OWN + "/cgroup.controllers", "cpu memory pids\n")
    os.chmod(root / OWN, 0o777)
    for name in ["subuid", "subgid"]:
        write(root, f"etc/{name}", f"{USER}:100000:65536\n")
    for name in ["python3", "bash", "newuidmap", "newgidmap"]:
        write(root, f"usr/bin/{name}", "", 0o755)
    return root


def environment(home):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BELLJAR_", "SANDBOX_", "DOCKER_"))}
    return {**env, "HOME": str(home), "XDG_CONFIG_HOME": str(home)}


def doctor(*args, home="/nonexistent"):
    return subprocess.run([BELLJAR, "doctor", *args], capture_output=True, text=True, timeout=60,
                          env=environment(home), check=False)


def examine(root, uid=USER):
    """Exit status, the report, and the checks that failed by name."""
    done = doctor("--json", "--root", str(root), "--uid", str(uid))
    assert done.stderr == ""
    report = json.loads(done.stdout)
    return done.returncode, report, {c["name"]: c for c in report["checks"] if not c["ok"]}


def test_healthy_machine_is_ready(tree):
    status, report, missing = examine(tree)
    assert (status, missing) == (0, {})
    assert report["full"] and report["basic"]


def sysctl(name, value):
    return lambda root: write(root, "proc/sys/" + name, value + "\n")


def remove(path):
    def change(root):
        target = root / path
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink()
    return change


def replace(path, text):
    return lambda root: write(root, path, text)


def mode(path, bits):
    return lambda root: os.chmod(root / path, bits)


MISSES = [
    ("kernel", sysctl("kernel/osrelease", "5.10.0-30-amd64"), "Linux 5.14", "basic"),
    ("kernel", remove("proc/sys/kernel/osrelease"), "Linux 5.14", "basic"),
    ("apparmor", sysctl("kernel/apparmor_restrict_unprivileged_userns", "1"),
     "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", "basic"),
    ("unprivileged_userns", sysctl("kernel/unprivileged_userns_clone", "0"),
     "sysctl -w kernel.unprivileged_userns_clone=1", "basic"),
    ("user_namespace", sysctl("user/max_user_namespaces", "0"),
     "sysctl -w user.max_user_namespaces=15000", "basic"),
    ("network_namespace", sysctl("user/max_net_namespaces", "0"),
     "sysctl -w user.max_net_namespaces=15000", "basic"),
    ("mount_api", sysctl("kernel/osrelease", "5.4.0"), "Linux 5.14", "basic"),
    ("private_proc", replace("proc/self/mountinfo", PROC_MOUNT + V2_MOUNT
                             + "22 21 0:5 /null /proc/kcore rw - tmpfs tmpfs rw\n"),
     "systempaths=unconfined", "full"),
    ("seccomp", remove("proc/sys/kernel/seccomp"), "CONFIG_SECCOMP_FILTER", "basic"),
    ("seccomp", sysctl("kernel/seccomp/actions_avail", "kill trap errno allow"), "Linux 5.14", "basic"),
    ("landlock", replace("sys/kernel/security/lsm", "capability,yama\n"), "lsm=", "full"),
    ("landlock", remove("sys/kernel/security/lsm"), "lsm=", "full"),
    ("cgroup_controllers", replace(OWN + "/cgroup.controllers", "memory pids\n"),
     "cgroup.subtree_control", "full"),
    ("cgroup_controllers", replace("proc/self/mountinfo", PROC_MOUNT), "mount -t cgroup2", "full"),
    ("cgroup_controllers", remove("proc/self/mountinfo"), "mount -t proc", "full"),
    ("cgroup_delegation", mode(OWN, 0o755), "chown", "full"),
    ("cgroup_kill", replace("proc/self/mountinfo", PROC_MOUNT), "cgroup2", "nothing"),
    ("own_uids", remove("etc/subuid"), "--add-subuids", "nothing"),
    ("own_uids", replace("etc/subgid", "someone:100000:65536\n"), "--add-subgids", "nothing"),
    ("own_uids", remove("usr/bin/newuidmap"), "apt-get install uidmap", "nothing"),
    ("groups", replace("proc/self/status", f"Groups:\t27 118 {USER} \n"), "without extra groups", "nothing"),
    ("copies_of_sent", sysctl("net/core/tstamp_allow_data", "1"), "sysctl -w net.core.tstamp_allow_data=0", "nothing"),
    ("python", remove("usr/bin/python3"), "apt-get install python3", "basic"),
    ("bash", remove("usr/bin/bash"), "apt-get install bash", "basic"),
    ("bash", mode("usr/bin/bash", 0o644), "apt-get install bash", "basic"),
] + [(f"{ {'net': 'network', 'mnt': 'mount'}.get(n, n)}_namespace", remove(f"proc/self/ns/{n}"),
      f"{n} namespaces", "basic") for n in NAMESPACES]


@pytest.mark.parametrize("name,change,fix,need", MISSES, ids=[f"{i}-{m[0]}" for i, m in enumerate(MISSES)])
def test_each_miss_is_named_with_its_fix(tree, name, change, fix, need):
    change(tree)
    status, report, missing = examine(tree)
    assert name in missing
    assert fix in missing[name]["fix"]
    assert missing[name]["needed_for"] == need
    needs = {c["needed_for"] for c in missing.values()}
    assert report["full"] == (not needs & {"full", "basic"})
    assert report["basic"] == ("basic" not in needs)
    assert status == (0 if report["full"] else 1)


def test_a_network_of_its_own_has_its_own_switch(tree):
    """A newer kernel lets a jar turn copies of sent datagrams off; else the machine's switch may be off."""
    write(tree, "proc/sys/net/core/tstamp_allow_data", "1\n")
    write(tree, "proc/sys/kernel/osrelease", "6.18.1\n")
    assert examine(tree)[2] == {}
    write(tree, "proc/sys/kernel/osrelease", "6.1.0-13-amd64\n")
    write(tree, "proc/sys/net/core/tstamp_allow_data", "0\n")
    assert examine(tree)[2] == {}


def test_without_proc_nothing_else_is_blamed(tree):
    """The kernel is not too old and lacks no namespace: nobody can look."""
    shutil.rmtree(tree / "proc")
    (tree / "proc").mkdir()
    status, report, missing = examine(tree)
    assert (status, report["full"], report["basic"], list(missing)) == (1, False, False, ["kernel"])
    assert "mount -t proc proc /proc" in missing["kernel"]["fix"] and len(report["checks"]) == 1


def test_systemd_machine_gets_the_fix_with_the_user_bus(tree):
    (tree / "run/systemd/system").mkdir(parents=True)
    os.chmod(tree / OWN, 0o755)
    assert "dbus-user-session" in examine(tree)[2]["cgroup_delegation"]["fix"]


def test_systemd_machine_gets_the_fix_for_controllers(tree):
    (tree / "run/systemd/system").mkdir(parents=True)
    write(tree, OWN + "/cgroup.controllers", "memory pids\n")
    assert "Delegate=cpu memory pids" in examine(tree)[2]["cgroup_controllers"]["fix"]


def test_root_needs_less(tree):
    """Root is not stopped by what stops ordinary users, and has uids of its own to give."""
    write(tree, "proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n")
    write(tree, "proc/sys/kernel/unprivileged_userns_clone", "0\n")
    write(tree, "proc/self/status", "Groups:\t0 1 2\n")
    shutil.rmtree(tree / "etc")
    assert examine(tree, uid=0)[0] == 0


def test_cgroup_v1_counts(tree):
    own = "sys/fs/cgroup/{}/own"
    mounts = "".join(f"3{i} 20 0:3{i} / /sys/fs/cgroup/{c} rw - cgroup cgroup rw,{c}\n"
                     for i, c in enumerate(["memory", "pids", "cpu"]))
    write(tree, "proc/self/mountinfo", PROC_MOUNT + mounts)
    write(tree, "proc/self/cgroup", "3:memory:/own\n2:pids:/own\n1:cpu:/own\n")
    for controller in ["memory", "pids", "cpu"]:
        (tree / own.format(controller)).mkdir(parents=True)
        os.chmod(tree / own.format(controller), 0o777)
    status, report, missing = examine(tree)
    assert (status, set(missing)) == (0, {"cgroup_kill"})
    assert {"v1: memory pids cpu"} == {c["found"] for c in report["checks"] if c["name"] == "cgroup_controllers"}
    os.chmod(tree / own.format("cpu"), 0o755)
    delegation = examine(tree)[2]["cgroup_delegation"]
    assert "/cpu/own belongs to someone else" in delegation["found"]
    assert "for h in memory pids cpu" in delegation["fix"] and "native.cgroup" not in delegation["fix"]


def test_links_stay_inside_the_root(tree):
    """An absolute link is read below the other root, never in ours."""
    (tree / "usr/bin/python3").unlink()
    (tree / "usr/bin/python3").symlink_to("/usr/bin/env")
    assert "python" in examine(tree)[2]
    write(tree, "usr/bin/env", "", 0o755)
    assert examine(tree)[0] == 0


def test_text_shows_marks_and_fixes(tree):
    (tree / "usr/bin/bash").unlink()
    done = doctor("--root", str(tree), "--uid", str(USER))
    assert done.returncode == 1
    assert "miss  bash" in done.stdout
    assert "      fix: as root: apt-get install bash" in done.stdout
    assert "Not ready" in done.stdout


def test_this_machine(tmp_path):
    """Here things are tried for real: every check has an answer, and every miss a fix."""
    done = doctor("--json", home=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == (0 if report["full"] else 1)
    for check in report["checks"]:
        assert check["found"]
        assert check["ok"] == (check["fix"] is None)
    found = {c["name"]: c["found"] for c in report["checks"]}
    assert os.uname().release in found["kernel"]
    assert "Python 3" in found["python"]


def test_tried_for_real_without_user_namespaces(tmp_path):
    """Where user.max_user_namespaces is 0 the live checks fail, whatever the files promise."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" doctor --json"
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--", "sh", "-c", script, BELLJAR],
                          capture_output=True, text=True, timeout=60, env=environment(tmp_path), check=False)
    missing = {c["name"]: c for c in json.loads(done.stdout)["checks"] if not c["ok"]}
    assert done.returncode == 1
    assert "sysctl -w user.max_user_namespaces=15000" in missing["user_namespace"]["fix"]
    assert "No space left" in missing["pid_namespace"]["found"]


@pytest.mark.parametrize("args,says", [
    (["--root", "/nonexistent"], "cannot open /nonexistent"),
    (["--uid", "many", "--root", "/tmp"], "--uid must be a number"),
    (["--uid", "4711"], "--uid needs --root"),
    (["now"], "takes no argument"),
    (["--jsn"], "did you mean --json"),
])
def test_bad_arguments(args, says):
    done = doctor(*args)
    assert done.returncode == 125
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
