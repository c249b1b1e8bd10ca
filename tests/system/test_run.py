# SPDX-License-Identifier: Apache-2.0
"""`belljar run`: what goes in comes in, what comes out is exact. RESULT, EXIT."""
import os
import pty
import signal
import subprocess
import time

import pytest
from harness import proc, record

pytestmark = pytest.mark.usefixtures("clean")


def write(path, text, mode=0o644):
    path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
    path.chmod(mode)
    return path


# Languages: by flag, by shebang, by suffix (SCRP-01).

@pytest.mark.parametrize("name,text,flags", [
    ("a.py", "import sys; print('python', sys.version_info[0])", []),
    ("a.sh", "echo \"python ${BASH_VERSINFO:+3}\"", []),
    ("a.bash", "echo python $((1+2))", []),
    ("plain", "#!/usr/bin/env python3\nprint('python', 3)", []),
    ("plain", "#!/usr/bin/python3 -u\nprint('python', 3)", []),
    ("plain", "#!/bin/bash\n[[ x == x ]] && echo python 3", []),
    ("plain", "#!/usr/bin/env bash\necho python 3", []),
    ("plain", "print('python', 3)", ["--language", "python"]),
    ("plain", "echo python 3", ["--language", "bash"]),
    ("lies.py", "echo python 3", ["--language", "bash"]),
    ("lies.txt", "print('python', 3)", ["--language=python"]),
])
def test_language(name, text, flags, root, place):
    done = root.run(*flags, write(place / name, text + "\n"))
    assert (done.status, done.out, done.err) == (0, b"python 3\n", b"")


def test_script_from_standard_input(root, place):
    """SCRP-01: `-` reads the script itself."""
    source = write(place / "text", "print(40 + 2)\n")
    with open(source) as f:
        done = root.run("--language", "python", "-", stdin=f)
    assert (done.status, done.out) == (0, b"42\n")
    source = write(place / "text", "#!/bin/bash\necho $((40 + 2))\n")
    with open(source) as f:
        done = root.run("-", stdin=f)
    assert (done.status, done.out) == (0, b"42\n")


def test_standard_input_of_the_script(root, place):
    data = write(place / "data", bytes(range(256)) * 300)
    script = write(place / "s.py", "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())\n")
    done = root.run("--max-output", "1M", "--stdin", data, script)
    assert done.out == data.read_bytes() and done.status == 0


def test_standard_input_is_empty_without_the_flag(root, place):
    script = write(place / "s.py", "import sys\nprint(repr(sys.stdin.read()))\n")
    with open(write(place / "other", "not for the script")) as f:
        done = root.run(script, stdin=f)
    assert done.out == b"''\n"


def test_arguments(root, place):
    args = ["one", "two words", "", "--json", "-x", "*", "'\"", "ä", "new\nline"]
    py = write(place / "s.py", "import sys\nprint(sys.argv[1:])\n")
    assert root.run(py, "--", *args).out.decode() == repr(args) + "\n"
    sh = write(place / "s.sh", 'printf "[%s]" "$#" "$@"\n')
    assert root.run(sh, "--", *args).out.decode() == "[9]" + "".join(f"[{a}]" for a in args)


def test_environment(root, place):
    """A short fixed list plus what --env says; nothing of the caller's."""
    script = write(place / "s.py", "import os, json\nprint(json.dumps(dict(os.environ)))\n")
    done = root.run("--json", "--env", "GREETING=hello world=x", "--env", "EMPTY=", script,
                    env={"SECRET": "no", "LD_PRELOAD": "", "PYTHONPATH": "/nowhere",
                         "BASH_ENV": "/nowhere"})
    import json
    inside = json.loads(done.record["stdout"])
    assert inside["GREETING"] == "hello world=x" and inside["EMPTY"] == ""
    assert not {"SECRET", "LD_PRELOAD", "PYTHONPATH", "BASH_ENV", "SUDO_USER"} & set(inside)
    assert inside["BELLJAR_OUT"] == "/work/out" and inside["SHELL"] == "/bin/sh"
    assert len(inside) < 20


@pytest.mark.parametrize("bad", ["NOVALUE", "=x", "", "A B=1", "1A=3", "A-B=3", "LD_PRELOAD=/x.so"])
def test_bad_environment(bad, root, place):
    script = write(place / "s.sh", 'echo "${LD_PRELOAD:-ran}"\n')
    done = root.run("--env", bad, script)
    if bad.startswith("LD_"):
        assert done.status in (0, 125)  # the loader's variables change nothing outside
    else:
        assert done.status == 125 and done.out == b"" and done.err.count(b"\n") == 1
        assert b"letters, digits and _" in done.err


def test_identity_and_place(root, place):
    """SCRP-05: never root. SX-DIR: a working directory of its own, private and empty."""
    script = write(place / "s.sh", 'id -u; id -g; pwd; ls -A; hostname 2>/dev/null || uname -n\n')
    out = root.run(script).out.decode().splitlines()
    assert out[0] == "65534" and out[1] != "0" and out[2] == "/work"
    assert "out" in out
    assert os.uname().nodename not in out


PROC = """
n() { ls /proc | grep -c "$1"; }
[ -e /proc/meminfo ] && echo meminfo
echo processes $(n '^[0-9]*$')
for f in kcore sysrq-trigger kmsg keys timer_list; do
	[ ! -e /proc/$f ] || [ -z "$(head -c 1 /proc/$f 2>/dev/null)" ] || echo read $f
done
for f in sysrq-trigger sys/kernel/core_pattern irq/default_smp_affinity; do
	[ -e /proc/$f ] && (echo x >/proc/$f) 2>/dev/null && [ ! -c /proc/$f ] && echo wrote $f
done
exit 0
"""


@pytest.mark.parametrize("mode_name", ["root", "rootless"])
@pytest.mark.parametrize("proc, shown", [("pid", ["processes"]), ("compat", ["meminfo", "processes"]),
                                         ("none", ["processes 0"])])
def test_what_proc_shows(proc, shown, mode_name, mode_of, place):
    """native.proc: a run's own processes, the usual files too but none that acts on the machine, or nothing."""
    done = mode_of(mode_name).run("--policy", "off", write(place / "s.sh", PROC), env={"BELLJAR_NATIVE_PROC": proc})
    lines = done.out.decode().splitlines()
    assert done.status == 0 and [l if l == "processes 0" else l.split()[0] for l in lines] == shown, done


def test_inputs(root, place):
    """--in: importable, read-only, in the working directory."""
    write(place / "helper.py", "VALUE = 'imported'\n")
    write(place / "data.bin", bytes(range(256)))
    script = write(place / "s.py", """
import helper, os
print(helper.VALUE, open('data.bin', 'rb').read() == bytes(range(256)))
for name in ('helper.py', 'data.bin'):
    for how in (lambda n: open(n, 'a'), lambda n: os.chmod(n, 0o777), lambda n: os.truncate(n, 0)):
        try:
            how(name)
            print('wrote', name)
        except OSError:
            pass
""")
    done = root.run("--in", place / "helper.py", "--in", place / "data.bin", script)
    assert (done.out, done.status) == (b"imported True\n", 0), done
    assert (place / "helper.py").read_text() == "VALUE = 'imported'\n"


def test_inputs_with_the_same_name(root, place):
    (place / "a").mkdir()
    (place / "b").mkdir()
    one, two = write(place / "a/x", "1"), write(place / "b/x", "2")
    done = root.run("--in", one, "--in", two, write(place / "s.sh", "cat x\n"))
    assert done.status == 125 and b"two inputs are called x" in done.err and done.out == b""


def test_artifacts(root, place):
    """--out: what the script left in out/, exactly."""
    out = place / "result"
    script = write(place / "s.py", """
import os
for name, data in (('a.txt', b'text'), ('b.bin', bytes(range(256)) * 5000), ('empty', b'')):
    with open(os.path.join(os.environ['BELLJAR_OUT'], name), 'wb') as f:
        f.write(data)
os.chmod('out/a.txt', 0o777)
""")
    out.mkdir()
    done = root.run("--json", "--out", out, script)
    assert done.status == 0, done
    assert sorted(os.listdir(out)) == ["a.txt", "b.bin", "empty"]
    assert (out / "b.bin").read_bytes() == bytes(range(256)) * 5000
    assert all((out / n).stat().st_mode & 0o7111 == 0 for n in os.listdir(out))
    assert done.record["meta"]["out"] == {"files": 3, "bytes": 4 + 256 * 5000, "refused": 0}


def test_artifacts_do_not_overwrite_through_links(root, place):
    """What stands in DIR may be anything; a link there is not followed."""
    out = place / "result"
    out.mkdir()
    victim = write(place / "victim", "safe")
    os.symlink(victim, out / "x")
    script = write(place / "s.sh", "echo attack >out/x\n")
    root.run("--out", out, script)
    assert victim.read_text() == "safe"


def test_artifacts_of_a_run_that_timed_out(root, place):
    out = place / "result"
    out.mkdir()
    script = write(place / "s.sh", "echo partial >out/x; sleep 100\n")
    done = root.run("--timeout", "1", "--out", out, script)
    assert done.status == 124
    assert [p.read_text() for p in out.iterdir()] in ([], ["partial\n"])  # all of a file or none


# Output (SCRP-08, SCRP-09).

def test_streams_are_exact_and_apart(root, place):
    data = bytes(range(256)) * 8
    script = write(place / "s.py", """
import os
data = bytes(range(256)) * 8
os.write(1, data)
os.write(2, data[::-1])
""")
    done = root.run(script)
    assert done.out == data and done.err == data[::-1] and done.status == 0


def test_no_newline_is_added(root, place):
    assert root.run(write(place / "s.sh", "printf x; printf y >&2\n")).out == b"x"


def test_output_is_live(root, place):
    script = write(place / "s.py", "import time\nprint('now', flush=True)\ntime.sleep(30)\n")
    started = root.start(script)
    begun = time.monotonic()
    assert started.read_line(10) == b"now\n"
    assert time.monotonic() - begun < 8
    started.signal(signal.SIGINT)
    assert started.finish(60).status == 130


def test_a_terminal_sees_output_and_the_script_does_not_see_the_terminal(root, place):
    """The jar never holds the caller's terminal."""
    script = write(place / "s.py", """
import os
print('tty', [os.isatty(fd) for fd in (0, 1, 2)])
try:
    os.open('/dev/tty', os.O_RDWR)
    print('opened the terminal')
except OSError:
    pass
""")
    master, slave = pty.openpty()
    started = root.start(script, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    started.finish(20)
    seen = os.read(master, 4096)
    os.close(master)
    assert b"tty [False, False, False]" in seen and b"opened" not in seen


# Exit statuses.

@pytest.mark.parametrize("code", [0, 1, 2, 77, 124, 125, 126, 127, 130, 137, 255])
def test_exit_status_is_the_scripts_own(code, root, place):
    done = root.run(write(place / "s.sh", f"exit {code}\n"))
    assert (done.status, done.out, done.err) == (code, b"", b"")


@pytest.mark.parametrize("number", [1, 2, 6, 9, 11, 15, 24])
def test_status_of_a_signal(number, root, place):
    done = root.run(write(place / "s.sh", f"kill -{number} $$\n"))
    assert done.status == 128 + number


def test_status_124_and_message(root, place):
    """SCRP-07: the timeout, told on stderr, with the output so far."""
    script = write(place / "s.sh", "echo before; echo warning >&2; sleep 100; echo after\n")
    done = root.run("--timeout", "1", script)
    assert done.status == 124 and done.out == b"before\n"
    assert b"warning\n" in done.err and b"Code execution timed out after 1s" in done.err
    done = root.run("--json", "--timeout", "1", script)
    r = done.record
    assert r["timeout"] is True and r["cause"] == "timeout" and r["success"] is False
    assert r["error"] == "Code execution timed out after 1s" and r["stdout"] == "before\n"
    assert 1000 <= r["duration_ms"] < 1500


def test_status_126_of_a_rejected_script(root, place):
    """VALD-06: nothing runs, and the record says why."""
    script = write(place / "s.py", "print('ran'\n")
    done = root.run("--json", script)
    r = done.record
    assert done.status == 126 and r["cause"] == "rejected" and r["validation_failed"] is True
    assert r["validation_error"] and r["exit_code"] is None and r["stdout"] == ""
    done = root.run(script)
    assert done.status == 126 and done.out == b"" and b"line 1" in done.err


def test_status_127_without_an_interpreter(root, place):
    script = write(place / "s.py", "print(1)\n")
    done = root.run("--json", script, env={"BELLJAR_NATIVE_PYTHON": "/usr/bin/python-none"})
    assert done.status == 127 and done.record["cause"] == "infrastructure"
    assert "python" in done.record["error"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_cancelled_from_outside(number, root, place):
    """Ctrl-C cancels the run and cleans up; the record still comes."""
    script = write(place / "s.py", "import time\nprint('up', flush=True)\ntime.sleep(60)\n")
    for flags in ((), ("--json",)):
        started = root.start(*flags, script)
        if flags:
            # The script is up when the interpreter is a process below.
            assert proc.wait_for(lambda: any("python" in c for c, _ in
                                             proc.descendants(started.pid).values()), 10)
            time.sleep(0.2)
        else:
            assert started.read_line() == b"up\n"
        begun = time.monotonic()
        started.signal(number)
        done = started.finish(20)
        assert done.status == 130, done
        assert time.monotonic() - begun < 2
        if flags:
            assert done.record["cause"] == "cancelled"


def test_failure_message(root, place):
    """A script that fails: its stderr stands in the error."""
    done = root.run("--json", write(place / "s.py", "import sys\nsys.exit('oh no')\n"))
    r = done.record
    assert done.status == 1 and r["exit_code"] == 1 and r["stderr"] == "oh no\n"
    assert r["error"].startswith("Execution failed:") and "oh no" in r["error"]


# JSON.

@pytest.mark.parametrize("case", ["ok", "fails", "missing", "bad-flag", "bad-limit", "rejected"])
def test_json_is_one_object_always(case, root, place):
    script = write(place / "s.py", {"fails": "raise ValueError\n", "rejected": "def foo(\n"}.get(
        case, "print(1)\n"))
    args = {"missing": [place / "none.py"], "bad-flag": ["--no-such-flag", script],
            "bad-limit": ["--memory", "lots", script]}.get(case, [script])
    done = root.run("--json", *args)
    r = record.parse(done.out)
    want = {"ok": (0, "exited"), "fails": (1, "exited"), "missing": (125, "infrastructure"),
            "bad-flag": (125, "infrastructure"), "bad-limit": (125, "infrastructure"),
            "rejected": (126, "rejected")}
    assert (done.status, r["cause"]) == want[case], done


def test_record_of_a_plain_run(root, place):
    """Every field of the result, with figures that can be true."""
    script = write(place / "s.py", "x = bytearray(40 << 20)\nsum(range(3000000))\nprint('done')\n")
    r = root.run("--json", "--memory", "256M", "--timeout", "7", "--pids", "30", script).record
    assert (r["state"], r["cause"], r["stdout"], r["stderr"]) == ("finished", "exited", "done\n", "")
    assert len(r["id"]) == 32 and int(r["id"], 16)
    assert 40 << 20 < r["usage"]["peak_memory_bytes"] < 256 << 20
    assert 20 < r["usage"]["cpu_ms"] < 5000 and 20 < r["duration_ms"] < 7000
    meta = r["meta"]
    assert meta["runtime"] == "native" and meta["cleanup_success"] is True
    assert meta["stdout_bytes"] == 5 and meta["stderr_bytes"] == 0
    assert meta["truncated"] == {"stdout": False, "stderr": False}
    limits = meta["resource_limits"]["effective"]
    assert 256 << 20 in limits.values() and 30 in limits.values(), limits
    assert all(meta["isolation"]["layers"].values())


def test_ids_differ(root, place):
    script = write(place / "s.sh", "true\n")
    assert len({root.run("--json", script).record["id"] for _ in range(5)}) == 5


def test_timeout_is_clamped_and_told(root, place):
    """SCRP-07: above the maximum it is clamped; both values stand in meta."""
    limits = root.run("--json", "--timeout", "100000", write(place / "s.sh", "true\n")) \
        .record["meta"]["resource_limits"]
    assert any(v in (100000, 100000000, 100000.0) for v in limits["asked"].values()), limits
    assert any(v in (300, 300000, 300.0) for v in limits["effective"].values()), limits


def test_quiet(root, place):
    script = write(place / "s.sh", "echo out; sleep 50\n")
    done = root.run("--quiet", "--timeout", "1", script)
    assert done.status == 124 and done.out == b"out\n" and done.err == b""


def test_profile(root, place):
    """DS-CFG: the named limits of `analysis`."""
    limits = root.run("--json", "--profile", "analysis", write(place / "s.sh", "true\n")) \
        .record["meta"]["resource_limits"]["effective"]
    assert 2 << 30 in limits.values(), limits


def test_script_text_touches_no_disk(root, place):
    """SCRP-06: the text does not show in argv, and no file holds it."""
    marker = "marker-" + os.urandom(8).hex()
    script = write(place / "s.py", f"import time\nprint('up', flush=True)\ntime.sleep(20)\nx='{marker}'\n")
    started = root.start(script)
    assert started.read_line() == b"up\n"
    for pid in [started.pid, *proc.descendants(started.pid)]:
        assert marker.encode() not in proc.read(f"/proc/{pid}/cmdline")
        assert marker.encode() not in proc.read(f"/proc/{pid}/environ")
    found = subprocess.run(["grep", "-rlsF", marker, "/tmp", "/var/tmp", "/run", "/dev/shm"],
                           capture_output=True, check=False).stdout.decode().split()
    assert found == [str(script)]
    started.signal(signal.SIGINT)
    assert started.finish(60).status == 130


@pytest.mark.parametrize("mode_name", ["rootless", "basic"])
def test_the_same_as_an_ordinary_user(mode_name, mode_of, place):
    """SX-LOCAL: no root needed."""
    mode = mode_of(mode_name)
    script = write(place / "s.py", "import os\nprint(os.getuid(), os.getcwd())\nopen('out/x','w')\n")
    done = mode.run("--json", script)
    assert (done.status, done.record["stdout"]) == (0, "65534 /work\n"), done


def test_rootless_without_cgroups_is_refused_by_default(mode_of, place):
    """`require: full` with no delegation: no run, and the fix is named."""
    basic = mode_of("basic")
    script = write(place / "s.sh", "echo ran\n")
    done = basic.run("--json", script, env={"BELLJAR_NATIVE_REQUIRE": "full"})
    assert done.status == 125 and done.record["cause"] == "infrastructure" and done.record["stdout"] == ""
    assert "cgroup" in done.record["error"]
    done = basic.run(script, env={"BELLJAR_NATIVE_REQUIRE": "full"})
    assert done.status == 125 and b"cgroup" in done.err and done.out == b""
