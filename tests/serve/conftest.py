# SPDX-License-Identifier: Apache-2.0
"""Services for the tests: one shared by a file, and as many more as a test starts."""
import pytest

from serving import Service


@pytest.fixture
def serve():
    """Start services; all are stopped at the end."""
    started = []

    def start(*args, **kwargs):
        started.append(Service(*args, **kwargs))
        return started[-1]

    yield start
    for service in started:
        service.stop()


@pytest.fixture(scope="module")
def service():
    it = Service().ready()
    yield it
    it.stop()
