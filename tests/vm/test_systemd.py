# SPDX-License-Identifier: Apache-2.0
"""Rootless on a machine with systemd and no settings: the user's service manager gives belljar a
delegated scope. One boot runs every case of guest/cases_systemd.py; each is a test here."""
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "guest")]

import cases_systemd
import debian
import machine

BUILD = machine.BUILD


@pytest.fixture(scope="session", name="results")
def boot():
    folder = BUILD / "vm"
    kernel = machine.fetch_kernel(folder / "kernel")
    archive = folder / "systemd.cpio"
    debian.build_archive(machine, BUILD, archive)
    return machine.boot(kernel, archive, folder / "systemd.log")


@pytest.mark.timeout(machine.TOTAL_SECONDS + 120)
@pytest.mark.parametrize("name", list(cases_systemd.CASES))
def test_with_systemd(results, name):
    console = f"see {BUILD / 'vm/systemd.log'}"
    assert name in results, f"the machine ended before this case; {console}"
    ok, said = results[name]
    assert ok, f"{said}; {console}"
