# SPDX-License-Identifier: Apache-2.0
"""Clients that speak HTTP badly on purpose, on every door: proper errors, the front lives, memory stays flat. TOOL, DS-MON."""
import json
import pathlib
import socket

import pytest

from harness.raw import exchange
from serving import wait_until
from test_mcp import BOTH, rss_kib

PATHS = ["/", "", "*", "/v1/executions?state", "/v1/executions?state=&limit=", "/v1/history?before", "/v1/tools?format",
         "/v1/usage?days", "/mcp", "//", "/%", "/%00", "/v1/executions/%00/events", "/v1/executions/" + "0" * 5000,
         "/v1/executions/x/artifacts/", "/v1/executions/x/artifacts/..%2f..%2fx"]
HEADS = [b"", b"Host: \r\n", b"Host: x\r\nHost: y\r\n", b"Host: x\r\nContent-Length: 3\r\n", b"Host: x\r\nContent-Length: -1\r\n",
         b"Host: x\r\nContent-Length: 99999999999999999999\r\n", b"Host: x\r\nTransfer-Encoding: chunked\r\n",
         b"Host: x\r\nContent-Type:\r\nAccept:\r\nCookie: =;;=\r\nAuthorization: Bearer\r\n", b"Host: x\r\nCookie: belljar=" + b"x" * 9000 + b"\r\n",
         b"Host: x\r\nMcp-Session-Id:\r\nMCP-Protocol-Version:\r\nMcp-Method:\r\nLast-Event-ID: -1-x\r\n", b": x\r\n", b"\xff\xfe: \x00\r\n"]
BODIES = {
    "deep array": b"[" * 100000, "deep object": b'{"a":' * 100000, "twice": b'{"script":"1","script":"2","language":"bash"}',
    "huge number": b'{"script":1' + b"0" * 10000 + b"}", "latin-1": '{"script":"ä","language":"bash"}'.encode("latin-1"),
    "utf-16": '{"script":"1","language":"bash"}'.encode("utf-16"), "surrogate": b'{"script":"\\ud800","language":"bash"}',
    "overlong": b'{"script":"\xc0\xaf","language":"bash"}', "NUL": b'{"script":"a\x00b"}', "bom": b"\xef\xbb\xbf{}",
    "many arrays": b"[" + b"[]," * 30000 + b"[]]", "many objects": b'{"script":"1","env":{' + b'"a":{},' * 30000 + b'"b":{}}}',
    "huge key": b'{"' + b"k" * 500000 + b'":1}', "not an object": b"3", "nothing": b"", "NaN": b'{"script":NaN}'}
POSTS = ["/v1/executions", "/v1/check", "/v1/tools/run_python_code", "/v1/tools/read_artifact", "/mcp", "/v1/keys",
         "/v1/executions/x/approve", "/v1/executions/x/deny"]


def front(service):
    """The process that answers, and its memory."""
    return next(pid for pid in service.processes() if "MHD" in threads(pid))


def threads(pid):
    try:
        return " ".join(p.read_text().strip() for p in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"))
    except OSError:
        return ""


def raw(service, data, half=True):
    with socket.socket(socket.AF_UNIX) as conn:
        conn.settimeout(20)
        conn.connect(service.socket)
        return exchange(conn, data, half)


@pytest.mark.parametrize("method", ["GET", "POST", "", "HEAD", "OPTIONS", "G\0T", "x" * 5000])
@pytest.mark.parametrize("version", [" HTTP/1.1", " HTTP/1.0", "", " HTTP/9.9", " "])
def test_request_lines_and_headers(service, method, version):
    """Without headers, without Host, in old versions, half-closed: an answer or a closed connection, and the same front."""
    before = service.processes()
    for path in PATHS:
        for head in HEADS:
            answer = raw(service, f"{method} {path}{version}\r\n".encode() + head + b"\r\n")
            assert not answer or answer.startswith(b"HTTP/1.1 "), (path, head, answer[:80])
    assert service.processes() == before
    assert service.ask("GET", "/healthz").status == 200


RUN = b'{"script": "echo 1", "language": "bash"}'
CHUNKED = b"%x\r\n%b\r\n0\r\n\r\n" % (len(RUN), RUN)
HIDDEN = b"GET /healthz HTTP/1.1\r\nHost: hidden\r\n\r\n"
FRAMES = {
    "length and chunks": (b"Host: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked", CHUNKED),
    "chunks and length": (b"Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5", b"0\r\n\r\n" + HIDDEN),
    "two lengths": (b"Host: x\r\nContent-Length: 4\r\nContent-Length: %d" % len(RUN), RUN + HIDDEN),
    "the same twice": (b"Host: x\r\nContent-Length: %d\r\nContent-Length: %d" % (len(RUN), len(RUN)), RUN + HIDDEN),
    "chunked twice": (b"Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked", CHUNKED),
    "another coding": (b"Host: x\r\nTransfer-Encoding: xchunked", CHUNKED),
    "two codings": (b"Host: x\r\nTransfer-Encoding: identity, chunked", CHUNKED),
    "a blank before the colon": (b"Host: x\r\nTransfer-Encoding : chunked", CHUNKED),
    "a blank in a name": (b"Host: x\r\nContent-Length: %d\r\nX Y: 1" % len(RUN), RUN),
    "a return in a value": (b"Host: x\r\nX: a\rTransfer-Encoding: chunked\r\nContent-Length: %d" % len(RUN), RUN),
    "a NUL in a name": (b"Host: x\r\nX\0Y: 1\r\nContent-Length: %d" % len(RUN), RUN),
    "a length on a line of its own": (b"Host: x\r\nContent-Length:\r\n %d" % len(RUN), HIDDEN),
    "a length on two lines": (b"Host: x\r\nContent-Length: 4\r\n\t0", RUN + HIDDEN),
    "a coding on a line of its own": (b"Host: x\r\nTransfer-Encoding:\r\n chunked", CHUNKED),
    "a coding on two lines": (b"Host: x\r\nTransfer-Encoding: chun\r\n ked", CHUNKED),
    "two hosts": (b"Host: x\r\nHost: y\r\nContent-Length: %d" % len(RUN), RUN),
    "no host": (b"Content-Length: %d" % len(RUN), RUN),
}


@pytest.mark.parametrize("what", FRAMES)
def test_requests_that_can_be_read_in_two_ways(service, what):
    """A proxy might end them elsewhere: one refusal, and the rest of the connection is read by nobody."""
    head, body = FRAMES[what]
    request = b"POST /v1/executions HTTP/1.1\r\nContent-Type: application/json\r\n" + head + b"\r\n\r\n" + body
    answer = raw(service, request, half=False)
    assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1 ") == 1, answer
    assert b'"stdout"' not in answer, answer


@pytest.mark.parametrize("path, status", [
    ("/healthz%00x", 404), ("/v1/keys%00.css", 404), ("/v1/executions%00", 404), ("/page.css%00/../v1/keys", 404),
    ("/v1/executions?limit=1%00x", 400), ("/v1/executions?limit%00x=0", 200), ("/v1/history?before=%00", 404), ("/health%7a", 200),
    ("/health%7A", 200), ("/health%7", 404), ("/health%", 404), ("/health%zz", 404), ("/v1/executions?limit=%31", 200),
    ("/v1/executions?state=%2", 400), ("/v1/executions?state=a+b", 400)])
def test_an_address_does_not_end_where_a_nul_stands(service, path, status):
    """A proxy that lets some addresses through reads all of them, and so do we."""
    answer = raw(service, b"GET %b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path.encode())
    assert answer.startswith(b"HTTP/1.1 %d " % status), answer


def test_an_old_client_needs_no_host(service):
    assert raw(service, b"GET /healthz HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("what", BODIES)
def test_bodies(service, path, what):
    answer = service.ask("POST", path, BODIES[what], BOTH)
    assert 400 <= answer.status < 500 or (what == "nothing" and answer.status in (200, 404)), answer.body[:200]
    assert json.loads(answer.body)


@pytest.mark.parametrize("cut", [1, 20, 60, 120, 200])
def test_requests_that_break_off(service, cut):
    """Cut anywhere, by closing or by half-closing: nothing hangs, nothing dies."""
    whole = (b"POST /v1/executions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
             + b'{"script": "echo 1", "language": "bash"}' + b" " * 60)
    before = service.processes()
    for half in (True, False):
        for _ in range(20):
            if half:
                raw(service, whole[:cut])
            else:
                with socket.socket(socket.AF_UNIX) as conn:
                    conn.connect(service.socket)
                    conn.sendall(whole[:cut])
    assert service.processes() == before
    assert service.run("echo 2", "bash").json["stdout"] == "2\n"


@pytest.mark.parametrize("value", [b"[]", b"{}", b'""', b"1"])
def test_what_is_small_to_send_is_small_to_read(service, value):
    """Each value of a body would take up to eighty times its bytes: thirty MiB of them are refused unread."""
    pid = front(service)
    body = b'{"script":"x","language":"bash","args":[' + (value + b",") * ((30 << 20) // (len(value) + 1)) + value + b"]}"
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak begins anew
    before = rss_kib(pid)
    answer = service.ask("POST", "/v1/executions", body)
    assert answer.status == 413 and "values" in answer.json["detail"]
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0])
    assert peak < before + 4 * len(body) // 1024


@pytest.mark.parametrize("target", ["POST /healthz", "GET /page.js", "GET /"])
def test_who_has_no_key_takes_no_room_for_bodies(serve, target):
    """Large requests of those who may come in have their places, however much strangers send to what is open to all."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    it = serve("--listen", f"127.0.0.1:{port}", config="serve: {max_body: 1MiB}\n", env={"BELLJAR_SERVE_API_KEY": "k" * 24}).ready()
    strangers = []
    for _ in range(17):
        strangers.append(socket.create_connection(("127.0.0.1", port)))
        strangers[-1].sendall(b"%b HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n" % target.encode() + b" " * ((1 << 20) - 1))
    wait_until(lambda: it.metrics()["belljar_connections"] >= 18)
    for _ in range(20):  # while what they send arrives
        assert it.run("cat > /dev/null; echo 1", "bash", stdin="x" * 900000).status == 200
    for each in strangers:
        each.close()


def test_memory_stays_flat(service):
    """The same rubbish a few hundred times more costs nothing that stays."""
    pid = front(service)

    def storm(times):
        for _ in range(times):
            for path in ("/v1/executions", "/mcp", "/v1/check"):
                for what in ("deep array", "huge key", "twice", "utf-16"):
                    service.ask("POST", path, BODIES[what], BOTH)
            raw(service, b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{")

    storm(10)
    before = rss_kib(pid)
    storm(25)
    assert front(service) == pid
    assert rss_kib(pid) < before + 8 * 1024
