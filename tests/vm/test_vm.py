# SPDX-License-Identifier: Apache-2.0
"""The limit, kill, oom, rootless-delegation and service tests on a machine that has only cgroup v2.
One boot runs every case of guest/cases.py and guest/cases_serve.py; each is a test here."""
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "guest")]

import cases
import cases_serve
import machine

BUILD = machine.BUILD


@pytest.fixture(scope="session")
def results():
    folder = BUILD / "vm"
    kernel = machine.fetch_kernel(folder / "kernel")
    archive = folder / "initramfs.cpio"
    machine.build_archive(BUILD, archive)
    return machine.boot(kernel, archive, folder / "console.log")


@pytest.mark.timeout(machine.TOTAL_SECONDS + 120)
@pytest.mark.parametrize("name", [*cases.CASES, *cases_serve.CASES])
def test_in_machine(results, name):
    console = f"see {BUILD / 'vm/console.log'}"
    assert name in results, f"the machine ended before this case; {console}"
    ok, said = results[name]
    assert ok, f"{said}; {console}"
