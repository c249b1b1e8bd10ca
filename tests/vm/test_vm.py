# SPDX-License-Identifier: Apache-2.0
"""The limit, kill, oom and rootless-delegation tests on a machine that has only cgroup v2.
One boot runs every case of guest/cases.py; each is a test here."""
import importlib.util
import os
import pathlib

import pytest

HERE = pathlib.Path(__file__).resolve().parent


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


machine = load("machine", HERE / "machine.py")
cases = load("cases", HERE / "guest/cases.py")
BUILD = pathlib.Path(os.environ.get("BELLJAR_BUILD", HERE.parents[1] / "build-test"))


@pytest.fixture(scope="session")
def results():
    folder = BUILD / "vm"
    kernel = machine.fetch_kernel(folder / "kernel")
    archive = folder / "initramfs.cpio"
    machine.build_archive(BUILD, archive)
    return machine.boot(kernel, archive, folder / "console.log")


@pytest.mark.timeout(machine.TOTAL_SECONDS + 120)
@pytest.mark.parametrize("name", list(cases.CASES))
def test_in_machine(results, name):
    console = f"see {BUILD / 'vm/console.log'}"
    assert name in results, f"the machine ended before this case; {console}"
    ok, said = results[name]
    assert ok, f"{said}; {console}"
