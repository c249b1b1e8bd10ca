# SPDX-License-Identifier: Apache-2.0
"""tools/check-layers refuses what it says it refuses."""
import pathlib
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/check-layers"


def check(top, files):
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run([TOOL, top], capture_output=True, text=True)
    return done.returncode, done.stdout


def function(lines):
    return "int f(void)\n{\n" + "\tg();\n" * (lines - 1) + "}\n"


@pytest.mark.parametrize("name,text", [
    ("src/jar/seal.c", '#include "base/err.h"\n#include "seccomp/load.h"\n'),
    ("src/jar/seal.c", "#include <linux/seccomp.h>\n"),
    ("src/base/err.c", '#include "base/err.h"\n#include "belljar.h"\n'),
    ("src/check/rules.c", "#include <yaml.h>\n"),
    ("src/base/err.c", function(80)),
])
def test_good_trees_pass(tmp_path, name, text):
    assert check(tmp_path, {name: text}) == (0, "")


@pytest.mark.parametrize("name,text,says", [
    ("src/base/err.c", '#include "jar/seal.h"\n', "src/base/err.c:1: base includes jar/seal.h"),
    ("src/jar/seal.c", '\n#  include "engine/run.h"\n', "src/jar/seal.c:2"),
    ("src/check/a.c", '#include "seccomp/load.h"\n', "do not know each other"),
    ("src/cli/run.c", '#include "backend/native.h"\n', "a door never calls a backend"),
    ("src/jar/seal.c", "#include <jansson.h>\n", "parses no JSON"),
    ("src/jar/seal.c", "#include <yaml.h>\n", "parses no YAML"),
    ("src/jar/seal.c", "#include <seccomp.h>\n", "libseccomp stays out"),
    ("src/base/utils.c", "", "name it by the noun"),
    ("src/misc/a.h", "", "name it by the noun"),
    ("src/odd/a.c", "", "no layer called odd"),
    ("src/base/err.c", function(81), "a function of 81 lines"),
    ("tests/unit/long.c", "\n" * 701, "701 lines; 700 at most"),
])
def test_offences_are_named(tmp_path, name, text, says):
    status, out = check(tmp_path, {name: text})
    assert status == 1
    assert says in out
