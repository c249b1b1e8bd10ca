# SPDX-License-Identifier: Apache-2.0
"""Who may come in, and what hostile clients cannot do: TOOL, SCRP-05."""
import http.client
import json
import os
import pathlib
import pwd
import re
import socket
import subprocess
import threading
import time

import pytest

from harness.ports import free_port
from harness.raw import exchange
from serving import BELLJAR, ENV, TOP

KEY = "a-key-that-is-long-enough"


def raw(service, data, timeout=10):
    """What comes back for bytes as they are, until the service hangs up."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(timeout)
        sock.connect(service.socket)
        return exchange(sock, data)


def status_of(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


# --- rights ----------------------------------------------------------------------------------


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_the_front_has_no_rights(service):
    """SCRP-05: the process that reads requests is nobody, for good."""
    front = service.processes()[0]
    status = status_of(front)
    nobody = pwd.getpwnam("nobody")
    assert set(status["Uid"].split()) == {str(nobody.pw_uid)}
    assert set(status["Gid"].split()) == {str(nobody.pw_gid)}
    assert status["Groups"].strip() == ""
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[kind], 16) == 0, kind
    assert status["NoNewPrivs"].strip() == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has nothing to lose")
def test_the_launcher_has_seven_capabilities_of_its_own_namespace(service):
    """Those of `belljar run` and one more: it enters the mount namespaces that jars are copies of."""
    starter = service.processes()[1]
    launcher = pathlib.Path(f"/proc/{starter}/task/{starter}/children").read_text().split()[0]
    status = status_of(launcher)
    for kind in ("CapPrm", "CapEff", "CapBnd"):
        assert bin(int(status[kind], 16)).count("1") == 7, kind
    assert int(status["CapPrm"], 16) & 1 << 18  # CAP_SYS_CHROOT
    assert os.stat(f"/proc/{launcher}/ns/user").st_ino != os.stat("/proc/self/ns/user").st_ino


def test_the_keeper_has_one_thread(service):
    """No request reaches a process with rights."""
    assert status_of(service.process.pid)["Threads"].strip() == "1"


def test_the_socket_is_private(service):
    assert os.stat(service.socket).st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_other_users_are_refused_by_the_service_itself(serve):
    """The mode of the socket is not the only wall: the kernel tells who the peer is."""
    it = serve().ready()
    os.chmod(it.folder.name, 0o755)
    os.chmod(it.socket, 0o666)
    code = ("import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n"
            "s.sendall(b'GET /readyz HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n')\n"
            "sys.stdout.buffer.write(s.makefile('rb').read())\n")
    done = subprocess.run(["/usr/bin/python3", "-c", code, it.socket], capture_output=True,
                          user="nobody", group="nogroup", extra_groups=[], timeout=20)
    assert b"403" in done.stdout.split(b"\r\n")[0]
    assert b"urn:belljar:problem:forbidden" in done.stdout


def test_no_other_verb_loads_the_http_library():
    """Start-up of `belljar run` stays at a millisecond."""
    needed = subprocess.run(["readelf", "-d", BELLJAR], capture_output=True, text=True, check=True)
    assert "microhttpd" not in needed.stdout
    assert "gnutls" not in needed.stdout


def test_the_start_asks_the_processor_nothing_and_loads_no_mathematics():
    """Indirect functions ask it before main(), which takes a virtual machine microseconds each time."""
    needed = subprocess.run(["readelf", "-dWr", BELLJAR], capture_output=True, text=True, check=True).stdout
    assert "libc.so" in needed
    assert "libm.so" not in needed
    assert "IRELATIV" not in needed


# --- TCP -------------------------------------------------------------------------------------


def test_tcp_without_a_key_is_refused(serve):
    """TENANT: no open door by mistake."""
    it = serve("--listen", f"127.0.0.1:{free_port()}")
    assert it.process.wait(20) == 125
    assert "API key" in it.said()


@pytest.mark.parametrize("port", ["65536", "99999", "-1", "", "http"])
def test_a_port_that_is_none_is_refused(serve, port):
    it = serve("--listen", f"127.0.0.1:{port}", env={"BELLJAR_SERVE_API_KEY": KEY})
    assert it.process.wait(20) == 125
    assert "65535" in it.said()


def test_a_file_without_a_key_is_named(serve, tmp_path):
    path = tmp_path / "key"
    path.write_text("")
    it = serve("--listen", f"127.0.0.1:{free_port()}", "--api-key-file", str(path))
    assert it.process.wait(20) == 125
    assert str(path) in it.said() and "16" in it.said()


@pytest.mark.parametrize("key", ["short", "with blank in the key"])
def test_a_weak_key_is_refused_and_not_shown(serve, key):
    it = serve("--listen", f"127.0.0.1:{free_port()}", env={"BELLJAR_SERVE_API_KEY": key})
    assert it.process.wait(20) == 125
    assert "serve.api_key" in it.said()
    assert key not in it.said()


def test_the_key_is_not_shown_by_config():
    done = subprocess.run([BELLJAR, "config", "--show"], capture_output=True, text=True, check=True,
                          env={**ENV, "BELLJAR_SERVE_API_KEY": KEY})
    assert KEY not in done.stdout
    assert "(hidden)" in done.stdout


@pytest.mark.parametrize("source", ["env", "file"])
def test_tcp_with_a_key(serve, tmp_path, source):
    """TENANT: wrong and missing keys are 401, over TCP only."""
    port = free_port()
    (tmp_path / "key").write_text(KEY + "\n")
    args = ["--api-key-file", str(tmp_path / "key")] if source == "file" else []
    env = {"BELLJAR_SERVE_API_KEY": KEY} if source == "env" else {}
    it = serve("--listen", f"127.0.0.1:{port}", *args, env=env).ready()

    def get(path, headers=None):
        conn = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        return it.ask("GET", path, headers=headers, connection=conn).status

    assert get("/healthz") == 200
    for path in ("/readyz", "/metrics", "/v1/executions", "/openapi.json"):
        assert get(path) == 401, path
    assert get("/readyz", {"Authorization": "Bearer " + KEY[:-1]}) == 401
    assert get("/readyz", {"Authorization": "Bearer " + KEY + "x"}) == 401
    assert get("/readyz", {"Authorization": KEY}) == 401
    assert get("/readyz", {"X-API-Key": ""}) == 401
    assert get("/readyz", {"Authorization": "Bearer " + KEY}) == 200
    assert get("/readyz", {"X-API-Key": KEY}) == 200
    assert it.ask("GET", "/readyz").status == 200
    # The umask of the tests lets everybody read the file.
    assert ("chmod o= it" in it.said()) == (source == "file")


# --- hostile clients -------------------------------------------------------------------------


def test_a_body_that_is_too_large_is_413(serve):
    it = serve(config="serve: {max_body: 64KiB}\n").ready()
    big = json.dumps({"script": "x" * 100000, "language": "bash"})
    conn = it.connect()
    try:
        answer = it.ask("POST", "/v1/executions", big, connection=conn)
        assert answer.status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # refused before the body was sent
    chunks = b"".join(b"4000\r\n" + b"x" * 0x4000 + b"\r\n" for _ in range(8)) + b"0\r\n\r\n"
    said = raw(it, b"POST /v1/executions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                   b"Transfer-Encoding: chunked\r\n\r\n" + chunks)
    assert b" 413 " in said.split(b"\r\n")[0]
    assert it.run("echo 1", "bash").status == 200


def order_of(size):
    return json.dumps({"script": "cat", "language": "bash", "stdin": "x" * size}).encode()


def test_large_requests_share_the_memory(serve):
    """DS-PAR: sixteen of the largest are held at once, be they on their way or in line. Small ones always fit."""
    it = serve(config="serve: {max_body: 1MiB, concurrency: 1}\n").ready()
    large = order_of((1 << 20) - 200)
    head = b"POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(large)
    socks = []
    for _ in range(40):
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(it.socket)
        sock.sendall(head + large[:-1])
        socks.append(sock)
    for sock in socks:
        sock.sendall(large[-1:])
    statuses = [sock.recv(12) for sock in socks]
    assert set(statuses) == {b"HTTP/1.1 200", b"HTTP/1.1 503"} and statuses.count(b"HTTP/1.1 200") >= 16
    for sock in socks:
        sock.close()

    first = it.start("sleep 60")
    it.wait_state(first, "running")
    asked = [it.ask("POST", "/v1/executions", large, {"Prefer": "respond-async"}) for _ in range(20)]
    taken = [answer.json["id"] for answer in asked if answer.status == 202]
    assert 16 <= len(taken) < 20 and all(a.headers["Retry-After"] for a in asked if a.status == 503)
    assert it.run("echo small", headers={"Prefer": "respond-async"}, language="bash").status == 202
    it.ask("DELETE", f"/v1/executions/{first}")
    for run in taken:
        assert it.ended(run)["cause"] == "exited"
    assert it.ask("POST", "/v1/executions", large).status == 200


@pytest.mark.parametrize("data", [
    b"\r\n\r\n", b"\x00" * 9, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\n" + b"A: " + b"b" * 100000 + b"\r\n\r\n",
    b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /v1/executions HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"POST /v1/executions HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /v1/executions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /v1/executions HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\n{}{}{}",
    b"GET /v1/executions/%00%2e%2e HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
], ids=range(11))
def test_malformed_requests_do_no_harm(serve, data):
    """A client that talks nonsense gets an error or a hang-up, and nobody else notices."""
    it = serve(config="serve: {request_timeout: 500ms}\n").ready()
    said = raw(it, data)
    assert said == b"" or re.match(rb"HTTP/1\.[01] [45]\d\d ", said), said[:200]
    assert it.ask("GET", "/readyz").status == 200


def test_slow_clients_are_hung_up_on(serve):
    """Neither a byte now and then nor silence holds a connection."""
    it = serve(config="serve: {request_timeout: 600ms}\n").ready()
    socks = []
    for start in (b"", b"GET /healthz HTTP/1.1\r\nX: ",
                  b"POST /v1/executions HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"):
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(it.socket)
        sock.sendall(start)
        socks.append(sock)
    begun = time.monotonic()
    open_ones = list(socks)
    while open_ones and time.monotonic() - begun < 20:
        for sock in list(open_ones):
            try:
                sock.sendall(b"x")
                sock.settimeout(0.05)
                if sock.recv(1000) == b"":
                    open_ones.remove(sock)
            except TimeoutError:
                pass
            except OSError:
                open_ones.remove(sock)
    assert not open_ones
    assert time.monotonic() - begun < 5
    assert it.run("sleep 1.5; echo long", "bash").json["stdout"] == "long\n"


def test_a_reader_that_stalls_is_hung_up_on(serve):
    """A stream that nobody reads does not hold its run."""
    it = serve(config="serve: {request_timeout: 600ms}\n").ready()
    body = json.dumps({"script": "while True: print('x' * 1000)", "language": "python"}).encode()
    sock = socket.socket(socket.AF_UNIX)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect(it.socket)
    sock.sendall(b"POST /v1/executions HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n"
                 b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    sock.recv(100)
    run = it.ask("GET", "/v1/executions").json["executions"][0]["id"]
    ended = it.ended(run)
    assert ended["cause"] in ("cancelled", "output")
    sock.close()


def test_many_clients_at_once(serve):
    """DS-PAR: every request is answered or refused properly, none hangs."""
    it = serve(config="serve: {concurrency: 4, queue: 20}\n").ready()
    statuses, lock = [], threading.Lock()

    def client():
        conn = it.connect(timeout=60)
        for _ in range(3):
            answer = it.ask("POST", "/v1/executions",
                            {"script": "echo hi", "language": "bash"}, connection=conn)
            assert answer.status == 429 or answer.json["stdout"] == "hi\n", answer.body
            with lock:
                statuses.append(answer.status)

    threads = [threading.Thread(target=client) for _ in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert len(statuses) == 180
    assert set(statuses) <= {200, 429}
    assert statuses.count(200) >= 60
    assert it.metrics()["belljar_runs_in_flight"] == 0


def test_files_of_the_tree_are_not_served(service):
    assert service.ask("GET", "/../../etc/passwd").status == 404
    assert TOP.exists()


def test_own_overhead_is_small(service):
    """A trivial answer takes far less than a run: keep-alive, no thread to wake but one."""
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(service.socket)
    times = []
    for _ in range(300):
        begun = time.perf_counter()
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        sock.recv(4096)
        times.append(time.perf_counter() - begun)
    sock.close()
    # The best tenth: other tests load the machine.
    assert sorted(times)[30] < 0.001


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/executions", "/nothing"])
def test_head_is_get_without_a_body(service, path):
    """Probes ask so."""
    answers = []
    for method in "GET", "HEAD":
        conn = service.connect()
        conn.request(method, path)
        answer = conn.getresponse()
        answers.append((answer.status, answer.headers["Content-Type"], answer.read()))
        conn.close()
    (status, kind, body), head = answers
    assert body and head == (status, kind, b"")


def test_nothing_of_a_stream_is_left_behind_its_head(service):
    """On a connection that goes on, it would be read as the next answer."""
    run = service.start("echo hi")
    service.ended(run)
    for path in f"/v1/executions/{run}/events", "/v1/events":
        said = raw(service, f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head, _, rest = said.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200") and (rest == b"" or b"\r\nConnection: close" in head)


def test_head_of_a_stream_ends(service):
    said = raw(service, b"HEAD /v1/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 200") and said.endswith(b"\r\n\r\n"), said
