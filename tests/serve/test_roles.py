# SPDX-License-Identifier: Apache-2.0
"""TENANT: who may do what. One table of routes and one of verbs, written by hand: what the program
does is held against them, and a route or a verb that they do not name fails."""
import http.client
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import time

import pytest

from harness.ports import free_port
from serving import BELLJAR, TOP, Service, wait_until
from test_tenants import MASTER, Office

ROLES = ("run", "approve", "read", "admin")
SEE = "run approve read admin"

# Who may: roles; "anyone" with a key; "public" without one. "operators": no key of a tenant will do.
ROUTES = {
    "POST /v1/executions": "run admin",
    "GET /v1/executions": SEE,
    "GET /v1/executions/{id}": SEE,
    "DELETE /v1/executions/{id}": "run admin",
    "GET /v1/executions/{id}/events": SEE,
    "POST /v1/executions/{id}/approve": "approve admin",
    "POST /v1/executions/{id}/deny": "approve admin",
    "GET /v1/executions/{id}/artifacts": SEE,
    "GET /v1/executions/{id}/artifacts/{name}": SEE,
    "GET /v1/events": SEE,
    "GET /v1/history": SEE,
    "GET /v1/history/{id}": SEE,
    "POST /v1/check": "run read admin",
    "GET /v1/session": "anyone",
    "POST /v1/session": "anyone",
    "DELETE /v1/session": "anyone",
    "GET /": "public",
    "GET /page.js": "public",
    "GET /page.css": "public",
    "GET /icon.svg": "public",
    "GET /v1/tools": "anyone",
    "POST /v1/tools/{id}": "run admin",
    "POST /mcp": "run admin",
    "GET /mcp": "run admin",
    "DELETE /mcp": "run admin",
    "GET /v1/usage": "read admin",
    "GET /v1/audit": "read admin operators",
    "GET /v1/tenants": "admin operators",
    "PUT /v1/tenants/{id}": "admin operators",
    "DELETE /v1/tenants/{id}": "admin operators",
    "GET /v1/keys": "admin",
    "POST /v1/keys": "admin",
    "DELETE /v1/keys/{id}": "admin",
    "GET /healthz": "public",
    "GET /readyz": "anyone",
    "GET /metrics": "read admin operators",
    "GET /openapi.json": "anyone",
}

# What would take effect if it were let in.
BODIES = {
    "POST /v1/executions": {"script": "echo in", "language": "bash"},
    "POST /v1/check": {"script": "echo in", "language": "bash"},
    "POST /v1/tools/{id}": {"code": "print(1)"},
    "POST /v1/keys": {"roles": ["run"]},
    "PUT /v1/tenants/{id}": {"quota": {"concurrency": 1}},
    "POST /v1/session": {},
    "POST /mcp": {"jsonrpc": "2.0", "id": 1, "method": "ping"},
}


def may(rule, role, tenant):
    words = rule.split()
    if "public" in words:
        return True
    if role == "none" or ("operators" in words and tenant):
        return False
    return "anyone" in words or role in words


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    port = free_port()
    config = ("log_level: info\napproval: {rules: [ask tenant=waits, allow]}\n"
              f'serve: {{listen: "127.0.0.1:{port}", api_key: "a-master-key-of-the-tests"}}\n')
    service = Service(config=config).ready()
    office = Office(service, port)
    for name in ("waits", "matrix", "victim"):
        office.cli("tenant", "add", name)
    yield office
    service.stop()


def test_every_route_is_in_the_table():
    """Both in the source and in the OpenAPI document."""
    source = (TOP / "src/serve/routes.c").read_text()
    table = source[source.index("} ROUTES[] = {"):]
    found = re.findall(r'\{ "([A-Z]+)", "([^"]+)",', table[:table.index("\n};")])
    assert {" ".join(row) for row in found} == set(ROUTES)
    spec = json.loads((TOP / "share/openapi.json").read_text())
    documented = {f"{method.upper()} {path}" for path, item in spec["paths"].items() for method in item
                  if method in ("get", "put", "post", "delete")}
    assert {re.sub(r"\{\w+\}", "{}", r) for r in documented} <= {re.sub(r"\{\w+\}", "{}", r) for r in ROUTES}


class Targets:
    """Things of the tenant and of others that a request could reach."""

    def __init__(self, office, tenant):
        self.office = office
        runner = office.key("waits", "run")
        self.run = office.run(runner).json["id"]  # waits for a person
        self.victim = office.key("victim", "run")
        self.tenant = tenant

    def path(self, route):
        route = route.split()[1].replace("{name}", "result.json")
        if "/keys/" in route:
            return route.replace("{id}", self.victim[3:11])
        if "/tenants/" in route:
            return route.replace("{id}", "victim")
        return route.replace("{id}", "run_python_code" if "/tools/" in route else self.run)

    def snapshot(self):
        """All that a request that is let in could change."""
        ask = lambda path: self.office.service.ask("GET", path).json  # noqa: E731
        return (ask(f"/v1/executions/{self.run}")["state"], ask("/v1/tenants"),
                [k["prefix"] for k in ask("/v1/keys")["keys"] if not k.get("revoked_ms")],
                [r["id"] for r in ask("/v1/history?limit=500")["executions"]])


def send(office, route, path, key):
    body = BODIES.get(route, {} if route.startswith(("POST", "PUT")) else None)
    conn = http.client.HTTPConnection("127.0.0.1", office.port, timeout=60)
    head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if key:
        head["Authorization"] = f"Bearer {key}"
    conn.request(route.split()[0], path, body=None if body is None else json.dumps(body), headers=head)
    status = conn.getresponse().status
    conn.close()
    return status


@pytest.mark.parametrize("tenant", ["matrix", None], ids=["tenant", "operator"])
@pytest.mark.parametrize("role", [*ROLES, "none"])
def test_no_route_lets_in_who_may_not(office, role, tenant, record_property):
    """Requests that would take effect are refused, and change nothing."""
    key = None if role == "none" else office.key(tenant, role)
    targets = Targets(office, tenant)
    before = targets.snapshot()
    shut = [r for r in ROUTES if not may(ROUTES[r], role, tenant)]
    for route in shut:
        status = send(office, route, targets.path(route), key)
        assert status == (403 if key else 401), (route, role, tenant)
    assert targets.snapshot() == before
    record_property("routes refused", len(shut))


@pytest.mark.parametrize("tenant", ["matrix", None], ids=["tenant", "operator"])
@pytest.mark.parametrize("role", [*ROLES, "none"])
def test_every_route_lets_in_who_may(office, role, tenant, record_property):
    key = None if role == "none" else office.key(tenant, role)
    open_to = [r for r in ROUTES if may(ROUTES[r], role, tenant)]
    for route in open_to:
        # Nothing that is there: what is asked for is not found, not refused.
        path = route.split()[1].replace("{id}", "00000000").replace("{name}", "x")
        assert send(office, route, path, key) not in (401, 403), (route, role, tenant)
    record_property("routes open", len(open_to))


def test_a_key_without_a_role_cannot_be_made(office):
    office.cli("key", "add", "--role", "", code=125)
    for roles in ([], [""], ["none"], "run", None):
        assert office.ask("POST", "/v1/keys", "a-master-key-of-the-tests", {"roles": roles}).status == 400


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("field", [{"policy": "off"}, {"trust": True}, {"backend": "direct"}, {"network": "host"}],
                         ids=lambda f: next(iter(f)))
def test_no_key_loosens(office, role, field):
    """Trust, direct and a weaker policy are the owner's of the machine, on the command line."""
    answer = office.run(office.key(None, role), "echo 1", "bash", **field)
    assert answer.status == 403


def test_refusals_are_in_the_audit_log(office):
    """AUDIT: who asked for what, by route; once in a while, so that a flood is no flood of lines."""
    reader, runner = office.key("matrix", "read"), office.key(None, "run")
    for key, route, ask in ((reader, "/v1/tenants", lambda: office.ask("GET", "/v1/tenants", reader)),
                            (runner, "/v1/executions", lambda: office.run(runner, "echo 1", "bash", policy="off"))):
        until, found = time.monotonic() + 30, []
        while not found:
            assert ask().status == 403 and time.monotonic() < until
            time.sleep(0.3)
            found = [line for line in office.lines("access.refuse") if line.get("key") == key[3:11]]
        assert found[0]["route"] == route
        assert found[0]["method"] == ("GET" if key == reader else "POST")
        assert found[0].get("tenant") == ("matrix" if key == reader else None)


# --- verbs ----------------------------------------------------------------------------------------

# What the owner types; and whether somebody else on the machine may do so with the owner's records
# and service ("own"), or whether it needs nothing of the owner's ("anyone").
VERBS = {
    "run": ("own", ["run", "SCRIPT"]),
    "serve": ("own", ["serve", "--socket", "SOCKET"]),
    "ps": ("own", ["ps", "--all"]),
    "kill": ("own", ["kill", "LIVE"]),
    "top": ("own", ["top"]),
    "check": ("anyone", ["check", "SCRIPT"]),
    "rules": ("anyone", ["rules"]),
    "doctor": ("anyone", ["doctor"]),
    "config": ("anyone", ["config", "--show"]),
    "gc": ("anyone", ["gc"]),
    "image": ("own", ["image", "ls"]),
    "completion": ("anyone", ["completion", "bash"]),
    "audit": ("own", ["audit", "show"]),
    "tenant": ("own", ["tenant", "add", "fresh"]),
    "key": ("own", ["key", "add"]),
    "usage": ("own", ["usage"]),
    "tools": ("anyone", ["tools"]),
    "tool": ("own", ["tool", "call", "run_python_code", '{"code": "print(1)"}']),
    "mcp": ("own", ["mcp"]),
    "history": ("own", ["history"]),
    "show": ("own", ["show", "DONE"]),
    "rerun": ("own", ["rerun", "DONE"]),
    "diff": ("own", ["diff", "DONE", "OTHER"]),
    "approve": ("own", ["approve", "WAITS"]),
    "deny": ("own", ["deny", "ALSO"]),
}
MARK = "only-the-owner-knows-this"


def test_every_verb_is_in_the_table():
    shown = subprocess.run([BELLJAR, "--help"], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"^  (\w+) {2,}", shown, re.M)) == set(VERBS)


class Desk:
    """The owner's service and records, and a command line for whoever comes."""

    def __init__(self, office, folder):
        self.office = office
        self.state = pathlib.Path(office.service.env["BELLJAR_STATE_DIR"])
        self.script = folder / "s.sh"
        self.script.write_text(f"# {MARK}\nexit 3\n")
        self.script.chmod(0o644)
        service = office.service
        runner = office.key("waits", "run")
        text = f"# {MARK}\nexit 3\n"
        self.words = {
            "SCRIPT": str(self.script), "SOCKET": service.socket,
            "DONE": service.run(text, "bash").json["id"], "OTHER": service.run(text + "#", "bash").json["id"],
            "WAITS": office.run(runner, text, "bash").json["id"],
            "ALSO": office.run(runner, text + "#", "bash").json["id"],
            "LIVE": service.start("sleep 300", timeout=300)}  # longer than all that look at it
        service.wait_state(self.words["LIVE"], "running")
        # What the tests before started and did not wait for is still to write its files.
        until = time.monotonic() + 30
        while service.metrics()["belljar_runs_in_flight"] != 1:
            assert time.monotonic() < until
            time.sleep(0.02)

    def call(self, args, uid=None, own=True, **env):
        """@own: with the owner's records and service in mind."""
        if own:
            env.update(BELLJAR_STATE_DIR=str(self.state), BELLJAR_SERVE_SOCKET=self.words["SOCKET"])
        done = subprocess.run([BELLJAR, *(self.words.get(a, a) for a in args)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60, user=uid, group=uid,
                              extra_groups=None if uid is None else [],
                              env={"PATH": "/usr/bin:/bin", "HOME": "/nowhere", "TERM": "dumb",
                                   "BELLJAR_NATIVE_REQUIRE": "basic", **env})
        return done.returncode, done.stdout + done.stderr

    def kept(self):
        """All that is on record, and every other file. Whoever looks brings the journal in."""
        self.call(["history"])
        with sqlite3.connect(f"file:{self.state}/records/belljar.db?mode=ro", uri=True) as db:
            rows = list(db.iterdump())
        files = {str(p): p.read_bytes() for p in sorted(self.state.rglob("*"))
                 if p.is_file() and p.parent.name != "records"}
        # Once a second the service says how many refusals of the tests before it did not write down one by one.
        for name in files:
            if name.endswith(".jsonl"):
                files[name] = [line for line in files[name].rstrip(b"\0").splitlines() if b'"data":{"unwritten":' not in line]
        return rows, {name: text for name, text in files.items() if not name.endswith("audit.head")}


@pytest.fixture(scope="module")
def desk(office, open_folder):
    os.chmod(office.service.folder.name, 0o755)
    os.chmod(office.service.socket, 0o777)  # who sits at the other end is asked, whatever the mode
    return Desk(office, open_folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
@pytest.mark.parametrize("role", [*ROLES, "none"])
@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_lets_a_stranger_in(desk, verb, role):
    """Another user of the machine, with a key of any role or none: the command line gives nobody
    the owner's records or service. A key is for the service's own door."""
    whose, args = VERBS[verb]
    keys = {"BELLJAR_SERVE_API_KEY": desk.office.key(None, role)} if role != "none" else {}
    before = desk.kept()
    status, said = desk.call(args, uid=20000 + os.getpid() % 10000, own=whose == "own", **keys)
    assert MARK not in said and not any(desk.words[w] in said for w in ("DONE", "WAITS", "LIVE") if w not in args)
    assert desk.kept() == before
    if whose == "own":
        assert status != 0, said
        assert "belljar: " in said or "error" in said
    else:
        assert status == 0 or verb == "doctor", said
    live = desk.office.service.ask("GET", f"/v1/executions/{desk.words['LIVE']}").json
    assert live["state"] == "running"


OWNER_STATUS = {"run": 3, "rerun": 3, "serve": 125, "doctor": (0, 1)}  # the script's own; one runs already


@pytest.mark.parametrize("verb", [*(v for v in VERBS if v != "kill"), "kill"])
def test_every_verb_lets_the_owner_in(desk, verb):
    status, said = desk.call(VERBS[verb][1])
    want = OWNER_STATUS.get(verb, 0)
    assert status in (want if isinstance(want, tuple) else (want,)), said


def test_a_bypass_of_the_owner_is_on_record(desk):
    """Loosening is the owner's alone, and has a line of its own."""
    assert desk.call(["run", "--policy", "off", "SCRIPT"])[0] == 3
    assert desk.call(["run", "--trust", "SCRIPT"])[0] == 3
    assert desk.call(["run", "--backend", "direct", "SCRIPT"], BELLJAR_ALLOW_UNSAFE="true")[0] == 3
    lines = desk.office.lines("run.bypass")
    assert {(x["policy"], x["trust"], x["direct"]) for x in lines} >= {
        ("off", False, False), ("default", True, False), ("default", False, True)}


def test_a_tenant_hears_of_its_own_runs_only(office):
    """TENANT: the live list of one tenant is silent about the runs of others."""
    keys = {name: office.key(name, "run") for name in ("matrix", None)}
    conn = http.client.HTTPConnection("127.0.0.1", office.port, timeout=30)
    conn.request("GET", "/v1/events", headers={"Authorization": f"Bearer {keys['matrix']}"})
    response = conn.getresponse()
    assert response.status == 200 and response.readline() == b"event: ready\n"
    office.run(keys[None], "echo other", "bash")
    own = office.run(keys["matrix"], "echo own", "bash").json["id"]
    heard = []
    while len(heard) < 3:
        line = response.readline().decode()
        if line.startswith("data: {\"id\""):
            heard.append(json.loads(line[6:]))
    conn.close()
    assert heard == [{"id": own, "state": state} for state in ("queued", "running", "finished")]


@pytest.mark.parametrize("how", ["revoke", "expire", "off"])
def test_who_loses_the_key_hears_no_more(office, how):
    """TENANT: the live list ends with the right to it, while the stream is open, and says nothing after that."""
    name = f"lost-{how}"
    office.cli("tenant", "add", name)
    key = office.key(name, "run,read", *(["--expires", "4s"] if how == "expire" else []))
    other = office.key(name, "run,read")
    conn = http.client.HTTPConnection("127.0.0.1", office.port, timeout=30)
    conn.request("GET", "/v1/events", headers={"Authorization": f"Bearer {key}"})
    response = conn.getresponse()
    assert response.status == 200 and response.readline() == b"event: ready\n"
    first = office.run(other, "echo own", "bash").json["id"]
    while first.encode() not in response.readline():
        pass
    if how == "revoke":
        office.cli("key", "revoke", key[3:11])
    elif how == "off":
        office.cli("tenant", "set", name, "--off")
    rest = response.read()  # to its end: without the check that is ten minutes away
    assert all(json.loads(line[6:])["id"] == first for line in rest.splitlines() if line.startswith(b'data: {"id"'))
    conn.close()


@pytest.mark.parametrize("how", ["revoke", "expire", "off"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_who_loses_the_key_reads_no_more(office, how, method):
    """TENANT: so does the stream of a run; one that was its client's only reader takes the run along."""
    name = f"reader-{how}-{method.lower()}"
    office.cli("tenant", "add", name)
    key = office.key(name, "run,read", *(["--expires", "3s"] if how == "expire" else []))
    script = "echo first; sleep 8; echo last; sleep 60"
    conn = http.client.HTTPConnection("127.0.0.1", office.port, timeout=30)
    if method == "GET":
        run = office.run(key, script, "bash", headers={"Prefer": "respond-async"}).json["id"]
        conn.request("GET", f"/v1/executions/{run}/events", headers={"Authorization": f"Bearer {key}"})
    else:
        conn.request("POST", "/v1/executions", json.dumps({"script": script, "language": "bash", "timeout": 60}), {
            "Authorization": f"Bearer {key}", "Content-Type": "application/json", "Accept": "text/event-stream"})
    response = conn.getresponse()
    assert response.status == 200
    run = response.headers["X-Execution-Id"]
    while b"first" not in response.readline():
        pass
    if how == "revoke":
        office.cli("key", "revoke", key[3:11])
    elif how == "off":
        office.cli("tenant", "set", name, "--off")
    rest = response.read()  # to its end, which comes before that of the run
    assert b"last" not in rest and b"event: result" not in rest
    state = office.ask("GET", f"/v1/executions/{run}", MASTER).json
    if method == "GET":
        assert state["state"] == "running"
        assert office.ask("DELETE", f"/v1/executions/{run}", MASTER).status == 200
    else:
        wait_until(lambda: office.ask("GET", f"/v1/executions/{run}", MASTER).json["cause"] == "cancelled")
    conn.close()
