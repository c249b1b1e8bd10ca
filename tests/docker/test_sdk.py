# SPDX-License-Identifier: Apache-2.0
"""The Python SDK's DockerExecutor against a service whose scripts run in containers of a real engine. SX-DOCKER, TOOL."""
import sys

import pytest

from engine import wait_until
from runner import TOP
from test_service import Service

sys.path.insert(0, str(TOP / "sdk/python"))
from belljar import DockerExecutor, Problem, get_sandbox  # noqa: E402


@pytest.fixture
def url(jar, tmp_path):
    made = Service(jar, tmp_path, BELLJAR_DOCKER_POOL="0")
    yield f"unix:{made.sock}"
    made.stop()


def test_docker_executor(jar, url):
    """As a context manager: results, failures, timeouts and refusals in the shape people know."""
    with DockerExecutor(timeout=20, url=url) as executor:
        done = executor.execute("print(6 * 7)")
        assert (done.success, done.stdout, done.exit_code, done.runtime) == (True, "42\n", 0, "docker")
        failed = executor.execute("import sys; print('e', file=sys.stderr); sys.exit(3)")
        assert (failed.success, failed.exit_code, failed.stderr) == (False, 3, "e\n")
        late = executor.execute("while True: pass", timeout=1)
        assert late.exit_code == -1 and late.timeout
        assert executor.execute("echo $((6 * 7))", language="bash").stdout == "42\n"
        blocked = executor.execute("api_key = 'sk-live-abcdefghijklmnop123456'")
        assert not blocked.success and blocked.validation_failed
        assert not executor.execute("1", language="javascript").success
    wait_until(lambda: not jar.engine.containers(), 30, "no container stays")


def test_the_sandbox_of_such_a_service_is_docker(jar, url):
    assert get_sandbox(url=url).execute("print(1)").runtime == "docker"


def test_docker_executor_refuses_another_backend(jar, tmp_path):
    """It insists: a service that runs scripts elsewhere is no replacement."""
    service = Service(jar, tmp_path, BELLJAR_BACKEND="native")
    try:
        with DockerExecutor(url=f"unix:{service.sock}") as executor, pytest.raises(Problem) as caught:
            executor.execute("print(1)")
        assert caught.value.status == 403 and "backend" in caught.value.detail
    finally:
        service.stop()
