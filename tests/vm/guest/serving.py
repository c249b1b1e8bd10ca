# SPDX-License-Identifier: Apache-2.0
"""A `belljar serve` inside a machine, asked over its socket. Every wait ends with an event or a generous
deadline: the processors here are emulated."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

SECONDS = 60
SETTINGS = """\
log_level: info
warm: {slots: 2, heavy_slots: 0, bash_slots: 2, jars: 1, max: 2, preload: json}
check: {policy: off}
"""


def wait_until(what, told, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, f"not within {seconds} s: {told()}"
        time.sleep(0.05)


def children(pid):
    """Those of a process that is gone are none."""
    try:
        return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def below(pid):
    return [p for child in children(pid) for p in (child, *below(child))]


class Service:
    """Started by @command (the words before the program's) and, in the child, @enter; its files belong to @uid."""

    def __init__(self, belljar, env, command=(), enter=None, uid=0):
        self.folder = tempfile.mkdtemp(prefix="serve-", dir="/tmp")
        os.chmod(self.folder, 0o755)
        os.chown(self.folder, uid, uid)
        self.socket = f"{self.folder}/socket"
        config = pathlib.Path(self.folder, "config.yaml")
        config.write_text(SETTINGS)
        words = [f"{name}={value}" for name, value in
                 {**env, "BELLJAR_STATE_DIR": f"{self.folder}/state"}.items()]
        with open(f"{self.folder}/log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*command, "/usr/bin/env", *words, belljar, "serve", "--socket", self.socket, "--config", config],
                env=env, preexec_fn=enter, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self.answers, self.said)

    def said(self):
        return pathlib.Path(self.folder, "log").read_text(encoding="utf-8", errors="replace")[-600:]

    def answers(self):
        assert self.process.poll() is None, self.said()
        try:
            return self.ask("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def ask(self, method, path, body=None, head=""):
        """(status, what came): JSON where it is."""
        data = b"" if body is None else json.dumps(body).encode()
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(SECONDS)
            sock.connect(self.socket)
            sock.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}"
                         f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
            raw = b"".join(iter(lambda: sock.recv(65536), b""))
        top, _, rest = raw.partition(b"\r\n\r\n")
        if not top:
            raise ConnectionError("no answer")
        text = rest.decode()
        return int(top.split()[1]), json.loads(text) if text.startswith("{") else text

    def run(self, language, script, failures=(), **limits):
        """The result, of an interpreter that waited: right after a start there may be none yet. Meanwhile it may
        answer with @failures."""
        end = time.monotonic() + SECONDS
        while True:
            status, result = self.ask("POST", "/v1/executions", {"script": script, "language": language, **limits})
            assert status == 200 or status in failures, (status, result)
            if status == 200 and result["meta"]["warm"]:
                return result
            assert time.monotonic() < end, f"no interpreter waits: {result} {self.said()}"
            time.sleep(0.2)

    def start(self, language, script):
        """The id of a run that nobody waits for."""
        status, run = self.ask("POST", "/v1/executions", {"script": script, "language": language},
                               "Prefer: respond-async\r\n")
        assert status == 202, (status, run)
        return run["id"]

    def find(self, name):
        """The pid of one part, or None. Launcher, nursery and zygotes share a pid namespace; jars have their own."""
        for pid in below(self.process.pid):
            try:
                inside = next(line for line in open(f"/proc/{pid}/status", encoding="utf-8")
                              if line.startswith("NSpid:")).split()[1:]
                comm = pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            except (FileNotFoundError, ProcessLookupError, StopIteration):
                continue
            parts = {"launcher": inside[-1] == "1", "nursery": comm == "jar-nursery", "zygote": b"zygote.so" in line}
            if len(inside) == 2 and parts[name]:
                return pid
        return None

    def kill(self, name):
        """Kill one part and wait for another one in its place."""
        wait_until(lambda: self.find(name), self.said)
        first = self.find(name)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: self.find(name) not in (None, first), self.said)

    def end(self):
        """As a service manager ends it. The exit status."""
        for pid in (self.process.pid, *children(self.process.pid)):
            if os.readlink(f"/proc/{pid}/exe").endswith("/belljar"):
                os.kill(pid, signal.SIGTERM)
                break
        try:
            return self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
