# SPDX-License-Identifier: Apache-2.0
"""The program under test, driven against an engine."""
import contextlib
import json
import os
import pathlib
import pty
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))
if not os.environ.get("BELLJAR") and (TOP / "build-test/src/belljar").exists():
    BELLJAR = str(TOP / "build-test/src/belljar")
IMAGES = {"python": "belljar/python:3.11", "bash": "belljar/bash:5.2"}


class Jar:
    """Runs belljar against an engine, with a state directory of its own."""

    def __init__(self, engine, folder):
        self.engine = engine
        self.folder = folder
        self.state = folder / "state"
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("BELLJAR_", "DOCKER_", "SANDBOX_"))}
        self.env |= {"DOCKER_HOST": engine.url, "BELLJAR_BACKEND": "docker",
                     "BELLJAR_STATE_DIR": str(self.state),
                     "BELLJAR_DOCKER_PYTHON_IMAGE": IMAGES["python"],
                     "BELLJAR_DOCKER_BASH_IMAGE": IMAGES["bash"]}

    def script(self, text, language="python"):
        path = self.folder / f"script{'.py' if language == 'python' else '.sh'}"
        path.write_text(text)
        return str(path)

    def command(self, text, *flags, language="python"):
        return [BELLJAR, "run", *flags, self.script(text, language)]

    def start(self, text, *flags, language="python", env=None, **popen):
        return subprocess.Popen(self.command(text, *flags, language=language),
                                env={**self.env, **(env or {})}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **popen)

    def run(self, text, *flags, language="python", env=None, **kwargs):
        """The result object, with the exit status as `status`."""
        done = subprocess.run(self.command(text, "--json", *flags, language=language),
                              env={**self.env, **(env or {})}, capture_output=True, timeout=100,
                              check=False, **kwargs)
        assert done.stdout, done.stderr
        result = json.loads(done.stdout)
        result["status"] = done.returncode
        result["log"] = done.stderr.decode()
        return result

    def kept(self):
        """What is on record of the newest run."""
        def belljar(*words):
            return subprocess.run([BELLJAR, *words, "--json"], env=self.env, capture_output=True, text=True,
                                  timeout=60, check=True).stdout

        return belljar("show", json.loads(belljar("history", "--limit", "1"))["id"])

    def gc(self):
        """How many containers a sweep removed. Its own count has what jars of others on the machine left, too."""
        before = self.engine.containers()
        done = subprocess.run([BELLJAR, "gc", "--json"], env=self.env, capture_output=True,
                              text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["removed"] >= 0
        return len(set(before) - set(self.engine.containers()))


def on_terminal(command, env):
    """Exit status and what a person sees: a terminal is all its standard streams."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, env=env, stdout=theirs, stderr=theirs, stdin=theirs) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while data := os.read(ours, 4096):
                seen += data
        status = process.wait(60)
    os.close(ours)
    return status, seen.decode()
