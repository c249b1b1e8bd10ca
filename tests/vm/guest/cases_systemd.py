#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What is tested inside the machine with systemd. Runs there as root; the host imports it for the
names. No case has a setting: the user's service manager gives the cgroup.

Proves rootless on v2: SCRP-01, SCRP-04, SCRP-06, SCRP-07, SCRP-08/09, SX-LOCAL."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cases  # noqa: E402
import serving  # noqa: E402

USER, UID = "agent", 1000
CASES = {}
# Ways to become an ordinary user. Each starts in a cgroup that is not his to divide.
CALLERS = {
    # a login: a session scope, and the address of the bus in the environment
    "login": ["su", "-l", USER, "-c", 'exec "$0" "$@"', "--"],
    # cron, or a system service: no session, and no address
    "bare": ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "env", "-i",
             "PATH=/usr/bin", f"HOME=/home/{USER}"],
    # a service of the user's own manager, whose cgroup is not delegated
    "service": ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "env",
                f"XDG_RUNTIME_DIR=/run/user/{UID}", "systemd-run", "--user", "--quiet", "--wait", "--pipe",
                "bash", "-c", '"$0" "$@"; exit $?'],
    # the same, as its only process: systemd did not delegate, but the owner is the user
    "alone": ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "env",
              f"XDG_RUNTIME_DIR=/run/user/{UID}", "systemd-run", "--user", "--quiet", "--wait", "--pipe"],
    # a delegated scope made by hand
    "scope": ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "env",
              f"XDG_RUNTIME_DIR=/run/user/{UID}", "systemd-run", "--user", "--quiet", "--scope",
              "-p", "Delegate=yes"],
}


def case(function):
    CASES[function.__name__] = function
    return function


def callers(*names):
    """The same case for each of these ways to be the user."""
    def add(function):
        for name in names:
            CASES[f"{name}_{function.__name__}"] = lambda n=name: function(n)
        return function
    return add


def belljar(caller, *args, before=()):
    return subprocess.run([*CALLERS[caller], *before, cases.BELLJAR, *args], cwd="/", check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)


def leftovers():
    """Cgroups, processes and mounts of belljar's."""
    left = {os.path.join(folder, name) for folder, names, _ in os.walk(cases.CGROUP) for name in names
            if "belljar" in name and name != "belljar-cases.service"}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe").startswith("/opt/belljar/"):
                left.add(f"pid {pid}")
        except OSError:
            continue
    return left | {m for m in pathlib.Path("/proc/self/mounts").read_text().splitlines() if "belljar" in m}


def wait_for_nothing_left():
    """systemd takes a scope down a moment after its last process ended."""
    deadline = time.monotonic() + 10
    while leftovers():
        assert time.monotonic() < deadline, f"left behind: {leftovers()}"
        time.sleep(0.05)
    units = subprocess.run(["systemctl", f"--machine={USER}@.host", "--user", "list-units", "--all",
                            "--no-legend", "belljar*"], capture_output=True, text=True, check=False)
    assert units.stdout.strip() == "", units


def run(caller, suffix, script, *flags):
    with tempfile.NamedTemporaryFile("w", suffix=suffix) as file:
        file.write(script)
        file.flush()
        os.chmod(file.name, 0o644)
        done = belljar(caller, "run", "--json", "--policy", "off", *flags, file.name)
    wait_for_nothing_left()
    assert done.stdout.startswith("{"), f"status {done.returncode}: {done.stderr}{done.stdout}"
    return json.loads(done.stdout)


@case
def machine_has_systemd():
    """The machine is what the other cases take for granted."""
    assert pathlib.Path("/proc/1/comm").read_text() == "systemd\n"
    log = subprocess.run(["journalctl", "-b", "-o", "cat", "-n", "40"], capture_output=True, text=True,
                         check=False)
    assert pathlib.Path(f"/run/user/{UID}/bus").is_socket(), log.stdout
    kinds = {line.split()[2] for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()}
    assert "cgroup2" in kinds and "cgroup" not in kinds, kinds


@callers(*CALLERS)
def every_layer_holds(caller):
    result = run(caller, ".py", "print(6 * 7)\n")
    assert (result["cause"], result["exit_code"], result["stdout"]) == ("exited", 0, "42\n"), result
    meta = result["meta"]
    assert meta["runtime"] == "native" and meta["isolation"]["cgroup"] == "v2", meta
    assert all(meta["isolation"]["layers"].values()), meta
    assert meta["cleanup_success"], meta


@callers("login", "alone", "scope")
def memory_limit_is_oom(caller):
    script = "b = []\nwhile True:\n    b.append(bytearray(1 << 20))\n"
    result = run(caller, ".py", script, "--memory", "48M", "--timeout", "60")
    assert result["cause"] == "oom", result


@case
def pids_limit_is_pids():
    result = run("login", ".sh", "for i in {1..64}; do sleep 30 & done; wait\n", "--pids", "16",
                 "--timeout", "60")
    assert result["cause"] == "pids", result


@case
def deadline_kills_the_tree():
    script = "trap '' TERM INT HUP; echo so far; (trap '' TERM; sleep 600) & while :; do :; done\n"
    result = run("login", ".sh", script, "--timeout", "2")
    assert (result["cause"], result["timeout"], result["stdout"]) == ("timeout", True, "so far\n")


@case
def killed_belljar_leaves_nothing():
    """SIGKILL while the script runs: of the front alone, and of all that is belljar's at once."""
    for count in (1, None):
        with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
            file.write("echo up; exec sleep 60\n")
            file.flush()
            os.chmod(file.name, 0o644)
            with subprocess.Popen([*CALLERS["bare"], cases.BELLJAR, "run", "--timeout", "60", file.name],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd="/") as front:
                assert front.stdout.readline() == b"up\n"
                assert len([path for path in leftovers() if path.endswith(".scope")]) == 1, leftovers()
                others = {int(path.split()[1]) for path in leftovers() if path.startswith("pid ")}
                for pid in [front.pid, *(others - {front.pid})][:count]:
                    os.kill(pid, signal.SIGKILL)
        wait_for_nothing_left()


@case
def service_has_interpreters_that_wait():
    """In a scope that the user's service manager gives; all of it is gone afterwards."""
    it = serving.Service(cases.BELLJAR, {"PATH": "/usr/bin:/bin"}, CALLERS["bare"], uid=UID)
    try:
        for language, script in (("python", "print(1)\n"), ("bash", "echo 1\n")):
            result = it.run(language, script)
            assert (result["cause"], result["stdout"]) == ("exited", "1\n"), result
            assert result["meta"]["isolation"]["cgroup"] == "v2", result
    finally:
        status = it.end()
    assert status == 0, (status, it.said())
    wait_for_nothing_left()


@callers("login", "service", "alone")
def doctor_is_content(caller):
    done = belljar(caller, "doctor", "--json")
    wait_for_nothing_left()
    missing = [c for c in json.loads(done.stdout)["checks"] if not c["ok"] and c["needed_for"] != "nothing"]
    assert (done.returncode, missing) == (0, []), done


@case
def doctor_names_the_missing_bus():
    """Without a bus a run is refused, and both say what to do."""
    away = ["env", "-u", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent"]
    done = belljar("login", "doctor", "--json", before=away)
    fixes = {c["name"]: c["fix"] for c in json.loads(done.stdout)["checks"] if not c["ok"]}
    assert done.returncode == 1 and "dbus-user-session" in fixes["cgroup_delegation"], fixes
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
        os.chmod(file.name, 0o644)
        file.write("echo\n")
        file.flush()
        done = belljar("login", "run", file.name, before=away)
    assert done.returncode == 125 and "belljar doctor" in done.stderr, done
    wait_for_nothing_left()


def restart_manager(delegate):
    folder = pathlib.Path("/etc/systemd/system/user@.service.d")
    folder.mkdir(exist_ok=True)
    (folder / "delegate.conf").write_text(f"[Service]\nDelegate=\nDelegate={delegate}\n")
    subprocess.run(["systemctl", "daemon-reload"], check=True)
    subprocess.run(["systemctl", "restart", f"user@{UID}.service"], check=True)


@case
def doctor_names_the_missing_controller():
    """An older systemd passes no CPU controller on to users: the fix that doctor tells is the one
    that helps."""
    restart_manager("memory pids")
    fixes = {c["name"]: c["fix"] for c in json.loads(belljar("bare", "doctor", "--json").stdout)["checks"]
             if not c["ok"]}
    assert r"[Service]\nDelegate=cpu memory pids\n" in fixes["cgroup_delegation"], fixes
    assert run("bare", ".sh", "echo\n")["cause"] == "infrastructure"
    restart_manager("cpu memory pids")
    assert run("bare", ".sh", "echo\n")["cause"] == "exited"


if __name__ == "__main__":
    print("BELLJAR-VM booted", flush=True)
    sys.exit(cases.run_all(CASES))
