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


THREAD = "import os, threading, time\n"
WAYS = {
    # A thread that is not the first one says it: that is an ordinary exit of all of them.
    "thread": (THREAD + "threading.Thread(target=lambda: (time.sleep(0.1), os._exit(0x62656c00 | 7))).start()\ntime.sleep(60)\n", 7),
    # The first one says it while another works: nothing is answered before that one is dead.
    "busy": (THREAD + "threading.Thread(target=lambda: [os.write(2, b'.') for _ in iter(int, 1)], daemon=True).start()\n"
             "time.sleep(0.1)\nos._exit(0x62656c00 | 5)\n", 5),
    # A timer fires all the time, and wakes nobody who has said it.
    "timer": ("import os, signal, time\nsignal.signal(signal.SIGALRM, lambda *_: os.write(2, b'!'))\n"
              "signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)\ntime.sleep(0.02)\nos._exit(0x62656c00 | 4)\n", 4),
    # What it started in a session of its own prints later, or would.
    "daemon": ("import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(0.3)\n        print('late', flush=True)\n"
               "        time.sleep(60)\n    os._exit(0)\nos.wait()\nos._exit(0x62656c00 | 3)\n", 3),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_mark_forges_no_end(way, root, place):
    """Whoever says it, and whatever goes on meanwhile: the status is the kernel's, and all of the script is gone."""
    script, status = WAYS[way]
    done = root.run(write(place / "s.py", script))
    assert (done.status, done.out) == (status, b""), done
