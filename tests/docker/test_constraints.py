# SPDX-License-Identifier: Apache-2.0
"""What a container is allowed, read from the engine and from the kernel while it lives."""
import json
import pathlib
import subprocess
import time

import pytest

from engine import wait_until

SLEEP = "import time\nprint('up', flush=True)\ntime.sleep(60)"


def inspect_live(jar, *flags, env=None):
    """The engine's description of a live container, and what the kernel says of its script."""
    process = jar.start(SLEEP, *flags, env=env)
    try:
        assert process.stdout.readline() == "up\n", process.stderr.read()
        [name] = jar.engine.containers()
        info = jar.engine.get(f"/containers/{name}/json")
        top = jar.engine.get(f"/containers/{name}/top?ps_args=-eo%20pid,args")
        pid = next(row[0] for row in top["Processes"] if "python3" in row[1])
        status = dict(line.split(":\t", 1)
                      for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
                      if ":\t" in line)
        return info, status
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture(params=["mount", "upload"])
def way(request):
    """How the script gets in."""
    return {"BELLJAR_DOCKER_MOUNT_SCRIPT": "true" if request.param == "mount" else "false"}


def test_every_constraint(jar, way):
    """SX-DOCKER SCRP-03 SCRP-04 SCRP-05 DS-FS DS-SEC: field by field, from a live container."""
    info, status = inspect_live(jar, "--memory", "128MiB", "--cpus", "0.5", "--pids", "50",
                                "--tmp-size", "8MiB", env=way)
    host, config = info["HostConfig"], info["Config"]
    wanted = {"NetworkMode": "none", "Memory": 128 << 20, "MemorySwap": 128 << 20,
              "MemorySwappiness": 0, "NanoCpus": 500000000, "PidsLimit": 50,
              "ReadonlyRootfs": True, "CapDrop": ["ALL"], "Privileged": False, "Init": True,
              "AutoRemove": False, "IpcMode": "private", "CgroupnsMode": "private",
              "ShmSize": 8 << 20}
    assert {key: host[key] for key in wanted} == wanted
    assert not host["CapAdd"] and not host["Binds"] and not host["Devices"]
    assert not host["PidMode"] and not host["UsernsMode"]
    assert host["LogConfig"]["Type"] == "none"
    assert {u["Name"]: u["Hard"] for u in host["Ulimits"]} == {"core": 0, "nofile": 1024,
                                                               "memlock": 65536}
    for path in "/tmp", "/work":
        options = host["Tmpfs"][path].split(",")
        assert {"noexec", "nosuid", "nodev", f"size={8 << 20}"} <= set(options)
    assert "no-new-privileges:true" in host["SecurityOpt"]
    [profile] = [o for o in host["SecurityOpt"] if o.startswith("seccomp=")]
    assert json.loads(profile.removeprefix("seccomp="))["defaultAction"] == "SCMP_ACT_ERRNO"
    assert config["User"] == "65534:65534"
    assert config["Labels"]["belljar.run"] and config["Labels"]["belljar.owner"]
    assert "time.sleep" not in json.dumps(info), "the script is not in the request"
    assert config["Image"] == "belljar/python:3.11" and config["NetworkDisabled"]
    assert config["Entrypoint"][:2] == ["/bin/sh", "-c"] and not config["Cmd"]
    assert (config["Tty"], config["OpenStdin"], config["StdinOnce"]) == (False, True, True)
    assert config["Healthcheck"] == {"Test": ["NONE"]} and not (config["Env"] or [])[1:]
    assert int(config["Labels"]["belljar.expires"]) > time.time()
    assert host["RestartPolicy"]["Name"] in ("", "no") and not host["PublishAllPorts"]
    assert not host["ExtraHosts"] and not host["VolumesFrom"] and not host["GroupAdd"]
    assert not info["NetworkSettings"]["Ports"] and set(info["NetworkSettings"]["Networks"]) <= {"none"}
    [mount] = info["Mounts"]
    assert mount["Destination"] == "/script"
    if way["BELLJAR_DOCKER_MOUNT_SCRIPT"] == "true":
        assert (mount["Type"], mount["RW"], mount["Propagation"]) == ("bind", False, "rprivate")
        assert mount["Source"].startswith("/dev/shm/belljar-")
    else:
        assert mount["Type"] == "volume"
        [volume] = host["Mounts"]
        assert "nosuid,nodev" in volume["VolumeOptions"]["DriverConfig"]["Options"]["o"]
    # The kernel agrees.
    assert status["Uid"].split() == ["65534"] * 4 and status["Gid"].split() == ["65534"] * 4
    assert all(int(status[f"Cap{kind}"], 16) == 0 for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"))
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"


def test_what_the_script_sees(jar, way):
    """SCRP-03 DS-FS SCRP-06: no network but loopback, nothing to write but two small tmpfs."""
    result = jar.run(
        "import os, socket\n"
        "print(sorted(os.listdir('/sys/class/net')))\n"
        "for path in '/x', '/etc/x', '/script/x', __file__:\n"
        "  try: open(path, 'w'); print('wrote', path)\n"
        "  except OSError as e: print(e.strerror)\n"
        "for path in '/tmp', '/work':\n"
        "  open(path + '/p', 'w').write('#!/bin/sh\\n'); os.chmod(path + '/p', 0o755)\n"
        "  try: os.execv(path + '/p', ['p'])\n"
        "  except PermissionError: print('noexec')\n"
        "  try: open(path + '/big', 'wb').write(bytes(9 << 20)); print('big')\n"
        "  except OSError as e: print(e.strerror)\n"
        "s = socket.socket(); s.settimeout(2)\n"
        "try: s.connect(('192.0.2.1', 80))\n"
        "except OSError as e: print(e.strerror)\n", "--trust", "--tmp-size", "8MiB", env=way)
    mounted = way["BELLJAR_DOCKER_MOUNT_SCRIPT"] == "true"
    assert result["stdout"].splitlines() == [
        "['lo']", *["Read-only file system"] * 2,
        *["Read-only file system" if mounted else "Permission denied"] * 2,
        *["noexec", "No space left on device"] * 2, "Network is unreachable"], result


# io_uring_setup with good parameters, a user namespace, and uname.
CALLS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(425, 1, ctypes.create_string_buffer(120)) >= 0)
print(libc.unshare(0x10000000) == 0)
try: os.uname(); print(0)
except OSError as e: print(e.errno)
"""


def test_seccomp_choices(jar, tmp_path):
    """DS-SEC: ours by default, the engine's own by a setting, a file of one's own by --seccomp; that
    one can only tighten, whether it allows or denies by default."""
    info, _ = inspect_live(jar, env={"BELLJAR_DOCKER_SECCOMP": "docker"})
    assert not [o for o in info["HostConfig"]["SecurityOpt"] if o.startswith("seccomp")]
    profile = tmp_path / "p.json"
    deny = {"names": ["uname"], "action": "SCMP_ACT_ERRNO", "errnoRet": 95}
    loose = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [deny]}
    own = json.loads((pathlib.Path(__file__).parents[2] / "profiles/default.json").read_text())
    names = {n for e in own["syscalls"] for n in e["names"]} | {"io_uring_setup", "unshare"}
    listed = {"defaultAction": "SCMP_ACT_ERRNO",
              "syscalls": [{"names": sorted(names - {"uname"}), "action": "SCMP_ACT_ALLOW"}, deny]}
    for text in loose, listed:
        profile.write_text(json.dumps(text))
        result = jar.run(CALLS, "--seccomp", str(profile), "--trust")
        assert result["stdout"].split() == ["False", "False", "95"], result
    profile.write_text("[]")
    assert jar.run(CALLS, "--seccomp", str(profile), "--trust")["status"] == 125


def test_swap_of_images(jar):
    """SCRP-02: the image of each language is a setting; a missing one names its fix."""
    result = jar.run("print(1)", env={"BELLJAR_DOCKER_PYTHON_IMAGE": "python:3.11-slim"})
    assert result["status"] == 127 and result["cause"] == "infrastructure"
    assert "docker pull python:3.11-slim" in result["error"]
    assert "docker.python_image: belljar/python:3.11" in result["error"]
    result = jar.run("print(1)", env={"BELLJAR_DOCKER_IMAGE": "nobody/nothing:1"})
    assert "docker pull nobody/nothing:1" in result["error"]
    result = jar.run("echo $BASH_VERSION", language="bash",
                     env={"BELLJAR_DOCKER_IMAGE": "belljar/python:3.11"})
    assert result["stdout"].startswith("5.")


def test_warm_containers(jar, tmp_path):
    """SX-DOCKER: from the second run on containers wait ahead; each is used once."""
    files = []
    for i in range(6):
        path = tmp_path / f"w{i}.py"
        path.write_text("import os\nprint(os.path.exists('/tmp/mark'))\nopen('/tmp/mark','w')\n")
        files.append(str(path))
    done = subprocess.run([jar.command("")[0], "run", "--jobs", "1", "--json", *files],
                          env=jar.env, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count('"stdout":"False\\n"') == 6
    wait_until(lambda: not jar.engine.containers(), 10, "the pool is gone with its owner")
