# SPDX-License-Identifier: Apache-2.0
"""An engine that is missing, refuses, is too old, slow, cut off or talks nonsense: a clear error,
no hang, nothing left. The fake engine shows only what a real one will not."""
import http.server
import json
import os
import shutil
import signal
import socket
import socketserver
import subprocess
import tempfile
import threading
import time

import pytest

from engine import Daemon, Proxy, wait_until
from runner import BELLJAR, IMAGES, Jar, on_terminal


class Fake(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def serve(path, answer, version="1.41"):
    """A server on a Unix socket whose @answer(handler) is called for all but a ping."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def address_string(self):
            return "unix"

        def log_message(self, *args):
            pass

        def say(self, status, body=b"", headers=()):
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def any(self):
            size = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(size)
            if self.path == "/_ping":
                self.say(200, b"OK", [("Api-Version", version)])
            else:
                answer(self)

        do_GET = do_POST = do_PUT = do_DELETE = any

    server = Fake(str(path), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Nowhere:
    """An engine that is only a place."""

    def __init__(self, url):
        self.url = url

    def containers(self):
        return []


def lone_jar(url, tmp_path):
    return Jar(Nowhere(url), tmp_path)


def test_no_engine(tmp_path):
    """SX-DOCKER: nobody listens."""
    result = lone_jar(f"unix://{tmp_path}/none.sock", tmp_path).run("print(1)")
    assert result["status"] == 125 and result["cause"] == "infrastructure"
    assert "no Docker engine" in result["error"] and "--backend native" in result["error"]


def test_bad_host(tmp_path):
    """SX-DOCKER: a host that cannot be read names what can."""
    assert "unix:///path" in lone_jar("ftp://x", tmp_path).run("print(1)")["error"]


@pytest.mark.parametrize("version, words", [("1.40", "too old"), ("", "no Docker engine"),
                                            ("banana", "no Docker engine")])
def test_versions(tmp_path, version, words):
    """SX-DOCKER: an engine that is too old, or none at all."""
    server = serve(tmp_path / "s", lambda h: h.say(500), version)
    result = lone_jar(f"unix://{tmp_path}/s", tmp_path).run("print(1)")
    server.shutdown()
    assert result["status"] == 125 and words in result["error"]


def test_newer_engine(tmp_path):
    """SX-DOCKER: a newer engine is spoken to in the newest version we know."""
    seen = []
    server = serve(tmp_path / "s", lambda h: (seen.append(h.path), h.say(500, b"{}")), "1.99")
    lone_jar(f"unix://{tmp_path}/s", tmp_path).run("print(1)")
    server.shutdown()
    assert seen and all(path.startswith("/v1.51/") for path in seen)


@pytest.mark.parametrize("body", [b'{"message":"disk is full"}', b"", b"\xff\xfe{", b"[1"])
def test_engine_errors(tmp_path, body):
    """SX-DOCKER: the engine's own words, when it has any."""
    server = serve(tmp_path / "s", lambda h: h.say(500, body))
    result = lone_jar(f"unix://{tmp_path}/s", tmp_path).run("print(1)")
    server.shutdown()
    assert result["status"] == 125 and "refused to create a container" in result["error"]
    assert ("disk is full" in result["error"]) == (b"disk" in body)


def test_slow_engine(tmp_path):
    """SX-DOCKER: an engine that does not answer is given up, and the setting is named."""
    gone = threading.Event()
    server = serve(tmp_path / "s", lambda h: gone.wait(20))
    start = time.monotonic()
    result = lone_jar(f"unix://{tmp_path}/s", tmp_path).run(
        "print(1)", env={"BELLJAR_DOCKER_TIMEOUT": "300ms"})
    gone.set()
    server.shutdown()
    assert result["status"] == 125 and "docker.timeout" in result["error"]
    assert time.monotonic() - start < 15


def test_engine_that_hangs_up(tmp_path):
    """SX-DOCKER: half an answer is no answer."""
    def cut(handler):
        handler.wfile.write(b"HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{")
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)

    server = serve(tmp_path / "s", cut)
    result = lone_jar(f"unix://{tmp_path}/s", tmp_path).run("print(1)")
    server.shutdown()
    assert result["status"] == 125 and "broke off" in result["error"]


def test_progress_of_a_pull(tmp_path):
    """SX-DOCKER: a person sees how far a pull is."""
    lines = ["Pulling fs layer", "Pulling fs layer", "Downloading", "Pull complete", "Pull complete"]
    stream = b"".join(json.dumps({"status": line, "id": "x"}).encode() + b"\n" for line in lines)
    made = []

    def answer(handler):
        if "/images/create" in handler.path:
            made.append(1)
            handler.say(200, stream)
        else:
            handler.say(500 if made else 404, b'{"message":"full"}')

    server = serve(tmp_path / "s", answer)
    jar = lone_jar(f"unix://{tmp_path}/s", tmp_path)
    status, told = on_terminal(jar.command("print(1)"), {**jar.env, "BELLJAR_DOCKER_PULL": "true"})
    server.shutdown()
    assert status == 125 and "belljar: pulling belljar/python:3.11: 2 of 2 layers" in told, told


@pytest.mark.parametrize("stream", [b"", b"\0", b"garbage" * 1000, b"\1\0\0\0\xff\xff\xff\xff" + b"x" * 5000,
                                    b"\1\0\0\0\0\0\0\5short", b"\1\0\0\0\0\0\0\4\xff\xff\xff\xff"])
def test_cut_and_garbled_streams(tmp_path, stream):
    """SX-DOCKER RESULT: whatever comes on the streams, a run without a true end is no success."""
    def answer(handler):
        if "/create" in handler.path:
            handler.say(201, b'{"Id":"x","Warnings":[]}')
        elif "/attach" in handler.path:
            handler.wfile.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\n\r\n" + stream)
            handler.wfile.flush()
            handler.connection.shutdown(socket.SHUT_RDWR)
        elif handler.path.endswith("/json"):
            handler.say(200, b'{"State":{"Running":false,"OOMKilled":false,"ExitCode":1}}')
        else:
            handler.say(204, b"")

    server = serve(tmp_path / "s", answer)
    start = time.monotonic()
    result = lone_jar(f"unix://{tmp_path}/s", tmp_path).run("print(1)", "--timeout", "20")
    server.shutdown()
    assert result["status"] == 125 and result["cause"] == "infrastructure", result
    assert result["exit_code"] is None and time.monotonic() - start < 15


def scripted(tmp_path, seen=None, created=b'{"Id":"x","Warnings":[]}', attach=b"", state=(200, b"{}")):
    """An engine that makes containers and answers what it is given: the head of an attach, a description."""
    def answer(handler):
        if seen is not None:
            seen.append((handler.command, handler.path))
        if "/create" in handler.path:
            handler.say(201, created)
        elif "/attach" in handler.path:
            handler.wfile.write(attach)
            handler.wfile.flush()
            if attach == UPGRADED:  # a container that takes its order and says nothing
                handler.rfile.read1(4096)
            handler.connection.shutdown(socket.SHUT_WR)
        elif handler.path.endswith("/json"):
            handler.say(*state)
        else:
            handler.say(204, b"")

    return serve(tmp_path / "s", answer)


UPGRADED = b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\n\r\n"


def test_a_limit_that_the_engine_cannot_enforce(tmp_path):
    """SCRP-04: the engine makes the container and warns; no script runs in it, and it is removed. Swappiness is
    no limit: swap itself is off."""
    for warning, words in (("Your kernel does not support memory limit capabilities", "cannot enforce a limit"),
                           ("Your kernel does not support memory swappiness", "attach")):
        seen = []
        body = json.dumps({"Id": "x", "Warnings": [warning]}).encode()
        server = scripted(tmp_path, seen, body, b"HTTP/1.1 404 Not Found\r\n\r\n")
        result = lone_jar(f"unix://{tmp_path}/s", tmp_path).run("print(1)")
        server.shutdown()
        (tmp_path / "s").unlink()
        assert result["status"] == 125 and words in result["error"], result
        assert ("attach" in str(seen)) == (words == "attach")
        assert "DELETE" in [method for method, _ in seen]


@pytest.mark.parametrize("head, words", [(b"HTTP/1.1 404 Not Found\r\n\r\n", "refused to attach (404)"),
                                         (b"garbage\r\n\r\n", "refused to attach"), (b"", "broke off while attaching"),
                                         (b"HTTP/1.1 101 " + b"x" * 5000, "broke off while attaching")])
def test_no_attach(tmp_path, head, words):
    """SX-DOCKER: streams that cannot be had are a clear error."""
    server = scripted(tmp_path, attach=head)
    result = lone_jar(f"unix://{tmp_path}/s", tmp_path).run("print(1)")
    server.shutdown()
    assert result["status"] == 125 and words in result["error"], result


@pytest.mark.parametrize("state", [(500, b'{"message":"no"}'), (200, b"nonsense"), (200, b"{}")])
def test_an_engine_that_cannot_say_how_it_ended(tmp_path, state):
    """RESULT: no word of the helper and none of the engine: the run is no success, and has no exit status."""
    server = scripted(tmp_path, attach=UPGRADED, state=state)
    result = lone_jar(f"unix://{tmp_path}/s", tmp_path).run("print(1)")
    server.shutdown()
    assert result["cause"] == "infrastructure" and result["exit_code"] is None, result
    assert "went away during the run" in result["error"], result


def test_engine_dies_during_the_run(jar, tmp_path):
    """SX-DOCKER DS-CLEAN: the connection is cut in the middle; the next sweep removes the rest."""
    proxy = Proxy(tmp_path / "p", jar.engine.sock)
    process = jar.start("import time\nprint('up', flush=True)\ntime.sleep(60)", "--json",
                        env={"DOCKER_HOST": proxy.url, "BELLJAR_DOCKER_TIMEOUT": "2s",
                             "BELLJAR_FALLBACK": "native"})
    wait_until(lambda: proxy.has_passed(b"up\n"), 60, "the script has begun")
    proxy.cut()
    out, _ = process.communicate(timeout=40)
    assert process.returncode == 125
    assert "went away during the run" in out, out
    assert '"fallback":null' in out, "a script that ran in part is not run again"
    assert jar.gc() == 1


def test_a_real_engine_is_killed_during_the_run(engine, tmp_path):
    """SX-DOCKER: SIGKILL of dockerd in the middle: a clear error, no hang, and the track stays for a later
    sweep."""
    if os.geteuid() != 0 or not shutil.which("docker"):
        pytest.skip("takes root and the docker command")
    other = Daemon(tempfile.mkdtemp(prefix="bjd-", dir="/var/tmp"))
    try:
        other.start()
        saved = subprocess.run(["docker", "-H", engine.url, "save", IMAGES["bash"]], check=True,
                               capture_output=True).stdout
        subprocess.run(["docker", "-H", other.url, "load"], input=saved, check=True,
                       capture_output=True)
        jar = Jar(other, tmp_path)
        process = jar.start("echo up; sleep 60", language="bash", env={"BELLJAR_DOCKER_TIMEOUT": "5s"})
        assert process.stdout.readline() == "up\n"
        other.stop(signal.SIGKILL)
        _, err = process.communicate(timeout=40)
        assert process.returncode == 125 and "went away during the run" in err, err
        assert '"cleanup_success":false' in jar.kept()
        assert list(jar.state.glob("docker/*.active")), "what could not be removed is still tracked"
    finally:
        other.abandon()


def test_fallback(tmp_path):
    """DS-FALL: only when configured, warned about and recorded."""
    jar = lone_jar(f"unix://{tmp_path}/none.sock", tmp_path)
    assert not jar.run("print(1)")["success"]
    result = jar.run("print(1)", env={"BELLJAR_FALLBACK": "native"})
    assert result["success"] and result["meta"]["runtime"] == "native"
    assert result["meta"]["fallback"]["from"] == "docker"
    assert "no Docker engine" in result["meta"]["fallback"]["reason"]
    assert "falling back from docker to native" in result["log"]


@pytest.mark.parametrize("env", [{"BELLJAR_FALLBACK": "direct"},
                                 {"BELLJAR_FALLBACK_TO_DIRECT": "true"}])
def test_fallback_to_direct(tmp_path, env):
    """DS-FALL: direct also needs allow_unsafe, and its check is the strict one."""
    jar = lone_jar(f"unix://{tmp_path}/none.sock", tmp_path)
    refused = jar.run("print(1)", env=env)
    assert not refused["success"] and "allow_unsafe" in refused["error"]
    env = {**env, "BELLJAR_ALLOW_UNSAFE": "true"}
    result = jar.run("print(1)", env=env)
    assert result["success"] and result["meta"]["runtime"] == "direct"
    blocked = jar.run("import os\nprint(os.getcwd())", env=env)
    assert blocked["cause"] == "rejected" and blocked["meta"]["blocked_imports"] == ["os"]


def test_fallback_setting_is_checked(tmp_path):
    """CFG: a backend that cannot be fallen back to is refused with what is allowed."""
    jar = lone_jar("unix:///x", tmp_path)
    result = jar.run("print(1)", env={"BELLJAR_FALLBACK": "docker"})
    assert result["status"] == 125 and "native or direct" in result["error"]


def test_unreadable_socket(engine, tmp_path):
    """SX-DOCKER: an engine one may not use is told apart from one that is not there."""
    if os.geteuid() != 0:
        pytest.skip("becoming somebody else takes root")
    jar = Jar(engine, tmp_path)
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                           BELLJAR, "run", "--language", "python", "-"], input="print(1)",
                          env={**jar.env, "HOME": "/nonexistent", "BELLJAR_STATE_DIR": "/none",
                               "BELLJAR_RECORD_ENABLED": "false"},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 125
    assert "may not use the Docker engine" in done.stderr, done.stderr
