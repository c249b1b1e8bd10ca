# SPDX-License-Identifier: Apache-2.0
"""Bad input: one clear sentence, the right exit status, nothing left behind."""
import ctypes
import os
import struct
import subprocess
import time

import oracle
import pytest
from harness import modes, proc, run

pytestmark = pytest.mark.usefixtures("clean")
HELLO = "print('hello')\n"


def one_sentence(err):
    """One line that names the program and says something."""
    text = err.decode("utf-8")
    assert text.endswith("\n") and text.count("\n") == 1, text
    assert text.startswith("belljar: ") and 20 < len(text) < 400, text
    return text


def refuse(mode, *args, status=125, **kw):
    done = mode.run(*args, **kw)
    assert done.status == status, done
    assert done.out == b""
    return one_sentence(done.err)


@pytest.fixture
def hello(place):
    path = place / "hello.py"
    path.write_text(HELLO)
    return path


def test_missing_file(root, place):
    assert "none.py" in refuse(root, place / "none.py")


def test_no_file_at_all(root, hello):
    refuse(root)
    for line in (("",), ("--in", "", hello), ("--stdin", "", hello)):
        assert "is a variable not set?" in refuse(root, *line)


def test_directory(root, place):
    assert "directory" in refuse(root, place)


def test_binary_file(root, place):
    for name, data in (("elf", open("/bin/true", "rb").read()), ("nul.py", b"print(1)\0\n"),
                       ("bytes.py", b"\xff\xfe\xfa\n"), ("zip.py", b"PK\x03\x04" + bytes(100))):
        path = place / name
        path.write_bytes(data)
        done = root.run(path)
        assert done.status in (125, 126) and done.out == b"", (name, done)
        assert done.err.startswith(b"belljar: ") or b"error" in done.err


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n"])
def test_empty_script(text, root, place):
    path = place / "empty.py"
    path.write_text(text)
    done = root.run(path)
    if text == "":
        assert done.status in (125, 126) and done.out == b""
        assert b"empty" in done.err
    else:
        assert done.status in (0, 125, 126)


def test_unknown_language(root, place, hello):
    text = refuse(root, "--language", "javascript", hello)
    assert "javascript" in text and "python" in text and "bash" in text
    plain = place / "plain"
    plain.write_text("hello\n")
    assert "--language" in refuse(root, plain)
    other = place / "x.rb"
    other.write_text("#!/usr/bin/ruby\nputs 1\n")
    refuse(root, other)


@pytest.mark.parametrize("flag,values", [
    ("--timeout", ["0", "-1", "abc", "", "nan", "inf", "1e400", "99999999999999999999"]),
    ("--memory", ["0", "-1", "1", "lots", "", "1Z", "99999999999999999999", "18446744073709551616"]),
    ("--cpus", ["0", "-1", "abc", "", "nan", "1000000000000"]),
    ("--pids", ["0", "-1", "1.5", "abc", "", "99999999999"]),
    ("--tmp-size", ["0", "-5M", "x", "", "99999999T"]),
    ("--max-output", ["-1", "x", "", "99999999T"]),
    ("--policy", ["none", "", "OFF "]),
    ("--profile", ["nosuch", "", "../x"]),
    ("--jobs", ["0", "-1", "+1", " 1", "abc", "1000000"]),
])
def test_absurd_limits(flag, values, root, hello):
    """SCRP-07: zero, negative or no number is refused, naming the flag; nothing runs."""
    for value in values:
        done = root.run(flag + "=" + value, hello)
        assert done.status == 125 and done.out == b"", (flag, value, done)
        assert flag[2:].replace("-", "_") in one_sentence(done.err).replace("-", "_"), (value, done)


def test_unknown_flag_suggests_the_nearest(root, hello):
    assert "--timeout" in refuse(root, "--timeot", "3", hello)


@pytest.mark.parametrize("flag, words", [
    ("--versoin", "unknown option --versoin; did you mean --version?"),
    ("--hlep", "unknown option --hlep; did you mean --help?"),
    ("--quiet", "unknown option --quiet; a verb comes first, and `belljar --help` lists them"),
    ("-V", "unknown option -V; a verb comes first, and `belljar --help` lists them"),
])
def test_a_flag_is_no_verb(flag, words, root):
    """CFG: what stands where the verb belongs is called what it is."""
    done = run.Started([run.BINARY, flag], root.env()).finish(20)
    assert (done.status, done.out) == (125, b"")
    assert one_sentence(done.err) == f"belljar: {words}\n"


def test_standard_input_is_one_thing(root):
    """It cannot be the script and what the script reads."""
    for flags in (("--stdin", "-", "-"), ("-", "-")):
        assert "standard input" in refuse(root, "--language", "bash", *flags)


def test_flag_without_value(root):
    refuse(root, "--timeout")


@pytest.mark.parametrize("line", [("--timeot", "3", "--json"), ("--env", "1=2", "--json"),
                                  ("--json", "--timeout"), ("--json",)])
def test_one_object_for_a_wrong_line(line, root, hello):
    """EXIT: --json prints one result object for 125 too, wherever it stands."""
    done = root.run(*([hello, *line] if len(line) > 1 else line))
    assert done.status == 125, done
    assert done.err.decode() == f"belljar: {done.record['error']}\n"
    assert b'"' not in root.run("--timeot", "3", "--", hello, "--json").out, "an argument of the script"


@pytest.mark.parametrize("verb", [("run",), ("check",), ("run", "--seccomp"), ("run", "--in"), ("check", "--config"),
                                  ("image", "import")])
def test_a_name_is_one_line_and_drives_no_terminal(verb, root, hello, place):
    """Names that a script may have chosen: missing, and there but a directory."""
    name = place / "a\x1b]0;owned\x07\n\x9b31m.py"
    for _ in range(2):
        done = run.Started([run.BINARY, *verb, name, *([hello] if verb[-1].startswith("--") else [])],
                           root.env()).finish(20)
        assert done.status == 125 and not set(one_sentence(done.err)[:-1]) & set("\x1b\x07\x9b"), done
        name.mkdir(exist_ok=True)


def test_no_permission(mode_of, place):
    mode = mode_of("rootless")
    secret = place / "secret.py"
    secret.write_text(HELLO)
    secret.chmod(0o600)
    assert "secret.py" in refuse(mode, secret)
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    (closed / "x.py").write_text(HELLO)
    refuse(mode, closed / "x.py")
    ok = place / "ok.py"
    ok.write_text(HELLO)
    refuse(mode, "--out", "/usr/local", ok)
    refuse(mode, "--in", secret, ok)
    refuse(mode, "--stdin", secret, ok)


@pytest.mark.parametrize("flag", ["--in", "--stdin", "--seccomp", "--config"])
def test_missing_side_files(flag, root, place, hello):
    assert "gone" in refuse(root, flag, place / "gone", hello)


def test_side_file_is_a_directory_or_device(root, place, hello):
    for flag in ("--in", "--stdin"):
        assert "is a directory; name a file in it" in refuse(root, flag, place, hello)
    refuse(root, "--in", "/dev/zero", hello)


def test_bad_seccomp_profile(root, place, hello):
    for text in ("", "{", "[]", '{"defaultAction": "SCMP_ACT_NOPE"}', '{"syscalls": 3}', "\0"):
        bad = place / "profile.json"
        bad.write_text(text)
        assert "profile.json" in refuse(root, "--seccomp", bad, hello)


@pytest.mark.unsanitized  # the sanitizer hears of the end that no call brings about, and can do nothing
@pytest.mark.parametrize("action", ["ERRNO", "KILL"])
def test_a_seccomp_profile_that_allows_nothing(root, place, hello, action):
    """DS-SEC: what it may be is said, not only that a process died."""
    profile = place / "profile.json"
    profile.write_text(f'{{"defaultAction": "SCMP_ACT_{action}"}}')
    assert "profile may not allow" in refuse(root, "--seccomp", profile, hello)


def test_a_seccomp_profile_under_which_bash_dies(root, place):
    """DS-SEC: the syntax check is the first to start it."""
    profile, script = place / "profile.json", place / "s.sh"
    profile.write_text('{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["uname"], "action": "SCMP_ACT_KILL"}]}')
    script.write_text("echo ran\n")
    assert "bash died of signal 31 before it had read the script" in refuse(root, "--seccomp", profile, script)


def test_a_directory_of_somebody_else_for_root(root, place, hello):
    """Told before the script runs: its files are collected without root's rights."""
    out = place / "theirs"
    out.mkdir(mode=0o755)
    os.chown(out, 54321, 54321)
    for more in ((), (hello,)):
        assert "without root's rights over what others own: Permission denied" in refuse(root, "--out", out, hello, *more)
    assert not list(out.iterdir())


def test_bad_config(root, place, hello):
    for text in ("limits: [", "nosuchkey: 1\n", "limits:\n  memory: lots\n", "a: &x [*x]\n"):
        bad = place / "belljar.yaml"
        bad.write_text(text)
        assert "belljar.yaml" in refuse(root, "--config", bad, hello)


def test_fifo_without_writer_does_not_hang(root, place):
    os.mkfifo(place / "fifo.py")
    for flags in ((), ("--in", place / "fifo.py")):
        assert "empty" in refuse(root, *flags, place / "fifo.py", timeout=15)


def test_pipe_as_script(root):
    """`belljar run <(cmd)`, where cmd takes its time."""
    r, w = os.pipe()
    with os.fdopen(r), os.fdopen(w, "wb", 0) as writer:
        started = run.Started([run.BINARY, "run", "--language", "bash", f"/proc/{os.getpid()}/fd/{r}"],
                              root.env())
        assert proc.wait_for(lambda: len(started.roles()) > 1, 10)
        writer.write(b"echo from ")
        time.sleep(0.2)  # a pause of the writer
        writer.write(b"a pipe\n")
        writer.close()
        done = started.finish(20)
    assert (done.status, done.out) == (0, b"from a pipe\n"), done


def test_endless_script_is_not_read_to_the_end(root, place):
    with open("/dev/zero") as f:
        done = root.run("--language", "bash", "-", stdin=f, timeout=30)
    assert done.status in (125, 126) and done.out == b""


def test_script_that_is_too_long(root, place):
    """VALD-05: more than 10,000 characters."""
    path = place / "long.py"
    path.write_text("x = 1\n" * 5000)
    done = root.run("--json", path)
    assert done.status == 126 and "10000" in done.record["validation_error"].replace(",", "")
    plain = root.run(path)
    assert b"[length-chars, high]" in plain.err and b"line 0" not in plain.err, plain


def test_disk_full(root, place):
    """The artifacts do not fit: belljar says so, and leaves no half file."""
    out = place / "small"
    out.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", out], check=True)
    try:
        script = place / "s.sh"
        script.write_text("head -c 1M /dev/zero >out/big; echo ran\n")
        done = root.run("--out", out, script)
        assert done.status == 125 and b"space" in done.err.lower(), done
        assert not (out / "big").exists() or (out / "big").stat().st_size == 0
    finally:
        subprocess.run(["umount", out], check=True)


@pytest.mark.parametrize("fresh", [True, False])
def test_records_on_a_read_only_disk(fresh, root, hello, place):
    """What failed, why, and then what to do."""
    state = place / "state"
    if not fresh:
        assert root.run(hello, env={"BELLJAR_STATE_DIR": str(state)}).status == 0

    def setup(libc):
        libc.mount(str(place).encode(), str(place).encode(), None, 4096, None)
        libc.mount(None, str(place).encode(), None, 4096 | 32 | 1, None)
    done = in_mount_namespace(setup, [run.BINARY, "run", hello], {**root.env(), "BELLJAR_STATE_DIR": str(state)})
    assert done.status == 125 and done.out == b""
    assert ": Read-only file system; set state_dir, or record.enabled to false\n" in one_sentence(done.err)


def test_full_device_as_stdout(root, hello):
    """The result cannot be written: that is a failure of belljar, not a success."""
    with open("/dev/full", "w") as full:
        started = root.start("--json", hello, stdout=full)
        done = started.finish(20)
    assert done.status == 125 and b"No space" in done.err


def test_read_only_home(root, mode_of, hello):
    for mode in (root, mode_of("rootless")):
        for home in ("/nonexistent", "/proc", "/usr", ""):
            done = mode.run(hello, env={"HOME": home, "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""})
            assert (done.status, done.out) == (0, b"hello\n"), (home, done)


def test_a_check_needs_no_place_for_records(root, mode_of, hello, tmp_path):
    """VALD-05: it keeps none, so it says nothing about them."""
    taken = tmp_path / "taken"
    taken.write_text("")
    for mode, env in ((mode_of("rootless"), {"HOME": ""}), (root, {"BELLJAR_STATE_DIR": str(taken)})):
        done = mode.run(hello, verb="check", env={"XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "", **env})
        assert (done.status, done.err) == (0, b""), done


@pytest.mark.parametrize("fds", [(1,), (0,), (2,), (0, 1, 2)])
def test_closed_streams(fds, root, hello):
    """Closed descriptors must not be taken by files of belljar's own."""
    def close():
        for fd in fds:
            os.close(fd)
    started = run.Started([run.BINARY, "run", hello], root.env(), enter=close)
    done = started.finish(20)
    if 1 in fds:
        assert done.status == 125
    else:
        assert (done.status, done.out) == (0, b"hello\n"), done


def test_reader_that_goes_away(root, place):
    """A pipe whose reader ended: no endless run, nothing left."""
    script = place / "s.sh"
    script.write_text("yes\n")
    r, w = os.pipe()
    started = root.start("--timeout", "20", script, stdout=w)
    os.close(w)
    os.read(r, 10)
    os.close(r)
    done = started.finish(25)
    assert done.status != 0 and done.seconds < 15


def in_mount_namespace(setup, argv, env):
    """Run @argv after @setup in a mount namespace of its own."""
    def enter():
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(0x20000) or libc.mount(None, b"/", None, 0x44000, None):
            os._exit(99)
        setup(libc)
    return run.Started(argv, env, enter=enter).finish(30)


@pytest.mark.unsanitized
def test_no_proc(root, hello):
    """Without /proc belljar says what is missing; it never guesses."""
    done = in_mount_namespace(lambda libc: libc.umount2(b"/proc", 2),
                              [run.BINARY, "run", hello], root.env())
    assert done.status == 125 and "/proc is not mounted" in one_sentence(done.err), done


def test_no_cgroup_mounts(root, hello):
    """`require: full` without any cgroup hierarchy: no run."""
    done = in_mount_namespace(lambda libc: libc.umount2(b"/sys/fs/cgroup", 2),
                              [run.BINARY, "run", hello], root.env())
    assert done.status == 125 and "cgroup" in one_sentence(done.err), done


def test_no_tmp(root, hello):
    """A read-only, full /tmp does not matter: nothing goes through a disk."""
    def setup(libc):
        # The tree itself may lie below /tmp: keep a way to it.
        libc.mount(str(run.ROOT).encode(), b"/mnt", None, 4096, None)
        for path in (b"/tmp", b"/var/tmp", b"/dev/shm"):
            libc.mount(b"none", path, b"tmpfs", 1, b"")
    inside = run.BINARY.is_relative_to(run.ROOT)
    binary = "/mnt" / run.BINARY.relative_to(run.ROOT) if inside else run.BINARY
    done = in_mount_namespace(setup, [binary, "run", "/mnt/tests/system/hello.py"], root.env())
    assert (done.status, done.out) == (0, b"hello\n"), done


@pytest.mark.unsanitized
@pytest.mark.parametrize("soft,hard", [(5, 5), (12, 12), (14, 14), (18, 18), (40, 40), (12, 64),
                                       (64, 64)])
def test_few_descriptors(soft, hard, root, hello):
    """Tight rlimits of the caller: it works or says so, and nothing stays."""
    import resource

    snapshot = oracle.Snapshot()

    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    done = run.Started([run.BINARY, "run", hello], root.env(), enter=few).finish(20)
    left = [what for kind, what in snapshot.settled() if kind == "cgroup"]
    for path in left:
        modes.remove_cgroups(path)
    assert not left
    if hard == 64:
        assert (done.status, done.out) == (0, b"hello\n"), done
    else:
        assert done.status == 125 and "files" in one_sentence(done.err), done


def test_no_room_in_files(root, place):
    """`ulimit -f` of the caller ends no belljar, and no script hears of it."""
    import resource

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    script = place / "s.sh"
    script.write_text("grep SigIgn /proc/self/status\n")
    plain = root.run(script)
    assert plain.out == b"SigIgn:\t0000000040000000\n", "SIGSYS alone"
    done = run.Started([run.BINARY, "run", script], root.env(), enter=small).finish(20)
    assert done.status == 125 and done.out == b"" and "File too large" in one_sentence(done.err), done


def test_caller_with_odd_signals(root, place):
    """Blocked and ignored signals of the caller do not reach the script."""
    import signal

    def odd():
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
        for s in (signal.SIGPIPE, signal.SIGTERM, signal.SIGCHLD, signal.SIGINT, signal.SIGHUP):
            signal.signal(s, signal.SIG_IGN)
        # The C library does not let a program ask for its own two.
        ignore = struct.pack("QQQQ", signal.SIG_IGN, 0, 0, 0)
        for s in (32, 33):
            ctypes.CDLL(None).syscall(13, s, ignore, None, 8)
    script = place / "s.py"
    script.write_text("""
status = dict(l.split(':\\t') for l in open('/proc/self/status') if ':\\t' in l)
print(int(status['SigBlk'], 16), hex(int(status['SigIgn'], 16)))
""")
    plain = run.Started([run.BINARY, "run", script], root.env()).finish(20)
    done = run.Started([run.BINARY, "run", script], root.env(), enter=odd).finish(20)
    assert done.status == 0 and done.out == plain.out, (plain, done)
