#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A service in the machine that has only cgroup v2: interpreters that wait, as root and as an ordinary user with
a delegated cgroup. Runs there as root; the host imports it for the names. The cases of one caller share a
service, which the first of them starts and the last one ends.

Proves warm on v2: SCRP-01, SCRP-04, SCRP-06, SCRP-07, SCRP-08/09, DS-CLEAN."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cases  # noqa: E402
import serving  # noqa: E402

CALLERS = {"root": cases.Root, "user": cases.User}
ALL = []
SERVICES = {}


def case(function):
    ALL.append(function)
    return function


def service(caller):
    """The one of @caller, and what there was before it."""
    if caller not in SERVICES:
        who, before = CALLERS[caller](), cases.leftovers()
        uid = 0 if type(who) is cases.Root else cases.UID
        SERVICES[caller] = serving.Service(cases.BELLJAR, who.env, enter=who.enter, uid=uid), before
    return SERVICES[caller][0]


@case
def warm_python(caller):
    result = service(caller).run("python", "print(6 * 7)\n")
    assert (result["cause"], result["exit_code"], result["stdout"]) == ("exited", 0, "42\n"), result
    isolation = result["meta"]["isolation"]
    assert isolation["cgroup"] == "v2" and all(isolation["layers"].values()), isolation


@case
def warm_bash(caller):
    result = service(caller).run("bash", "echo out; echo err >&2; exit 3\n")
    seen = (result["cause"], result["exit_code"], result["stdout"], result["stderr"])
    assert seen == ("exited", 3, "out\n", "err\n"), result
    assert result["meta"]["isolation"]["cgroup"] == "v2", result


@case
def warm_memory_limit_is_oom(caller):
    script = "b = []\nwhile True:\n    b.append(bytearray(1 << 20))\n"
    result = service(caller).run("python", script, memory="48M", timeout=60)
    assert result["cause"] == "oom", result


@case
def warm_pids_limit_is_pids(caller):
    result = service(caller).run("bash", "for i in {1..64}; do sleep 30 & done; wait\n", pids=16, timeout=60)
    assert result["cause"] == "pids", result


@case
def warm_deadline_kills_the_tree(caller):
    script = "trap '' TERM INT HUP; echo so far; (trap '' TERM; sleep 600) & while :; do :; done\n"
    result = service(caller).run("bash", script, timeout=2)
    assert (result["cause"], result["timeout"], result["stdout"]) == ("timeout", True, "so far\n"), result
    assert 2000 <= result["duration_ms"] < 4000, result


@case
def warm_signal_is_named(caller):
    result = service(caller).run("python", "import os\nos.kill(os.getpid(), 15)\n")
    assert (result["cause"], result["signal"]) == ("signal", 15), result


@case
def warm_run_is_cancelled(caller):
    it = service(caller)
    it.run("python", "pass\n")
    run = it.start("python", "import time\ntime.sleep(600)\n")

    def now(state):
        return it.ask("GET", f"/v1/executions/{run}")[1]["state"] == state

    serving.wait_until(lambda: now("running"), it.said)
    status, told = it.ask("DELETE", f"/v1/executions/{run}")
    assert status in (200, 202), (status, told)
    serving.wait_until(lambda: now("finished"), it.said)
    result = it.ask("GET", f"/v1/executions/{run}")[1]["result"]
    assert result["cause"] == "cancelled", result


@case
def killed_parts_come_back(caller):
    """Runs of a launcher that is gone fail, and are told so; nobody else's do."""
    it = service(caller)
    for part, failures in (("zygote", ()), ("nursery", ()), ("launcher", (500, 503))):
        it.run("python", "pass\n")
        it.kill(part)
        for language, script in (("python", "print(1)\n"), ("bash", "echo 1\n")):
            result = it.run(language, script, failures)
            assert (result["cause"], result["stdout"]) == ("exited", "1\n"), (part, result)


@case
def nothing_is_left_of_a_service(caller):
    """Also of a run under way, which is cancelled; no cgroup, no process, no mount."""
    it = service(caller)
    it.run("bash", "echo\n")
    before = SERVICES.pop(caller)[1]
    began = time.monotonic()
    status = it.end()
    assert status == 0, (status, it.said())
    serving.wait_until(lambda: cases.leftovers() == before, lambda: cases.leftovers() ^ before, 15)
    assert time.monotonic() - began < 30


CASES = {f"{caller}_{function.__name__}": lambda f=function, c=caller: f(c) for caller in CALLERS for function in ALL}


if __name__ == "__main__":
    sys.exit(cases.run_all(CASES))
