# SPDX-License-Identifier: Apache-2.0
"""A Docker engine of our own: Debian's dockerd on its own socket, data root and exec root, ended by
its pid. Nothing on the machine is touched but what stands below one temporary directory."""
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("docker", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self.path)


def wait_until(check, seconds, what):
    """Wait for a state that no event tells of."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what}")


class Engine:
    """An engine that listens on a Unix socket; what the tests ask it directly."""

    def __init__(self, sock):
        self.sock = str(sock)
        self.url = f"unix://{sock}"

    def request(self, method, path, body=None):
        connection = UnixConnection(self.sock)
        with contextlib.closing(connection):
            data = None if body is None else json.dumps(body)
            connection.request(method, f"/v1.41{path}", data, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
        kind = answer.headers.get("Content-Type", "")
        return answer.status, json.loads(text) if "json" in kind and text else text

    def get(self, path):
        status, answer = self.request("GET", path)
        assert status == 200, (path, status, answer)
        return answer

    def up(self):
        try:
            return self.request("GET", "/info")[0] == 200
        except OSError:
            return False

    def events(self, since):
        """The events from @since until now, as the engine wrote them."""
        connection = UnixConnection(self.sock)
        with contextlib.closing(connection):
            connection.request("GET", f"/v1.41/events?since={since:.9f}&until={time.time():.9f}")
            return connection.getresponse().read()

    def containers(self):
        return [c["Names"][0].lstrip("/") for c in self.get("/containers/json?all=1")]

    def volumes(self):
        return [v["Name"] for v in self.get("/volumes")["Volumes"] or []]

    def leftovers(self):
        """Containers and volumes; the networks are the engine's own three at most."""
        extra = [n["Name"] for n in self.get("/networks")
                 if n["Name"] not in ("none", "host", "bridge")]
        return self.containers() + self.volumes() + extra


def make_certificates(folder):
    """An authority, and a key of it for the engine and one for us, with openssl."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    folder.mkdir()
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", "ca-key.pem", "-out", "ca.pem", "-subj", "/CN=ca", "-days", "2")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for name in "server", "client":
        key = "key.pem" if name == "client" else "server-key.pem"
        cert = "cert.pem" if name == "client" else "server-cert.pem"
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", key, "-out", f"{name}.csr", "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca-key.pem",
                "-CAcreateserial", "-out", cert, "-days", "2", "-extfile", "names")


class Proxy(threading.Thread):
    """Stands between belljar and an engine, and can cut all connections at once."""

    def __init__(self, path, target):
        super().__init__(daemon=True)
        self.url = f"unix://{path}"
        self.target = target
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(64)
        self.open = []
        self.passed = []
        self.start()

    def run(self):
        while True:
            try:
                ours, _ = self.listener.accept()
            except OSError:
                return
            theirs = socket.socket(socket.AF_UNIX)
            theirs.connect(self.target)
            self.open += [ours, theirs]
            for a, b in ((ours, theirs), (theirs, ours)):
                threading.Thread(target=self.copy, args=(a, b), daemon=True).start()

    def copy(self, source, to):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                to.sendall(data)
                self.passed.append(data)
            to.shutdown(socket.SHUT_WR)

    def has_passed(self, data):
        return data in b"".join(self.passed)

    def cut(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for sock in self.open:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


class Daemon(Engine):
    """dockerd in a directory."""

    def __init__(self, folder, *flags):
        self.folder = pathlib.Path(folder)
        super().__init__(self.folder / "docker.sock")
        self.log = self.folder / "dockerd.log"
        self.flags = flags
        self.process = None

    def start(self):
        command = [shutil.which("dockerd", path="/usr/sbin:/usr/bin:/sbin:/bin"),
                   "-H", self.url, "--data-root", str(self.folder / "data"),
                   "--exec-root", str(self.folder / "exec"),
                   "--pidfile", str(self.folder / "docker.pid"),
                   "--bridge=none", "--iptables=false", "--ip6tables=false", *self.flags]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log,
                                            start_new_session=True)
        wait_until(lambda: self.process.poll() is not None or self.up(), 60, "dockerd is up")
        assert self.process.poll() is None, self.log.read_text()[-2000:]

    def stop(self, sig=signal.SIGTERM):
        if self.process:
            self.process.send_signal(sig)
            self.process.wait(60)
        self.process = None

    def remove(self):
        """Its containerd ends with it; mounts below the directory are undone before it goes."""
        self.stop()
        remove_tree(self.folder)


    def abandon(self):
        """Remove it when dockerd was killed: what it left running names the directory."""
        self.stop()
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if str(self.folder).encode() in path.read_bytes():
                    os.kill(int(path.parent.name), signal.SIGKILL)
        remove_tree(self.folder)


def remove_tree(folder):
    """Undo the mounts below a directory of an engine, then remove it."""
    mounts = [line.split()[1] for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    for mount in sorted((m for m in mounts if m.startswith(str(folder))), reverse=True):
        subprocess.run(["umount", "-l", mount], check=False)
    shutil.rmtree(folder, ignore_errors=True)


def process_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    return state != "Z"
