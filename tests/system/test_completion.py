# SPDX-License-Identifier: Apache-2.0
"""Completion scripts, tried in the shells they are for."""
import os
import pathlib
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))


def script(shell):
    return subprocess.run([BELLJAR, "completion", shell], text=True, capture_output=True,
                          check=True, timeout=20).stdout


def in_bash(words, tmp_path):
    """What bash offers for the last of @words."""
    file = tmp_path / "belljar.bash"
    file.write_text(script("bash"))
    code = f"""source {file}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_belljar; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["/usr/bin/bash", "--norc", "-c", code, "bash", *words], text=True,
                          capture_output=True, timeout=20)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize("words, offered", [
    (["belljar", "conf"], ["config"]),
    (["belljar", "config", "--ex"], ["--explain"]),
    (["belljar", "config", "--explain", "--js"], ["--json"]),
    (["belljar", "config", "x"], []),
    (["belljar", "image", ""], ["ls", "import", "build", "rm"]),
    (["belljar", "audit", "v"], ["verify"]),
    (["belljar", "audit", "verify", "v"], []),
    (["belljar", "completion", "z"], ["zsh"]),
])
def test_bash(words, offered, tmp_path):
    assert in_bash(words, tmp_path) == offered


def test_bash_offers_every_verb(tmp_path):
    listed = subprocess.run([BELLJAR, "--help"], text=True, capture_output=True).stdout
    verbs = listed.split("verbs:\n")[1].split("\n\n")[0]
    assert in_bash(["belljar", ""], tmp_path) == [line.split()[0] for line in verbs.splitlines()]


def test_zsh_reads_it(tmp_path):
    file = tmp_path / "_belljar"
    file.write_text(script("zsh"))
    code = f"autoload -Uz compinit; compinit -D -u; source {file}; print $_comps[belljar]"
    done = subprocess.run(["zsh", "-f", "-c", code], text=True, capture_output=True, timeout=20)
    assert (done.stdout.strip(), done.stderr) == ("_belljar", "")


def test_zsh_offers_what_a_verb_does():
    assert "'1:what:(verify show export head)'" in script("zsh")


def test_fish_completes(tmp_path):
    file = tmp_path / "belljar.fish"
    file.write_text(script("fish"))
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["fish", "--no-config", "-c",
                           f"source {file}; complete -C 'belljar config --exp'"],
                          text=True, capture_output=True, env=env, timeout=20)
    assert done.stdout.startswith("--explain\t")
    done = subprocess.run(["fish", "--no-config", "-c", f"source {file}; complete -C 'belljar tenant '"],
                          text=True, capture_output=True, env=env, timeout=20)
    assert {"add", "ls", "set", "rm"} <= set(done.stdout.split())


@pytest.mark.parametrize("args", [[], ["tcsh"], ["bash", "zsh"], ["--bash"]])
def test_wrong_arguments(args):
    done = subprocess.run([BELLJAR, "completion", *args], text=True, capture_output=True, timeout=20)
    assert done.returncode == 125
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


def test_help_of_a_verb_can_be_asked_for_in_both_ways():
    def said(*args):
        return subprocess.run([os.environ["BELLJAR"], *args], capture_output=True, text=True, timeout=20)

    assert said("help", "run").stdout == said("run", "--help").stdout
    assert said("help").stdout == said("--help").stdout
    wrong = said("help", "rnu")
    assert wrong.returncode == 125 and "did you mean run?" in wrong.stderr
