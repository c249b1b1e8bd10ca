# SPDX-License-Identifier: Apache-2.0
"""A real image, saved by the engine, in the native jar."""
import json
import os
import subprocess

import pytest

from runner import BELLJAR, IMAGES
from test_service import Service, wait_until


class Native:
    """belljar with the native backend and a store of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BELLJAR_", "DOCKER_"))}
        self.env |= {"BELLJAR_STATE_DIR": str(folder / "state"), "TMPDIR": "/var/tmp"}

    def image(self, *words, **kwargs):
        subprocess.run([BELLJAR, "image", *words], env=self.env, check=True, timeout=300, **kwargs)

    def run(self, text, image, name="s.py"):
        script = self.folder / name
        script.write_text(text)
        done = subprocess.run([BELLJAR, "run", "--no-service", "--json", "--image", image, str(script)],
                              env=self.env, capture_output=True, timeout=60, check=False)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def saved(engine):
    return subprocess.run(["docker", "-H", engine.url, "save", IMAGES["python"]], check=True,
                          capture_output=True).stdout


@pytest.fixture
def native(tmp_path):
    return Native(tmp_path)


def test_docker_save(engine, native, saved):
    """SCRP-02 SX-LOCAL: what `docker save` writes runs in a jar, under the id that the engine shows."""
    native.image("import", "-", input=saved)
    result = native.run("import os, sys, json, sqlite3\nprint(sys.executable, os.path.exists('/etc/machine-id'))",
                        IMAGES["python"])
    assert result["stdout"] == "/usr/bin/python3 False\n", result
    shown = engine.get(f"/images/{IMAGES['python']}/json")["Id"]
    assert result["meta"]["image"] == {"name": IMAGES["python"], "digest": shown}
    syntax = native.run("def f(", IMAGES["python"])
    assert syntax["validation_failed"] and "line 1" in syntax["validation_error"]
    assert native.run("echo $BASH_VERSION", IMAGES["python"], "s.sh")["stdout"].startswith("5.2")


def test_a_service_keeps_interpreters_of_the_image(native, saved, tmp_path):
    """SCRP-02: warm runs in an image; a request may name it and no other; it cannot be removed."""
    native.image("import", "-", "--name", "py", input=saved)
    service = Service(native, tmp_path, BELLJAR_IMAGE="py", BELLJAR_WARM_SLOTS="2")
    try:
        text = "import sys; print(sys.version_info.major)"
        wait_until(lambda: service.run(text, image="py:latest")["meta"]["warm"], 30, "a run is warm")
        result = service.run(text)
        assert result["stdout"] == "3\n" and result["meta"]["image"]["name"] == "py:latest"
        assert service.request("POST", "/v1/executions", {"script": text, "language": "python",
                                                          "image": "host"})[0] == 403
        done = subprocess.run([BELLJAR, "image", "rm", "py"], env=native.env, capture_output=True,
                              check=False)
        assert done.returncode == 125 and b"in use" in done.stderr
    finally:
        service.stop()


# A build takes half a minute: it is part of `make soak`.
if "BELLJAR_FULL" in os.environ:
    @pytest.mark.soak
    def test_build_with_modules(native):
        """DS-SETUP: an image with numpy and pandas from Debian packages by one command."""
        native.image("build", "--name", "data", "--with", "numpy,pandas")
        result = native.run("import numpy, pandas\nprint(int(pandas.Series(numpy.arange(5)).sum()))", "data")
        assert result["stdout"] == "10\n", result
