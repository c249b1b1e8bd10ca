# SPDX-License-Identifier: Apache-2.0
"""`belljar run` with inputs, several scripts, and output that drives terminals."""
import json
import os
import pathlib
import pty
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))


def run(*args, text=None):
    done = subprocess.run([BELLJAR, "run", *map(str, args)], input=text, capture_output=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_an_input_may_be_called_like_the_script(tmp_path):
    """SCRP-01, DS-FS: script and inputs do not stand in each other's way."""
    data = tmp_path / "script.py"
    data.write_text("the input")
    text = b"print(open('script.py').read())\nprint(__file__)\n"
    assert run("-l", "python", "--in", data, "-", text=text) == (
        0, b"the input\n/script/script.py\n", b"")


def test_inputs_are_read_only_and_importable(tmp_path):
    """DS-FS: an input can be imported and not be changed, removed or replaced."""
    (tmp_path / "helper.py").write_text("VALUE = 42\n")
    text = b"""
import errno, os, helper
print(helper.VALUE)
for change in (lambda: open('helper.py', 'w'), lambda: os.remove('helper.py'),
               lambda: os.rename('helper.py', 'x'), lambda: os.chmod('helper.py', 0o777)):
    try:
        change()
        print('changed')
    except OSError as error:
        print(errno.errorcode[error.errno])
print(os.listdir('/script'))
"""
    code, out, err = run("-l", "python", "--in", tmp_path / "helper.py", "-", text=text)
    assert (code, err) == (0, b"")
    lines = out.decode().split("\n")
    assert lines[0] == "42" and "changed" not in lines
    assert lines[5] == "['script.py']"


def test_jobs_print_an_object_for_every_failure(tmp_path):
    """SCRP-09: with --json there is one line a script, also for one that could not run."""
    for name in "ab":
        (tmp_path / f"{name}.py").write_text("print(1)\n")
    config = tmp_path / "c.yaml"
    config.write_text("native:\n  python: /nonexistent/python\n")
    code, out, _ = run("--json", "--jobs", 2, "--config", config, tmp_path / "a.py",
                       tmp_path / "b.py")
    assert code == 1
    results = [json.loads(line) for line in out.splitlines()]
    assert [r["cause"] for r in results] == ["infrastructure"] * 2
    assert all("/nonexistent/python" in r["error"] for r in results)


def test_standard_input_is_for_one_script(tmp_path):
    """SCRP-01: several scripts would each get a part of it, by chance."""
    data = tmp_path / "data"
    data.write_text("x" * 100000)
    for name in "ab":
        (tmp_path / f"{name}.py").write_text("import sys\nprint(len(sys.stdin.read()))\n")
    code, _, err = run("--jobs", 2, "--stdin", data, tmp_path / "a.py", tmp_path / "b.py")
    assert code == 125
    assert err == b"belljar: --stdin goes to one script; there are 2\n"


def on_a_terminal(script):
    """What a terminal gets when it is standard output and standard error of the run."""
    master, slave = pty.openpty()
    with subprocess.Popen([BELLJAR, "run", "-l", "python", "-"], stdin=subprocess.PIPE,
                          stdout=slave, stderr=slave) as process:
        os.close(slave)
        process.stdin.write(script)
        process.stdin.close()
        got = b""
        try:
            while block := os.read(master, 65536):
                got += block
        except OSError:
            pass  # the other side is closed
        process.wait(timeout=60)
    os.close(master)
    return process.returncode, got


@pytest.mark.parametrize("writes", [
    [rb"\x1b[31mred"], [rb"\x07\x08\x0e"], [rb"\x9b31m"], [rb"\xc2\x9b31m"],
    [rb"\xc2", rb"\x9b31m"], [rb"\xe2\x82", rb"\x9b31m"], [rb"\x7f"],
])
def test_no_script_drives_a_terminal(writes):
    """ABUSE 25: no control character reaches a terminal, however the writes are split."""
    script = b"import os, time\n" + b"".join(
        b"os.write(1, b'%s')\nos.write(2, b'%s')\ntime.sleep(0.05)\n" % (w, w) for w in writes)
    code, got = on_a_terminal(script)
    assert code == 0
    text = got.decode()  # strictly: no half characters either
    assert not [c for c in text if (ord(c) < 32 and c not in "\r\n\t") or 127 <= ord(c) < 160]


def test_text_on_a_terminal_is_untouched():
    """SCRP-08: letters of every script, split or not, arrive as they are."""
    script = ("import os, time\nos.write(1, 'ä€🐝 tab\\t\\n'.encode())\n"
              "os.write(1, b'\\xe2\\x82')\ntime.sleep(0.05)\nos.write(1, b'\\xac\\xc2')\n"
              "time.sleep(0.05)\nos.write(1, b'\\nend')\n").encode()
    code, got = on_a_terminal(script)
    assert code == 0
    assert got.decode().replace("\r\n", "\n") == "ä€🐝 tab\t\n€\ufffd\nend"


def test_what_is_not_collected_is_said(tmp_path):
    """SCRP-01: nobody looks for a folder that stayed in the jar."""
    text = b"import os\nos.mkdir('out/d'); os.symlink('x', 'out/l'); open('out/f', 'w').write('1')\n"
    status, out, err = run("-l", "python", "--out", tmp_path / "o", "-", text=text)
    assert (status, out) == (0, b"") and os.listdir(tmp_path / "o") == ["f"]
    assert err.count(b"\n") == 1 and err.startswith(b"belljar: 2 of what was left in out/ were not collected")
    assert run("-q", "-l", "python", "--out", tmp_path / "o", "-", text=text) == (0, b"", b"")
