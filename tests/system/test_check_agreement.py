# SPDX-License-Identifier: Apache-2.0
"""The verdict of the check on syntax is the interpreter's own: same verdict, same line."""
import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
import warnings

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))
FULL = os.environ.get("BELLJAR_FULL") == "1"
# The length limit is lifted and nothing but length and syntax blocks.
OPTIONS = ["--policy", "off", "--max-chars", "10000000", "--json"]


def check(files, language="python"):
    """{file: line of the syntax error, or None}; of a file that is refused for another reason,
    the reason."""
    verdicts = {}
    for i in range(0, len(files), 1000):
        done = subprocess.run([BELLJAR, "check", "-l", language, *OPTIONS, *files[i:i + 1000]],
                              capture_output=True, text=True, timeout=1200, check=False)
        assert done.returncode in (0, 1, 126), done.stderr
        for line in filter(None, done.stdout.split("\n")):
            report = json.loads(line)
            syntax = [f for f in report["findings"] if f["layer"] == "syntax"]
            verdicts[report["file"]] = (syntax[0]["line"] if syntax
                                        else report["error"] if report["blocked"] else None)
    assert len(verdicts) == len(files)
    return verdicts


def compile_says(data, name):
    """The line at which compile() refuses these bytes; None when it takes them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.lineno or 0
    except (ValueError, OverflowError, RecursionError, MemoryError):
        return 0
    return None


def library():
    """Every .py file of the host's Python library; a sample of them in a short run."""
    files = sorted(str(p) for root in pathlib.Path("/usr/lib").glob("python3*")
                   for p in root.rglob("*.py") if p.is_file())
    assert len(files) > 500
    if FULL:
        return files
    return sorted(files, key=lambda f: hashlib.sha256(f.encode()).digest())[:25]


@pytest.mark.soak
def test_the_standard_library_gets_the_verdict_of_compile(record_property):
    """VALD-01: over the host's whole Python library, length limit lifted."""
    files = library()
    got = check(files)
    wanted = {f: compile_says(pathlib.Path(f).read_bytes(), f) for f in files}
    wrong = {f: (got[f], wanted[f]) for f in files if got[f] != wanted[f]}
    record_property("files", len(files))
    assert wrong == {}


def mutate(text, rng):
    """One small change of the kind that people and models make."""
    lines = text.splitlines(keepends=True)
    kind = rng.randrange(9)
    at = rng.randrange(len(lines))
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines[at] = " " * rng.randrange(1, 9) + lines[at]
    elif kind == 2:
        lines[at] = lines[at].lstrip()
    elif kind == 3:
        lines = lines[:at + 1]
    elif kind == 4:
        lines.insert(at, rng.choice(["def f(\n", ")\n", "else:\n", "x = = 1\n", "return\n", "'''\n",
                                     "\tx = 1\n", "print 1\n", "a b\n", "yield\n", "await x\n",
                                     "f(**k, *a)\n", "x: = 1\n", "1 = x\n", "from x import\n",
                                     "x = 'a\n", "f'{'\n", "lambda: (yield)\n", "nonlocal x\n",
                                     "break\n", "import *\n", "\\ \n", "0777\n", "1__0\n", "$x\n"]))
    else:
        text = "".join(lines)
        spots = [i for i, c in enumerate(text) if c in "()[]{}:,='\"\\.\n" or c.isalpha()]
        i = rng.choice(spots)
        if kind in (5, 6):
            return text[:i] + text[i + 1:]
        return text[:i] + rng.choice("()[]{}:,='\"\\\n\t@!$?`") + text[i + (kind == 8):]
    return "".join(lines)


def small_sources():
    for path in sorted(pathlib.Path("/usr/lib/python3.11").rglob("*.py")):
        data = path.read_bytes()
        if 400 < len(data) < 20000:
            try:
                yield data.decode("utf-8")
            except UnicodeDecodeError:
                continue


@pytest.mark.soak
def test_mutations_that_python_refuses_are_refused_at_the_same_line(tmp_path, record_property):
    """VALD-01: at least 500 of them."""
    rng = random.Random(3)
    sources = list(small_sources())
    wanted = {}
    while len(wanted) < (520 if FULL else 25):
        data = mutate(rng.choice(sources), rng).encode()
        name = tmp_path / f"m{len(wanted)}.py"
        line = compile_says(data, str(name))
        if line is None:
            continue
        name.write_bytes(data)
        wanted[str(name)] = line
    got = check(list(wanted))
    record_property("mutations", len(wanted))
    assert {f: (got[f], wanted[f]) for f in wanted if got[f] != wanted[f]} == {}


ODD = [
    b"x = 1\r\ny = 2\r\n", b"x = 1\ry = (\r", b"\xef\xbb\xbfx = 1\n", b"\xef\xbb\xbf# coding: latin-1\nx = 1\n",
    b"# coding: latin-1\nx = '\xe9'\n", b"# coding: latin-1\nx = '\xe9\n", b"#!x\n# -*- coding: cp1252 -*-\nx = '\x93'\n",
    b"# coding: iso-8859-15\n\xe9 = 1\nprint(\xe9\n", b"# coding: ascii\nx = '\xe9'\n", b"x = '\xe9'\n",
    b"# coding: utf-8\nx = '\xe9'\n", b"# coding: nonsense\nx = 1\n", b"x = 1\x00\n", b"# \x00\n",
    b"\xff\xfex\x00", b"\xfe\xff\x00x", b"# coding: utf-16\nx = 1\n", b"# coding: koi8-r\nx = '\xc1'\n",
    b"# coding: cp1252\nx = '\x81'\n", b"\n\n# coding: latin-1\nx = '\xe9'\n", b"x = 1\n# coding: latin-1\ny = '\xe9'\n",
    b"(" * 300, b"(" * 150 + b")" * 150, b"x = " + b"-" * 5000 + b"1\n", b"x = " + b"1 + " * 3000 + b"1\n",
    b"x" + b".a" * 5000 + b"\n", b"if 1:\n" * 3, b"\x0cx = 1\n", b"  x = 1\n", b"x = 1 \\", b"'''", b"",
    b"def f():\n\treturn 1\n        return 2\n", b"x = \xc2\xa01\n", b"\xe2\x80\xa8x = 1\n", b"\xd0\xb6 = 1\n",
]


def test_odd_bytes_are_read_as_python_reads_them(tmp_path):
    """VALD-01: marks, encodings, line ends, NUL bytes, deep nesting. What the length layer refuses
    has no line of its own."""
    names = [str(tmp_path / f"odd{i}.py") for i in range(len(ODD))]
    for name, data in zip(names, ODD):
        pathlib.Path(name).write_bytes(data)
    got = check(names)
    wrong = []
    for name, data in zip(names, ODD):
        wanted = compile_says(data, name)
        if (got[name] is None) != (wanted is None) or (isinstance(got[name], int) and got[name] != wanted):
            wrong.append((data[:60], got[name], wanted))
    assert wrong == []


# --- bash ---

GOOD_BASH = [
    "echo one", "if true; then :; fi", "for i in 1 2; do echo $i; done", "for i do echo $i; done",
    "case x in a|b) echo;; *) ;; esac", "case x in (a) echo;& b) ;;& esac", "f() { :; }", "function f { :; }",
    "function f() ( : )", "f() for x in a; do :; done", "select x in a; do break; done", "until false; do break; done",
    "while read -r x; do echo; done < <(ls)", "coproc cat", "coproc X { cat; }", "time ls | cat", "! true", "((x++))",
    "for ((i = 0; i < 3; i++)); do :; done", "[[ a == b* && c =~ ^d(e|f)$ ]]", "[[ -n $x || ! -f y ]]",
    "a=(1 2 [5]=x)", "a+=(3)", "declare -A m=([x]=1)", "echo ${a[@]:1:2} ${#a} ${!a} ${a/x/y} ${a^^} ${a@Q}",
    "echo $((1 << 2)) $[1+1]", "echo `ls \\`pwd\\``", "echo $(case x in x) echo;; esac)", "cat <<E\n$x\nE",
    "cat <<'E'\n$(\nE", "cat <<-E\n\tx\n\tE", "cat <<A <<B\na\nA\nb\nB", "cat <<< word", "echo {a,b}{1..3}",
    "echo $'a\\nb' $\"c\"", "exec 3<>file 4>&- 5<&3", "ls &> out &>> out 2>&1 |& cat", ">file", "x=1 y=2",
    "{ echo; } 2>/dev/null", "(cd x && ls) & wait", "a && b || c; d", "a |\nb &&\nc", "if a\nthen b\nelif c\nthen d\nelse e\nfi",
    "echo \\\nx", "# only a comment", "", "\n\n", "echo a#b '#c' \\#d", "x=${y:-$(echo \"a b\")}", "trap 'echo \"$?\"' EXIT",
    "echo \"${x:-\"a\"}\" \"$(echo \"b\")\"", "shopt -s extglob\nls !(a|b)", "shopt -s extglob\ncase x in @(a|b)) ;; esac",
    "alias ll='ls -l'", "printf '%s\\n' \"${!x@}\" \"${x[*]}\"", "let x=1+2", "[ \"$a\" = b -a c ]", "test -e x",
    "while :; do case $1 in -a) shift;; *) break;; esac; done", "f() { local x=$1; return; }; f a", "echo ${x%%.*} ${x##*/}",
    "echo ~ ~root $HOME", "a=b c=d cmd", "cmd arg=val", "echo 'it'\"'\"'s'", "if ((a > b)); then :; fi", "[[ $x -eq 1 ]] && y",
    "echo $((x ? 1 : 2)) $((a[1]))", "echo ${x:?msg} ${x:+y} ${x:=z}", "set -- a b", "read -r a b <<< \"x y\"",
    "ls | while read x; do :; done", "exec > >(tee log) 2>&1", "diff <(a) <(b)", "echo \"a\nb\"", "echo 'a\nb'",
    "case $x in\n  a)\n    ;;\nesac", "for x in; do :; done", "for x\nin a b\ndo :\ndone", "{\necho\n}", "(\necho\n)",
    "if [[ a ]]; then { b; }; fi", "echo $#a $$ $! $? $- $0 $@ $*", "f(){ :;};f", "x=$(<file)", "echo ${a[${#a[@]}-1]}",
]
BAD_BASH = [
    "if [ true", "if true; then", "fi", "done", "for i in; do", "for", "case x in", "case x in a) ;;", "esac", "(", ")", "{", "}",
    "echo 'a", "echo \"a", "echo `a", "echo $(a", "echo ${a", "((1", "[[ a", "[[ a ==", "[[ ]]", "a |", "a &&", "| a", "&& a",
    "; a", ";;", "a ;; b", "if; then :; fi", "while do :; done", "f() {", "f() ", "function", "function f", "()", "a (b)", "a()b",
    "for x in a; echo; done", "for ((;;)", "if a; then b; else; fi", "then", "do", "else", "elif", "a > ", "a <", "a > > b",
    "a & && b", "a & | b", "echo a)b", "x=(", "x=(a", "x=(a))", "if true; fi", "while true; done", "{ }", "{ echo }", "( )",
    "case in x) ;; esac", "case x in x ;; esac", "select x in", "until", "! |", "a && ; b", "a || || b", "ls !(a", "[[ a && ]]",
    "[[ ( a ]]", "[[ a b ]]", "for 1x in a; do :; done", "for x y; do :; done", "cat <<E\n$(\nE\n)", "echo $((1", "a | | b",
    "a ; ; b", "if a; then :; fi fi", "echo }\n}", "f() }", "while a; do b; done done", "coproc", "time |", "a &; b", "<(", ">(a",
    "echo \"$(a\"", "echo \"`a\"", "if a; then b; elif; fi", "for x in a b do :; done", "case x in (a ;; esac", "x() ( ",
    "function f() [[", "((x)", "$(", "`", "'", "\"", "${", "${x", "$((", "\n\n)\n", "a\nb\nfi\nc", "if a\nthen\nb\n", "echo (",
]


def system_scripts():
    """Bash and sh scripts of the system."""
    found = []
    for folder in ("/usr/bin", "/usr/sbin", "/usr/share", "/usr/lib", "/etc"):
        for root, dirs, names in os.walk(folder):
            dirs[:] = sorted(d for d in dirs if d not in ("python3", "node_modules"))
            for name in sorted(names):
                path = pathlib.Path(root, name)
                try:
                    if path.is_symlink() or not path.is_file() or path.stat().st_size > 300000:
                        continue
                    with path.open("rb") as file:
                        head = file.readline(64)
                except OSError:
                    continue
                if head.startswith(b"#!") and head.split()[0:1] and head.rstrip().endswith((b"/bash", b"/sh", b"bash -e", b"/sh -e")):
                    found.append(str(path))
    return found


def bash_says(path):
    """The line at which bash refuses the script; None when it takes it. extglob counts as on in a
    script that speaks of it."""
    said = subprocess.run(["/usr/bin/bash", "-n", path], capture_output=True, timeout=60, check=False)
    if said.returncode and b"extglob" in pathlib.Path(path).read_bytes():
        again = subprocess.run(["/usr/bin/bash", "-n", "-O", "extglob", path], capture_output=True,
                               timeout=60, check=False)
        if not again.returncode:
            return None
    if not said.returncode:
        return None
    head = said.stderr.decode("utf-8", "replace").partition("\n")[0]
    return int(head.split(": line ")[1].split(":")[0]) if ": line " in head else 0


@pytest.mark.soak
def test_bash_scripts_get_the_verdict_of_bash(tmp_path, record_property):
    """VALD-02: at least 200 scripts, valid and not; extglob that a script switches on included."""
    system = system_scripts()
    files = system if FULL else sorted(system, key=lambda f: hashlib.sha256(f.encode()).digest())[:15]
    own = GOOD_BASH + BAD_BASH
    for i, text in enumerate(own if FULL else own[::6]):
        path = tmp_path / f"s{i}.sh"
        path.write_text(text + "\n")
        files.append(str(path))
    text = pathlib.Path("/usr/bin/ldd").read_text(encoding="utf-8") if os.path.exists("/usr/bin/ldd") else "if a\nthen\nb\nfi\n"
    rng = random.Random(4)
    for i in range(60 if FULL else 5):
        lines = text.splitlines(keepends=True)
        del lines[rng.randrange(len(lines))]
        path = tmp_path / f"m{i}.sh"
        path.write_text("".join(lines))
        files.append(str(path))
    readable = []
    for f in files:
        data = pathlib.Path(f).read_bytes()
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if b"\0" not in data:
            readable.append(f)
    wanted = {f: bash_says(f) for f in readable}
    got = check(readable, "bash")
    record_property("scripts", len(readable))
    record_property("refused", sum(w is not None for w in wanted.values()))
    assert {f: (got[f], wanted[f]) for f in readable if got[f] != wanted[f]} == {}
    if FULL:
        assert len(readable) >= 200


def test_the_host_python_is_the_one_that_is_asked():
    """VALD-01: these tests compare with the interpreter they run on; it must be the jar's."""
    assert sys.version_info[:2] == (3, 11) or not pathlib.Path("/usr/bin/python3.11").exists()
