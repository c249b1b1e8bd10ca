# SPDX-License-Identifier: Apache-2.0
"""The harness compiles a script without compile(). VALD-01: what comes of it is the same, and no line of
the script runs before the verdict is out."""
import json
import os
import pathlib
import subprocess

import pytest

pytestmark = pytest.mark.usefixtures("clean")
HARNESS = pathlib.Path(__file__).resolve().parents[2] / "runtime/harness.py"
STDLIB = pathlib.Path(os.__file__).parent

# Holds compile_quick() against compile() over many texts; says for which it had no answer.
COMPARE = """
import json, marshal, sys, warnings
names = {"__name__": "harness"}
exec(compile(open(sys.argv[1]).read(), "harness", "exec"), names)
answers = []
for text in json.load(sys.stdin):
    text = text.encode("latin-1")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        quick = names["compile_quick"](text, "/a/b.py")
        assert said == [] and warnings.filters == before and sys.getprofile() is None, text[:60]
        try:
            plain = compile(text, "/a/b.py", "exec", 0, True)
        except BaseException:
            plain = None
    if quick is None:
        answers.append("none" if said or plain is None else "missed")
    else:
        same = not said and plain and marshal.dumps(quick, 2) == marshal.dumps(plain, 2)
        answers.append("same" if same else "different")
print(json.dumps(answers))
"""

EXACT = [
    b"", b"\n\n", b'"only a docstring"\n', b"x = 1", b"x = 1\r\ny = 2\rz = 3", b"\x0cx = 1\n",
    b"\xef\xbb\xbfprint(1)\n", b"# -*- coding: latin-1 -*-\nx = '\xe4'\n", b"x = '\xc3\xa4'\n",
    b"from __future__ import annotations\ndef f(a: b): pass\n",
    b"class A:\n  def f(self):\n    return lambda: [i for i in self]\n", b"def f():\n  yield\n",
    b"async def f():\n  async for x in y: pass\n", b"match x:\n  case [1, *a]: pass\n",
    b"import os\nos._exit(7)\n", b"raise SystemExit\n", b"1 / 0\n", b"import sys\nsys.setprofile(None)\n",
    b"x = " + b"(" * 90 + b")" * 90, b"x = 1\n" * 50000,
]
# Something has to be said about these, so compile() is asked.
LEFT = [
    b"x = (", b"nonlocal x\n", b"return\n", b"await x\n", b"x = 1\0", b"# coding: nonsense\n", b"x = '\xff'\n",
    b"1 <> 2\n", b"if x is 1: pass\n", b"x = '\\d'\n", b"assert (1, 2)\n", b"-" * 20000 + b"1", b"def f(a, a): pass\n",
]


def compare(texts):
    done = subprocess.run(["/usr/bin/python3", "-I", "-c", COMPARE, HARNESS], check=True, text=True,
                          stdout=subprocess.PIPE, input=json.dumps([t.decode("latin-1") for t in texts]))
    return json.loads(done.stdout)


def test_is_what_compile_returns():
    assert compare(EXACT) == ["same"] * len(EXACT)


def test_leaves_to_compile_what_needs_words():
    assert compare(LEFT) == ["none"] * len(LEFT)


def test_on_the_standard_library():
    texts = [f.read_bytes() for f in sorted(STDLIB.glob("*.py"))]
    answers = compare(texts)
    assert len(texts) > 100 and set(answers) <= {"same", "none"}
    assert answers.count("same") > 0.9 * len(texts)


def bare(text, path):
    """The same by a bare interpreter, with our path in place of its own."""
    path.write_bytes(text)
    done = subprocess.run(["/usr/bin/python3", "-I", path], capture_output=True)
    return done.returncode, done.stdout, done.stderr.replace(bytes(path), b"/script/script.py")


@pytest.mark.parametrize("text", [
    b"def f():\n    return 1 / 0\n\n\nf()\n",
    b"x = 1\nprint(x is 1)\n",
    b"print('a\\d')\n",
    b"import warnings\nwarnings.simplefilter('always')\nprint(eval(\"'\\\\d'\"))\nwarnings.warn('w')\n",
    b"import __future__, sys\nflags = sum(f.compiler_flag for f in map(__future__.__dict__.get,"
    b" __future__.all_feature_names))\nprint(sys._getframe().f_code.co_flags & flags, 1 if 3 / 2 == 1.5 else 2)\n",
    b"import sys\nprint(sys.getprofile(), sys.gettrace(), sys.exc_info(), __file__)\n"
    b"print(sys._getframe().f_code.co_filename, (lambda: 0).__code__.co_filename)\n",
    b"# -*- coding: latin-1 -*-\nprint(ascii('\xe4'))\n",
    b"\xef\xbb\xbfprint('mark')\n",
    b"'only a docstring'\n",
    b"# nothing\n",
    b"globals()[1] = 2\n_b = 'b'\nprint('names that are no text')\n",
    b"import builtins\nbuiltins.isinstance = builtins.list = None\nprint('builtins that are gone')\n",
], ids=range(12))
def test_in_a_jar_as_bare(text, root, place):
    script = place / "s.py"
    status, out, err = bare(text, script)
    done = root.run("--policy", "off", script)
    assert (done.status, done.out, done.err) == (status, out.replace(bytes(script), b"/script/script.py"), err)


def test_reads_all_of_it(tmp_path):
    names = {}
    exec(HARNESS.read_text(), names)
    for size in (0, 1, names["CHUNK"] - 1, names["CHUNK"], names["CHUNK"] + 1, 3 * names["CHUNK"]):
        file = tmp_path / "text"
        file.write_bytes(bytes(i % 251 for i in range(size)))
        assert names["read"](str(file)) == file.read_bytes()


def test_nothing_runs_before_the_verdict(root, place):
    script = place / "s.py"
    script.write_text("print('ran', flush=True)\n" * 20 + "x = (\n")
    done = root.run("--json", script)
    assert done.record["cause"] == "rejected" and b"ran\n" not in done.out + done.err, done
    assert done.record["stdout"] == ""


# Runs the cold harness with its verdict in descriptor 3 and says what could be imported while it compiled.
SPY = """
import posix, sys
seen = []
def spy(event, args):
    if event == "compile" and not seen:
        seen.append(posix.getcwd() in sys.path or "" in sys.path)
        posix.write(1, b"%d\\n" % seen[0])
text = open(sys.argv.pop(1)).read()
code = compile(text, "harness", "exec")
sys.addaudithook(spy)
exec(code, {"__name__": "__main__"})
"""


def test_nothing_that_comes_with_a_script_is_imported_before_the_verdict(tmp_path):
    """A name of a character makes the compiler import unicodedata, in most Pythons from a file. It is not looked for
    among the script's own files: one of that name could write a verdict. Afterwards it is, as ever."""
    (tmp_path / "s.py").write_text("print('\\N{EURO SIGN}')\nimport beside\n")
    (tmp_path / "beside.py").write_text("print('beside')\n")
    (tmp_path / "all.py").write_text(HARNESS.read_text() + (HARNESS.parent / "cold.py").read_text())
    done = subprocess.run(["/bin/sh", "-c", 'exec "$@" 3>verdict', "sh", "/usr/bin/python3", "-I", "-X", "utf8", "-c", SPY, "all.py",
                           "s.py", "run"], cwd=tmp_path, stdout=subprocess.PIPE, encoding="utf-8")
    assert (tmp_path / "verdict").read_bytes()[:4] == (1).to_bytes(4, "little")
    assert done.stdout == "0\n\u20ac\nbeside\n" and done.returncode == 0
