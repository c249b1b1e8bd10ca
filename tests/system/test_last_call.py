# SPDX-License-Identifier: Apache-2.0
"""A cold Python says itself when it ends, and is answered before the kernel has torn it down. EXIT."""
import pytest

pytestmark = pytest.mark.usefixtures("clean")

FORK = ("import os, time\nif os.fork() == 0:\n    time.sleep(%s)\n    print('child', flush=True)\n    raise SystemExit(9)\n"
        "os.wait() if %s else None\nprint('parent', flush=True)\nraise SystemExit(4)\n")


def write(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize("end,status", [
    ("", 0), ("raise SystemExit(7)", 7), ("import sys; sys.exit(255)", 255), ("import os; os._exit(3)", 3),
    ("import sys; sys.exit(256 + 6)", 6), ("import sys; sys.exit(-1)", 255), ("1 / 0", 1),
    ("import os; os._exit(0x62656c00 | 5)", 5), ("import os; os._exit(0x62656c00 | 5 | 1 << 30)", 5),
    ("import os; os.abort()", 134), ("import os; os.kill(os.getpid(), 9)", 137),
])
def test_the_status_is_the_scripts(end, status, root, place):
    script = write(place / "s.py", f"print('here')\n{end}\n")
    for flags in [], ["--out", place / "out"]:
        done = root.run(*flags, script)
        assert (done.status, done.out) == (status, b"here\n"), done


def test_a_listener_is_there_for_python_only(root, place):
    python = root.run(write(place / "s.py", "print(*[n for n in open('/proc/self/status') if 'p_filters' in n])\n"))
    bash = root.run(write(place / "s.sh", "grep p_filters /proc/self/status\n"))
    assert int(python.out.split()[1]) == int(bash.out.split()[1]) + 1


def test_the_end_of_a_child_is_its_own(root, place):
    """What falls out of the script's end in a forked process goes on as an ordinary exit."""
    done = root.run(write(place / "s.py", FORK % (0, 1)))
    assert (done.status, done.out) == (4, b"child\nparent\n")


def test_what_is_left_is_killed(root, place):
    done = root.run(write(place / "s.py", FORK % (60, 0)))
    assert (done.status, done.out) == (4, b"parent\n")
