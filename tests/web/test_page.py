# SPDX-License-Identifier: Apache-2.0
"""The page's files and its sessions as HTTP: what is public, what a cookie may, what hostile clients get: TENANT, DOCS."""
import gzip
import http.client
import json
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile

import pytest

import contract
from harness.ports import free_port
from harness.raw import exchange
from serving import Service

TOP = pathlib.Path(__file__).resolve().parents[2]
FILES = ["/", "/page.js", "/page.css", "/icon.svg"]
MAX_GZIPPED = 100 << 10
KEY = "a-key-that-is-long-enough"


def listening(*args, **more):
    """A service that also listens on TCP, with a key."""
    port = free_port()
    state = tempfile.TemporaryDirectory(prefix="bj-state-")
    env = {"BELLJAR_STATE_DIR": f"{state.name}/state", "BELLJAR_APPROVAL_RULES": "allow through=api,allow through=tool", **more.pop("env", {})}
    it = Service("--listen", f"127.0.0.1:{port}", *args, env=env, **more).ready()
    it.port, it.state = port, state
    return it


@pytest.fixture(scope="module")
def service():
    it = listening(env={"BELLJAR_SERVE_API_KEY": KEY})
    yield it
    it.stop()


def ask(service, method, path, headers=None, body=None):
    conn = http.client.HTTPConnection("127.0.0.1", service.port, timeout=20)
    conn.request(method, path, body=body, headers=headers or {})
    answer = conn.getresponse()
    data = answer.read()
    conn.close()
    if answer.headers.get("Content-Encoding") != "gzip":
        contract.check_answer(method, path, answer.status, answer.headers["Content-Type"], data)
    return answer.status, answer.headers, data


def log_in(service):
    status, headers, _ = ask(service, "POST", "/v1/session", {"Authorization": f"Bearer {KEY}"})
    assert status == 200
    return headers["Set-Cookie"]


def cookie_of(set_cookie):
    return set_cookie.split(";")[0]


@pytest.mark.parametrize("path", FILES)
def test_the_files_are_public_and_strict(service, path):
    status, headers, data = ask(service, "GET", path)
    assert status == 200 and data
    policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["img-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
    _, packed, small = ask(service, "GET", path, {"Accept-Encoding": "br, gzip"})
    assert packed["Content-Encoding"] == "gzip" and gzip.decompress(small) == data


def test_it_is_small(service):
    total = sum(len(ask(service, "GET", path, {"Accept-Encoding": "gzip"})[2]) for path in FILES)
    assert total < MAX_GZIPPED, total


def test_nothing_inline_and_nothing_from_elsewhere(service):
    page = ask(service, "GET", "/")[2].decode()
    assert not re.search(r"<script(?![^>]*\bsrc=\"/)|<style|\son\w+=|style=|javascript:", page)
    for path in FILES:
        text = ask(service, "GET", path)[2].decode()
        allowed = {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML", "http://www.w3.org/1999/xhtml"}
        assert set(re.findall(r"https?://[\w./-]+", text)) <= allowed, path
        assert not re.search(r"\beval\(|new Function\b|insertAdjacentHTML|document\.write", text), path


def test_the_rest_needs_a_key(service):
    for path in ("/v1/executions", "/v1/session", "/metrics", "/page.css/", "/page.jsx", "//", "/PAGE.JS"):
        assert ask(service, "GET", path)[0] == 401, path
    assert ask(service, "POST", "/")[0] == 401
    assert ask(service, "POST", "/v1/session", {"Authorization": "Bearer wrong"})[0] == 401


def test_a_session_from_log_in_to_log_out(service):
    set_cookie = log_in(service)
    assert re.fullmatch(r"belljar_session=[\w-]{43}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict", set_cookie)
    assert KEY not in set_cookie
    cookie = {"Cookie": cookie_of(set_cookie)}
    status, _, body = ask(service, "GET", "/v1/session", cookie)
    assert status == 200
    assert json.loads(body) == {"session": True, "name": "serve.api_key", "tenant": None, "roles": "admin"}
    assert ask(service, "GET", "/v1/executions", cookie)[0] == 200
    status, headers, _ = ask(service, "DELETE", "/v1/session", {**cookie, "X-Belljar-Page": "1"})
    assert status == 200 and "Max-Age=0" in headers["Set-Cookie"]
    assert ask(service, "GET", "/v1/executions", cookie)[0] == 401


@pytest.mark.parametrize("extra", [
    {}, {"Sec-Fetch-Site": "cross-site", "X-Belljar-Page": "1"}, {"Sec-Fetch-Site": "same-site", "X-Belljar-Page": "1"},
    {"Origin": "http://evil.example", "X-Belljar-Page": "1"}, {"Origin": "null", "X-Belljar-Page": "1"}])
def test_other_sites_cannot_use_the_session(service, extra):
    """CSRF: a form, a fetch of another site, another port of the same host."""
    headers = {"Cookie": cookie_of(log_in(service)), "Content-Type": "application/json", **extra}
    body = json.dumps({"script": "print(1)", "language": "python"})
    before = len(json.loads(ask(service, "GET", "/v1/executions", {"X-API-Key": KEY})[2])["executions"])
    assert ask(service, "POST", "/v1/executions", headers, body)[0] == 401
    after = len(json.loads(ask(service, "GET", "/v1/executions", {"X-API-Key": KEY})[2])["executions"])
    assert before == after


def test_the_page_itself_may(service):
    headers = {"Cookie": cookie_of(log_in(service)), "Content-Type": "application/json", "X-Belljar-Page": "1",
               "Sec-Fetch-Site": "same-origin", "Origin": f"http://127.0.0.1:{service.port}"}
    status, _, body = ask(service, "POST", "/v1/executions", headers,
                          json.dumps({"script": "print(42)", "language": "python"}))
    assert status == 200 and json.loads(body)["stdout"] == "42\n"


def test_the_end_of_the_audit_log(service):
    """AUDIT: what happened last comes first, without signatures; wrong limits are refused."""
    assert service.run("print(1)").status == 200
    status, _, body = ask(service, "GET", "/v1/audit?limit=3", {"X-API-Key": KEY})
    lines = json.loads(body)["lines"]
    assert status == 200 and 1 <= len(lines) <= 3
    assert [line["seq"] for line in lines] == sorted((line["seq"] for line in lines), reverse=True)
    assert any(line["kind"].startswith("run") for line in lines)
    for limit in ("0", "501", "x"):
        assert ask(service, "GET", f"/v1/audit?limit={limit}", {"X-API-Key": KEY})[0] == 400


def test_nobody_may_read_across_origins(service):
    """No answer carries CORS headers, and a preflight gets none."""
    for method in ("GET", "OPTIONS"):
        _, headers, _ = ask(service, method, "/v1/executions", {
            "X-API-Key": KEY, "Origin": "http://evil.example", "Access-Control-Request-Method": "POST"})
        assert not [name for name in headers if name.lower().startswith("access-control")]
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_a_withdrawn_key_ends_its_sessions(serve_with_file):
    """The key is looked at with every request, not only at the log-in."""
    service, key_file = serve_with_file
    cookie = {"Cookie": cookie_of(log_in(service))}
    assert ask(service, "GET", "/v1/session", cookie)[0] == 200
    key_file.write_text("another-key-of-some-length\n")
    service.process.send_signal(1)
    service.wait_note("READY=1")
    assert ask(service, "GET", "/v1/session", cookie)[0] == 401


@pytest.fixture
def serve_with_file(tmp_path):
    key_file = tmp_path / "key"
    key_file.write_text(KEY + "\n")
    it = listening("--api-key-file", str(key_file))
    yield it, key_file
    it.stop()


def test_hostile_clients_of_the_page(service):
    """Long paths, odd methods, broken cookies, halves of requests: errors, and the service lives on."""
    def raw(data):
        with socket.create_connection(("127.0.0.1", service.port), 10) as sock:
            return exchange(sock, data, half=True)

    for data in (b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
                 b"GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: " + b"gzip," * 20000 + b"\r\n\r\n",
                 b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /page.js HT",
                 b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /page.js\x00x HTTP/1.1\r\nHost: x\r\n\r\n",
                 b"POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n{}"):
        assert b"root:" not in raw(data)
    for cookie in ("belljar_session=" + "A" * 43, "belljar_session=" + "A" * 8000, "=;=;;;\x01", "belljar_session"):
        assert ask(service, "GET", "/v1/executions", {"Cookie": cookie})[0] == 401
    for _ in range(300):
        log_in(service)
    assert ask(service, "GET", "/healthz")[0] == 200


def test_a_build_without_the_page(tmp_path):
    """-Dpage=false needs neither node nor npm, and says what it is."""
    done = subprocess.run(["/bin/sh", TOP / "web/build", tmp_path, "none"], env={"PATH": "/usr/bin:/bin"},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "built without its page" in (tmp_path / "index.html").read_text()
    assert gzip.decompress((tmp_path / "page.js.gz").read_bytes()) == b""


def test_a_missing_node_is_named(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "realpath", "dirname"):
        (tools / name).symlink_to(shutil.which(name))
    done = subprocess.run(["/bin/sh", TOP / "web/build", tmp_path, "page"], env={"PATH": str(tools)},
                          capture_output=True, text=True)
    assert done.returncode == 1 and "-Dpage=false" in done.stderr and "node" in done.stderr
