# SPDX-License-Identifier: Apache-2.0
"""Starts the binary under test and takes down all that it says and does."""
import os
import selectors
import signal
import subprocess
import time
from pathlib import Path

from harness import proc, record

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("BELLJAR", ROOT / "build/src/belljar")).resolve()
FULL = os.environ.get("BELLJAR_FULL") == "1"
# What the binary may see of the environment of the tests.
BASE_ENV = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8"}
PASSED_ON = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "LLVM_PROFILE_FILE", "GCOV_PREFIX",
             "GCOV_PREFIX_STRIP", "GCOV_ERROR_FILE")


def environment(**extra):
    env = dict(BASE_ENV)
    env.update({k: os.environ[k] for k in PASSED_ON if k in os.environ})
    env.update(extra)
    return env


def faulty():
    """A build that can leave out a layer, or None."""
    for path in (os.environ.get("BELLJAR_FAULTY"), BINARY, ROOT / "build-test/src/belljar"):
        if path and Path(path).exists() and b"BELLJAR_FAULT" in Path(path).read_bytes():
            return Path(path).resolve()
    return None


def sanitized(binary):
    """Sanitizers make memory figures meaningless."""
    return b"__asan_init" in Path(binary).read_bytes()


def counted(binary):
    """A coverage build: not optimised, and every page of counters that a run touches stays. How fast it is and
    how much it holds says nothing of the program."""
    return b"__gcov_dump" in Path(binary).read_bytes()


class Done:
    """How one call of the binary ended."""

    def __init__(self, status, out, err, seconds, peak_kib):
        self.status = status  # as a shell would say: 128+N for a signal
        self.out = out
        self.err = err
        self.seconds = seconds
        self.peak_kib = peak_kib  # the largest belljar process
        self._record = None

    @property
    def record(self):
        if self._record is None:
            self._record = record.parse(self.out)
        return self._record

    @property
    def records(self):
        return [record.parse(line + b"\n") for line in self.out.splitlines()]

    def __repr__(self):
        try:
            r = self.record
            said = (f"cause {r['cause']} exit {r['exit_code']} signal {r['signal']} "
                    f"error {r['error']!r} stdout {r['stdout'][-1500:]!r} "
                    f"stderr {r['stderr'][-1500:]!r}")
        except (AssertionError, ValueError):
            said = f"out {self.out[-1500:]!r}"
        return f"<status {self.status} {said} err {self.err[-500:]!r}>"


class Started:
    """A call of the binary that is under way."""

    def __init__(self, argv, env, cwd=None, stdin=subprocess.DEVNULL, enter=None,
                 stdout=subprocess.PIPE, stderr=subprocess.PIPE):
        self.begun = time.monotonic()
        self.argv = [str(a) for a in argv]
        self.popen = subprocess.Popen(self.argv, env=env, cwd=cwd, stdin=stdin, stdout=stdout,
                                      stderr=stderr, preexec_fn=enter, bufsize=0)
        self.pid = self.popen.pid
        self.chunks = {"out": [], "err": []}
        self.peak = 0

    def roles(self):
        """Every process of this call that runs the binary itself."""
        binary = proc.exe(self.pid)
        return [self.pid] + [p for p in proc.descendants(self.pid) if proc.exe(p) == binary]

    def launcher(self):
        """The process that makes jars: pid 1 of its own pid namespace."""
        for pid in self.roles():
            for line in proc.read(f"/proc/{pid}/status").splitlines():
                if line.startswith(b"NSpid:") and line.split()[-1] == b"1":
                    return pid
        return None

    def _sample(self):
        for pid in self.roles():
            self.peak = max(self.peak, proc.status_kib(pid, "VmHWM"))

    def read_line(self, timeout=10.0):
        """The next line of stdout, for scripts that say when they are ready."""
        line = b""
        end = time.monotonic() + timeout
        fd = self.popen.stdout.fileno()
        with selectors.DefaultSelector() as sel:
            sel.register(fd, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not sel.select(max(0.0, end - time.monotonic())):
                    raise TimeoutError(f"no line within {timeout} s, only {line!r}")
                byte = os.read(fd, 1)
                if not byte:
                    break
                line += byte
        self.chunks["out"].append(line)
        return line

    def finish(self, timeout=60.0):
        """Read until both streams end, then collect the exit status."""
        end = self.begun + timeout
        with selectors.DefaultSelector() as sel:
            for name, stream in (("out", self.popen.stdout), ("err", self.popen.stderr)):
                if stream:
                    sel.register(stream, selectors.EVENT_READ, name)
            ticks = 0
            while sel.get_map():
                if time.monotonic() > end:
                    self.kill()
                    raise TimeoutError(f"{self.argv} ran over {timeout} s")
                if ticks % 8 == 0:
                    self._sample()
                ticks += 1
                for key, _ in sel.select(0.05):
                    data = os.read(key.fd, 1 << 16)
                    if data:
                        self.chunks[key.data].append(data)
                    else:
                        sel.unregister(key.fileobj)
        try:
            code = self.popen.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.kill()
            raise TimeoutError(f"{self.argv} closed its streams but did not end") from None
        return Done(code if code >= 0 else 128 - code, b"".join(self.chunks["out"]),
                    b"".join(self.chunks["err"]), time.monotonic() - self.begun, self.peak)

    def signal(self, number):
        self.popen.send_signal(number)

    def kill(self):
        self.popen.send_signal(signal.SIGKILL)
        self.popen.wait()
        for stream in (self.popen.stdout, self.popen.stderr):
            if stream:
                stream.close()
