# SPDX-License-Identifier: Apache-2.0
"""QA: tools/coverage counts what tests reach and fails below its gate, or when a test failed."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/coverage"
HALF = """\
#include <stdlib.h>

int main(int argc, char **argv)
{
	(void)argv;
	if (argc < 2)
		return 0;
	if (argc > 3)
		abort();
	return 1;
}
"""


@pytest.fixture
def coverage(tmp_path):
    """coverage(minimum, status): of a program whose only test reaches half of it, and ends with that status."""
    for name in ("src", "tools", "build", "docs"):
        (tmp_path / name).mkdir()
    (tmp_path / "src/half.c").write_text(HALF)
    shutil.copy(TOOL, tmp_path / "tools/coverage")
    subprocess.run(["gcc", "--coverage", "-O0", "-o", "build/half", "src/half.c"], cwd=tmp_path, check=True)

    def run(minimum, status=0, **env):
        (tmp_path / "tools/run-tests").write_text(
            f"import subprocess, sys\nsubprocess.check_call([sys.argv[1] + '/half'])\nsys.exit({status})\n")
        return subprocess.run(["tools/coverage", "build"], cwd=tmp_path, capture_output=True, text=True,
                              env={**os.environ, "COVERAGE_MIN": str(minimum), **env})
    return run


def test_enough_passes_and_is_told(coverage):
    done = coverage(40)
    assert done.returncode == 0, done.stderr
    assert "lines: 50.0% (3 out of 6)" in done.stdout


def test_too_little_fails(coverage):
    done = coverage(89)
    assert done.returncode == 1
    assert "coverage: below 89 % of lines" in done.stderr


def test_a_failed_test_fails(coverage):
    done = coverage(40, status=1)
    assert done.returncode == 1 and "lines: 50.0%" in done.stdout


def test_what_passed_is_kept(coverage, tmp_path):
    """One line with date, percentage and gate; only when all stages passed."""
    page = tmp_path / "docs/coverage.md"
    coverage(89)
    coverage(40, status=1)
    assert coverage(40, COVERAGE_STAGES="unit").returncode == 0
    assert not page.exists()
    assert coverage(40).returncode == 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\d: 50\.0 % of lines, at least 40 % are asked for; written by `make coverage`\.\n",
                        page.read_text())
