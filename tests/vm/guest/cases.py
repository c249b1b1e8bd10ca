#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What is tested inside the machine, which has only cgroup v2. Runs there as root; the host imports
it for the names.

Proves on v2: SCRP-01, SCRP-04, SCRP-06, SCRP-07, SCRP-08/09, SX-LOCAL."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback

BELLJAR = "/opt/belljar/belljar"
CGROUP = pathlib.Path("/sys/fs/cgroup")
UID = 1000
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def both(function):
    """The same case as root and as an ordinary user with a delegated cgroup."""
    for caller in (Root, User):
        CASES[f"{caller.__name__.lower()}_{function.__name__}"] = lambda c=caller: function(c())
    return function


class Root:
    """Who runs belljar, and how."""
    env = {"PATH": "/usr/bin:/bin", "HOME": "/root"}

    def enter(self):
        """Called in the child, before exec."""

    def belljar(self, *args):
        return subprocess.run([BELLJAR, *args], env=self.env, preexec_fn=self.enter, cwd="/",
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)

    def run(self, suffix, script, *flags):
        """The result of one sealed run, with the check off: the kernel alone must hold."""
        with tempfile.NamedTemporaryFile("w", suffix=suffix) as file:
            file.write(script)
            file.flush()
            os.chmod(file.name, 0o644)
            before = leftovers()
            done = self.belljar("run", "--json", "--policy", "off", *flags, file.name)
            # The script is dead by now; empty cgroups go a moment later.
            end = time.monotonic() + 10
            while leftovers() != before and time.monotonic() < end:
                time.sleep(0.02)
            assert leftovers() == before, f"left behind: {leftovers() ^ before}"
        assert done.stdout.startswith("{"), f"status {done.returncode}: {done.stderr}{done.stdout}"
        return json.loads(done.stdout)


class User(Root):
    """An ordinary user below a cgroup that was handed over, as a service manager would do it."""
    place = CGROUP / "delegated"
    env = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "BELLJAR_NATIVE_CGROUP": "/delegated"}

    def enter(self):
        (self.place / "caller/cgroup.procs").write_text("0")
        self.drop()

    @staticmethod
    def drop():
        os.setgroups([])
        os.setresgid(UID, UID, UID)
        os.setresuid(UID, UID, UID)


class RootBelow(Root):
    """Root with a parent of its own choice."""
    env = {**Root.env, "BELLJAR_NATIVE_CGROUP": "/delegated"}


class UserWithin(User):
    """A user whose own cgroup may be divided, with no setting: belljar is the first process in it."""
    env = {"PATH": "/usr/bin:/bin", "HOME": "/tmp"}
    place = CGROUP / "own"

    def enter(self):
        (self.place / "cgroup.procs").write_text("0")
        self.drop()


class UserInCompany(UserWithin):
    """The same with a stranger there, who cannot be moved away."""

    def enter(self):
        (self.place / "cgroup.procs").write_text("0")
        if os.fork() > 0:
            os.waitpid(-1, 0)
            os._exit(0)
        self.drop()


def delegate():
    (CGROUP / "cgroup.subtree_control").write_text("+memory +pids +cpu")
    caller = User.place / "caller"
    caller.mkdir(parents=True)
    UserWithin.place.mkdir()
    for folder in (User.place, caller, UserWithin.place):
        for name in (".", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"):
            os.chown(folder / name, UID, UID)


def leftovers():
    """Everything a run could leave: cgroups, processes of others than the kernel, mounts."""
    cgroups = {folder for folder, _, _ in os.walk(CGROUP)}
    processes = {f"pid {pid}" for pid in os.listdir("/proc") if pid.isdigit() and is_user(pid)}
    mounts = set(pathlib.Path("/proc/self/mounts").read_text().splitlines())
    return cgroups | processes | mounts


def is_user(pid):
    try:
        return bool(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


@case
def machine_is_pure_v2():
    """The machine is what the other cases take for granted."""
    kinds = {line.split()[2] for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()}
    assert "cgroup2" in kinds and "cgroup" not in kinds, kinds
    controllers = (CGROUP / "cgroup.controllers").read_text().split()
    assert {"memory", "pids", "cpu"} <= set(controllers), controllers


@case
def program_starts():
    done = Root().belljar("--version")
    assert done.returncode == 0 and done.stdout.startswith("belljar "), done


@both
def hello_python(caller):
    result = caller.run(".py", "print(6 * 7)\n")
    assert (result["cause"], result["exit_code"], result["stdout"]) == ("exited", 0, "42\n"), result


@both
def hello_bash(caller):
    result = caller.run(".sh", "echo out; echo err >&2; exit 3\n")
    seen = (result["cause"], result["exit_code"], result["stdout"], result["stderr"])
    assert seen == ("exited", 3, "out\n", "err\n"), result


@case
def chosen_parent_is_left_empty():
    result = RootBelow().run(".sh", "echo\n")
    assert result["cause"] == "exited" and result["meta"]["cleanup_success"], result


@case
def own_cgroup_is_divided_and_given_back():
    """The front had to step aside there; the cgroup is as it was when it has gone."""
    result = UserWithin().run(".sh", "echo\n")
    assert result["cause"] == "exited" and result["meta"]["isolation"]["cgroup"] == "v2", result
    assert (UserWithin.place / "cgroup.subtree_control").read_text().strip() == ""


@case
def strangers_in_the_own_cgroup_are_not_moved():
    result = UserInCompany().run(".sh", "echo\n")
    assert result["cause"] == "infrastructure" and "`belljar doctor`" in result["error"], result
    done = UserInCompany().belljar("doctor")
    assert "native.cgroup" in done.stdout, done


@both
def memory_limit_is_oom(caller):
    script = "b = []\nwhile True:\n    b.append(bytearray(1 << 20))\n"
    result = caller.run(".py", script, "--memory", "48M", "--timeout", "60")
    assert result["cause"] == "oom", result


@both
def memory_limit_ends_scripts_of_a_caller_that_memory_spares(caller):
    """OOMScoreAdjust=-1000 of a service: what has it is not killed when memory is short, by no limit either."""
    enter = caller.enter

    def spared():
        pathlib.Path("/proc/self/oom_score_adj").write_text("-1000")
        enter()

    caller.enter = spared
    result = caller.run(".py", "print(open('/proc/self/oom_score_adj').read(), flush=True)\nx = bytearray(1 << 30)",
                        "--memory", "64M", "--timeout", "10")
    assert (result["cause"], result["signal"], result["stdout"].strip()) == ("oom", 9, "0"), result


@both
def pids_limit_is_pids(caller):
    script = "for i in {1..64}; do sleep 30 & done; wait\n"
    result = caller.run(".sh", script, "--pids", "16", "--timeout", "60")
    assert result["cause"] == "pids", result


@both
def deadline_kills_the_tree(caller):
    script = "trap '' TERM INT HUP; echo so far; (trap '' TERM; sleep 600) & while :; do :; done\n"
    result = caller.run(".sh", script, "--timeout", "2")
    assert (result["cause"], result["timeout"], result["stdout"]) == ("timeout", True, "so far\n")
    assert 2000 <= result["duration_ms"] < 4000, result


@both
def cpu_limit_holds_for_the_sum(caller):
    script = "for i in 1 2; do (while :; do :; done) & done; wait\n"
    result = caller.run(".sh", script, "--cpus", "0.25", "--timeout", "4")
    share = result["usage"]["cpu_ms"] / result["duration_ms"]
    # The quota comes in slices of a period, so a short run may be a slice over.
    assert 0.1 < share < 0.33, f"{share:.2f} of a CPU: {result}"


@case
def a_crash_starts_no_program_of_the_machine():
    """A program in core_pattern runs as root outside every limit, whatever size a core file may have."""
    knob = pathlib.Path("/proc/sys/kernel/core_pattern")
    old, told = knob.read_text(), pathlib.Path("/tmp/crashes")
    handler = pathlib.Path("/tmp/handler")
    handler.write_text("#!/bin/sh\necho $1 >>/tmp/crashes\n")
    handler.chmod(0o755)
    fault = ("import os, resource\n{}\nif os.fork() == 0:\n    os.kill(os.getpid(), 11)\n"
             "os.wait()\nos.kill(os.getpid(), 11)\n")
    knob.write_text(f"|{handler} %e")
    try:
        for caller in (Root(), User()):
            for change in ("", "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))"):
                result = caller.run(".py", fault.format(change))
                assert (result["cause"], result["signal"]) == ("signal", 11), result
        assert not told.exists(), f"started for {told.read_text().split()}"
        subprocess.run(["/bin/sh", "-c", "kill -SEGV $$"])
        assert told.exists(), "the pattern does not work here"
    finally:
        knob.write_text(old)
        told.unlink(missing_ok=True)


@case
def a_question_to_a_socket_starts_no_program_of_the_machine():
    """Whoever asks for a bridge or a VLAN has a module loaded, by a program that runs as root outside every limit."""
    knob = pathlib.Path("/proc/sys/kernel/modprobe")
    old, told = knob.read_text(), pathlib.Path("/tmp/modules")
    loader = pathlib.Path("/tmp/loader")
    loader.write_text("#!/bin/sh\necho $* >>/tmp/modules\n")
    loader.chmod(0o755)
    ask = ("import fcntl, socket\ns = socket.socket(socket.AF_UNIX)\n"
           "for request in (0x8940, 0x8941, 0x8982, 0x8983, 0x89A0, 0x89A1):\n"
           "    try:\n        fcntl.ioctl(s, request, bytes(64))\n    except OSError:\n        pass\n")
    knob.write_text(str(loader))
    try:
        for caller in (Root(), User()):
            result = caller.run(".py", ask)
            assert result["success"], result
        assert not told.exists(), f"started for {told.read_text().split()}"
        subprocess.run(["python3", "-c", ask], check=True)
        assert told.exists(), "this kernel has all modules"
    finally:
        knob.write_text(old)
        told.unlink(missing_ok=True)


@case
def doctor_names_the_fix_without_user_namespaces():
    knob = pathlib.Path("/proc/sys/user/max_user_namespaces")
    old = knob.read_text()
    knob.write_text("0")
    try:
        done = User().belljar("doctor")
    finally:
        knob.write_text(old)
    assert done.returncode == 1 and "sysctl -w user.max_user_namespaces=15000" in done.stdout, done
    assert "tstamp_allow_data" not in done.stdout, "what could not be tried is not told as missing"


@case
def doctor_tells_of_copies_that_a_jar_cannot_turn_off():
    """Linux 6.1 has one switch for all of the machine's networks."""
    knob = pathlib.Path("/proc/sys/net/core/tstamp_allow_data")
    old = knob.read_text()

    def told(value):
        knob.write_text(value)
        checks = json.loads(User().belljar("doctor", "--json").stdout)["checks"]
        return [c for c in checks if c["name"] == "copies_of_sent"][0]
    try:
        on, off = told("1"), told("0")
    finally:
        knob.write_text(old)
    assert not on["ok"] and on["fix"] == "as root: sysctl -w net.core.tstamp_allow_data=0", on
    assert off["ok"], off


def run_all(cases):
    for name, function in cases.items():
        try:
            function()
            print(f"BELLJAR-VM ok {name}", flush=True)
        except Exception as error:  # a case that fails must not take the others along
            traceback.print_exc()
            said = " ".join(str(error).split())[:400] or type(error).__name__
            print(f"BELLJAR-VM failed {name} {said}", flush=True)


def main():
    delegate()
    run_all(CASES)


if __name__ == "__main__":
    sys.exit(main())
