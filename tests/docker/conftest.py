# SPDX-License-Identifier: Apache-2.0
"""The engine, the images and the program for the Docker tests."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from engine import Daemon, Engine, make_certificates, wait_until
from harness.ports import free_port
from runner import BELLJAR, Jar

@pytest.fixture(scope="session")
def engine():
    """An engine with the stand-in images. BELLJAR_TEST_ENGINE names one that runs already."""
    if "BELLJAR_TEST_ENGINE" in os.environ:
        yield Engine(os.environ["BELLJAR_TEST_ENGINE"].removeprefix("unix://"))
        return
    if os.geteuid() != 0:
        pytest.skip("starting a Docker engine takes root")
    if not shutil.which("dockerd", path="/usr/sbin:/usr/bin"):
        pytest.skip("no dockerd: install docker.io")
    # Overlay cannot stand on an overlay: /var/tmp is the best guess for a real file system.
    folder = tempfile.mkdtemp(prefix="bjd-", dir="/var/tmp")
    certs = pathlib.Path(folder) / "certs"
    make_certificates(certs)
    port = free_port()
    config = pathlib.Path(folder) / "daemon.json"
    config.write_text(json.dumps({"runtimes": {
        "crun": {"path": "/usr/bin/crun"},
        "runsc": {"path": "/usr/bin/runsc",
                  "runtimeArgs": ["--platform=ptrace", "--ignore-cgroups", "--network=none"]}}}))
    daemon = Daemon(folder, "--config-file", str(config), "-H", f"tcp://127.0.0.1:{port}",
                    "--tlsverify", "--tlscacert", str(certs / "ca.pem"),
                    "--tlscert", str(certs / "server-cert.pem"),
                    "--tlskey", str(certs / "server-key.pem"))
    daemon.tls_url, daemon.certs = f"tcp://127.0.0.1:{port}", certs
    try:
        daemon.start()
        build_images(daemon)
        yield daemon
    finally:
        daemon.remove()


def build_images(engine):
    """DS-SETUP: the images are made by our own command."""
    subprocess.run([BELLJAR, "image", "build", "--docker"], check=True, timeout=300,
                   env={**os.environ, "DOCKER_HOST": engine.url, "TMPDIR": "/var/tmp"})


@pytest.fixture
def jar(engine, tmp_path):
    made = Jar(engine, tmp_path)
    yield made
    # The answer comes before the removal.
    wait_until(lambda: not engine.leftovers(), 20, "a test left something in the engine")
    wait_until(lambda: not list(made.state.glob("docker/*")), 20, "a test left a track")
    wait_until(lambda: not shared(), 20, "a test left files in memory")


def shared():
    return list(pathlib.Path("/dev/shm").glob("belljar-*"))
