# SPDX-License-Identifier: Apache-2.0
"""DOCS: the documents exist, agree with the program, and point at files that are there."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import test_faults
from harness import run

TOP = pathlib.Path(__file__).resolve().parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))
PAGES = [*sorted(p.name for p in TOP.glob("*.md")),
         *sorted(str(p.relative_to(TOP)) for p in TOP.glob("docs/*.md"))]


def say(*args):
    return subprocess.run([BELLJAR, *args], capture_output=True, text=True, check=True).stdout


def verbs():
    return re.findall(r"^  ([a-z]+) +\S", say("--help").split("verbs:")[1], re.MULTILINE)


def manual():
    return (TOP / "man/belljar.1").read_text().replace("\\-", "-")


def sections():
    """{verb: what the manual says of it}; each stands there once."""
    found = re.findall(r"^\.SS ([a-z]+)\n(.*?)(?=^\.S[SH] )", manual(), re.MULTILINE | re.DOTALL)
    assert len(found) == len(dict(found))
    return dict(found)


def test_the_manual_has_every_verb():
    assert sorted(sections()) == sorted(verbs())


def test_the_manual_has_every_option():
    """With its letter, where the verb is told of; the file of the settings once for all of them."""
    common = {"--config", "--file"}
    missing = [f"{verb} {word}" for verb, text in sections().items()
               for letter, option in re.findall(r"^ +(?:(-\w), )?(--[a-z-]+)\b(?! +test builds only)", say(verb, "--help"), re.MULTILINE)
               if option not in common for word in (letter, option)
               if word and not re.search(r"(?<![a-z-])" + re.escape(word) + r"(?![a-z-])", text)]
    assert not missing


def test_the_manual_has_no_option_that_is_none():
    made_up = [f"{verb} {option}" for verb, text in sections().items()
               for option in re.findall(r"(?<![a-z-])--[a-z-]+", text)
               if option not in say(verb, "--help")]
    assert not made_up


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    path = TOP / page
    links = re.findall(r"\]\(([^)#:]+)\)", path.read_text())
    assert not [link for link in links if not (path.parent / link).exists()]


def test_every_document_is_listed():
    """docs/README.md is the way in: a page that it does not name is not found."""
    listed = (TOP / "docs/README.md").read_text()
    names = {p.name for p in TOP.glob("docs/*.md")} - {"README.md"}
    assert not [name for name in names if f"({name})" not in listed]


def defences():
    """[(line of defence, [tests])] from the table in SECURITY.md."""
    table = (TOP / "SECURITY.md").read_text().split("| line of defence |")[1].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return [(what, re.findall(r"`tests/(.+?)`", tests)) for what, tests in rows]


def test_every_layer_stands_in_the_table_of_defences():
    """A layer that test_faults.py removes has its row in SECURITY.md, and no row is made up."""
    cases = [test.split("::")[1] for _, tests in defences() for test in tests if "::test_layer_is_missed" in test]
    assert sorted(cases) == sorted(f"test_layer_is_missed[{layer}]" for layer in test_faults.PROBES)


def cases_of(file):
    """The cases that a program of cmocka runs."""
    listed = re.findall(r"(?:\bcmocka_unit_test\w*|\bT)\((\w+)", (TOP / "tests" / file).read_text())
    return {f"{file}::{case}" for case in listed}


def collected(folder):
    """The tests that pytest runs in a folder, with their cases."""
    done = subprocess.run([sys.executable, "-m", "pytest", "--collect-only", "-q", TOP / "tests" / folder], cwd=TOP,
                          capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n\n")[0].splitlines())


def test_every_defence_names_a_test_that_is_run():
    """DOCS: a row of the table points at tests that are there, and at the very case where one proves it."""
    named = {test for _, tests in defences() for test in tests}
    files = {test.split("::")[0] for test in named}
    run = set().union(*(cases_of(file) for file in files if file.endswith(".c")),
                      *(collected(folder) for folder in {f.split("/")[0] for f in files if f.endswith(".py")}))
    run |= {test.split("[")[0] for test in run}
    assert all(tests for _, tests in defences())
    assert not named - run
    # One test stands for many things there.
    assert not {test for test in named if test.endswith(("::test_case", "::test_in_machine"))}


def test_the_examples_end_as_they_should():
    """What `make run` shows a newcomer."""
    done = subprocess.run([TOP / "examples/show", BELLJAR], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def test_the_examples_without_cgroups(mode_of, place):
    """The same for who accepted less, as doctor offers: the bomb is held, and no cause tells."""
    mode = mode_of("basic")
    shutil.copytree(TOP / "examples", place / "examples")
    done = run.Started([place / "examples/show", mode.binary], mode.env(), enter=mode.user.become(False)).finish(60)
    assert done.status == 0 and b"All nine ended" in done.out, done
