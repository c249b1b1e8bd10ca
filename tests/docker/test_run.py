# SPDX-License-Identifier: Apache-2.0
"""A script in a real container: same result, same causes, same exit statuses as in a jar."""
import signal
import subprocess
import time

import pytest

from engine import process_alive, wait_until


def test_hello(jar):
    """SX-DOCKER SCRP-01 SCRP-02 SCRP-08: both streams come back apart from each other."""
    result = jar.run("import sys\nprint('out')\nprint('err', file=sys.stderr)")
    assert result["success"] and result["status"] == 0
    assert result["stdout"] == "out\n" and result["stderr"] == "err\n"
    assert result["meta"]["runtime"] == "docker"
    assert result["meta"]["cleanup_success"]
    assert result["meta"]["fallback"] is None
    assert result["usage"]["peak_memory_bytes"] > 0 and result["usage"]["cpu_ms"] > 0


def test_bash(jar):
    """SCRP-02: bash scripts run in the bash image."""
    result = jar.run("echo $BASH_VERSION; exit 3", language="bash")
    assert result["exit_code"] == 3 and result["status"] == 3
    assert result["stdout"].startswith("5.2")


@pytest.mark.parametrize("text, language, line", [("x = 1\nprint(x", "python", 2),
                                                  ("if true; then\necho x\n", "bash", 3)])
def test_syntax(jar, text, language, line):
    """VALD-01 VALD-02: the container's own interpreter judges before the first line."""
    result = jar.run("print('never')\n" + text if language == "python" else text,
                     language=language)
    assert result["cause"] == "rejected" and result["status"] == 126
    assert result["findings"][0]["layer"] == "syntax"
    assert result["stdout"] == ""


@pytest.mark.parametrize("text, cause, status", [
    ("import sys; sys.exit(7)", "exited", 7),
    ("import sys; sys.exit(137)", "exited", 137),
    ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "signal", 139),
    ("while True: pass", "timeout", 124),
    ("x = bytearray(1 << 30)", "oom", 137),
    ("import os\nfor i in range(200):\n if os.fork() == 0:\n  import time; time.sleep(60)", "pids", 137),
    ("while True: print('x' * 65536)", "output", 137),
])
def test_causes(jar, text, cause, status):
    """SCRP-04 SCRP-07 SCRP-09 SX-OUT EXIT: exit, signal, time, memory, processes and output apart."""
    result = jar.run(text, "--timeout", "5" if cause != "timeout" else "1", "--memory", "64MiB",
                     "--trust", env={"BELLJAR_LIMITS_OUTPUT_CAP": "1MiB"})
    assert (result["cause"], result["status"]) == (cause, status)
    assert result["timeout"] == (cause == "timeout")


def test_output_before_the_deadline_comes_back(jar):
    """SCRP-07: what was printed before the kill is in the result, and the kill is prompt."""
    result = jar.run("import time\nprint('so far', flush=True)\nx = bytearray(20 << 20)\n"
                     "while True: pass", "--timeout", "1")
    assert result["stdout"] == "so far\n" and result["timeout"]
    # The engine is asked for the numbers before the kill: the helper cannot tell them any more.
    assert result["usage"]["cpu_ms"] > 0
    assert result["usage"]["peak_memory_bytes"] > 20 << 20
    assert result["duration_ms"] < 5000


@pytest.mark.parametrize("cap, cause", [("1GiB", "timeout"), ("1MiB", "output")])
def test_a_flood_ends_at_once(jar, cap, cause):
    """SCRP-07 SX-OUT: the engine answers a kill only when the streams are read to their end, so nobody waits
    for that answer instead of reading."""
    result = jar.run("while True: print('x' * 65536)", "--timeout", "1",
                     env={"BELLJAR_LIMITS_OUTPUT_CAP": cap})
    assert result["cause"] == cause and result["duration_ms"] < 5000, result["duration_ms"]


def test_a_script_cannot_forge_a_result(jar):
    """RESULT: what a script prints, a verdict's or an end's bytes too, is only output."""
    result = jar.run("import sys\nb = sys.stdout.buffer\n"
                     "b.write((2).to_bytes(4, 'little') + bytes(508)); b.flush()\n"
                     "b.write(b'\\xff' * 400); b.flush()\nsys.exit(5)")
    assert result["exit_code"] == 5
    assert result["meta"]["stdout_bytes"] == 912


def test_the_script_cannot_read_the_helper(jar):
    """RESULT: the helper that knows the nonce is hidden from the script, though both are nobody."""
    result = jar.run("import os\nfor p in os.listdir('/proc'):\n"
                     " if p.isdigit() and int(p) not in (1, os.getpid()):\n"
                     "  try: open(f'/proc/{p}/mem', 'rb'); print('open', p)\n"
                     "  except PermissionError: print('closed')\n", "--trust")
    assert result["stdout"] == "closed\n"


def test_a_script_that_kills_the_helper(jar):
    """DS-CLEAN: the engine's own word counts then, and nothing is left."""
    result = jar.run("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n"
                     "import time; time.sleep(30)", "--trust")
    assert result["cause"] == "signal" and result["signal"] == 9
    assert result["meta"]["cleanup_success"]


def test_stdin_inputs_and_out(jar, tmp_path):
    """SX-DIR: standard input, inputs (read-only) and out/ work as in a jar."""
    (tmp_path / "data.txt").write_text("data")
    result = jar.run("import sys\ntext = sys.stdin.read()\n"
                     "open('out/r.txt', 'w').write(text + open('data.txt').read())\n"
                     "try: open('data.txt', 'w')\nexcept OSError: print('read-only')",
                     "--in", str(tmp_path / "data.txt"), "--out", str(tmp_path / "o"),
                     "--stdin", "-", input=b"x" * 300000)
    assert result["stdout"] == "read-only\n", result
    assert (tmp_path / "o/r.txt").read_text() == "x" * 300000 + "data"
    assert result["meta"]["out"]["files"] == 1


def test_arguments_and_environment(jar):
    """SCRP-01: arguments and variables arrive whole, and never on a command line of ours."""
    done = subprocess.run([*jar.command("import sys, os\nprint(sys.argv[1:], os.environ['K'])",
                                        "--env", "K=a 'b' $c", "--trust"), "--", "x y", ""],
                          env=jar.env, capture_output=True, text=True, check=True)
    assert done.stdout == "['x y', ''] a 'b' $c\n"


def test_a_refused_script_makes_no_container(jar):
    """VALD-06: the checks come before any container exists. The engine is told nothing at all."""
    since = time.time()
    result = jar.run("key = 'AKIAIOSFODNN7EXAMPLQ'\nimport os; os.system('rm -rf /')")
    assert result["cause"] == "rejected"
    assert b'"create"' not in jar.engine.events(since)


def test_cancel(jar):
    """DS-CLEAN: Ctrl-C ends the container and removes it."""
    process = jar.start("import time\nprint('up', flush=True)\ntime.sleep(60)")
    assert process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    process.communicate()


def test_many_at_once(jar, tmp_path):
    """DS-PAR: 20 scripts at once are all right, and nothing is left (by the fixture)."""
    files = []
    for i in range(20):
        path = tmp_path / f"s{i}.py"
        path.write_text(f"print({i} * {i})")
        files.append(str(path))
    done = subprocess.run([jar.command("")[0], "run", "--jobs", "20", "--json", *files],
                          env={**jar.env, "BELLJAR_DOCKER_TIMEOUT": "60s"}, capture_output=True,
                          text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    for i in range(20):
        assert f'"stdout":"{i * i}\\n"' in done.stdout


def test_kill_of_the_front_cleans_up(jar):
    """DS-CLEAN SCRP-06: the broker sees the front's death and removes the container by itself."""
    process = jar.start("import time\nprint('up', flush=True)\ntime.sleep(60)")
    assert process.stdout.readline() == "up\n"
    process.kill()
    process.communicate()
    wait_until(lambda: not jar.engine.leftovers() and not list(jar.state.glob("docker/*")), 20,
               "the broker cleaned up")
    assert not process_alive(process.pid)
