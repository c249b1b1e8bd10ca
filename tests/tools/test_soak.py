# SPDX-License-Identifier: Apache-2.0
"""tools/soak keeps the rows of what did not run this time, or runs elsewhere at the same time."""
import importlib.machinery
import importlib.util
import pathlib

import pytest

PATH = pathlib.Path(__file__).resolve().parents[2] / "tools/soak"


@pytest.fixture
def tool(tmp_path, monkeypatch):
    loader = importlib.machinery.SourceFileLoader("soak", str(PATH))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("soak", loader))
    loader.exec_module(module)
    monkeypatch.setattr(module, "RESULT", tmp_path / "soak.md")
    return module


REPORT = """<testsuites><testsuite><testcase name="test_a[x | y]" time="1.26"><properties>
<property name="kills" value="300"/><property name="odd" value="a | b&#10;c"/></properties></testcase>
<testcase name="test_b" time="2"><failure message="no"/></testcase>
<testcase name="test_c" time="0"><skipped/></testcase></testsuite></testsuites>"""


def test_rows_come_from_the_report(tool, tmp_path):
    report = tmp_path / "r.xml"
    report.write_text(REPORT)
    rows = list(tool.pytest_rows("system", report).values())
    assert [row[:5] for row in rows] == [["system", "test_a[x / y]", "1.3", "passed", "kills 300; odd a / b c"],
                                         ["system", "test_b", "2.0", "failed", ""]]


def test_rows_of_other_stages_stay(tool):
    old = tool.row("serve", "test_soak", 500, True, "runs 100000") | tool.row("unit", "linear", 90, True, "")
    tool.write(old, list(old))
    assert tool.read_rows(tool.RESULT.read_text()) == old
    new = tool.row("unit", "linear", 95, False, "worst 7")
    tool.write(new, [])
    assert tool.read_rows(tool.RESULT.read_text()) == old | new
    lines = tool.RESULT.read_text().splitlines()
    assert lines[0] == "# Soak" and [line.split(" | ")[1] for line in lines[7:]] == ["linear", "test_soak"]


@pytest.mark.parametrize("stage", ["serve", "serve/test_storm.py::test_soak"])
def test_a_stage_that_cannot_run_is_a_failure(tool, monkeypatch, tmp_path, stage):
    monkeypatch.setattr(tool.subprocess, "call", lambda *a, **k: 2)
    assert tool.run_pytest(tmp_path, stage) == ({}, False)


def test_only_marked_tests_run(tool, monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(tool.subprocess, "call", lambda words, **k: seen.append(words) or 0)
    tool.run_pytest(tmp_path, "record")
    assert ["-m", "soak"] in [seen[0][i:i + 2] for i in range(len(seen[0]))] and seen[0][-1] == "tests/record"


def test_what_has_no_row_is_named(tool):
    """A missing row is to be seen, and is no row."""
    rows = tool.row("serve", "test_soak", 500, True, "")
    rows |= tool.row("docker", "test_b[x]", 1, True, "")
    tool.write(rows, [("serve", "test_soak"), ("docker", "test_b[x]"), ("docker", "test_b[y]"), ("unit", "c")])
    text = tool.RESULT.read_text()
    assert text.splitlines()[-2:] == ["- docker: `test_b`, 1 of 2 cases", "- unit: `c`"] and "`test_soak`" not in text
    assert tool.read_rows(text) == rows


def test_marked_tests_are_listed_and_not_run(tool, monkeypatch, tmp_path):
    def call(words, **_):
        assert "--collect-only" in words and ["-m", "soak"] in [words[i:i + 2] for i in range(len(words))]
        listed = "tests/serve/test_a.py::test_b[x]\n\n1/9 tests collected\n" if words[-1] == "tests/serve" else ""
        return tool.subprocess.CompletedProcess(words, 0 if listed else tool.NO_TESTS, listed, "")

    monkeypatch.setattr(tool.subprocess, "run", call)
    assert tool.all_tests() == [*(("unit", name) for name in tool.UNIT_TESTS), ("serve", "test_b[x]")]
    assert tool.main(["soak", str(tmp_path), "--list"]) == 0
    assert "- serve: `test_b`" in tool.RESULT.read_text()
