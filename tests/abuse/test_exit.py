# SPDX-License-Identifier: Apache-2.0
"""Item 39 of the abuse matrix: exit codes against real signals. SCRP-08, SCRP-09."""
import signal

import pytest
from harness import modes

CODES = [0, 1, 2, 3, 64, 100, 124, 125, 126, 127, 128, 129, 130, 134, 137, 139, 143, 159, 192, 200,
         254, 255]
# SIGSYS is reserved for the filter; the stop family and the ignored ones do not end a script.
FATAL = [s for s in range(1, 32) if s not in (
    signal.SIGSYS, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCHLD,
    signal.SIGCONT, signal.SIGURG, signal.SIGWINCH)] + [34, 50, 64]


@pytest.mark.parametrize("mode_name", ["root", "rootless"])
def test_codes_and_signals_are_told_apart(mode_name, mode_of, place):
    """`exit 137` and SIGKILL give the same status and different records."""
    mode = mode_of(mode_name)
    script = place / "end.sh"
    script.write_text('exit "$1"\n')
    # Python gives the signals that it handles itself back; bash ignores SIGQUIT for good.
    victim = place / "end.py"
    victim.write_text("import os, signal, sys, time\nn = int(sys.argv[1])\n"
                      "if n not in (9, 19): signal.signal(n, signal.SIG_DFL)\n"
                      "os.kill(os.getpid(), n)\ntime.sleep(5)\n")
    for code in CODES if mode_name == "rootless" else range(256):
        done = mode.json(script, "--", str(code))
        r = done.record
        assert (done.status, r["cause"], r["exit_code"], r["signal"]) == (code, "exited", code, None), done
    for number in FATAL if mode_name == "root" else (1, 6, 9, 11, 15, 34, 64):
        done = mode.json(victim, "--", str(number))
        r = done.record
        assert (done.status, r["cause"], r["exit_code"], r["signal"]) == (
            128 + number, "signal", None, number), (number, r)


@pytest.mark.parametrize("how", ["os._exit(300)", "os._exit(-1)", "raise SystemExit(1 << 40)",
                                 "raise SystemExit('text')", "os.abort()", "raise KeyboardInterrupt"])
def test_odd_ways_to_end(how, root, place):
    script = place / "odd.py"
    script.write_text(f"import os\n{how}\n")
    done = root.json(script)
    want = {"os._exit(300)": 44, "os._exit(-1)": 255, "raise SystemExit('text')": 1}
    if how in want:
        assert done.record["exit_code"] == want[how] == done.status
    assert done.record["cause"] in ("exited", "signal")
    assert how != "os.abort()" or done.record["signal"] == signal.SIGABRT
