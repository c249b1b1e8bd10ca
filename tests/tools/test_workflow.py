# SPDX-License-Identifier: Apache-2.0
"""QA: every gate of the Makefile is a job of the workflow, by the same command."""
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[2]


def test_the_workflow_runs_every_gate():
    text = (TOP / ".github/workflows/ci.yml").read_text()
    commands = re.search(r"command: \[(.*)\]", text)[1].split(", ")
    assert set(commands) == {"test", "lint", "coverage", "sanitize", "fuzz"}
    assert "- run: make ${{ matrix.command }}\n" in text
    targets = set(re.findall(r"^([a-z-]+):", (TOP / "Makefile").read_text(), re.MULTILINE))
    assert set(commands) <= targets
