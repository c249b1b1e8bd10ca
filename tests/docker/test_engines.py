# SPDX-License-Identifier: Apache-2.0
"""Other ways to an engine, other engines, other runtimes, a registry."""
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import urllib.request

import pytest

from engine import Engine, UnixConnection, remove_tree, wait_until
from harness.ports import free_port
from runner import BELLJAR, Jar, on_terminal


def test_another_runtime(jar):
    """SX-DOCKER: another OCI runtime by its name: crun where its cgroup support allows, and gVisor where
    crun says that it does not (a machine with both versions of cgroups side by side)."""
    def attempt(name):
        return jar.run("print('other')", "--timeout", "30",
                       env={"BELLJAR_DOCKER_RUNTIME": name, "BELLJAR_DOCKER_TIMEOUT": "60s"})

    name, result = "crun", attempt("crun")
    if result["cause"] == "infrastructure":
        assert "cgroup" in result["error"], result
        name, result = "runsc", attempt("runsc")
    assert result["stdout"] == "other\n", result
    # A runtime that was told to leave cgroups alone enforces no limit, and none is claimed.
    layers = result["meta"]["isolation"]["layers"]
    assert layers["memory"] == layers["pids"] == (name == "crun")
    assert layers["network_namespace"] and layers["read_only_root"]


def test_unknown_runtime(jar):
    """SX-DOCKER: a runtime that the engine does not know is an error with its name."""
    result = jar.run("print(1)", env={"BELLJAR_DOCKER_RUNTIME": "nosuch"})
    assert result["status"] == 125 and "nosuch" in result["error"]


def test_tls(jar):
    """SX-DOCKER: tcp with TLS; without our certificate the engine refuses."""
    if not hasattr(jar.engine, "tls_url"):
        pytest.skip("the engine at hand has no TLS port")
    tls = {"DOCKER_HOST": jar.engine.tls_url, "DOCKER_TLS_VERIFY": "1",
           "DOCKER_CERT_PATH": str(jar.engine.certs)}
    result = jar.run("import sys\nprint(len(sys.stdin.read()))", "--stdin", "-", env=tls,
                     input=b"y" * 100000)
    assert result["stdout"] == "100000\n", result
    plain = jar.run("print(1)", env={"DOCKER_HOST": jar.engine.tls_url})
    assert plain["status"] == 125 and "DOCKER_CERT_PATH" in plain["error"], plain
    wrong = jar.run("print(1)", env={**tls, "DOCKER_CERT_PATH": "/nowhere"})
    assert wrong["status"] == 125 and "/nowhere/" in wrong["error"], wrong


def test_context(jar, tmp_path):
    """SX-DOCKER: the context of the docker command is used when nothing else is said."""
    config = tmp_path / "config"
    meta = config / "contexts/meta" / hashlib.sha256(b"mine").hexdigest()
    meta.mkdir(parents=True)
    (config / "config.json").write_text('{"currentContext": "mine"}')
    (meta / "meta.json").write_text(json.dumps(
        {"Name": "mine", "Endpoints": {"docker": {"Host": jar.engine.url}}}))
    del jar.env["DOCKER_HOST"]
    assert jar.run("print(1)", env={"DOCKER_CONFIG": str(config)})["success"]
    assert jar.run("print(1)", env={"BELLJAR_DOCKER_HOST": jar.engine.url})["success"]
    missing = jar.run("print(1)", env={"DOCKER_CONFIG": str(config), "DOCKER_CONTEXT": "other"})
    assert missing["status"] == 125 and "the docker context other does not exist" in missing["error"]


@pytest.fixture
def registry(tmp_path):
    port = free_port()
    config = tmp_path / "registry.yml"
    config.write_text(f"version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: {tmp_path}/reg\n"
                      f"http:\n  addr: 127.0.0.1:{port}\n")
    with subprocess.Popen(["docker-registry", "serve", str(config)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        def answers():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/", timeout=2) as answer:
                    return answer.status == 200
            except OSError:
                return False

        wait_until(answers, 20, "the registry answers")
        yield f"127.0.0.1:{port}"
        process.terminate()


def test_pull(jar, registry):
    """SX-DOCKER: never by itself; from the registry when the setting allows it."""
    name = f"{registry}/bash"
    engine = jar.engine
    assert engine.request("POST", f"/images/belljar/bash:5.2/tag?repo={name}&tag=5.2")[0] == 201
    connection_status = push(engine, name)
    assert connection_status == 200
    assert engine.request("DELETE", f"/images/{name}:5.2")[0] == 200
    env = {"BELLJAR_DOCKER_BASH_IMAGE": f"{name}:5.2"}
    try:
        refused = jar.run("echo hi", language="bash", env=env)
        assert refused["status"] == 127 and f"docker pull {name}:5.2" in refused["error"]
        status, told = on_terminal(jar.command("echo hi", language="bash"),
                                   {**jar.env, **env, "BELLJAR_DOCKER_PULL": "true"})
        assert status == 0 and f"pulling {name}:5.2" in told and "hi" in told, told
        missing = jar.run("echo hi", language="bash",
                          env={"BELLJAR_DOCKER_BASH_IMAGE": f"{registry}/none:1",
                               "BELLJAR_DOCKER_PULL": "true"})
        assert missing["status"] == 127 and "none:1" in missing["error"]
    finally:
        engine.request("DELETE", f"/images/{name}:5.2")


def push(engine, name):
    connection = UnixConnection(engine.sock)
    connection.request("POST", f"/v1.41/images/{name}/push?tag=5.2", "",
                       {"X-Registry-Auth": "e30="})
    answer = connection.getresponse()
    text = answer.read()
    assert b'"error"' not in text, text
    return answer.status


@pytest.fixture
def podman(engine):
    """Podman's service, rooted in a directory of its own, with our bash image."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bjp-", dir="/var/tmp"))
    sock = folder / "podman.sock"
    base = ["podman", "--root", str(folder / "root"), "--runroot", str(folder / "run"),
            "--cgroup-manager=cgroupfs", "--events-backend=file", "--runtime=runc"]
    with subprocess.Popen([*base, "system", "service", "--time=0", f"unix://{sock}"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        made = Engine(sock)
        try:
            wait_until(lambda: process.poll() is not None or made.up(), 30, "podman answers")
            subprocess.run([BELLJAR, "image", "build", "--docker", "bash"], check=True,
                           capture_output=True,
                           env={**os.environ, "DOCKER_HOST": made.url, "TMPDIR": "/var/tmp"})
            made.image = made.get("/images/json")[0]["RepoTags"][0]
            yield made
        finally:
            process.terminate()
            process.wait(20)
            remove_tree(folder)


def test_podman(podman, tmp_path):
    """SX-DOCKER: Podman's compatible socket works too."""
    jar = Jar(podman, tmp_path)
    result = jar.run("echo from podman; exit 4", language="bash",
                     env={"BELLJAR_NATIVE_REQUIRE": "basic",
                          "BELLJAR_DOCKER_BASH_IMAGE": podman.image})
    assert (result["stdout"], result["status"]) == ("from podman\n", 4), result
    wait_until(lambda: not podman.containers(), 20, "podman's container is gone")


def test_images_come_from_a_command(engine):
    """DS-SETUP: the fixture made both images with `belljar image build --docker` and nothing else."""
    tags = [tag for image in engine.get("/images/json") for tag in image["RepoTags"] or []]
    assert {"belljar/python:3.11", "belljar/bash:5.2"} <= set(tags)
    done = subprocess.run([BELLJAR, "image", "build", "fortran"], capture_output=True, text=True, check=False)
    assert done.returncode == 125 and "belljar image build --docker" in done.stderr
