# SPDX-License-Identifier: Apache-2.0
"""TENANT: keys, roles, quotas, fair shares and usage, over the wire."""
import collections
import http.client
import json
import pathlib
import re
import socket
import subprocess
import threading
import time

import pytest

from harness.ports import free_port
from serving import BELLJAR, Answer, wait_until

import contract

CONFIG = """
log_level: info
state_dir: %s/state
approval: {rules: []}
price: {run: 100, cpu_second: 1000000, gb_second: 500000, currency: EUR}
serve: {listen: "127.0.0.1:%d", api_key: "a-master-key-of-the-tests", concurrency: 4}
"""
MASTER = "a-master-key-of-the-tests"


class Office:
    """A service with a TCP door, and the command line beside it."""

    def __init__(self, service, port):
        self.service = service
        self.port = port

    def cli(self, *args, code=0):
        done = subprocess.run([BELLJAR, *args, "-c", self.service.config], text=True, timeout=60,
                              env=self.service.env, capture_output=True)
        assert done.returncode == code, (args, done.stdout, done.stderr)
        return done.stdout.strip()

    def key(self, tenant=None, roles="run,read", *more):
        who = ["--tenant", tenant] if tenant else []
        return self.cli("key", "add", *who, "--role", roles, *more)

    def ask(self, method, path, key, body=None, headers=None):
        conn = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        head = {"Authorization": f"Bearer {key}", **(headers or {})}
        if body is not None:
            head["Content-Type"] = "application/json"
            body = json.dumps(body)
        conn.request(method, path, body=body, headers=head)
        answer = Answer(conn.getresponse())
        contract.check_answer(method, path, answer.status, answer.headers["Content-Type"],
                              answer.body)
        conn.close()
        return answer

    def run(self, key, script="print(1)", language="python", **more):
        headers = more.pop("headers", None)
        return self.ask("POST", "/v1/executions", key,
                        {"script": script, "language": language, **more}, headers)

    def lines(self, kind):
        out = self.cli("audit", "show", "--kind", kind, "--json")
        return [json.loads(line)["data"] for line in out.splitlines()]


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    from serving import Service
    port = free_port()
    folder = tmp_path_factory.mktemp("office")
    folder.chmod(0o755)
    service = Service(config=CONFIG % (folder, port)).ready()
    yield Office(service, port)
    service.stop()


def test_master_key_and_socket_are_admin(office):
    assert office.run(MASTER).json["stdout"] == "1\n"
    assert office.ask("GET", "/v1/tenants", MASTER).status == 200
    assert office.service.ask("GET", "/v1/tenants").status == 200


def test_a_wrong_key_is_refused_and_noted(office):
    for key in ("bj_00000000_" + "x" * 43, "nonsense-that-is-long", "bj_"):
        assert office.run(key).status == 401
    assert any("not known" in line["why"] for line in office.lines("key.refuse"))
    for secret in ("x" * 43, "nonsense"):
        assert secret not in office.cli("audit", "show")


def test_life_of_a_key(office):
    office.cli("tenant", "add", "life")
    key = office.key("life", "run,read", "--name", "ci", "--expires", "1h")
    assert re.fullmatch(r"bj_[0-9a-f]{8}_[\w-]{43}", key)
    assert office.run(key).status == 200
    listed = json.loads(office.cli("key", "ls", "--tenant", "life", "--json"))["keys"]
    assert [(k["prefix"], k["name"], k["roles"]) for k in listed] == [(key[3:11], "ci", ["run", "read"])]
    assert listed[0]["used_ms"]
    assert key[12:] not in json.dumps(listed)
    assert {"key": key[3:11], "tenant": "life", "actor": "ci"} in office.lines("key.use")
    office.cli("key", "revoke", key[3:11])
    answer = office.run(key)
    assert (answer.status, answer.json["detail"]) == (401, f"the API key {key[3:11]} was revoked")
    short = office.key("life", "run", "--expires", "1ms")
    listed = json.loads(office.cli("key", "ls", "--tenant", "life", "--json"))["keys"]
    ends = next(k["expires_ms"] for k in listed if k["prefix"] == short[3:11])
    wait_until(lambda: time.time() * 1000 > ends)
    assert "expired" in office.run(short).json["detail"]
    again = office.key("life")
    office.cli("tenant", "set", "life", "--off")
    assert "switched off" in office.run(again).json["detail"]
    office.cli("tenant", "rm", "life")
    assert office.run(again).status == 401
    # None of them is in any byte that is kept or said.
    state = re.search(r"state_dir: (\S+)", pathlib.Path(office.service.config).read_text()).group(1)
    for path in pathlib.Path(state).rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        for secret in (key, short, again):
            assert secret[12:].encode() not in data, path
    assert not any(secret[12:] in office.service.said() for secret in (key, short, again))


def test_nobody_names_himself_against_his_key(office):
    """A header may say which agent asks over the owner's socket; a key says who its bearer is."""
    office.cli("tenant", "add", "names")
    key = office.key("names", "run,read", "--name", "ci")
    for bearer, said in ((key, "ci"), (office.key("names"), None), (MASTER, "serve.api_key")):
        ran = office.run(bearer, headers={"Belljar-Agent": "uid 0"}).json["id"]
        actor = office.ask("GET", f"/v1/history/{ran}", bearer).json["actor"]
        assert actor == (said or actor) and "uid 0" not in actor, (said, actor)
    ran = office.service.ask("POST", "/v1/executions", {"script": "print(1)", "language": "python"},
                             headers={"Belljar-Agent": "uid 0"}).json["id"]
    assert office.ask("GET", f"/v1/history/{ran}", MASTER).json["actor"] == "agent uid 0"


def test_runs_are_seen_only_by_their_tenant(office):
    for name in ("left", "right"):
        office.cli("tenant", "add", name)
    left, right = office.key("left"), office.key("right")
    operator = office.key(None, "read")
    run = office.run(left, "print('mine')", headers={"Prefer": "respond-async"}).json
    assert run["tenant"] == "left" and run["cost_estimate"] > 0
    path = f"/v1/executions/{run['id']}"
    assert office.ask("GET", path, left).status == 200
    assert office.ask("GET", path, right).status == 404
    assert office.ask("GET", path + "/events", right).status == 404
    assert office.ask("DELETE", path, right).status == 404
    assert office.ask("GET", path, operator).status == 200
    assert run["id"] in [x["id"] for x in office.ask("GET", "/v1/executions", left).json["executions"]]
    assert office.ask("GET", "/v1/executions", right).json["executions"] == []
    # The same idempotency key of another tenant is another request.
    head = {"Idempotency-Key": "one"}
    a = office.run(left, "print('a')", headers=head)
    b = office.run(right, "print('b')", headers=head)
    assert (a.json["stdout"], b.json["stdout"]) == ("a\n", "b\n")


def test_who_cancels_is_on_record(office):
    """AUDIT: a run that somebody else ended says who that was; one that had ended already was ended by nobody."""
    office.cli("tenant", "add", "stopped")
    mine, other = office.key("stopped"), office.key("stopped", "run", "--name", "somebody-else")
    run = office.run(mine, "sleep 60", "bash", headers={"Prefer": "respond-async"}).json["id"]
    assert office.ask("DELETE", f"/v1/executions/{run}", other).status == 200
    assert office.ask("DELETE", f"/v1/executions/{run}", other).status == 409
    said = [line for line in office.lines("run.cancel") if line["run"] == run]
    assert said == [{"run": run, "tenant": "stopped", "actor": "somebody-else"}]


def test_over_quota(office):
    office.cli("tenant", "add", "poor", "runs_per_minute=2")
    key = office.key("poor")
    assert [office.run(key).status for _ in range(2)] == [200, 200]
    answer = office.run(key)
    assert answer.status == 429
    assert 50 <= int(answer.headers["Retry-After"]) <= 60
    assert answer.json["type"] == "urn:belljar:problem:quota"
    assert answer.json["result"]["cause"] == "quota"
    assert "runs_per_minute is 2" in answer.json["detail"]
    office.cli("tenant", "set", "poor", "runs_per_minute=0", "cpu_seconds=10")
    answer = office.run(key)
    assert "could use 60, 10 of 10 are left today" in answer.json["detail"] or \
        "could use 60, 9." in answer.json["detail"]
    assert office.run(key, timeout=2).status == 200
    metrics = office.ask("GET", "/metrics", MASTER).body.decode()
    assert re.search(r'belljar_denials_total\{reason="quota"\} [1-9]', metrics)


def test_concurrency_quota(office):
    office.cli("tenant", "add", "narrow", "concurrency=1")
    key = office.key("narrow")
    first = office.run(key, "sleep 30", "bash", headers={"Prefer": "respond-async"}).json
    until = time.monotonic() + 10
    while office.ask("GET", f"/v1/executions/{first['id']}", key).json["state"] != "running":
        assert time.monotonic() < until
    answer = office.run(key)
    assert (answer.status, answer.headers["Retry-After"]) == (429, "1")
    assert office.ask("DELETE", f"/v1/executions/{first['id']}", key).status == 200
    while office.run(key).status != 200:
        assert time.monotonic() < until


def test_usage_and_cost(office):
    office.cli("tenant", "add", "payer")
    key = office.key("payer")
    results = [office.run(key, "for i in range(300000): pass").json for _ in range(3)]
    assert all(r["usage"]["cost"] > 0.0001 for r in results)
    row, = office.ask("GET", "/v1/usage", key).json["usage"]
    assert (row["tenant"], row["runs"], row["currency"]) == ("payer", 3, "EUR")
    assert row["cost"] == pytest.approx(sum(r["usage"]["cost"] for r in results), abs=1e-5)
    assert row["cpu_seconds"] == pytest.approx(sum(r["usage"]["cpu_ms"] for r in results) / 1e3, abs=0.01)
    shown, = json.loads(office.cli("usage", "--tenant", "payer", "--json"))["usage"]
    assert shown == row
    day, = json.loads(office.cli("usage", "--tenant", "payer", "--days", "--since", "24h", "--json"))["usage"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", day["day"])
    assert "payer" in office.cli("usage")
    assert office.ask("GET", "/v1/usage?since=never", key).status == 400
    assert [office.ask("GET", f"/v1/usage?days={days}", key).status for days in ("true", "false", "-1", "")] == [
        200, 200, 400, 400]
    office.cli("usage", "--since", "never", code=125)


def test_tenants_and_keys_over_http(office):
    put = office.ask("PUT", "/v1/tenants/web", MASTER, {"quota": {"concurrency": 2}})
    assert (put.status, put.json["quota"]["concurrency"]) == (201, 2)
    put = office.ask("PUT", "/v1/tenants/web", MASTER, {"quota": {"cpu_seconds": 9}})
    assert (put.status, put.json["quota"]["concurrency"], put.json["quota"]["cpu_seconds"]) == (200, 2, 9)
    assert office.ask("PUT", "/v1/tenants/web", MASTER, {"quota": {"nonsense": 9}}).status == 400
    assert office.ask("PUT", "/v1/tenants/web", MASTER, {"other": 9}).status == 400
    assert office.ask("PUT", "/v1/tenants/local", MASTER, {}).status == 400
    made = office.ask("POST", "/v1/keys", MASTER, {"tenant": "web", "roles": ["admin"]})
    assert made.status == 201 and made.headers["Cache-Control"] == "no-store"
    admin = made.json["key"]
    # Who runs a tenant makes keys for it and for nobody else.
    own = office.ask("POST", "/v1/keys", admin, {"roles": ["run"], "name": "own"}).json["key"]
    assert office.run(own).status == 429  # 9 CPU seconds are not enough for 60
    assert office.ask("POST", "/v1/keys", admin, {"tenant": "left", "roles": ["run"]}).status == 403
    assert office.ask("POST", "/v1/keys", admin, {"roles": ["god"]}).status == 400
    assert office.ask("POST", "/v1/keys", admin, {"roles": ["run"], "expires_ms": 5}).status == 400
    assert {k["tenant"] for k in office.ask("GET", "/v1/keys", admin).json["keys"]} == {"web"}
    assert office.ask("DELETE", f"/v1/keys/{own[3:11]}", admin).status == 200
    assert office.ask("DELETE", f"/v1/keys/{own[3:11]}", admin).status == 404
    assert office.run(own).status == 401
    assert office.ask("DELETE", "/v1/tenants/web", MASTER).status == 200
    assert office.ask("DELETE", "/v1/tenants/web", MASTER).status == 404
    kinds = {line["kind"] for line in map(json.loads, office.cli("audit", "show", "--json").splitlines())}
    assert {"tenant.add", "tenant.set", "tenant.rm", "key.add", "key.revoke", "key.use"} <= kinds
    office.cli("audit", "verify")


def test_verbs_say_what_is_wrong(office):
    for args in (("tenant", "add"), ("tenant", "add", "a b"), ("tenant", "add", "x", "cpu=1"),
                 ("tenant", "frob"), ("tenant", "rm", "nobody"), ("tenant",), ("key",),
                 ("key", "add", "--tenant", "nobody"), ("key", "add", "--role", "god"),
                 ("key", "revoke"), ("key", "revoke", "zzz"), ("key", "frob"),
                 ("key", "add", "--expires", "soon"), ("usage", "extra")):
        office.cli(*args, code=125)


def test_a_quota_that_is_none(office):
    """TENANT: the one that was meant, or all of them."""
    for word, said in (("runs_per_minut", "did you mean runs_per_minute?"), ("foo", "concurrency, ")):
        done = subprocess.run([BELLJAR, "tenant", "add", "x", f"{word}=1", "-c", office.service.config],
                              capture_output=True, text=True, env=office.service.env, timeout=20)
        assert done.returncode == 125 and f"there is no quota {word}; " in done.stderr and said in done.stderr


@pytest.mark.timeout(120)
def test_fair_shares(office):
    """50 clients of 5 tenants, one of which sends most of them: shares within 20 %."""
    names = [f"fair{i}" for i in range(5)]
    keys = {}
    for name in names:
        office.cli("tenant", "add", name)
        keys[name] = office.key(name)
    # A flood from the first, a few from the others, who all want more than there is.
    clients = [names[0]] * 18 + [n for n in names[1:] for _ in range(8)]
    done = collections.Counter()
    stop = threading.Event()
    bad = []

    def work(name):
        while not stop.is_set():
            answer = office.run(keys[name], "sleep 0.05", "bash")
            if answer.status != 200:
                bad.append((name, answer.status, answer.body))
                return
            if not stop.is_set():
                done[name] += 1

    threads = [threading.Thread(target=work, args=(name,)) for name in clients]
    for thread in threads:
        thread.start()
    stop.wait(12)
    stop.set()
    for thread in threads:
        thread.join()
    assert not bad
    mean = sum(done.values()) / 5
    assert mean >= 10
    for name in names:
        assert abs(done[name] - mean) <= 0.2 * mean, done


def test_no_tenant_ends_sessions_of_others(tmp_path):
    """TENANT: MCP sessions are bounded for all; who begins many makes room with his own."""
    from serving import Service
    port = free_port()
    tmp_path.chmod(0o755)
    service = Service(config=CONFIG % (tmp_path, port) + "mcp: {sessions: 6}\n").ready()
    office = Office(service, port)

    def mcp(key, method, session=None, **params):
        head = {"Authorization": f"Bearer {key}", "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream", **({"Mcp-Session-Id": session} if session else {})}
        conn = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        conn.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}), head)
        answer = conn.getresponse()
        answer.read()
        conn.close()
        return answer

    def begin(key):
        answer = mcp(key, "initialize", protocolVersion="2025-06-18", capabilities={},
                     clientInfo={"name": "test", "version": "0"})
        assert answer.status == 200
        return answer.headers["Mcp-Session-Id"]

    for name in ("quiet", "loud"):
        office.cli("tenant", "add", name)
    quiet, loud = office.key("quiet"), office.key("loud")
    mine = [begin(quiet), begin(quiet)]
    operators = begin(MASTER)
    last = [begin(loud) for _ in range(20)][-1]
    assert [mcp(quiet, "ping", session).status for session in mine] == [200, 200]
    assert mcp(MASTER, "ping", operators).status == 200
    assert mcp(loud, "ping", last).status == 200
    service.stop()


def test_no_tenant_takes_all_connections(tmp_path):
    """TENANT: who holds most of the connections is refused more of them; the others get in."""
    from serving import Service
    port = free_port()
    tmp_path.chmod(0o755)
    config = (CONFIG % (tmp_path, port)).replace("concurrency: 4", "concurrency: 4, max_connections: 8")
    service = Service(config=config).ready()
    office = Office(service, port)
    for name in ("quiet", "loud"):
        office.cli("tenant", "add", name)
    quiet, loud = office.key("quiet"), office.key("loud")
    run = office.run(loud, "sleep 60", "bash", headers={"Prefer": "respond-async"}).json["id"]
    held, statuses = [], []
    for _ in range(8):
        conn = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        conn.request("GET", f"/v1/executions/{run}/events", headers={"Authorization": f"Bearer {loud}"})
        try:
            answer = conn.getresponse()
        except OSError as e:
            statuses.append(repr(e))
            continue
        statuses.append(answer.status)
        held.append((conn, answer))
        if answer.status != 200:
            answer.read()
    assert statuses == [200] * 6 + [503] * 2
    assert held[-1][1].headers["Connection"].lower() == "close"
    assert office.run(quiet).status == 200
    assert office.ask("DELETE", f"/v1/executions/{run}", MASTER).status == 200
    for conn, _ in held:
        conn.close()
    service.stop()


def test_no_tenant_takes_all_room_for_bodies(tmp_path):
    """TENANT: who sends large requests and does not end them leaves room for those of others."""
    from serving import Service
    port = free_port()
    tmp_path.chmod(0o755)
    config = (CONFIG % (tmp_path, port)).replace("concurrency: 4", "concurrency: 4, max_body: 1MiB")
    service = Service(config=config).ready()
    office = Office(service, port)
    for name in ("quiet", "loud"):
        office.cli("tenant", "add", name)
    quiet, loud = office.key("quiet"), office.key("loud")
    held = []
    for _ in range(17):
        held.append(socket.create_connection(("127.0.0.1", port)))
        held[-1].sendall(b"POST /v1/executions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %b\r\nContent-Length: 1048576\r\n\r\n"
                         % loud.encode() + b" " * ((1 << 20) - 1))
    wait_until(lambda: service.metrics()["belljar_connections"] >= 18)
    assert office.run(loud, "echo small", "bash").status == 200
    for _ in range(10):  # while what the other sends arrives
        assert office.run(quiet, "cat > /dev/null; echo 1", "bash", stdin="x" * 900000).status == 200
    wait_until(lambda: office.run(loud, "echo 1", "bash", stdin="x" * 900000).status == 503)
    for each in held:
        each.close()
    service.stop()


def test_no_refusal_goes_unsaid(office):
    """AUDIT: a flood has few lines and hides nothing: those without a line are counted, each kind by itself."""
    office.cli("tenant", "add", "flood", "runs_per_minute=1")
    key = office.key("flood", "run")
    assert office.run(key).status == 200

    def said(kind):
        rows = [row for row in office.lines(kind) if "unwritten" in row or row.get("tenant") == "flood"]
        return len(rows), sum(row.get("unwritten", 1) for row in rows)

    def wait_for(kind, count):
        until = time.monotonic() + 30
        while said(kind)[1] < count and time.monotonic() < until:
            time.sleep(0.1)
        return said(kind)

    for _ in range(60):
        assert office.run(key).status == 429
    lines, refused = wait_for("run.refuse", 60)
    assert refused == 60 and lines < 60
    assert office.ask("GET", "/v1/tenants", key).status == 403
    assert [row["route"] for row in office.lines("access.refuse") if row.get("tenant") == "flood"] == ["/v1/tenants"]


ASKS = """
log_level: info
state_dir: %s/state
approval: {rules: [ask tenant=asks, allow]}
price: {run: 100, cpu_second: 1000000}
serve: {listen: "127.0.0.1:%d", api_key: "a-master-key-of-the-tests"}
"""


@pytest.fixture
def asking(tmp_path):
    from serving import Service
    tmp_path.chmod(0o755)
    port = free_port()
    service = Service(config=ASKS % (tmp_path, port)).ready()
    yield Office(service, port)
    service.stop()


def state_of(office, run, until, seconds=60):
    """The run, once its state is one of @until."""
    end = time.monotonic() + seconds
    while True:
        got = office.ask("GET", f"/v1/executions/{run}", MASTER).json
        if got["state"] in until or time.monotonic() > end:
            return got
        time.sleep(0.05)


def test_what_was_approved_is_held_against_the_quota_when_it_begins(asking):
    """TENANT, APPROVE: what a run may use counts in full, also of one that waited."""
    asking.cli("tenant", "add", "asks", "cpu_seconds=1000")
    key = asking.key("asks", "run,read")
    waits = asking.run(key, timeout=20).json
    assert waits["state"] == "pending" and waits["cost_estimate"] > 0
    asking.cli("tenant", "set", "asks", "cpu_seconds=15")
    assert asking.ask("POST", f"/v1/executions/{waits['id']}/approve", MASTER, {}).status == 200
    got = state_of(asking, waits["id"], ("finished",))
    assert (got["state"], got["cause"], got["cost_estimate"]) == ("finished", "quota", waits["cost_estimate"])
    assert json.loads(asking.cli("show", "--json", waits["id"]))["cause"] == "quota"
    assert [row["cause"] for row in asking.lines("run.refuse")] == ["quota"]


def test_what_was_approved_waits_for_its_turn(asking):
    """A tenant that is busy only for now does not lose what a person approved."""
    asking.cli("tenant", "add", "asks", "concurrency=1")
    key = asking.key("asks", "run,read")
    runs = [asking.run(key, script).json["id"] for script in ("import time; time.sleep(3)", "print(1)")]
    for run in runs:
        assert asking.ask("POST", f"/v1/executions/{run}/approve", MASTER, {}).status == 200
    got = [state_of(asking, run, ("finished",)) for run in runs]
    assert [(x["state"], x["cause"]) for x in got] == [("finished", "exited")] * 2
    assert got[1]["started_ms"] >= got[0]["ended_ms"]


def test_an_order_for_a_key_is_read_to_its_last_word(office):
    """A key with more rights or a longer life than was meant is no key to hand out."""
    office.cli("tenant", "add", "words")
    before = json.loads(office.cli("key", "ls", "--json"))
    office.cli("key", "add", "words", code=125)
    office.cli("key", "ls", "words", code=125)
    for more in ({"expires": "24h"}, {"expires_ms": "soon"}, {"name": 5}, {"tenant": 5}, {"role": "run"}):
        body = {"tenant": "words", "roles": ["run"], **more}
        answer = office.ask("POST", "/v1/keys", MASTER, body)
        assert answer.status == 400 and list(more)[0] in answer.json["detail"], more
    assert json.loads(office.cli("key", "ls", "--json")) == before
    assert office.ask("POST", "/v1/keys", MASTER,
                      {"tenant": None, "name": None, "roles": ["run"], "expires_ms": None}).status == 201


def test_a_key_that_could_not_be_printed_is_good_for_nothing(office):
    for args in ([], ["--json"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([BELLJAR, "key", "add", "--name", "lost", *args, "-c", office.service.config],
                                  stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                                  env=office.service.env)
        assert done.returncode == 125 and "standard output" in done.stderr and "keep it" not in done.stderr
    lost = [k for k in json.loads(office.cli("key", "ls", "--json"))["keys"] if k["name"] == "lost"]
    assert len(lost) == 2 and all(k["revoked_ms"] for k in lost)
    revoked = {line["key"] for line in office.lines("key.revoke")}
    assert {k["prefix"] for k in lost} <= revoked


def test_a_new_tenant_is_answered_as_it_is_kept(office):
    answer = office.ask("PUT", "/v1/tenants/fresh", MASTER, {"quota": {"concurrency": 2}})
    assert answer.status == 201 and answer.json["created_ms"] > 0
    listed = office.ask("GET", "/v1/tenants", MASTER).json["tenants"]
    assert answer.json in listed


def test_set_needs_something_to_set(office):
    office.cli("tenant", "add", "still")
    office.cli("tenant", "set", "still", code=125)
    office.cli("tenant", "set", "still", "--on", "--off", code=125)
    assert not any(line["tenant"] == "still" for line in office.lines("tenant.set"))
