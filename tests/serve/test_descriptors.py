# SPDX-License-Identifier: Apache-2.0
"""A front without free descriptors: it says "later", and serves again once there are some. DS-PAR."""
import os
import socket
import subprocess

import pytest

from test_hostile import front

ORDER = {"script": "echo hi", "language": "bash"}
WAYS = {
    "plain": ("POST", "/v1/executions", ORDER, {}),
    "with input": ("POST", "/v1/executions", {**ORDER, "stdin": "x"}, {}),
    "aside": ("POST", "/v1/executions", ORDER, {"Prefer": "respond-async"}),
    "check": ("POST", "/v1/check", {"script": "print(1)", "language": "python"}, {}),
    "tool": ("POST", "/v1/tools/run_python_code", {"code": "print(1)"}, {}),
    "tool that checks": ("POST", "/v1/tools/check_script", {"script_content": "print(1)", "script_type": "python"}, {}),
    "history": ("GET", "/v1/history", None, {}),
}


class Descriptors:
    """The limit on the descriptors of a process, as a user of its own may set it."""

    def __init__(self, pid):
        self.pid = pid
        self.most = self.call("--output=SOFT", "--noheadings", "--nofile").strip()

    def call(self, *args):
        ids = {line.split()[0]: int(line.split()[1]) for line in open(f"/proc/{self.pid}/status") if line[1:3] == "id"}
        return subprocess.run(["prlimit", f"--pid={self.pid}", *args], check=True, capture_output=True, text=True,
                              user=ids["Uid:"], group=ids["Gid:"], extra_groups=[]).stdout

    def leave(self, n):
        """@n more than it has now."""
        used = {int(fd) for fd in os.listdir(f"/proc/{self.pid}/fd")}
        free = [fd for fd in range(max(used) + n + 2) if fd not in used]
        self.call(f"--nofile={free[n]}:")

    def leave_none(self):
        """Not even in the place of one that is closed meanwhile."""
        self.call("--nofile=0:")

    def restore(self):
        self.call(f"--nofile={self.most}:")


@pytest.mark.parametrize("way", WAYS)
def test_no_descriptors_left(serve, way):
    """However many are missing: 503 with problem details and a time, never 500; then runs again."""
    it = serve().ready()
    descriptors = Descriptors(front(it))
    conn = it.connect()
    it.ask("POST", "/v1/check", ORDER, connection=conn)  # this connection is watched from here on
    method, path, body, headers = WAYS[way]
    seen = set()
    for n in range(25):
        descriptors.leave(n)
        answer = it.ask(method, path, body, headers, conn)
        descriptors.restore()
        seen.add(answer.status)
        assert answer.status in (200, 202, 503), (n, answer.status, answer.body)
        if answer.status == 503:
            assert answer.json["type"] == "urn:belljar:problem:unavailable", answer.body
            assert int(answer.headers["Retry-After"]) > 0
        elif way == "aside":
            ended = it.ended(answer.json["id"])
            assert ended["cause"] in ("exited", "infrastructure"), (n, ended)
        assert it.run("echo again", "bash").json["stdout"] == "again\n", n
    assert 503 in seen or way == "history"
    assert max(seen - {503}) in (200, 202)
    assert front(it) == descriptors.pid
    conn.close()


def test_a_stream_without_descriptors_ends_with_the_problem(serve):
    """The status was sent already: the last event says it."""
    it = serve().ready()
    descriptors = Descriptors(front(it))
    ends = []
    for n in range(6, 25):
        descriptors.leave(n)
        ends.append(list(it.events("/v1/executions", "POST", ORDER, {"Accept": "text/event-stream"}))[-1])
        descriptors.restore()
    problems = [data for name, data in ends if name == "problem"]
    assert problems and {p["status"] for p in problems} == {503}
    assert ends[-1][0] == "result"


def test_new_connections_are_taken_again(serve):
    """Who could not be let in is, once there is room, though nobody of those who are in leaves."""
    it = serve().ready()
    descriptors = Descriptors(front(it))
    watcher = it.events("/v1/events")
    next(watcher)
    descriptors.leave_none()
    with socket.socket(socket.AF_UNIX) as waiting:
        waiting.settimeout(20)
        waiting.connect(it.socket)
        waiting.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        with pytest.raises(TimeoutError):
            waiting.settimeout(0.5)
            waiting.recv(1)
        descriptors.restore()
        waiting.settimeout(15)
        assert waiting.recv(100).startswith(b"HTTP/1.1 200 ")
    assert it.run("echo again", "bash").json["stdout"] == "again\n"
    watcher.close()
