#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What is tested inside the machine. Runs there as root; the host imports it for the names."""
import subprocess
import sys
import traceback

CASES = []


def case(function):
    CASES.append(function)
    return function


@case
def machine_is_pure_v2():
    """The machine is what the other cases take for granted."""
    with open("/proc/self/mounts", encoding="ascii") as mounts:
        kinds = {line.split()[2] for line in mounts}
    assert "cgroup2" in kinds and "cgroup" not in kinds, kinds
    with open("/sys/fs/cgroup/cgroup.controllers", encoding="ascii") as controllers:
        assert {"memory", "pids", "cpu"} <= set(controllers.read().split())


@case
def program_starts():
    done = subprocess.run(["/opt/belljar/belljar", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("belljar "), done


def main():
    for function in CASES:
        try:
            function()
            print(f"BELLJAR-VM ok {function.__name__}", flush=True)
        except Exception as error:  # a case that fails must not take the others along
            traceback.print_exc()
            said = " ".join(str(error).split())[:300] or type(error).__name__
            print(f"BELLJAR-VM failed {function.__name__} {said}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
