# SPDX-License-Identifier: Apache-2.0
"""A service whose scripts run in containers."""
import json
import os
import signal
import subprocess
import time

import pytest

from engine import UnixConnection, wait_until
from runner import BELLJAR
from test_cleanup import SLEEP, kill_all


class Service:
    def __init__(self, jar, folder, **env):
        self.sock = str(folder / "s.sock")
        self.process = subprocess.Popen([BELLJAR, "serve", "--socket", self.sock],
                                        env={**jar.env, **env}, stderr=subprocess.PIPE)
        wait_until(self.ready, 30, "the service is ready")

    def request(self, method, path, body=None):
        connection = UnixConnection(self.sock)
        connection.request(method, path, json.dumps(body) if body else None,
                           {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")

    def ready(self):
        assert self.process.poll() is None, self.process.stderr.read()
        try:
            return self.request("GET", "/readyz")[0] == 200
        except (OSError, ValueError):
            return False

    def run(self, text, **fields):
        status, result = self.request("POST", "/v1/executions",
                                      {"script": text, "language": "python", **fields})
        assert status == 200, result
        return result

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)


@pytest.fixture
def service(jar, tmp_path):
    made = Service(jar, tmp_path)
    yield made
    made.stop()


def test_a_service_runs_containers(jar, service):
    """SX-DOCKER DS-PAR: the same results over HTTP; containers wait once there was a second run."""
    first = service.run("print(6 * 7)")
    assert first["stdout"] == "42\n" and first["meta"]["runtime"] == "docker"
    assert service.run("import sys; sys.exit(3)")["exit_code"] == 3
    assert service.run("while True: pass", timeout=1)["cause"] == "timeout"
    wait_until(lambda: len(jar.engine.containers()) >= 2, 30, "containers wait")
    wait_until(lambda: service.run("print(1)")["meta"]["warm"], 30, "a run is warm")


def test_the_service_sweeps_by_itself(jar, tmp_path):
    """DS-CLEAN DS-MON: what dies beside a service is removed by it; the living are left alone."""
    service = Service(jar, tmp_path, BELLJAR_DOCKER_POOL="0", BELLJAR_DOCKER_SWEEP="200ms")
    try:
        dead = jar.start(SLEEP)
        assert dead.stdout.readline() == "up\n"
        living = jar.start(SLEEP)
        assert living.stdout.readline() == "up\n"
        kill_all(dead)
        wait_until(lambda: len(jar.engine.containers()) == 1, 30, "the orphan is gone")
        time.sleep(0.6)
        assert len(jar.engine.containers()) == 1
        living.terminate()
        living.communicate()
    finally:
        service.stop()


def test_a_script_refused_by_the_service_makes_no_container(jar, service):
    """VALD-06: the checks come first here, too."""
    since = time.time()
    result = service.run("key = 'AKIAIOSFODNN7EXAMPLQ'")
    assert result["cause"] == "rejected"
    assert b'"create"' not in jar.engine.events(since)


def test_a_killed_service_leaves_nothing(jar, tmp_path):
    """DS-CLEAN: SIGKILL of the whole service, waiting containers included; then one sweep."""
    service = Service(jar, tmp_path)
    for _ in range(2):
        service.run("print(1)")
    wait_until(lambda: len(jar.engine.containers()) >= 2, 30, "containers wait")
    kill_all(service.process)
    jar.gc()
    wait_until(lambda: not jar.engine.leftovers(), 20, "all is gone")
    assert os.path.exists(service.sock)
