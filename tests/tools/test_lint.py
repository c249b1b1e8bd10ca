# SPDX-License-Identifier: Apache-2.0
"""QA: tools/lint fails for what its checks find, and runs the others all the same."""
import pathlib
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
GOOD = {
    "src/base/a.c": "/* SPDX-License-Identifier: Apache-2.0 */\nint f(int *p);\n\nint f(int *p)\n{\n\treturn *p;\n}\n",
    "tools/b": '#!/bin/sh\necho "$1"\n',
}


@pytest.fixture
def lint(tmp_path):
    for name in ("tools/lint", "tools/check-layers", ".clang-format"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(TOP / name, tmp_path / name)

    def run(files, *checks):
        for name, text in {**GOOD, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for step in (["init", "-q"], ["add", "-A"]):
            subprocess.run(["git", "-C", tmp_path, *step], check=True)
        done = subprocess.run([tmp_path / "tools/lint", *checks], capture_output=True, text=True)
        return done.returncode, [l for l in done.stdout.splitlines() if l.startswith("lint: ")]
    return run


def test_a_good_tree_is_clean(lint):
    checks = ["layers", "format", "shell", "cppcheck"]
    assert lint({}, *checks) == (0, [f"lint: {c}: clean" for c in checks])


@pytest.mark.parametrize("check,name,text", [
    ("layers", "src/base/a.c", '#include "jar/seal.h"\n'),
    ("format", "src/base/a.c", "int f( void );\n"),
    ("shell", "tools/b", "#!/bin/sh\necho $1\n"),
    ("cppcheck", "src/base/a.c", "int f(void);\n\nint f(void)\n{\n\tint *p = 0;\n\n\treturn *p;\n}\n"),
])
def test_a_finding_fails_and_the_rest_still_runs(lint, check, name, text):
    status, said = lint({name: text}, check, "format" if check != "format" else "shell")
    assert status == 1
    assert said == [f"lint: {check}: see above", f"lint: {'format' if check != 'format' else 'shell'}: clean"]
