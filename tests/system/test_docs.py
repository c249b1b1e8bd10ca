# SPDX-License-Identifier: Apache-2.0
"""DOCS: the documents exist, agree with the program, and point at files that are there."""
import os
import pathlib
import re
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))
PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/README.md"]


def say(*args):
    return subprocess.run([BELLJAR, *args], capture_output=True, text=True, check=True).stdout


def verbs():
    return re.findall(r"^  ([a-z]+) +\S", say("--help").split("verbs:")[1], re.MULTILINE)


def manual():
    return (TOP / "man/belljar.1").read_text().replace("\\-", "-")


def test_the_manual_has_every_verb():
    missing = [verb for verb in verbs() if f".SS {verb}\n" not in manual()]
    assert verbs() and not missing


def test_the_manual_has_every_option():
    text = manual()
    missing = [f"{verb} {option}" for verb in verbs()
               for option in re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", say(verb, "--help"), re.MULTILINE)
               if not re.search(re.escape(option) + r"(?![a-z-])", text)]
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    path = TOP / page
    links = re.findall(r"\]\(([^)#:]+)\)", path.read_text())
    # The threat model is written last; everything else is there.
    missing = [link for link in links if not (path.parent / link).exists()
               and pathlib.Path(link).name != "SECURITY.md"]
    assert not missing
