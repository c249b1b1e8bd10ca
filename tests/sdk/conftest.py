# SPDX-License-Identifier: Apache-2.0
"""A real service for the SDKs, at a Unix socket and at a port of the loopback."""
import pathlib
import sys

import pytest

from harness.ports import free_port
from serving import Service

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "sdk/python"))
KEY = "a-key-that-is-long-enough"


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    port = free_port()
    state = tmp_path_factory.mktemp("state", numbered=True) / "state"
    it = Service("--listen", f"127.0.0.1:{port}",
                 env={"BELLJAR_SERVE_API_KEY": KEY, "BELLJAR_STATE_DIR": str(state),
                      # nobody is asked here; what waits has tests of its own
                      "BELLJAR_APPROVAL_RULES": "allow through=api,allow through=tool"}).ready()
    it.url = f"http://127.0.0.1:{port}"
    it.key = KEY
    yield it
    it.stop()


@pytest.fixture(params=["unix", "tcp"])
def where(request, service):
    """(url, key) of the service, each way it can be reached."""
    return (f"unix:{service.socket}", None) if request.param == "unix" else (service.url, KEY)
