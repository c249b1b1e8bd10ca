# SPDX-License-Identifier: Apache-2.0
"""The oracle sees what a run could leave: a test that could not fail would prove nothing."""
import ctypes
import fcntl
import os
import secrets
import socket
import struct
import subprocess

import oracle
import pytest
from harness import modes

NAME = "bjo-" + secrets.token_hex(4)


def kinds(snapshot):
    return {kind for kind, _ in snapshot.extra()}


@pytest.fixture
def canaries():
    c = oracle.Canaries()
    yield c
    c.close()


def test_sees_a_process_that_was_orphaned():
    snapshot = oracle.Snapshot()
    out = subprocess.check_output("setsid sleep 50 >/dev/null & echo $!", shell=True)
    assert kinds(snapshot) == {"process"}
    os.kill(int(out), 9)
    assert snapshot.settled() == []


def test_sees_a_cgroup_in_any_hierarchy():
    seen = 0
    for top in modes.hierarchies():
        snapshot = oracle.Snapshot()
        path = top / NAME
        try:
            path.mkdir()
        except OSError:
            continue  # cpuset and the like may refuse
        try:
            assert kinds(snapshot) == {"cgroup"}, top
        finally:
            path.rmdir()
        assert snapshot.settled() == []
        seen += 1
    assert seen


def test_sees_a_mount(tmp_path):
    libc = ctypes.CDLL(None, use_errno=True)
    snapshot = oracle.Snapshot()
    assert libc.mount(b"x", str(tmp_path).encode(), b"tmpfs", 0, b"") == 0
    assert kinds(snapshot) == {"mount"}
    assert libc.umount2(str(tmp_path).encode(), 0) == 0
    assert snapshot.settled() == []


@pytest.mark.parametrize("directory", ["/tmp", "/var/tmp", "/dev/shm"])
@pytest.mark.parametrize("name,owner", [(NAME, 1900000002), (NAME, 65534), ("belljar-" + NAME, 0)])
def test_sees_a_file(directory, name, owner):
    """What a script left has its uid, what belljar left its name."""
    snapshot = oracle.Snapshot()
    path = f"{directory}/{name}"
    open(path, "w").close()
    os.chown(path, owner, owner)
    try:
        assert kinds(snapshot) == {"file"}
    finally:
        os.unlink(path)


def test_sees_a_state_directory():
    snapshot = oracle.Snapshot()
    os.mkdir("/run/belljar-" + NAME)
    try:
        assert kinds(snapshot) == {"file"}
    finally:
        os.rmdir("/run/belljar-" + NAME)


def test_sees_claims_that_nobody_holds():
    """The file of claims stays while another belljar uses it, and no longer."""
    snapshot = oracle.Snapshot()
    place = "/run/belljar-" + NAME
    os.mkdir(place)
    with open(place + "/uids", "wb") as f:
        try:
            assert ("file", place + "/uids") in snapshot.extra()
            fcntl.fcntl(f, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 7, 1, 0))
            assert ("file", place + "/uids") not in snapshot.extra()
            assert ("file", place) in snapshot.extra()
        finally:
            os.unlink(place + "/uids")
            os.rmdir(place)


def test_sees_an_ipc_object():
    snapshot = oracle.Snapshot()
    libc = ctypes.CDLL(None)
    shmid = libc.shmget(0, 4096, 0o1600)
    assert kinds(snapshot) == {"ipc object"}
    libc.shmctl(shmid, 0, None)


def test_knows_the_shared_memory_of_other_tests(monkeypatch):
    """It is theirs while whoever made it lives, and has not been started by us."""
    snapshot = oracle.Snapshot()
    code = ("import ctypes, sys\n"
            "print(ctypes.CDLL(None).shmget(0, 4096, 0o1600), flush=True)\nsys.stdin.read(1)\n")
    with subprocess.Popen(["/usr/bin/python3", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        shmid = int(process.stdout.readline())
        assert kinds(snapshot) == {"process", "ipc object"}
        with monkeypatch.context() as m:
            m.setattr(oracle.proc, "descendants", dict)
            assert not kinds(snapshot)
        process.stdin.close()
    assert kinds(snapshot) == {"ipc object"}
    ctypes.CDLL(None).shmctl(shmid, 0, None)


def test_sees_what_was_written_into_shared_memory(canaries):
    """Also where whoever wrote read nothing that could give it away."""
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    where = ctypes.c_void_p(libc.shmat(canaries.shmid, None, 0))
    ctypes.memmove(where.value + 4095, b"x", 1)
    libc.shmdt(where)
    assert canaries.untouched() == ["the segment"]
    libc.shmctl(canaries.shmid, 0, None)
    assert canaries.untouched() == ["the segment"]


def test_sees_touched_canaries(canaries):
    assert canaries.untouched() == []
    socket.create_connection(("127.0.0.1", canaries.port)).close()
    assert "listener" in canaries.untouched()[0]
    s = socket.socket(socket.AF_UNIX)
    s.connect("\0" + canaries.name)
    assert "listener" in canaries.untouched()[0]
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", canaries.port))
    assert "datagram" in canaries.untouched()[0]
    canaries.files[0].write_text("other")
    assert "file" in canaries.untouched()[0]
    canaries.files[0].write_text(canaries.token)
    canaries.process.kill()
    canaries.process.wait()
    assert canaries.untouched() == ["the process"]


def test_sees_a_canary_in_the_output(canaries):
    class Done:
        out, err, peak_kib = canaries.token.encode(), b"", 0
    with pytest.raises(AssertionError, match="read a canary"):
        oracle.verify(canaries, oracle.Snapshot(), Done)
    Done.out, Done.peak_kib = b"", oracle.LIMIT_KIB + 1
    with pytest.raises(AssertionError, match="grew"):
        oracle.verify(canaries, oracle.Snapshot(), Done)
