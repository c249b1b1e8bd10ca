# SPDX-License-Identifier: Apache-2.0
"""MCP over HTTP as hostile and careless clients use it: proper errors, bounds, flat memory. TOOL."""
import concurrent.futures
import http.client
import json
import os
import secrets
import socket
import subprocess
import time

import pytest

from harness.ports import free_port
from serving import BELLJAR, Answer

BOTH = {"Accept": "application/json, text/event-stream"}
MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {}}
SESSIONS = int(os.environ.get("MCP_SESSIONS", "2000"))


def request(method, params=None, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params is not None else {})}


def post(service, message, headers=None, **kwargs):
    return service.ask("POST", "/mcp", message, {**BOTH, **(headers or {})}, **kwargs)


def initialize(service, version="2025-11-25", **kwargs):
    answer = post(service, request("initialize", {"protocolVersion": version, "capabilities": {},
                                                  "clientInfo": {"name": "t", "version": "1"}}), **kwargs)
    assert answer.status == 200
    return {"Mcp-Session-Id": answer.headers["Mcp-Session-Id"]}, answer.json["result"]["protocolVersion"]


def stateless(service, method, params=None, headers=None, **kwargs):
    params = {**(params or {}), "_meta": META}
    name = params.get("name") or params.get("uri")
    head = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, **({"Mcp-Name": name} if name else {})}
    return post(service, request(method, params), {**head, **(headers or {})}, **kwargs)


def events(answer):
    return [json.loads(line[6:]) for line in answer.body.decode().split("\n") if line.startswith("data: {")]


def code(answer):
    return answer.json["error"]["code"]


def rss_kib(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


# --- revisions -------------------------------------------------------------------------------------

@pytest.mark.parametrize("asked, agreed", [
    ("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2025-03-26", "2025-03-26"),
    ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25"), (MODERN, "2025-11-25")])
def test_revisions_are_agreed_on(service, asked, agreed):
    assert initialize(service, asked)[1] == agreed


def test_what_a_revision_does_not_know_is_left_out(service):
    for version, fields in {"2024-11-05": set(), "2025-03-26": {"annotations"},
                            "2025-06-18": {"annotations", "outputSchema", "title"},
                            "2025-11-25": {"annotations", "outputSchema", "title", "execution"}}.items():
        session, _ = initialize(service, version)
        tool = post(service, request("tools/list"), session).json["result"]["tools"][0]
        assert set(tool) - {"name", "description", "inputSchema"} == fields


def test_batches_only_where_there_are_any(service):
    batch = [request("ping"), request("tools/list", number=2), {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    session, _ = initialize(service, "2025-03-26")
    assert {e["id"] for e in events(post(service, batch, session))} == {1, 2}
    assert post(service, batch[2:], session).status == 202
    for other in ("2025-06-18", "2025-11-25"):
        assert code(post(service, batch, initialize(service, other)[0])) == -32600
    assert post(service, [], session).status == 400
    assert post(service, [request("ping")] * 101, session).status == 400


def test_both_eras_share_the_path(service):
    session, _ = initialize(service)
    assert stateless(service, "server/discover").json["result"]["supportedVersions"][0] == MODERN
    assert post(service, request("ping"), session).json["result"] == {}
    answer = stateless(service, "tools/call", {"name": "run_python_code", "arguments": {"code": "print(5)"}})
    result = answer.json["result"] if answer.headers["Content-Type"] == "application/json" else events(answer)[-1]["result"]
    assert result["structuredContent"]["stdout"] == "5\n" and result["resultType"] == "complete"


# --- sessions --------------------------------------------------------------------------------------

def test_sessions_begin_and_end(service):
    session, _ = initialize(service)
    assert post(service, request("ping"), session).status == 200
    assert post(service, request("ping")).status == 400
    assert code(post(service, request("ping"), {"Mcp-Session-Id": secrets.token_hex(16)})) == -32001
    assert service.ask("DELETE", "/mcp", headers=session).status == 200
    assert post(service, request("ping"), session).status == 404
    assert service.ask("DELETE", "/mcp", headers=session).status == 404


def test_one_stream_for_what_belongs_to_no_request(service):
    session, _ = initialize(service)
    conn = service.connect()
    conn.request("GET", "/mcp", headers={**session, "Accept": "text/event-stream"})
    response = conn.getresponse()
    assert response.status == 200 and response.readline().startswith(b"id: 0-")
    assert service.ask("GET", "/mcp", headers={**session, "Accept": "text/event-stream"}).status == 409
    conn.close()
    assert service.ask("GET", "/mcp", headers={**session, "Accept": "text/html"}).status == 406


def test_events_are_replayed_to_those_who_come_back(service):
    """A client that lost its connection gets the answer, and only what it missed."""
    session, _ = initialize(service)
    conn = service.connect()
    call = request("tools/call", {"name": "run_python_code", "arguments": {
        "code": "import time\nprint('one', flush=True)\ntime.sleep(0.7)\nprint('two')"}})
    conn.request("POST", "/mcp", json.dumps(call), {**session, **BOTH, "Content-Type": "application/json"})
    response = conn.getresponse()
    last = None
    while True:
        line = response.readline().decode()
        if line.startswith("id: "):
            last = line[4:].strip()
        if '"text":"one' in line:
            break
    conn.sock.close()  # not a cancellation
    again = service.ask("GET", "/mcp", headers={**session, "Accept": "text/event-stream", "Last-Event-ID": last})
    got = events(again)
    assert got[-1]["result"]["structuredContent"]["stdout"] == "one\ntwo\n"
    assert all("one" not in json.dumps(e) for e in got[:-1])
    for gone in ("99-0", "x", "-1-0", "1-1-1"):
        assert service.ask("GET", "/mcp", headers={**session, "Accept": "text/event-stream", "Last-Event-ID": gone}).status == 404


def test_sessions_are_bounded(serve):
    service = serve(config="mcp: {sessions: 3}\n").ready()
    first, _ = initialize(service)
    more = [initialize(service)[0] for _ in range(3)]
    assert post(service, request("ping"), first).status == 404  # made room for the last one
    assert all(post(service, request("ping"), s).status == 200 for s in more)


def test_idle_sessions_are_forgotten(serve):
    service = serve(config="mcp: {session_idle: 500ms}\n").ready()
    session, _ = initialize(service)
    time.sleep(0.7)  # nothing must happen meanwhile
    assert post(service, request("ping"), session).status == 404


# --- doors -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("headers", [
    {"Host": "evil.example.com"}, {"Host": "127.0.0.1.evil.com"}, {"Origin": "http://evil.example.com"},
    {"Origin": "null"}, {"Host": ""}, {"Origin": "http://localhost@evil.com"}])
def test_foreign_hosts_and_origins_are_refused(service, headers):
    assert post(service, request("ping"), headers).status == 403


@pytest.mark.parametrize("headers", [
    {"Host": "localhost:1"}, {"Host": "127.0.0.1:8080"}, {"Host": "[::1]:80"}, {"Origin": "http://localhost:3000"}])
def test_names_of_this_machine_are_fine(service, headers):
    assert initialize(service, headers=headers)


def test_another_name_can_be_allowed(serve):
    service = serve(config="mcp: {allowed_host: box.example}\n").ready()
    assert post(service, request("ping"), {"Host": "box.example"}).status == 400
    assert post(service, request("ping"), {"Host": "other.example"}).status == 403


def test_media_types_are_held(service):
    assert post(service, "{}", {"Content-Type": "text/plain"}).status == 415
    assert post(service, request("ping"), {"Accept": "application/json"}).status == 406
    assert post(service, request("ping"), {"MCP-Protocol-Version": "1.0"}).status == 400
    assert code(post(service, request("ping"), {"MCP-Protocol-Version": "1.0"})) == -32022


def test_tcp_needs_the_key(serve, tmp_path):
    key = secrets.token_hex(16)
    port = free_port()
    service = serve("--listen", f"127.0.0.1:{port}", env={"BELLJAR_SERVE_API_KEY": key}).ready()
    for headers, status in (({}, 401), ({"Authorization": f"Bearer {key}"}, 200)):
        conn = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        conn.request("POST", "/mcp", json.dumps(request("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})),
            {**BOTH, "Content-Type": "application/json", **headers})
        assert conn.getresponse().status == status
        conn.close()


def test_a_tenant_sees_its_own_runs_and_sessions_only(serve, tmp_path):
    """TENANT holds over MCP: runs, resources and sessions of others are not there."""
    port = free_port()
    service = serve(config=f"state_dir: {tmp_path}\nserve: {{listen: '127.0.0.1:{port}', "
                           "api_key: a-master-key-of-the-tests}\nstore_code: always\n").ready()
    keys = {}
    for name in ("red", "blue"):
        subprocess.run([BELLJAR, "tenant", "add", name, "-c", service.config], check=True, capture_output=True)
        keys[name] = subprocess.run([BELLJAR, "key", "add", "--tenant", name, "--role", "run", "-c", service.config],
                                    check=True, capture_output=True, text=True).stdout.strip()

    def say(name, message, session=None):
        conn = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        conn.request("POST", "/mcp", json.dumps(message), {
            **BOTH, "Content-Type": "application/json", "Authorization": f"Bearer {keys[name]}", **(session or {})})
        return Answer(conn.getresponse())

    opened = {name: {"Mcp-Session-Id": say(name, request("initialize", {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})).headers["Mcp-Session-Id"]}
        for name in keys}
    done = events(say("red", request("tools/call", {"name": "run_python_code", "arguments": {"code": "print('red')"}}), opened["red"]))[-1]
    run = done["result"]["structuredContent"]["id"]
    read = request("resources/read", {"uri": f"belljar://executions/{run}"})
    assert "red" in say("red", read, opened["red"]).body.decode()
    assert code(say("blue", read, opened["blue"])) == -32002
    assert say("blue", request("resources/list"), opened["blue"]).json["result"]["resources"] == []
    assert {r["uri"].rpartition("/")[2] for r in say("red", request("resources/list"), opened["red"]).json["result"]["resources"]} == {
        run, "result.json", "script"}
    assert say("blue", request("ping"), opened["red"]).status == 404  # not their session
    for rest in ("/artifacts", "/artifacts/result.json"):
        read = request("resources/read", {"uri": f"belljar://executions/{run}{rest}"})
        assert "print('red')" in say("red", read, opened["red"]).body.decode() or not rest.endswith("json")
        assert say("red", read, opened["red"]).json["result"]["contents"]
        assert code(say("blue", read, opened["blue"])) == -32002
    for name, more in (("list_artifacts", {}), ("read_artifact", {"name": "result.json"})):
        ask = request("tools/call", {"name": name, "arguments": {"id": run, **more}})
        assert events(say("red", ask, opened["red"]))[-1]["result"]["isError"] is False
        refused = events(say("blue", ask, opened["blue"]))[-1]["result"]
        assert refused["isError"] is True and "there is no run" in refused["content"][0]["text"]


def test_artifacts_through_tools_over_http(serve, tmp_path):
    """SX-OUT: what a run left, over plain HTTP and the stateless MCP."""
    service = serve(config=f"state_dir: {tmp_path}\nartifacts: {{files: true}}\n").ready()
    left = service.ask("POST", "/v1/tools/run_python_code", {"code": "open('out/a.txt', 'w').write('left')"}).json
    run = left["result"]["id"]
    listed = service.ask("POST", "/v1/tools/list_artifacts", {"id": run}).json
    assert {"name": "files/a.txt", "bytes": 4} in listed["result"]["artifacts"] and "files/a.txt: 4 bytes" in listed["text"]
    part = service.ask("POST", "/v1/tools/read_artifact", {"id": run, "name": "files/a.txt", "offset": 1}).json
    assert part["result"] == {"name": "files/a.txt", "offset": 1, "bytes": 4, "more": False, "text": "eft"}
    assert service.ask("POST", "/v1/tools/read_artifact", {"id": run, "name": "none"}).status == 400
    uri = f"belljar://executions/{run}/artifacts/files/a.txt"
    result = stateless(service, "resources/read", {"uri": uri}).json["result"]
    assert result["contents"][0]["text"] == "left" and result["cacheScope"] == "private"
    assert code(stateless(service, "resources/read", {"uri": uri + "x"})) == -32602


# --- hostile messages ------------------------------------------------------------------------------

@pytest.mark.parametrize("body, error", [
    (b"", -32700), (b"{", -32700), (b"\xff\xfe{\x00}\x00", -32700), ('{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"), -32700),
    (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700), (b"[" * 100000, -32700), (b'{"a":' * 50000, -32700),
    (b'{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}', -32700),
    (json.dumps({"jsonrpc": "2.0", "id": "x" * 300, "method": "ping"}).encode(), -32600),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
    (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600), (b'"text"', -32600), (b"7", -32600), (b"null", -32600),
    (json.dumps({"jsonrpc": "2.0", "id": 1, "method": "m" * 200}).encode(), -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32600)])
def test_broken_messages_get_proper_errors(service, body, error):
    answer = post(service, body)
    assert answer.status == 400 and code(answer) == error


def test_unknown_methods_and_early_requests(service):
    session, _ = initialize(service)
    assert code(post(service, request("no/such"), session)) == -32601
    assert code(stateless(service, "no/such")) == -32601
    assert stateless(service, "initialize").status == 404
    assert code(post(service, request("server/discover"), session)) == -32601


def test_headers_must_repeat_the_body(service):
    call = {"name": "run_python_code", "arguments": {"code": "1"}}
    for headers in ({"Mcp-Method": "tools/list"}, {"Mcp-Name": "other"}, {"MCP-Protocol-Version": "2025-11-25"}):
        answer = stateless(service, "tools/call", call, headers)
        assert answer.status == 400 and code(answer) == -32020


def test_too_many_calls_of_one_session_are_refused(service):
    session, _ = initialize(service)
    sleepy = {"name": "run_python_code", "arguments": {"code": "import time; time.sleep(1.5)"}}
    conns = []
    for i in range(70):
        conn = service.connect()
        conn.request("POST", "/mcp", json.dumps(request("tools/call", sleepy, i)), {**session, **BOTH, "Content-Type": "application/json"})
        conns.append(conn)
    bodies = [conn.getresponse().read().decode() for conn in conns]
    assert any("-32000" in b for b in bodies)
    assert sum('"isError":false' in b for b in bodies) >= 50
    for conn in conns:
        conn.close()


def test_the_same_id_twice_at_once_is_refused(service):
    session, _ = initialize(service)
    call = json.dumps(request("tools/call", {"name": "run_python_code", "arguments": {"code": "import time; print(1, flush=True); time.sleep(1)"}}, 5))
    conn = service.connect()
    conn.request("POST", "/mcp", call, {**session, **BOTH, "Content-Type": "application/json"})
    response = conn.getresponse()
    while b'"text":"1' not in response.readline():
        pass
    second = post(service, call, session)
    assert events(second)[-1]["error"]["code"] == -32600
    assert b'"isError":false' in response.read()
    conn.close()


# --- cancelling ------------------------------------------------------------------------------------

def ended_run(service, name):
    """The newest run, once it has ended."""
    for _ in range(200):
        run = service.ask("GET", "/v1/executions?limit=1").json["executions"][0]
        if run["state"] == "finished":
            return run
        time.sleep(0.02)
    pytest.fail(name)


@pytest.mark.parametrize("how", ["close", "half-close"])
def test_a_stateless_client_that_goes_away_cancels(service, how):
    """Closing the stream is the cancellation, also when only half of it is closed."""
    params = {"name": "run_python_code", "arguments": {"code": "print('on', flush=True)\nwhile True: pass"},
              "_meta": {**META, "io.modelcontextprotocol/logLevel": "info"}}
    conn = service.connect()
    conn.request("POST", "/mcp", json.dumps(request("tools/call", params)),
                 {**BOTH, "Content-Type": "application/json", "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "run_python_code"})
    response = conn.getresponse()
    while b'"text":"on' not in response.readline():
        pass
    if how == "close":
        response.close()
        conn.sock.close()
    else:
        conn.sock.shutdown(socket.SHUT_WR)
    assert ended_run(service, how)["cause"] == "cancelled"
    conn.close()


def test_a_task_that_is_cancelled_before_its_turn_has_a_result(serve):
    """What nobody had begun is cancelled like what runs: a result of the tool, no failure of the server."""
    service = serve(config="serve: {concurrency: 1}\n").ready()
    busy = service.start("sleep 60")
    service.wait_state(busy, "running")
    session, _ = initialize(service)

    def say(method, params):
        answer = post(service, request(method, params), session)
        return (answer.json if answer.headers["Content-Type"] == "application/json" else events(answer)[-1])["result"]

    call = {"name": "run_python_code", "arguments": {"code": "print(1)"}, "task": {"ttl": 60000}}
    task = {"taskId": say("tools/call", call)["task"]["taskId"]}
    assert say("tasks/cancel", task)["status"] == "cancelled"
    result = say("tasks/result", task)
    assert result["isError"] is True and "cancelled" in result["content"][0]["text"].lower()
    assert (result["structuredContent"]["cause"], result["structuredContent"]["exit_code"]) == ("cancelled", None)
    service.ask("DELETE", f"/v1/executions/{busy}")


def test_live_output_comes_within_50_ms(service):
    """From the script's print to the client, over HTTP."""
    session, _ = initialize(service)
    took = []
    for _ in range(5):
        conn = service.connect()
        conn.request("POST", "/mcp", json.dumps(request("tools/call", {"name": "run_python_code", "arguments": {
            "code": "import time\ntime.sleep(0.2)\nprint(time.time(), flush=True)\ntime.sleep(0.2)"}})),
            {**session, **BOTH, "Content-Type": "application/json"})
        response = conn.getresponse()
        for line in response:
            if b'"logger":"stdout"' in line:
                now = time.time()
                took.append(now - float(json.loads(line[6:])["params"]["data"]["text"]))
                break
        response.read()
        conn.close()
    assert sorted(took)[2] < 0.05, took


# --- approval without a session ----------------------------------------------------------------------

def stateless_call(service, script, **more):
    params = {"name": "execute_script", "arguments": {"script_content": script, "script_type": "bash"}, **more,
              "_meta": {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
                        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"}}}
    answer = post(service, request("tools/call", params), {
        "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "execute_script"})
    return answer.json if answer.headers["Content-Type"] == "application/json" else events(answer)[-1]


@pytest.fixture
def asking(serve, tmp_path):
    return serve(config=f"state_dir: {tmp_path}\n").ready()


def test_a_stateless_client_is_asked_by_the_answer(asking):
    """APPROVE: the question goes with the result, the decision with the next request."""
    first = stateless_call(asking, "echo asked")["result"]
    assert first["resultType"] == "input_required"
    question = first["inputRequests"]["approval"]
    assert question["method"] == "elicitation/create" and "echo asked" in question["params"]["message"]
    yes = {"approval": {"action": "accept", "content": {"approve": True, "reason": "fine"}}}
    again = stateless_call(asking, "echo asked", inputResponses=yes, requestState=first["requestState"])["result"]
    assert again["structuredContent"]["result"]["stdout"] == "asked\n"
    assert again["structuredContent"]["result"]["decision"]["by"] == "the person at tester"


def test_no_script_hides_from_the_person_at_a_client(asking):
    """APPROVE: as at a terminal, whatever the client shows the question on."""
    question = stateless_call(asking, "echo evil\recho good # \u202e")["result"]["inputRequests"]["approval"]
    assert "\necho evil^Mecho good # <U+202E>" in question["params"]["message"]


def test_a_stateless_denial_and_a_question_left_open(asking):
    first = stateless_call(asking, "echo no")["result"]
    open_still = stateless_call(asking, "echo no", inputResponses={"approval": {"action": "cancel"}}, requestState=first["requestState"])["result"]
    assert open_still["structuredContent"]["state"] == "pending"
    no = {"approval": {"action": "accept", "content": {"approve": False, "reason": "not now"}}}
    denied = stateless_call(asking, "echo no", inputResponses=no, requestState=first["requestState"])["result"]
    assert denied["isError"] and denied["structuredContent"]["result"]["cause"] == "denied"
    assert "not now" in denied["content"][0]["text"]


def test_an_answer_fits_only_the_question_it_was_given_to(asking):
    """A state is signed and bound to tool, arguments and tenant: nobody approves one script with another's."""
    yes = {"approval": {"action": "accept", "content": {"approve": True}}}
    harmless = stateless_call(asking, "echo harmless")["result"]["requestState"]
    assert stateless_call(asking, "echo other", inputResponses=yes, requestState=harmless)["error"]["code"] == -32602
    assert stateless_call(asking, "echo harmless", inputResponses=yes, requestState=harmless[:-1] + "0x")["error"]["code"] == -32602
    # An answer without a question asks the question.
    assert stateless_call(asking, "echo third", inputResponses=yes)["result"]["resultType"] == "input_required"


# --- many ------------------------------------------------------------------------------------------

def test_thousands_of_sessions_leave_memory_flat(serve):
    service = serve(config="mcp: {sessions: 200}\n").ready()
    front = service.processes()[0]

    def round_of(n):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: initialize(service), range(n)))
        return max(rss_kib(pid) for pid in service.processes())

    round_of(400)
    before = round_of(100)
    after = round_of(SESSIONS)
    assert after < before + 4096, (before, after)
    assert rss_kib(front) > 0


def test_slow_and_silent_clients_do_not_hold_others(service):
    held = []
    for part in (b"", b"POST /mcp HT", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"json"):
        for _ in range(10):
            s = socket.socket(socket.AF_UNIX)
            s.connect(service.socket)
            s.sendall(part)
            held.append(s)
    start = time.monotonic()
    assert initialize(service)
    assert time.monotonic() - start < 5
    for s in held:
        s.close()


# --- plain HTTP ------------------------------------------------------------------------------------

def test_tools_over_plain_http(service):
    listed = service.ask("GET", "/v1/tools").json["tools"]
    assert {"execute_script", "run_python_code", "check_script"} <= {t["name"] for t in listed}
    assert service.ask("GET", "/v1/tools?format=openai").json["tools"][0]["type"] == "function"
    assert service.ask("GET", "/v1/tools?format=x").status == 400
    answer = service.ask("POST", "/v1/tools/run_python_code", {"code": "print(2)"}).json
    assert answer["failed"] is False and answer["result"]["stdout"] == "2\n" and "stdout:\n2\n" in answer["text"]
    assert service.ask("POST", "/v1/tools/run_python_code", {"code": "1", "trust": True}).status == 400
    assert service.ask("POST", "/v1/tools/nothing", {}).status == 404
    assert service.ask("POST", "/v1/tools/check_script", "{").status == 400
    checked = service.ask("POST", "/v1/tools/check_script", {"script_content": "if [ true", "script_type": "bash"}).json
    assert checked["result"]["valid"] is False
