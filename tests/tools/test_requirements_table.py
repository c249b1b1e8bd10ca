# SPDX-License-Identifier: Apache-2.0
"""tools/requirements-table fails for a promise that no test names."""
import pathlib
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/requirements-table"
HEAD = "| id | promise | status | tests |\n|---|---|---|---|\n"


def run(top, rows, files, *flags):
    (top / "docs").mkdir()
    (top / "docs/requirements.md").write_text(HEAD + rows)
    for name, text in files.items():
        path = top / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run([TOOL, *flags, top], capture_output=True, text=True)
    return done.returncode, done.stdout, (top / "docs/requirements.md").read_text()


def test_built_without_test_fails(tmp_path):
    status, out, _ = run(tmp_path, "| AB-01 | x | built | |\n", {}, "--check")
    assert status == 1
    assert "AB-01 is marked built" in out


def test_planned_without_test_passes(tmp_path):
    assert run(tmp_path, "| AB-01 | x | planned | |\n", {}, "--check")[0] == 0


@pytest.mark.parametrize("name,text", [
    ("unit/base/test_a.c", "/* proves\n * AB-01 */\nint x;\n"),
    ("system/test_a.py", 'def test_a():\n    """AB-01"""\n'),
    ("system/test_a.py", "# AB-01: why\n"),
    ("system/test_a.py", '"""AB-00/01"""\n'),
    ("abuse/cases/a.sh", "# AB-01\necho\n"),
])
def test_comments_and_docstrings_count(tmp_path, name, text):
    status, _, doc = run(tmp_path, "| AB-01 | x | built | |\n", {name: text})
    assert status == 0
    assert f"| AB-01 | x | built | {name} |" in doc


@pytest.mark.parametrize("name,text", [
    ("unit/base/test_a.c", 'const char *s = "AB-01";\n'),
    ("system/test_a.py", 'NAME = "AB-01"\n'),
    ("system/test_a.py", "# AB-011 and XAB-01\n"),
    ("system/notes.py", "# AB-01\n"),
])
def test_other_mentions_do_not_count(tmp_path, name, text):
    assert run(tmp_path, "| AB-01 | x | built | |\n", {name: text}, "--check")[0] == 1


def test_check_writes_nothing_and_fails_when_it_would(tmp_path):
    rows = "| AB-01 | x | built | old |\n"
    status, out, doc = run(tmp_path, rows, {"system/test_a.py": "# AB-01\n"}, "--check")
    assert (status, doc) == (1, HEAD + rows)
    assert "run tools/requirements-table" in out


def test_check_passes_what_was_written(tmp_path):
    rows = "| AB-01 | x | built | system/test_a.py |\n"
    assert run(tmp_path, rows, {"system/test_a.py": "# AB-01\n"}, "--check")[0] == 0
