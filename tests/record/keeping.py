# SPDX-License-Identifier: Apache-2.0
"""A private state directory, with the program and services that use it."""
import json
import os
import pathlib
import sqlite3
import subprocess

from serving import BELLJAR, Service

AGENT = {"Belljar-Agent": "tester"}


class Place:
    def __init__(self, top):
        self.state = top / "state"
        self.top = top
        self.env = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", "BELLJAR_STATE_DIR": str(self.state),
                    "USER": "root"}
        self.services = []

    def serve(self, config="", **env):
        """A service on this state directory, ready."""
        it = Service(config="log_level: info\nserve: {grace: 1s}\n" + config, env={**self.env, **env})
        self.services.append(it)
        return it.ready()

    def stop(self):
        for service in self.services:
            service.stop()

    def cli(self, *args, stdin="", env=None, timeout=60):
        return subprocess.run([BELLJAR, *map(str, args)], input=stdin, capture_output=True, text=True,
                              timeout=timeout, env={**self.env, **(env or {})})

    def script(self, text, name="s.py"):
        path = self.top / name
        path.write_text(text)
        return path

    def run(self, text, *args, name="s.py", env=None):
        """`belljar run` without a service; what it printed and its result."""
        return self.cli("run", "--no-service", *args, self.script(text, name), env=env)

    def json(self, text, *args, **kw):
        return json.loads(self.run(text, "--json", *args, **kw).stdout)

    def history(self, *args, env=None):
        done = self.cli("history", "--json", *args, env=env)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def show(self, run, env=None):
        done = self.cli("show", "--json", run, env=env)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def database(self):
        """The database, with what the journal holds brought in."""
        self.history("--limit", "1")
        return sqlite3.connect(self.state / "records/belljar.db", timeout=10)

    def folders(self):
        """The folders of artifacts, also while they are being removed."""
        top = self.state / "artifacts/executions"
        return sorted(top.iterdir()) if top.exists() else []

    def artifacts(self):
        """{folder: {name: bytes}} of what is kept."""
        found = {}
        for folder in self.folders():
            found[folder.name] = {str(p.relative_to(folder)): p.read_bytes()
                                  for p in folder.rglob("*") if p.is_file()}
        return found

    def all_bytes(self):
        """Every byte under the state directory, by file."""
        return {p: p.read_bytes() for p in self.state.rglob("*") if p.is_file()}


def user_exists(name):
    return any(line.startswith(name + ":") for line in pathlib.Path("/etc/passwd").read_text().splitlines())


def as_root():
    return os.geteuid() == 0
