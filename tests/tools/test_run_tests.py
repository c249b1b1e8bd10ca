# SPDX-License-Identifier: Apache-2.0
"""tools/run-tests counts every case and never calls a crash a pass."""
import importlib.machinery
import importlib.util
import pathlib

import pytest

PATH = pathlib.Path(__file__).resolve().parents[2] / "tools/run-tests"


@pytest.fixture
def tool():
    loader = importlib.machinery.SourceFileLoader("run_tests", str(PATH))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
    loader.exec_module(module)
    return module


def count(tool, **record):
    tally = tool.Tally()
    tool.count_program(tally, {"name": "t", **record})
    return tally.passed, len(tally.failed), len(tally.skipped)


OK = "[       OK ] a\n[       OK ] b\n[  PASSED  ] 2 test(s).\n"
BAD = "[  FAILED  ] b\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] b\n"


def test_cases_of_a_program_are_counted(tool):
    assert count(tool, stdout=OK, result="OK") == (2, 0, 0)


def test_a_failed_case_counts_once(tool):
    assert count(tool, stdout="[       OK ] a\n", stderr=BAD, result="FAIL") == (1, 1, 0)


def test_a_case_that_skips_itself_is_no_pass(tool):
    """The program ends well all the same."""
    said = "[  SKIPPED ] b\n[  PASSED  ] 1 test(s).\n[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] b\n"
    assert count(tool, stdout="[       OK ] a\n", stderr=said, result="OK") == (1, 0, 1)


@pytest.mark.parametrize("result", ["FAIL", "TIMEOUT", "ERROR"])
def test_a_program_that_dies_is_a_failure(tool, result):
    assert count(tool, stdout=OK, result=result) == (2, 1, 0)
    assert count(tool, result=result) == (0, 1, 0)


def test_a_program_without_cases_counts_as_one(tool):
    assert count(tool, result="OK") == (1, 0, 0)


@pytest.mark.parametrize("ci,status,last", [("true", 1, "1 passed, 1 failed"),
                                            ("", 0, "1 passed, 0 failed")])
def test_a_skip_fails_only_in_ci(tool, monkeypatch, capsys, ci, status, last):
    monkeypatch.setenv("CI", ci)
    tally = tool.Tally()
    tally.add("a", "passed")
    tally.add("b", "skipped")
    assert tool.summarize(tally, 62.34) == status
    assert capsys.readouterr().out.splitlines()[-2:] == ["== all: 62.3 s", last]


def test_nothing_at_all_is_not_a_pass(tool):
    assert tool.summarize(tool.Tally()) == 1


def test_colours_in_a_report_do_not_end_the_count(tool, tmp_path):
    """A failed test of node says what it waited for in grey."""
    report = tmp_path / "node.xml"
    report.write_text('<testsuites><testcase name="a"/><testcase name="b"><failure>\x1b[2mwaiting\x1b[22m</failure>'
                      "</testcase></testsuites>")
    assert [tool.case_outcome(case) for case in tool.cases_of(report)] == ["passed", "failed"]
