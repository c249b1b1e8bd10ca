# SPDX-License-Identifier: Apache-2.0
"""AUDIT, TENANT: what cannot be written to the audit log does not happen, or is undone."""
import json
import os

import pytest

import disks


@pytest.fixture
def log_disk(place):
    """A disk of its own for the files of the audit log: the records beside it stay sound."""
    if os.geteuid() != 0:
        pytest.skip("mounts: run it as root")
    place.state.mkdir(mode=0o700)
    disk = disks.Failing(place.state / "audit")
    yield disk
    place.stop()
    disk.close()


def tenants(place):
    return {t["name"]: t for t in json.loads(place.cli("tenant", "ls", "--json").stdout)["tenants"]}


def good_keys(place):
    return [k for k in json.loads(place.cli("key", "ls", "--json").stdout)["keys"] if not k["revoked_ms"]]


def test_a_tenant_and_a_key_without_a_line_are_undone(place, log_disk):
    assert place.cli("tenant", "add", "before").returncode == 0
    log_disk.always()
    for args in (("tenant", "add", "t"), ("key", "add"), ("key", "add", "--tenant", "before")):
        done = place.cli(*args, env=log_disk.env)
        assert done.returncode == 125 and done.stdout == "" and "audit log" in done.stderr, done
    changed = place.cli("tenant", "set", "before", "concurrency=9", env=log_disk.env)
    assert changed.returncode == 125 and "audit log" in changed.stderr, changed
    log_disk.peace()
    assert list(tenants(place)) == ["before"] and tenants(place)["before"]["quota"]["concurrency"] is None
    assert good_keys(place) == []
    assert place.cli("tenant", "add", "t").returncode == 0  # its name is free
    assert place.cli("key", "add", "--tenant", "t").returncode == 0
    assert set(tenants(place)) == {"before", "t"} and len(good_keys(place)) == 1
    assert place.cli("audit", "verify").returncode == 0
    kinds = [json.loads(line)["kind"] for line in place.cli("audit", "export").stdout.splitlines()]
    assert kinds == ["audit.begin", "tenant.add", "tenant.add", "key.add"]


def test_so_they_are_over_http(place, log_disk):
    service = place.serve(**log_disk.env)
    log_disk.always()
    assert service.ask("PUT", "/v1/tenants/t", {}).status == 500
    assert service.ask("POST", "/v1/keys", {"roles": ["run"]}).status == 500
    log_disk.peace()
    assert tenants(place) == {} and good_keys(place) == []
    assert service.ask("PUT", "/v1/tenants/t", {}).status == 201
    assert service.ask("POST", "/v1/keys", {"roles": ["run"], "tenant": "t"}).status == 201
    assert list(tenants(place)) == ["t"] and len(good_keys(place)) == 1
