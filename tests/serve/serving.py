# SPDX-License-Identifier: Apache-2.0
"""A service of the tests' own: started, asked over its socket, stopped by its pid."""
import http.client
import json
import os
import pathlib
import secrets
import signal
import socket
import subprocess
import tempfile
import time

import pytest

import contract

TOP = pathlib.Path(__file__).resolve().parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))


def wait_until(what, seconds=30):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "not within the time"
        time.sleep(0.01)


def born(pid):
    """When @pid was, in ticks since the machine started; one that is gone comes first."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (FileNotFoundError, ProcessLookupError):
        return 0


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=60):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)


def private_env(folder, **more):
    """What a program of these tests gets to see: nothing of the machine's, and records of its own."""
    return {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", "BELLJAR_STATE_DIR": f"{folder}/state", **more}


SCRATCH = tempfile.TemporaryDirectory(prefix="bj-serve-")
ENV = private_env(SCRATCH.name)  # for the programs that run beside a service


class Service:
    """`belljar serve` on a random socket, with a state directory of its own; ready when its
    NOTIFY_SOCKET says so. A mode of harness.modes says who runs it; root if there is none."""

    def __init__(self, *args, config=None, env=None, mode=None):
        self.folder = tempfile.TemporaryDirectory(prefix="bj-serve-")
        self.socket = f"{self.folder.name}/{secrets.token_hex(4)}.sock"
        self.config = f"{self.folder.name}/config.yaml"
        self.notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notes.bind(f"{self.folder.name}/notify")
        self.notes.settimeout(0.2)
        pathlib.Path(self.config).write_text(config or "log_level: info\n")
        self.log = open(f"{self.folder.name}/log", "w+")
        self.env = private_env(self.folder.name)
        if "state_dir:" in (config or ""):
            del self.env["BELLJAR_STATE_DIR"]  # the test has one for it
        self.env.update(env or {})
        user = mode.user if mode else None
        for path in [self.folder.name, f"{self.folder.name}/notify", self.config] if user else []:
            os.chown(path, user.uid, user.gid)
        self.process = subprocess.Popen(
            [mode.binary if mode else BELLJAR, "serve", "--socket", self.socket, "--config", self.config, *args],
            env={**self.env, **(mode.settings() if mode else {}), "NOTIFY_SOCKET": f"{self.folder.name}/notify"},
            cwd="/" if user else None, preexec_fn=user.become(mode.delegated) if user else None,
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def wait_note(self, word, seconds=20):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                note = self.notes.recv(4096).decode()
            except TimeoutError:
                if self.process.poll() is None:
                    continue
                break  # it says nothing more
            if word in note.split("\n"):
                return note
        raise TimeoutError(f"no {word}: {self.said()}")

    def ready(self):
        try:
            self.wait_note("READY=1")
        except TimeoutError:
            pytest.fail("not ready: " + self.said())
        return self

    def said(self):
        return pathlib.Path(f"{self.folder.name}/log").read_text()

    def connect(self, timeout=60):
        return UnixConnection(self.socket, timeout)

    def ask(self, method, path, body=None, headers=None, connection=None):
        conn = connection or self.connect()
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        head = dict(headers or {})
        if body is not None:
            head.setdefault("Content-Type", "application/json")
        conn.request(method, path, body=body, headers=head)
        answer = Answer(conn.getresponse())
        contract.check_answer(method, path, answer.status, answer.headers["Content-Type"], answer.body)
        if not connection:
            conn.close()
        return answer

    def run(self, script, language="python", **fields):
        headers = fields.pop("headers", None)
        return self.ask("POST", "/v1/executions",
                        {"script": script, "language": language, **fields}, headers)

    def events(self, path, method="GET", body=None, headers=None):
        """(name, data) of every event, as they come."""
        conn = self.connect()
        conn.request(method, path, body=None if body is None else json.dumps(body),
                     headers={"Content-Type": "application/json", **(headers or {})})
        response = conn.getresponse()
        assert response.status == 200, response.read()
        assert response.headers["Content-Type"] == "text/event-stream"
        name = None
        for line in response:
            line = line.decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data = json.loads(line[6:])
                contract.check_event(name, data)
                yield name, data
        conn.close()

    def start(self, script, language="bash", **fields):
        """An async run; its id."""
        answer = self.run(script, language, headers={"Prefer": "respond-async"}, **fields)
        assert answer.status == 202
        return answer.json["id"]

    def wait_state(self, run, *states):
        for name, data in self.events(f"/v1/executions/{run}/events"):
            if name == "state" and data["state"] in states:
                return
        pytest.fail(f"{run} never was {states}")

    def ended(self, run):
        """The run once it has ended."""
        list(self.events(f"/v1/executions/{run}/events"))
        return self.ask("GET", f"/v1/executions/{run}").json

    def metrics(self):
        text = self.ask("GET", "/metrics").body.decode()
        rows = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in rows}

    def processes(self):
        """(front, starter): the two children of the keeper, in the order in which they were born. That is not
        always the order of their pids, which begin anew after the last one."""
        out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)],
                             capture_output=True, text=True, check=False).stdout  # for a moment there may be none
        return sorted(map(int, out.split()), key=lambda pid: (born(pid), pid))

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.notes.close()
        self.log.close()
        self.folder.cleanup()
        return self.process.returncode
