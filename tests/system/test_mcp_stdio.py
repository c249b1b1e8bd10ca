# SPDX-License-Identifier: Apache-2.0
"""`belljar mcp` on standard streams: framing, cancelling, ending. TOOL, SCRP-06."""
import base64
import json
import os
import signal
import subprocess
import time

import pytest

BELLJAR = os.environ["BELLJAR"]
SPIN = "print('on', flush=True)\nwhile True: pass"


class Client:
    """One server process and what it says, line by line."""

    def __init__(self, folder, config=""):
        (folder / "config.yaml").write_text(f"state_dir: {folder}/state\n{config}")
        self.process = subprocess.Popen(
            [BELLJAR, "mcp", "--config", str(folder / "config.yaml")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def send(self, *messages):
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            self.process.stdin.write(line)
        self.process.stdin.flush()

    def read(self):
        return json.loads(self.process.stdout.readline())

    def until(self, test):
        while True:
            message = self.read()
            if test(message):
                return message

    def answer(self, number):
        return self.until(lambda m: m.get("id") == number)

    def open(self, version="2025-11-25"):
        self.send(request("initialize", {"protocolVersion": version, "capabilities": {},
                                         "clientInfo": {"name": "t", "version": "1"}}, 0),
                  {"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert self.answer(0)["result"]["protocolVersion"] == version
        return self

    def close(self):
        self.process.stdin.close()
        return self.process.wait(10)


@pytest.fixture
def start(tmp_path):
    clients = []

    def it(config=""):
        clients.append(Client(tmp_path, config))
        return clients[-1]

    yield it
    for client in clients:
        if client.process.poll() is None:
            client.process.kill()
        client.process.wait()
        for stream in (client.process.stdin, client.process.stdout, client.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass


def request(method, params=None, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params is not None else {})}


def python(code, number=1, **more):
    return request("tools/call", {"name": "run_python_code", "arguments": {"code": code}, **more}, number)


def is_output(text):
    return lambda m: m.get("method") == "notifications/message" and text in m["params"]["data"]["text"]


def descendants(pid):
    """Every process below @pid."""
    rows = [line.split() for line in subprocess.run(
        ["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout.splitlines()]
    found, grown = {pid}, True
    while grown:
        grown = False
        for child, parent in rows:
            if int(parent) in found and int(child) not in found:
                found.add(int(child))
                grown = True
    return found - {pid}


def is_alive(pid):
    """Whether it still does something: a zombie only waits for whoever inherited it."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def all_gone(pids):
    for _ in range(250):
        if not any(map(is_alive, pids)):
            return True
        time.sleep(0.02)
    return False


def test_framing(start):
    """Carriage returns, blank lines and several messages in one write are fine; half a line waits."""
    client = start().open()
    client.send(b'\n\r\n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n{"jsonrpc":"2.0",')
    assert [client.read()["id"], client.read()["id"]] == [1, 2]
    client.send(b'"id":3,"method":"ping"}\n')
    assert client.read()["id"] == 3
    assert client.close() == 0
    assert client.process.stderr.read() == b""


@pytest.mark.parametrize("line, code, number", [
    (b"{\n", -32700, None), (b"\xff\xfe\n", -32700, None), (b"[" * 5000 + b"\n", -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}\n', -32700, None), (b"3\n", -32600, None),
    (b'{"jsonrpc":"2.0","id":7}\n', -32600, 7), (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n', -32600, None),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', -32600, None)])
def test_broken_lines_get_errors_and_the_session_goes_on(start, line, code, number):
    client = start().open()
    client.send(line, request("ping", number=9))
    bad, good = client.read(), client.read()
    assert (bad["error"]["code"], bad["id"]) == (code, number)
    assert good["id"] == 9


@pytest.mark.parametrize("lead", range(2))
@pytest.mark.parametrize("method,params", [
    ("tools/call", {"name": "NAME"}), ("NAME", {}), ("prompts/get", {"name": "NAME"}),
    ("tools/call", {"name": "run_python_code", "arguments": {"NAME": 1}}),
])
def test_a_long_name_is_answered_wherever_it_is_cut(start, method, params, lead):
    """Messages quote what they refuse, up to a bound: half a character in one must not swallow the answer."""
    client = start().open()
    name = "x" * lead + "\u00e9" * 60
    client.send(json.dumps(request(method, params)).replace("NAME", name).encode() + b"\n", request("ping", {}, 2))
    answers = {m["id"]: m for m in (client.read(), client.read())}
    answer = answers[1]
    text = answer["error"]["message"] if "error" in answer else answer["result"]["content"][0]["text"]
    assert "\u00e9" * 10 in text and "memory" not in text
    assert answers[2]["result"] == {}


def test_a_request_before_initialize_is_refused(start):
    client = start()
    client.send(request("tools/list"))
    assert client.answer(1)["error"]["code"] == -32600


def test_a_batch_of_2025_03_26(start):
    client = start().open("2025-03-26")
    batch = [request("ping", number=1), python("print(1)", 2), {"jsonrpc": "2.0", "method": "notifications/x"}]
    client.send(batch)
    answers = client.until(lambda m: isinstance(m, list))
    assert {a["id"] for a in answers} == {1, 2}


def test_the_stateless_revision_needs_no_handshake(start):
    client = start()
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    client.send(request("server/discover", {"_meta": meta}), python("print(3)", 2, _meta=meta))
    found = client.answer(1)["result"]
    assert "2026-07-28" in found["supportedVersions"] and found["resultType"] == "complete"
    assert client.answer(2)["result"]["structuredContent"]["stdout"] == "3\n"
    client.send(request("subscriptions/listen", {"_meta": meta, "notifications": {"resourceSubscriptions": ["x"]}}, 5))
    ack = client.until(lambda m: m.get("method") == "notifications/subscriptions/acknowledged")
    assert ack["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 5
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}, request("server/discover", {"_meta": meta}, 6))
    assert client.answer(6)["result"]


def test_cancelling_kills_and_is_not_answered(start):
    client = start().open()
    client.send(python(SPIN))
    client.until(is_output("on"))
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "x"}})
    for _ in range(200):
        client.send(request("resources/list", number=3))
        runs = client.answer(3)["result"]["resources"]
        if runs and "cancelled" in runs[0]["description"]:
            break
        time.sleep(0.02)
    assert "cancelled" in runs[0]["description"]
    client.send(request("ping", number=4))
    assert client.read()["id"] == 4  # and nothing for 1


@pytest.mark.parametrize("how", ["eof", "term", "kill"])
def test_nothing_outlives_the_end(start, how):
    """However it ends, no script, jar or helper of it stays."""
    client = start().open()
    client.send(python(SPIN))
    client.until(is_output("on"))
    below = descendants(client.process.pid)
    assert below
    began = time.monotonic()
    if how == "eof":
        client.process.stdin.close()
    else:
        client.process.send_signal(signal.SIGTERM if how == "term" else signal.SIGKILL)
    client.process.wait(10)
    assert time.monotonic() - began < 2
    assert all_gone(below)


def test_a_message_that_is_too_large_ends_it(start):
    client = start().open()
    with pytest.raises(BrokenPipeError):
        for _ in range(40):
            client.send(b"x" * (1 << 20))
            time.sleep(0.005)
    assert client.process.wait(10) == 125
    assert b"larger than 32 MiB" in client.process.stderr.read()


def test_live_output_comes_within_50_ms(start):
    """And what a script prints in the middle of a character comes whole."""
    client = start().open()
    took = []
    for number in range(1, 6):
        client.send(python("import time\ntime.sleep(0.1)\nprint(time.time(), flush=True)\ntime.sleep(0.1)", number))
        message = client.until(is_output("."))
        took.append(time.time() - float(message["params"]["data"]["text"]))
        client.answer(number)
    assert sorted(took)[2] < 0.05, took
    client.send(python("import sys, time\nfor b in 'ä€'.encode():\n    sys.stdout.buffer.write(bytes([b])); sys.stdout.flush(); time.sleep(0.02)", 7))
    text = ""
    while True:
        message = client.read()
        if message.get("id") == 7:
            break
        text += message["params"]["data"]["text"] if message["method"] == "notifications/message" else ""
    assert text == "ä€"


def test_a_flood_of_output_is_bounded(start):
    client = start("limits: {output_cap: 64MiB}\n").open()
    client.send(python("print('x' * 20_000_000)"))
    size = 0
    while True:
        line = client.process.stdout.readline()
        size += len(line)
        if json.loads(line).get("id") == 1:
            break
    assert size < 1 << 20
    assert "bytes left out" in json.loads(line)["result"]["content"][0]["text"]


def test_watched_runs_are_told_when_they_end(start):
    client = start().open()
    client.send(python("print(1)"))
    run = client.answer(1)["result"]["structuredContent"]["id"]
    client.send(request("resources/read", {"uri": f"belljar://executions/{run}"}, 2))
    assert json.loads(client.answer(2)["result"]["contents"][0]["text"])["stdout"] == "1\n"


LEAVES = "open('out/a b.txt', 'w').write('left')\nopen('out/c.bin', 'wb').write(bytes(range(256)))\nopen('out/big', 'w').write('x' * 5000000)"


def leave_behind(client):
    """The id of a run that left three files."""
    client.send(python(LEAVES, 100))
    return client.answer(100)["result"]["structuredContent"]["id"]


def read(client, uri, number=101):
    client.send(request("resources/read", {"uri": uri}, number))
    return client.answer(number)


def test_what_runs_left_are_resources(start):
    """SX-OUT: artifacts are listed with their runs, named by a template, and read as text or bytes."""
    client = start("artifacts: {files: true}\n").open()
    run = leave_behind(client)
    base = f"belljar://executions/{run}/artifacts"
    client.send(request("resources/list", number=2), request("resources/templates/list", number=3))
    listed = {r["uri"]: r for r in client.answer(2)["result"]["resources"]}
    assert listed[f"{base}/files/a%20b.txt"]["size"] == 4
    assert {f"belljar://executions/{run}", f"{base}/files/c.bin", f"{base}/files/big"} <= set(listed)
    assert {t["uriTemplate"] for t in client.answer(3)["result"]["resourceTemplates"]} == {
        "belljar://executions/{id}", "belljar://executions/{id}/artifacts", "belljar://executions/{id}/artifacts/{+name}"}
    names = json.loads(read(client, base)["result"]["contents"][0]["text"])
    assert {"name": "files/c.bin", "bytes": 256} in names
    assert read(client, f"{base}/files/a%20b.txt")["result"]["contents"] == [
        {"uri": f"{base}/files/a%20b.txt", "mimeType": "text/plain", "text": "left"}]
    blob = read(client, f"{base}/files/c.bin")["result"]["contents"][0]
    assert blob["mimeType"] == "application/octet-stream" and base64.b64decode(blob["blob"]) == bytes(range(256))
    assert "read_artifact" in read(client, f"{base}/files/big")["error"]["message"]
    client.send(request("completion/complete", {
        "ref": {"type": "ref/resource", "uri": "belljar://executions/{id}/artifacts/{+name}"},
        "argument": {"name": "name", "value": "files/c"}, "context": {"arguments": {"id": run}}}, 4))
    assert client.answer(4)["result"]["completion"]["values"] == ["files/c.bin"]


@pytest.mark.parametrize("rest", [
    "/artifacts/nothing", "/artifacts/", "/artifacts/files%2F..%2Fresult.json", "/artifacts/..%2f..%2fx", "/artifacts/%00",
    "/artifacts/%zz", "/artifacts/%2", "/artifactsx", "/", "/x", "/artifacts/../result.json"])
def test_resources_that_are_not_there(start, rest):
    client = start("artifacts: {files: true}\n").open()
    run = leave_behind(client)
    for uri in (f"belljar://executions/{run}{rest}", f"belljar://executions/{'0' * 32}{rest}", f"belljar://executions/{'0' * 900}"):
        assert read(client, uri)["error"]["code"] == -32002


def test_runs_of_earlier_processes_are_read_from_the_store(start):
    """TOOL: the same store: a run outlives the process that made it."""
    first = start("store_code: always\n").open()
    first.send(python("print('kept')"))
    run = first.answer(1)["result"]["structuredContent"]["id"]
    assert first.close() == 0
    second = start("store_code: always\n").open()
    text = json.loads(read(second, f"belljar://executions/{run}")["result"]["contents"][0]["text"])
    assert text["id"] == run and text["result"]["stdout"] == "kept\n"
    kept = json.loads(read(second, f"belljar://executions/{run}/artifacts/result.json")["result"]["contents"][0]["text"])
    assert kept["result"]["stdout"] == "kept\n"


def test_artifact_tools(start):
    client = start("artifacts: {files: true}\n").open()
    run = leave_behind(client)
    client.send(request("tools/call", {"name": "list_artifacts", "arguments": {"id": run}}, 5),
                request("tools/call", {"name": "read_artifact", "arguments": {"id": run, "name": "files/a b.txt"}}, 6))
    got = {}
    while len(got) < 2:
        message = client.until(lambda m: m.get("id") in (5, 6))
        got[message["id"]] = message["result"]
    assert {"name": "files/a b.txt", "bytes": 4} in got[5]["structuredContent"]["artifacts"]
    assert got[6]["structuredContent"]["text"] == "left" and got[6]["isError"] is False
