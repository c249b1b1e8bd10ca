# SPDX-License-Identifier: Apache-2.0
"""Every layer is missed when it is gone: a test build leaves one out while it still claims it, and
the probe of that layer must notice. DS-SEC, DS-FS, SCRP-03, SCRP-04, SCRP-05."""
import os
import pathlib
import signal
import subprocess
import time

import pytest
from harness import proc, run

pytestmark = pytest.mark.usefixtures("clean")
FAULTY = run.faulty()


class Probe:
    """Runs scripts with one layer left out (or none) and says what came back."""

    def __init__(self, mode, place, fault):
        self.mode, self.place = mode, place
        self.env = {"BELLJAR_FAULT": fault} if fault else {}

    def script(self, text, suffix="py"):
        path = self.place / f"probe.{suffix}"
        path.write_text(text)
        return path

    def record(self, text, *flags, suffix="py"):
        return self.mode.json(*flags, self.script(text, suffix), binary=FAULTY,
                              env=self.env).record

    def says(self, text, *flags):
        """What a Python script printed."""
        r = self.record(text, *flags)
        return r["stdout"].strip() if r["cause"] == "exited" else r["cause"]

    def status(self, *fields):
        """Fields of /proc/self/status inside."""
        return self.says("s = dict(l.strip('\\n').split(':\\t', 1) for l in open('/proc/self/status') "
                         f"if ':\\t' in l)\nprint(*[s[f] for f in {fields!r}])\n").split()

    def outside(self, look):
        """What @look(script's pid, [pids of belljar's own]) says while a script runs."""
        started = self.mode.start("--policy", "off", self.script("echo up; sleep 30\n", "sh"),
                                  binary=FAULTY, env=self.env)
        try:
            if started.read_line(15) != b"up\n":
                return False
            # A pid namespace that is left out leaves the script below the launcher all the same. The jar's
            # init has belljar's name until it executes its own program.
            until = time.monotonic() + 10
            while "jar-init" not in {comm for comm, _ in proc.descendants(started.pid).values()}:
                if time.monotonic() > until:
                    return False
                time.sleep(0.01)
            everyone = proc.descendants(started.pid)
            inside = [p for p, (comm, _) in everyone.items() if comm == "bash"]
            own = [p for p, (comm, _) in everyone.items() if comm == "belljar"]
            return bool(inside) and look(inside[0], [*own, started.pid, os.getpid()])
        except TimeoutError:
            return False
        finally:
            started.signal(signal.SIGINT)
            started.finish(20)


def namespace(kind):
    """Whether the script and belljar have different namespaces of a kind."""
    def look(script, others):
        read = lambda pid: os.readlink(f"/proc/{pid}/ns/{kind}")
        return read(script) not in {read(p) for p in others}
    return lambda p: p.outside(look)


def uids(pid):
    """Of a process; none when it is gone: belljar's own helpers come and go."""
    lines = [l for l in proc.read(f"/proc/{pid}/status").splitlines() if l.startswith(b"Uid:")]
    return set(map(int, lines[0].split()[1:])) if lines else set()


def nobody(p):
    """The script's uid is nobody inside, and nobody else's outside."""
    def look(script, others):
        mine = uids(script)
        return mine and 0 not in mine and all(not mine & uids(o) for o in others)
    return p.outside(look) and p.says("import os\nprint(os.getresuid())") == "(65534, 65534, 65534)"


def inherited(p):
    """A descriptor that belljar's caller forgot to close does not reach the script."""
    r, w = os.pipe()
    os.dup2(w, 97)
    os.set_inheritable(97, True)
    path = p.script("import os\ntry:\n os.fstat(97)\n print('open')\nexcept OSError:\n print('closed')\n")
    popen = subprocess.run([FAULTY, "run", path], env=p.mode.env(**p.env), pass_fds=[97], cwd="/",
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
    for fd in (r, w, 97):
        os.close(fd)
    return popen.stdout == b"closed\n"


def tmpfs(p):
    out = p.says("""
import os
n = 0
try:
    for i in range(16):
        n += os.write(os.open(f'/tmp/{i}', os.O_CREAT | os.O_WRONLY), bytes(2 << 20))
except OSError:
    pass
print(n <= 8 << 20, bool(os.statvfs('/tmp').f_flag & os.ST_NOEXEC))
""", "--tmp-size", "8M")
    return out == "True True"


def landlock(p):
    return p.says("import errno\ntry:\n open('/proc/self/comm', 'w').write('x')\n print('wrote')\n"
                  "except OSError as e:\n print(errno.errorcode[e.errno])\n") == "EACCES"


def read_only(p):
    return p.says("import os\nprint(all(os.statvfs(d).f_flag & os.ST_RDONLY for d in "
                  "('/', '/usr', '/etc')))") == "True"


def sockets(pid):
    """What a process has that others could name: sockets with an address."""
    mine = {os.readlink(fd)[8:-1] for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir()
            if os.readlink(fd).startswith("socket:[")}
    lines = [line.split() for table in ("unix", "tcp", "udp", "raw", "packet")
             for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]]
    return [line for line in lines if mine & set(line) and (len(line) > 7 and line[-1].startswith(("/", "@"))
                                                            or ":" in line[1] and len(line) > 9)]


def network(p):
    """The launcher of one run is in its jar's network and has nothing there; nobody else of belljar is."""
    def apart(script, others):
        shared = [q for q in others if os.readlink(f"/proc/{q}/ns/net") == os.readlink(f"/proc/{script}/ns/net")]
        return len(shared) <= 1 and os.getpid() not in shared and not any(sockets(q) for q in shared)

    return p.outside(apart) and p.says("""
import socket
names = []
for i in range(1, 100):
    try:
        names.append(socket.if_indextoname(i))
    except OSError:
        pass
print(names)
""") == "['lo']"


def sysv(p):
    """An object of the host cannot be seen."""
    import ctypes
    libc = ctypes.CDLL(None)
    key = int.from_bytes(os.urandom(3), "big") + 1
    shmid = libc.shmget(key, 4096, 0o1666)
    try:
        return p.says(f"import ctypes\nprint(ctypes.CDLL(None).shmget({key}, 0, 0))") == "-1"
    finally:
        libc.shmctl(shmid, 0, None)


PROBES = {
    "user_namespace": namespace("user"),
    "pid_namespace": lambda p: namespace("pid")(p) and p.says(
        "print(open('/proc/1/comm').read())") == "jar-init",
    "mount_namespace": namespace("mnt"),
    "network_namespace": network,
    "ipc_namespace": sysv,
    "uts_namespace": lambda p: p.says("import os\nprint(os.uname().nodename)") == "belljar",
    "cgroup_namespace": namespace("cgroup"),
    "read_only_root": read_only,
    "private_proc": lambda p: p.says(
        "import os\nn = os.listdir('/proc')\nprint(len([x for x in n if x.isdigit()]) < 5 and "
        "'meminfo' not in n and 'sys' not in n)") == "True",
    "tmpfs_limits": tmpfs,
    "nobody": nobody,
    "capabilities": lambda p: p.status("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb") == [
        "0" * 16] * 5,
    "no_new_privs": lambda p: p.status("NoNewPrivs") == ["1"],
    # A new user namespace: the launcher's own filter, which the script inherits, has to allow it.
    "seccomp": lambda p: p.status("Seccomp") == ["2"] and p.says(
        "import ctypes\nc = ctypes.CDLL(None, use_errno=True)\nc.unshare(0x10000000)\n"
        "print(ctypes.get_errno())") in ("1", "38"),
    "landlock": landlock,
    "rlimits": lambda p: p.says("import resource as r\nprint(r.getrlimit(r.RLIMIT_CORE), "
                                "r.getrlimit(r.RLIMIT_NOFILE)[1] <= 4096)") == "(1, 1) True",
    "closed_fds": inherited,
    "session": lambda p: p.says("import os\nprint(os.getsid(0) == os.getpid())") == "True",
    "memory": lambda p: p.record("x = bytearray(100 << 20)", "--memory", "48M")["cause"] == "oom",
    "cpu": lambda p: cpu_share(p) < 0.2,
    "pids": lambda p: p.record("for i in {1..40}; do sleep 1 & done; wait\n", "--pids", "20",
                               suffix="sh")["cause"] == "pids",
}


def cpu_share(p):
    """With many spinners, so that a loaded machine gives them more than the limit."""
    r = p.record("for i in 1 2 3 4 5 6; do (while :; do :; done) & done; wait\n", "--cpus", "0.1",
                 "--timeout", "1", suffix="sh")
    return r["usage"]["cpu_ms"] / r["duration_ms"]


@pytest.fixture(scope="module", autouse=True)
def build():
    if not FAULTY:
        pytest.fail("no build with -Dfaults=true: run `make test` or set BELLJAR_FAULTY")


def test_every_layer_has_a_probe(root, place):
    """A layer that is added without a probe fails here."""
    path = place / "s.sh"
    path.write_text("true\n")
    layers = root.json(path, binary=FAULTY).record["meta"]["isolation"]["layers"]
    assert set(layers) == set(PROBES)
    assert all(layers.values()), layers


@pytest.mark.parametrize("layer", PROBES)
def test_layer_holds(layer, root, place):
    assert PROBES[layer](Probe(root, place, None)), f"{layer} does not hold"


@pytest.mark.parametrize("layer", PROBES)
def test_layer_is_missed(layer, root, place):
    """With the layer left out, its probe says so: one that breaks has noticed nothing."""
    assert not PROBES[layer](Probe(root, place, layer)), f"nothing notices that {layer} is gone"


# Without these the kernel refuses the steps that come after: no jar comes up.
FOUNDATIONS = {"user_namespace", "pid_namespace", "mount_namespace"}


@pytest.mark.parametrize("layer", PROBES)
def test_only_the_layer_is_gone(layer, root, place):
    """The script runs, so that a probe that fails has missed the layer and not the jar; or nothing
    runs, because all else stands on the layer."""
    r = Probe(root, place, layer).record("print('up')")
    if layer in FOUNDATIONS:
        assert r["cause"] == "infrastructure" and r["stdout"] == "", r
    else:
        assert r["cause"] == "exited" and r["stdout"] == "up\n", r


def test_normal_build_knows_no_faults(tmp_path):
    """The switch exists in test builds only: compiled as usual, the layers ask for no variable."""
    compiled = tmp_path / "layers.o"
    subprocess.run(["cc", "-c", "-Iinclude", "-Isrc", "-D_GNU_SOURCE", "src/jar/layers.c", "-o", compiled],
                   cwd=run.ROOT, check=True)
    assert b"BELLJAR_FAULT" not in compiled.read_bytes()
    assert b"BELLJAR_FAULT" in pathlib.Path(FAULTY).read_bytes()
