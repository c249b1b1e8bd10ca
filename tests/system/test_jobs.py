# SPDX-License-Identifier: Apache-2.0
"""`belljar run --jobs N`: many at once, all correct, nothing left. DS-PAR."""
import json
import os
import re
import resource

import pytest
from harness import record, run

pytestmark = pytest.mark.usefixtures("clean")


def scripts(place, n, text):
    made = []
    for i in range(n):
        path = place / f"job{i:03}.sh"
        path.write_text(text.format(i=i))
        made.append(path)
    return made


@pytest.mark.timeout(180)
@pytest.mark.parametrize("mode_name", ["root", "rootless"])
def test_two_hundred_at_once(mode_name, mode_of, place):
    """200 runs that all wait for each other's second: at once, and none mixes with another."""
    mode = mode_of(mode_name)
    n = 200
    files = scripts(place, n, "echo out-{i}; echo err-{i} >&2; sleep 2; exit 0\n")
    done = mode.run("--json", "--jobs", str(n), "--timeout", "100", *files, timeout=150)
    assert done.status == 0, (done.status, done.err[-2000:])
    records = done.records
    assert len(records) == n and len({r["id"] for r in records}) == n
    assert {r["stdout"] for r in records} == {f"out-{i}\n" for i in range(n)}
    for r in records:
        record.check(r)
        assert r["stderr"] == r["stdout"].replace("out", "err") and r["meta"]["cleanup_success"]
    # One after the other would take 400 s.
    assert done.seconds < 60, done.seconds


def test_status_is_one_when_any_fails(root, place):
    good = scripts(place, 3, "echo {i}\n")
    bad = place / "bad.sh"
    bad.write_text("exit 9\n")
    assert root.run("--jobs", "2", *good).status == 0
    assert root.run("--jobs", "2", *good, bad).status == 1
    assert root.run("--jobs", "2", *good, place / "missing.sh").status == 1


def test_json_is_one_object_a_line(root, place):
    good = scripts(place, 4, "printf 'a\\nb{i}'\n")
    bad = place / "bad.py"
    bad.write_text("def f(\n")
    done = root.run("--json", "--jobs", "3", *good, bad, place / "missing.py")
    assert done.status == 1
    lines = done.out.splitlines()
    assert len(lines) == 6
    causes = sorted(json.loads(l)["cause"] for l in lines)
    assert {json.loads(l)["file"] for l in lines} == {str(p) for p in (*good, bad, place / "missing.py")}
    assert causes == ["exited"] * 4 + ["infrastructure", "rejected"]
    assert not re.search(rb"\d\.\d{4}", done.out), "numbers as in the result of one run"


def test_no_output_takes_its_line_away(root, place):
    """RESULT: whatever a script says, and whatever its file is called."""
    path = os.fsencode(place) + b"/odd \"\xff\x01.py"
    with open(path, "wb") as f:
        f.write(b"import os\nos.write(1, bytes(range(256)) + b'\\x00')\n")
    done = root.run("--json", "--jobs", "2", os.fsdecode(path))
    assert done.status == 0 and len(done.records) == 1, done
    assert done.records[0]["stdout"].startswith("\0\x01") and done.records[0]["stdout"].endswith("\0")
    assert done.records[0]["file"].endswith('/odd "\ufffd\x01.py')


def test_summary(root, place):
    """A table: one line a file, and the totals."""
    good = scripts(place, 3, "true\n")
    slow = place / "slow.sh"
    slow.write_text("sleep 50\n")
    done = root.run("--jobs", "4", "--timeout", "1", *good, slow)
    text = (done.out + done.err).decode()
    for path in [*good, slow]:
        assert path.name in text
    assert re.search(r"timeout", text) and done.status == 1
    assert "\x1b[" not in text and "\r" not in text, "no colour, no progress off a terminal"


def test_why_a_script_failed(root, place):
    """A table of causes is no reason: each that did not come to its own end says why, once."""
    texts = {"refused.py": "eval(input())\n", "slow.sh": "sleep 50\n", "own.sh": "exit 3\n", "good.sh": "true\n"}
    for name, text in texts.items():
        (place / name).write_text(text)
    files = [place / name for name in texts] + [place / "missing.sh"]
    done = root.run("--jobs", "2", "--timeout", "1", *files)
    err = done.err.decode()
    assert f"belljar: {place}/refused.py: eval() runs text as code" in err and "rule py-eval, line 1" in err
    assert f"belljar: {place}/slow.sh: Code execution timed out after 1s (cause: timeout)\n" in err
    assert err.count("missing.sh") == 1 and err.count("belljar: ") == 3, err
    quiet = root.run("--quiet", "--jobs", "2", "--timeout", "1", *files)
    assert quiet.err.count(b"\n") == 1 and b"missing.sh" in quiet.err, "what belljar could not even begin"
    assert root.run("--json", "--jobs", "2", "--timeout", "1", *files).err.count(b"belljar: ") == 1


def test_why_nothing_ran(root, place):
    """A machine that cannot give a jar: not only a column that says infrastructure."""
    done = root.run("--jobs", "2", *scripts(place, 2, "true\n"), env={"BELLJAR_NATIVE_CGROUP": "/no/such"})
    assert done.status == 1 and done.err.count(b"`belljar doctor`") == 2, done


def test_a_name_does_not_drive_the_terminal(root, place):
    path = place / "a\x1b]0;owned\x07\n.sh"
    path.write_text("eval \"$(cat)\"\nif\n")
    done = root.run("--jobs", "2", path, scripts(place, 1, "true\n")[0])
    assert b"\x1b" not in done.out + done.err and b"\x07" not in done.out + done.err, done
    assert len(done.out.splitlines()) == 4, "one line a script"


def test_more_jobs_than_files_and_the_reverse(root, place):
    files = scripts(place, 5, "true\n")
    assert root.run("--jobs", "1", *files).status == 0
    assert root.run("--jobs", "50", *files).status == 0


def test_a_file_that_cannot_be_had_is_one_failed_job(root, place):
    """Missing, a directory, empty, no script: each fails for itself, and the others run."""
    good = scripts(place, 2, "echo {i}\n")
    (place / "empty.sh").write_text("")
    (place / "plain").write_text("hello\n")
    bad = [place / "missing.sh", place, place / "empty.sh", place / "plain"]
    done = root.run("--json", "--jobs", "2", bad[0], good[0], *bad[1:], good[1])
    assert done.status == 1
    failed = [r for r in done.records if r["cause"] == "infrastructure"]
    assert sorted(r["stdout"] for r in done.records if r["cause"] == "exited") == ["0\n", "1\n"]
    assert len(failed) == 4 and all(any(str(b) in r["error"] for r in failed) for b in bad)
    assert root.run(bad[0]).status == 125, "alone, it is what belljar was asked for"


def test_a_wrong_option_is_no_failed_job(root, place):
    files = scripts(place, 2, "true\n")
    for wrong in (["--language", "javascript"], ["--in", place / "missing"]):
        done = root.run("--jobs", "2", *wrong, *files)
        assert (done.status, done.out) == (125, b""), done


@pytest.mark.timeout(180)
def test_more_files_than_descriptors(root, place):
    """The soft limit on descriptors does not bound the number of files."""
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE,
                           (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    path = scripts(place, 1, "echo (\n")[0]  # refused by the check: quick
    started = run.Started([run.BINARY, "run", "--json", "--jobs", "4", *[path] * 400], root.env(),
                          enter=few)
    done = started.finish(150)
    assert done.status == 1 and len(done.records) == 400
    assert {r["cause"] for r in done.records} == {"rejected"}


@pytest.mark.parametrize("limit", [128, 256, 1024])
def test_more_jobs_than_descriptors(limit, root, place):
    """DS-PAR: who has few of them runs fewer at once, and no script fails for it."""
    files = scripts(place, 60, "sleep 0.1\n")
    started = run.Started([run.BINARY, "run", "--json", "--quiet", "--jobs", "60", *files], root.env(),
                          enter=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
    done = started.finish(60)
    assert done.status == 0, done
    assert [r["cause"] for r in done.records] == ["exited"] * 60


def test_too_few_descriptors_for_jobs(root, place):
    """One sentence with what to do, of each script, where not even one run after the other fits."""
    started = run.Started([run.BINARY, "run", "--json", "--quiet", "--jobs", "2", *scripts(place, 2, "true\n")],
                          root.env(), enter=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80)))
    done = started.finish(60)
    assert done.status == 1 and len(done.records) == 2
    assert {r["error"] for r in done.records} == {
        "no more than 80 files may be open; allow 112 with `ulimit -n`"}


def test_each_script_has_a_place_for_its_files(root, place):
    """Files of the same name, from scripts of the same name, do not overwrite each other."""
    files = []
    for name in ("a", "b"):
        (place / name).mkdir()
        files.append(place / name / "make.sh")
        files[-1].write_text(f"echo {name} > out/result\n")
    out = place / "left"
    assert root.run("--jobs", "2", "--out", out, *files).status == 0
    assert (out / "1-make.sh/result").read_text() == "a\n"
    assert (out / "2-make.sh/result").read_text() == "b\n"


def test_results_that_could_not_be_written_are_no_success(root, place):
    """EXIT: 125, one sentence."""
    with open("/dev/full", "w") as full:
        started = root.start("--json", "--quiet", "--jobs", "2", *scripts(place, 2, "echo {i}\n"),
                             stdout=full)
        done = started.finish(60)
    assert done.status == 125
    assert done.err == b"belljar: cannot write to standard output: No space left on device\n"
