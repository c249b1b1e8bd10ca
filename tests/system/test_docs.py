# SPDX-License-Identifier: Apache-2.0
"""DOCS: the documents exist, agree with the program, and point at files that are there."""
import os
import pathlib
import re
import shutil
import subprocess

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
    """{line of defence: (test file, test)} from the table in SECURITY.md."""
    rows = re.findall(r"^\| ([^|]+?) \| `(tests/\S+?)::(\w+)(?:\[(\w+)\])?` \|$",
                      (TOP / "SECURITY.md").read_text(), re.MULTILINE)
    return {what: (file, test, case) for what, file, test, case in rows}


def test_every_layer_stands_in_the_table_of_defences():
    """A layer that test_faults.py removes has its row in SECURITY.md, and no row is made up."""
    cases = [case for _, test, case in defences().values() if test == "test_layer_is_missed"]
    assert sorted(cases) == sorted(test_faults.PROBES)


def test_every_defence_names_a_test_that_is_there():
    """DOCS: a row of the table points at a test that exists."""
    missing = [what for what, (file, test, _) in defences().items()
               if not (TOP / file).exists()
               or not re.search(rf"\b{test}\b", (TOP / file).read_text())]
    assert defences() and not missing


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
