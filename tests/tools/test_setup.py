# SPDX-License-Identifier: Apache-2.0
"""tools/setup: quiet when all is there, plain words when it cannot install."""
import os
import pathlib
import shutil
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/setup"
NOBODY = 65534
LIST = """\
# a comment
[test]
no-such-package-of-ours
[other]
no-such-package-but-a-command   sh
[build]
dpkg
"""


@pytest.fixture
def setup(tmp_path):
    (tmp_path / "tools").mkdir()
    shutil.copy(TOOL, tmp_path / "tools/setup")
    (tmp_path / "tools/packages").write_text(LIST)
    for path in (tmp_path, *tmp_path.parents):
        if os.stat(path).st_uid == os.geteuid() and path != pathlib.Path("/"):
            path.chmod(path.stat().st_mode | 0o055)

    def run(*groups):
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        return subprocess.run([tmp_path / "tools/setup", *groups], capture_output=True, text=True, **user)
    return run


@pytest.mark.parametrize("groups", [["build"], ["other"], ["build", "other"]])
def test_nothing_missing_is_silent(setup, groups):
    done = setup(*groups)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_rights_it_names_the_packages(setup):
    done = setup("build", "test")
    assert done.returncode == 1
    assert "ask for: no-such-package-of-ours" in done.stderr
    assert "dpkg" not in done.stderr.replace("no-such-package-of-ours", "")


def test_unknown_group_is_refused(setup):
    done = setup("tests")
    assert done.returncode == 1
    assert "no group 'tests'" in done.stderr


def test_without_npm_the_grammars_name_it(tmp_path):
    """`make build` on a machine where nothing was set up."""
    folder = tmp_path / "tools"
    (folder / "grammars").mkdir(parents=True)
    (folder / "grammars/package-lock.json").write_text("{}")
    shutil.copy(TOOL.parent / "fetch-grammars", folder)
    (tmp_path / "bin").mkdir()
    for name in ("sh", "dirname", "cmp", "cp"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    done = subprocess.run(["/bin/sh", folder / "fetch-grammars"], env={"PATH": str(tmp_path / "bin")}, capture_output=True,
                          text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("npm is missing: `make run` installs it")
