# SPDX-License-Identifier: Apache-2.0
"""Waiting interpreters: the same results as a cold start, nothing shared, back after a crash."""
import concurrent.futures
import contextlib
import fcntl
import json
import os
import pathlib
import platform
import random
import signal
import subprocess
import time

import pytest

from serving import BELLJAR, Service, wait_until

FULL = os.environ.get("BELLJAR_FULL") == "1"
SETTINGS = "warm:\n  slots: 4\n  preload: json,re,random\ncheck:\n  policy: off\n"

# What a script can see of how it was started, how it ends, and what it leaves behind.
SAME = {
    "hello": "print('hello')",
    "init": "print([open(f'/proc/1/{n}').read() for n in ('comm', 'cmdline')])",
    "argv": "import sys\nprint(sys.argv, sys.path[0], sys.flags.isolated)",
    "main": "import sys\nm = sys.modules['__main__']\nprint(__name__, __file__, m.__dict__ is globals(), __doc__)",
    "environment": "import os, posix\nprint(sorted(os.environ.items()), [n for n in posix.environ if n[:3] == b'LD_'])",
    "process": "import os\nprint(os.getpid(), os.getuid(), os.getcwd(), os.getsid(0) == os.getpid())",
    "descriptors": "import os\nprint(sorted(os.listdir('/proc/self/fd')))",
    "status": "for line in open('/proc/self/status'):\n    if line.split(':')[0] in "
              "('CapEff', 'CapBnd', 'CapPrm', 'NoNewPrivs', 'Seccomp', 'Uid', 'Gid', 'Groups', 'SigIgn'):\n"
              "        print(line, end='')",
    "limits": "import resource\nprint([resource.getrlimit(i) for i in range(16)])",
    "traceback": "def f():\n    raise ValueError('boom')\n\nf()",
    "exit number": "import sys\nsys.exit(7)",
    "exit words": "import sys\nsys.exit('sorry')",
    "exit none": "import sys\nsys.exit(None)",
    "exit large": "import sys\nsys.exit(259)",
    "exit taken away": "import posix, sys\nposix._exit = len\nsys.exit(4)",
    "at exit": "import atexit\natexit.register(print, 'bye')\nprint('hi')",
    "finalizer": "class A:\n    def __del__(self):\n        print('gone')\n\na = A()\n_b = A()",
    "odd globals": "globals()[1] = 2\n_b = 3\nimport builtins\nbuiltins.isinstance = None\nprint('ok')",
    "unclosed file": "f = open('x', 'w')\nf.write('data')\nimport os, atexit\nprint(os.path.getsize('x'))",
    "thread": "import threading, time\nt = threading.Thread(target=lambda: (time.sleep(0.05), print('late')))\nt.start()",
    "syntax": "def f(:\n    pass",
    "interrupt": "raise KeyboardInterrupt",
    "killed": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
    "segfault": "import ctypes\nctypes.string_at(0)",
    "hook": "import sys\nsys.excepthook = lambda *a: print('hook', a[0].__name__)\n1 / 0",
    "stderr": "import sys\nprint('e', file=sys.stderr)\nprint('o')",
    "closed": "import sys\nsys.stdout.close()",
    "unicode": "print('\u00e9\u4e2d\U0001f600')",
    "subprocess": "import subprocess\nprint(subprocess.run(['echo', 'x'], capture_output=True))",
    "pool": "import multiprocessing as m\ndef f(x):\n    return x * x\nif __name__ == '__main__':\n"
            "    with m.get_context('spawn').Pool(2) as p:\n        print(p.map(f, [1, 2, 3]))",
    "memory": "x = bytearray(700 << 20)",
    "bomb": "import os, time\nwhile True:\n    try:\n        if os.fork() == 0:\n            time.sleep(60)\n"
            "    except OSError:\n        time.sleep(0.01)",
    "write root": "open('/x', 'w')",
    "socket": "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
}

SAME_BASH = {
    "hello": "echo hello",
    "names": 'echo "$0" "${BASH_SOURCE[0]}" "$LINENO" "$#" "$*" "$_" "$-" "$SHELLOPTS" "$BASHOPTS"',
    "numbers": 'echo $$ $PPID $BASHPID $SHLVL $BASH_SUBSHELL $SECONDS "${!}"',
    "variables": 'set | grep -v "^BASH_VERS\\|^EPOCH\\|^RANDOM\\|^SRANDOM\\|^SECONDS"',
    "environment": "env | sort; export -p",
    "shell options": "set -o; shopt",
    "descriptors": "for f in /proc/$$/fd/*; do echo $f; done; : </dev/stdin",
    "status": 'grep -E "^(Cap|NoNewPrivs|Seccomp:|Uid|Gid|Groups|Sig[BIC])" /proc/self/status',
    "limits": "ulimit -a; umask",
    "traps": "trap; trap 'echo bye' EXIT; echo hi",
    "exit number": "exit 7",
    "exit of the last": "false",
    "errexit": "set -e\necho a\nfalse\necho b",
    "nounset": "set -u\necho a\necho $nothing\necho b",
    "pipefail": "set -o pipefail\nfalse | true\necho $? ${PIPESTATUS[@]}",
    "error line": "echo a\n\nnothing-of-that-name\necho $?",
    "functions": 'f() { echo "$FUNCNAME $LINENO ${BASH_LINENO[0]} ${#BASH_SOURCE[@]}"; }\n\nf\ncaller; f',
    "itself": 'wc -c <"$0"; head -1 "$0"; ls -l /script',
    "sourced": "[[ ${BASH_SOURCE[0]} == \"$0\" ]] && echo main; return 2>/dev/null; echo $?",
    "jobs": "sleep 0.05 &\njobs; wait $!; echo $?; set -m; sleep 0.01 & fg 2>&1; echo $?",
    "background": "(sleep 0.05; echo late) & wait; echo $? $!",
    "history": "history | wc -l; set -o history; echo one; history | wc -l",
    "aliases": "alias x='echo alias'; x 2>&1; shopt -s expand_aliases\nalias y='echo alias'\ny",
    "read": "read -r a; echo \"$? [$a]\"; cat | wc -c",
    "here": "cat <<E\n$((6 * 7))\nE\ncat <<<word; cat <(echo p)",
    "subshell": "(exit 3); echo $?; x=$(echo $BASHPID); [[ $x != $$ ]] && echo other",
    "exec": "exec echo replaced",
    "exec fd": "exec 5>/tmp/x; echo data >&5; exec 5>&-; cat /tmp/x; exec 2>&1; nope",
    "arrays": "a=(1 2 3); declare -A m=([k]=v); declare -p a m; echo ${a[@]: -1} ${!m[@]}",
    "extglob": "shopt -s extglob\n[[ abc == +([a-z]) ]] && echo yes",
    "extglob bad": "[[ abc == +([a-z]) ]] && echo yes\ncase x in +(x)) echo in;; esac\necho $((",
    "syntax": "echo a\nif true; then\n  echo (\nfi",
    "syntax at the end": "for i in 1 2; do\n  echo $i\n",
    "unclosed": "echo 'abc\n",
    "random": "a=$RANDOM b=$RANDOM; [[ $a != $b || $a != $RANDOM ]] && echo ok",
    "killed": "kill -TERM $$",
    "killed hard": "kill -9 $$",
    "ignored": "trap '' TERM; kill -TERM $$; echo alive",
    "stderr": "echo e >&2; echo o; printf 'no newline'",
    "closed": "exec >&-; echo x; echo $? >&2",
    "large": "printf 'x%.0s' {1..20000}",
    "bytes": "printf '\\xff\\xfe'; echo $'\\u00e9'; locale 2>/dev/null | head -2",
    "not python": "import os\nprint(1)",
    "crlf": "echo a\r\necho b\r",
    "binary": "echo \x01\x02",
    "first line": "#!/bin/sh -e\nfalse\necho on",
    "getopts": "set -- -a x -b; while getopts a:b o; do echo $o $OPTARG; done",
    "select": "PS3=; select x in a b; do echo $x; done </dev/null; echo $?",
    "times": "times | wc -l; TIMEFORMAT=; time true",
    "tty": "tty; test -t 0; echo $?; stty 2>&1; echo $COLUMNS $LINES",
    "write root": "echo x >/x; touch /usr/x; echo $?",
    "bomb": "exec 2>/dev/null; f() { f | f & }; f; sleep 60",
    "coproc": "coproc c { cat; }; echo hi >&${c[1]}; read -r x <&${c[0]}; echo $x; kill $c_PID",
    "debug": "set -x\necho a\nPS4='$LINENO:'\necho b",
    "locals": "f() { local -; set -e; local x=1; declare -g y=2; }; f; echo $x $y $-",
}


@pytest.fixture(scope="module")
def warm():
    service = Service(config=SETTINGS).ready()
    yield service
    service.stop()


def run_warm(service, script, **fields):
    """Run until a waiting interpreter took it: right after a start there may be none yet."""
    for _ in range(100):
        answer = service.run(script, **fields)
        assert answer.status == 200, answer.body
        if answer.json["meta"]["warm"]:
            return answer.json
        time.sleep(0.1)
    pytest.fail("no interpreter waits")


def run_cold(script, tmp_path, language="python"):
    file = tmp_path / ("script.py" if language == "python" else "script.sh")
    file.write_text(script)
    config = tmp_path / "config.yaml"
    config.write_text(SETTINGS)
    done = subprocess.run([BELLJAR, "run", "--no-service", "--json", "--config", config, "--language", language, file],
                          capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
                          env={**os.environ, "BELLJAR_STATE_DIR": str(tmp_path / "state")})
    return json.loads(done.stdout)


def same(hot, cold):
    assert not cold["meta"]["warm"]
    for key in "cause", "exit_code", "signal", "stdout", "stderr", "validation_error", "success":
        assert hot[key] == cold[key], key
    assert hot["meta"]["isolation"] == cold["meta"]["isolation"]


@pytest.mark.parametrize("name", SAME)
def test_warm_and_cold_say_the_same(warm, tmp_path, name):
    """SCRP-01, SCRP-08: cause, exit, signal, both streams, findings and layers are equal."""
    same(run_warm(warm, SAME[name]), run_cold(SAME[name], tmp_path))


@pytest.mark.parametrize("name", SAME_BASH)
def test_warm_and_cold_bash_say_the_same(warm, tmp_path, name):
    """SCRP-01, SCRP-08: a Bash that waited shows no trace of it."""
    same(run_warm(warm, SAME_BASH[name], language="bash"), run_cold(SAME_BASH[name], tmp_path, "bash"))


@pytest.mark.unsanitized
def test_a_zygote_has_the_filter_of_its_slots(warm):
    """All of it but what a slot needs to seal itself: that it loads itself, and hears of its end with another."""
    run_warm(warm, "print(1)")

    def field(pid, name):
        return int(pathlib.Path(f"/proc/{pid}/status").read_text().split(f"{name}:")[1].split()[0])

    def slots():
        for pid in below(warm.process.pid):
            with contextlib.suppress(OSError):  # it may end just now
                if is_slot(pid):
                    yield field(pid, "Seccomp_filters")

    zygote = find_zygote(warm.process.pid)
    own = field(zygote, "Seccomp_filters")
    assert own == field(field(zygote, "PPid"), "Seccomp_filters") + 1
    for _ in range(100):
        if set(slots()) == {own + 1}:
            break
        time.sleep(0.05)  # one is still on its way
    else:
        pytest.fail(f"slots have {set(slots())} filters, their zygote {own}")


def test_slots_share_no_randomness(warm):
    """Ten interpreters of one zygote draw ten different numbers."""
    script = "import random, uuid, secrets\nprint(random.random(), uuid.uuid4(), secrets.token_hex(8))"
    drawn = [run_warm(warm, script)["stdout"].split() for _ in range(10)]
    for column in zip(*drawn):
        assert len(set(column)) == len(drawn)


def test_slots_share_no_randomness_of_numpy(serve):
    """It has a state of its own, imported before the fork; and a fork takes one thread along."""
    service = serve(config="warm: {slots: 4, preload: 'random,uuid,numpy.random', heavy_slots: 0}\ncheck: {policy: off}\n").ready()
    script = ("import sys\nthere = 'numpy.random' in sys.modules\nimport numpy, os, random, threading, uuid\n"
              "print(there, len(os.listdir('/proc/self/task')), threading.active_count())\n"
              "print(numpy.random.random(), numpy.random.randint(1 << 60), random.random(), uuid.uuid4())")
    drawn = [run_warm(service, script)["stdout"].split("\n")[:2] for _ in range(10)]
    assert {first for first, _ in drawn} == {"True 1 1"}
    for column in zip(*(second.split() for _, second in drawn)):
        assert len(set(column)) == len(drawn)


# What one script leaves, and looks for what another has left or holds at the same time. Each says what it saw.
PLACES = "/tmp /work /dev/shm /work/out"
SPIES = {
    "python": "import builtins, ctypes, json, os, socket, sys, time\n"
              f"places = {PLACES.split()}\n"
              "seen = [n for n in places for f in os.listdir(n) if f != 'out']\n"
              "seen += [x for x in (getattr(builtins, 'mark', None), os.environ.get('MARK'), getattr(json, 'mark', None)) if x]\n"
              "seen += [p for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())]\n"
              "libc = ctypes.CDLL(None)\n"
              "if libc.shmget(4242, 4096, 0o666) >= 0: seen.append('shared memory')\n"
              "listener, asker = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)\n"
              "if asker.connect_ex('\\0belljar-mark') == 0: seen.append('socket')\n"
              "for pid in range(3, 200):\n"
              "    try: os.kill(pid, 0); seen.append(f'process {pid}')\n"
              "    except ProcessLookupError: pass\n"
              "print(seen, len(sys.argv), flush=True)\n"
              "builtins.mark = json.mark = os.environ['MARK'] = 'here'\n"
              "libc.shmget(4242, 4096, 0o1666)\n"
              "listener.bind('\\0belljar-mark'); listener.listen()\n"
              "for n in places:\n"
              "    open(n + '/mark', 'w').write('x')\n"
              "time.sleep(0.005)\n",
    "bash": f"shopt -s nullglob; seen=(); for d in {PLACES}; do\n"
            "for f in $d/*; do [[ $f == /work/out ]] || seen+=(\"$f\"); done; echo x >$d/mark; done\n"
            "for p in /proc/[0-9]*; do [[ ${p#/proc/} == 1 || ${p#/proc/} == $$ ]] || seen+=(\"$p\"); done\n"
            "for p in {3..200}; do kill -0 $p 2>/dev/null && seen+=(\"process $p\"); done\n"
            "[[ -z ${MARK-} ]] || seen+=(environment); declare -F mark && seen+=(function)\n"
            "export MARK=here; mark() { :; }; export -f mark\n"
            "printf '[%s] 1\\n' \"${seen[*]}\"; read -t 0.005 <> <(:)\n",
}


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_scripts_do_not_see_each_other(warm, record_property):
    """SCRP-06: what one script leaves or has, in files, modules, environment, memory, processes or sockets, another
    has not, be it the next one or one that runs at the same time."""
    count = 1000 if FULL else 120

    def spy(i):
        answer = warm.run(SPIES[language := ("python", "bash")[i % 2]], language)
        assert answer.status == 200 and answer.json["stdout"] == "[] 1\n", answer.body
        return answer.json["meta"]["warm"]

    for language in SPIES:
        wait_until(lambda: warm.run("#", language).json["meta"]["warm"])
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        taken = sum(pool.map(spy, range(count)))
    record_property("scripts", count)
    record_property("of waiting interpreters", taken)
    assert taken > count / 10


def children(pid):
    """Those of a process that is gone are none."""
    try:
        return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def find_zygote(pid):
    """The Python below @pid that shares its parent's pid namespace: slots have one of their own."""
    for child in children(pid):
        try:
            if b"zygote.so" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                nspid = [line for line in open(f"/proc/{child}/status") if line.startswith("NSpid")][0]
                if len(nspid.split()) == 3:
                    return child
        except (FileNotFoundError, ProcessLookupError):
            continue
        found = find_zygote(child)
        if found:
            return found
    return None


@pytest.mark.skipif(os.geteuid() != 0, reason="sees the namespaces of others")
def test_a_dead_zygote_is_replaced(serve):
    service = serve(config=SETTINGS).ready()
    run_warm(service, "print(1)")
    first = find_zygote(service.process.pid)
    assert first
    os.kill(first, signal.SIGKILL)
    for _ in range(20):
        answer = service.run("print(2)")
        assert answer.status == 200 and answer.json["stdout"] == "2\n", answer.body
    run_warm(service, "print(3)")
    second = find_zygote(service.process.pid)
    assert second and second != first


# Uids of its own for eight jars, and for no more.
FEW = f"native: {{uid_base: {1950000000 + 4096 * random.randrange(4096)}, uid_count: 17}}\n"


def find_nursery(pid):
    """Inits that it bore have another name as soon as they have built their jar, and are sealed off before."""
    for child in below(pid):
        try:
            name = pathlib.Path(f"/proc/{child}/comm").read_text().strip()
            nspid = [line for line in open(f"/proc/{child}/status") if line.startswith("NSpid")][0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if name == "jar-nursery" and len(nspid.split()) == 3:
            return child
    return None


@pytest.mark.skipif(os.geteuid() != 0, reason="sees the namespaces of others")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_nursery_that_dies_or_hangs_is_replaced(serve, how):
    """Whoever waits for it gets a right answer: the launcher bears what it did not."""
    service = serve(config=SETTINGS).ready()
    run_warm(service, "print(1)")
    first = find_nursery(service.process.pid)
    assert first
    os.kill(first, how)
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        runs = [pool.submit(service.run, f"print({i})") for i in range(24)]
        for i, run in enumerate(runs):
            assert run.result().status == 200 and run.result().json["stdout"] == f"{i}\n", run.result().body
    assert time.monotonic() - start < 30
    wait_until(lambda: find_nursery(service.process.pid) not in (None, first))
    run_warm(service, "print(3)")
    wait_until(lambda: not pathlib.Path(f"/proc/{first}").exists())


@pytest.mark.skipif(os.geteuid() != 0, reason="sees the namespaces of others")
def test_a_run_is_rescued_where_every_place_is_taken(serve):
    """The place of the jar that failed is the run's own: nobody is refused for what died under him."""
    service = serve(config="warm: {slots: 0, heavy_slots: 0, bash_slots: 0, jars: 0}\n" + FEW).ready()
    places = int(service.metrics()["belljar_jars_limit"])
    assert places == 8
    nursery = find_nursery(service.process.pid)
    os.kill(nursery, signal.SIGSTOP)
    with concurrent.futures.ThreadPoolExecutor(places) as pool:
        runs = [pool.submit(service.run, f"echo {i}", "bash") for i in range(places)]
        wait_until(lambda: service.metrics()["belljar_jars"] == places)
        os.kill(nursery, signal.SIGKILL)
        for i, run in enumerate(runs):
            assert run.result().status == 200 and run.result().json["stdout"] == f"{i}\n", run.result().body


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has no range of uids")
@pytest.mark.parametrize("inputs", [[], [{"name": "a", "text": "x"}]], ids=["plain", "with files"])
def test_more_runs_than_places_wait_for_one(serve, inputs):
    """DS-PAR: what is kept ready makes room, and what cannot run yet is in line: nobody is refused for want of a jar."""
    service = serve(config="serve: {concurrency: 64}\nwarm: {slots: 8, max: 64}\n" + FEW).ready()
    assert "places for 8 runs at once, not for 64" in service.said()
    assert service.metrics()["belljar_runs_in_flight_limit"] == service.metrics()["belljar_jars_limit"] == 8
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        runs = [pool.submit(service.run, f"sleep 0.2; echo {i}", "bash", files=inputs) for i in range(40)]
        for i, run in enumerate(runs):
            assert run.result().status == 200 and run.result().json["stdout"] == f"{i}\n", run.result().body
    assert service.metrics()['belljar_restarts_total{part="launcher"}'] == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="sees the namespaces of others")
def test_a_nursery_that_worked_is_replaced_soon(serve):
    """The launcher rests longer and longer between those that come to nothing, but not after one that has worked."""
    service = serve(config="warm: {slots: 2, heavy_slots: 0, bash_slots: 0, jars: 1, max: 2, preload: json}\n").ready()

    def all_wait():
        metrics = service.metrics()
        return [metrics[f'belljar_slots{{kind="{kind}",state="ready"}}'] for kind in ("python", "empty")] == [2, 1]

    def replace(old, seconds):
        """Each look at the metrics wakes the launcher."""
        os.kill(old, signal.SIGKILL)
        wait_until(lambda: service.metrics() and find_nursery(service.process.pid) not in (None, old), seconds)
        return find_nursery(service.process.pid)

    wait_until(all_wait)
    nursery = find_nursery(service.process.pid)
    for _ in range(4):  # with nothing to do they come to nothing
        nursery = replace(nursery, 30)
    for i in range(4):
        assert service.run(f"print({i})").json["stdout"] == f"{i}\n"
        wait_until(all_wait)
    replace(nursery, 4)


@pytest.mark.skipif(os.geteuid() != 0, reason="sees the namespaces of others")
def test_an_init_has_nothing_of_whoever_bore_it(serve):
    """No descriptor, no environment, no memory of the launcher: a static program, and nothing else mapped."""
    service = serve(config=SETTINGS, env={"SECRET_OF_THE_CALLER": "x"}).ready()
    run_warm(service, "print(1)")
    inits = [pid for pid in below(service.process.pid) if is_slot(pid, "jar-init")]
    assert inits
    for pid in inits:
        with contextlib.suppress(OSError):  # one may end just now
            assert not os.listdir(f"/proc/{pid}/fd")
            assert b"SECRET" not in pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            maps = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
            files = {line.split(maxsplit=5)[5] for line in maps if len(line.split(maxsplit=5)) == 6}
            assert all("memfd:jar-init" in name or name.startswith("[") for name in files), files
            assert pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() == b"jar-init\0"


@pytest.mark.skipif(os.geteuid() != 0, reason="sees the namespaces of others")
def test_what_a_zygote_prints_is_lost(serve):
    """A stream that keeps it would be full after a few zygotes, and the next would hang."""
    service = serve(config=SETTINGS).ready()
    run_warm(service, "print(1)")
    zygote = find_zygote(service.process.pid)
    assert [os.readlink(f"/proc/{zygote}/fd/{fd}") for fd in range(3)] == ["/dev/null"] * 3


@pytest.mark.skipif(os.geteuid() != 0, reason="sees the namespaces of others")
def test_a_zygote_that_hangs_is_replaced(serve):
    """Whoever waits for it gets a right answer from elsewhere, long before the deadline of a jar."""
    service = serve(config=SETTINGS).ready()
    run_warm(service, "print(1)")
    first = find_zygote(service.process.pid)
    os.kill(first, signal.SIGSTOP)
    start = time.monotonic()
    for i in range(12):
        answer = service.run(f"print({i})")
        assert answer.status == 200 and answer.json["stdout"] == f"{i}\n", answer.body
    assert time.monotonic() - start < 30
    run_warm(service, "print(3)")
    second = find_zygote(service.process.pid)
    assert second and second != first
    assert not pathlib.Path(f"/proc/{first}").exists()


@pytest.mark.soak
@pytest.mark.skipif(os.geteuid() != 0, reason="sees the namespaces of others")
def test_a_zygote_that_hangs_anywhere_does_not_hang_the_launcher(serve):
    """Also when it stops while it makes an interpreter, which then waits and nobody has told its pid."""
    service = serve(config=SETTINGS.replace("slots: 4", "slots: 4\n  max: 4\n  heavy_slots: 0")).ready()
    launchers = set()
    for _ in range(24 if FULL else 3):
        run_warm(service, "print(1)")
        zygote = find_zygote(service.process.pid)
        launchers |= {line for line in open(f"/proc/{zygote}/status") if line.startswith("PPid")}
        # It replaces what the runs take; where in that it is hit is left to chance.
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            runs = [pool.submit(service.run, "print(2)") for _ in range(12)]
            time.sleep(random.random() * 0.02)
            os.kill(zygote, signal.SIGSTOP)
            assert all(run.result().json["stdout"] == "2\n" for run in runs)
        until = time.monotonic() + 30
        while pathlib.Path(f"/proc/{zygote}").exists():
            assert time.monotonic() < until
            time.sleep(0.02)
    assert len(launchers) == 1


def test_a_burst_beyond_the_slots_is_served(warm):
    """More at once than there are slots: the rest is forked on demand, all right."""
    ids = [warm.start(f"print({i})", "python") for i in range(24)]
    for i, run_id in enumerate(ids):
        for _ in range(200):
            result = warm.ask("GET", f"/v1/executions/{run_id}").json
            if result["state"] == "finished":
                break
            time.sleep(0.05)
        assert result["result"]["stdout"] == f"{i}\n", result


@pytest.mark.parametrize("language", ["python", "bash"])
def test_a_missing_interpreter_is_named(serve, language):
    """No waiting interpreter can be made; the runs say why, from the first one on."""
    service = serve(config=f"native: {{{language}: /usr/bin/not-there}}\ncheck: {{policy: off}}\n").ready()
    for _ in range(3):
        answer = service.run("echo 1" if language == "bash" else "print(1)", language)
        assert answer.status == 500
        assert f"no interpreter /usr/bin/not-there in the jar: No such file or directory; set native.{language}" in answer.json["detail"]


def below(pid):
    own = children(pid)
    return [p for child in own for p in (child, *below(child))]


def is_slot(pid, name="python3"):
    """A process that is gone is none."""
    try:
        status = dict(line.split(":\t", 1) for line in open(f"/proc/{pid}/status"))
    except (FileNotFoundError, ProcessLookupError):
        return False
    return len(status["NSpid"].split()) == 3 and status["Name"].strip() == name


def waiting(service, name):
    """How many processes of that name wait in jars, each with a pid namespace of its own."""
    found = 0
    todo = [service.process.pid]
    while todo:
        try:
            below = children(todo.pop())
            todo += below
            for pid in below:
                status = dict(line.split(":\t", 1) for line in open(f"/proc/{pid}/status"))
                found += len(status["NSpid"].split()) == 3 and status["Name"].strip() == name
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="sees the namespaces of others")
def test_their_number_follows_demand(serve):
    """A burst makes more of them wait than the settings ask for at rest, up to their limit."""
    service = serve(config="warm: {slots: 2, bash_slots: 0, jars: 0, max: 6, heavy_slots: 0}\n").ready()
    run_warm(service, "print(1)")
    for run in [service.start("import time; time.sleep(0.2)", "python") for _ in range(16)]:
        service.ended(run)
    for _ in range(200):
        # Those that have just been used may be still on their way out.
        if 2 < waiting(service, "python3") <= 6:
            return
        time.sleep(0.05)
    pytest.fail("as many wait as before")


@pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/sys/kernel/mm/transparent_hugepage"),
                    reason="sees the memory of others; needs large pages")
def test_an_interpreter_finds_its_text_mapped(serve):
    """A slot takes no page faults for the text of its interpreter: 231 where there were 314 by the
    time a script asks. Nothing in it is writable and executable at once."""
    service = serve(config="warm: {slots: 1, bash_slots: 0, jars: 0, heavy_slots: 0}\n").ready()
    maps = run_warm(service, "print(open('/proc/self/maps').read(), end='')")["stdout"].splitlines()
    assert not [line for line in maps if line.split()[1][1:3] == "wx"]
    script = "print(open('/proc/self/stat').read().rsplit(')', 1)[1].split()[7])"
    assert int(run_warm(service, script)["stdout"]) < 270


# SO_NETNS_COOKIE: a number that no other network namespace of this machine ever had.
COOKIE = "\nprint(int.from_bytes(s.getsockopt(socket.SOL_SOCKET, 71, 8), 'little'), flush=True)\n"
MAKERS = {
    "a socket": "s = socket.socket()" + COOKIE,
    "a pair": "s, _ = socket.socketpair()" + COOKIE,
    "a socket that is closed again": "s = socket.socket(socket.AF_UNIX)" + COOKIE + "s.close()",
    "a child": "if os.fork() == 0:\n    s = socket.socket()" + COOKIE.replace("\nprint", "\n    print") + "    os._exit(0)\nos.wait()",
    "a thread": "def f():\n    s = socket.socket()" + COOKIE.replace("\nprint", "\n    print")
                + "t = threading.Thread(target=f)\nt.start()\nt.join()",
    "a bare call": "s = socket.socket(fileno=ctypes.CDLL(None).syscall(41 if os.uname().machine == 'x86_64' else 198, 1, 1, 0))"
                   + COOKIE,
    "its own last call": "s = socket.socket()" + COOKIE + "ctypes.CDLL(None).syscall(231, ctypes.c_ulong(0x62656c00))",
}


def test_a_network_in_which_a_socket_was_is_not_used_again(serve):
    """However it was made, by whom, and however the script ends. Runs without sockets in between leave
    namespaces that are."""
    service = serve(config="warm: {slots: 2, bash_slots: 0, jars: 0, heavy_slots: 0}\ncheck: {policy: off}\n").ready()
    seen = []
    for _ in range(3):
        for script in MAKERS.values():
            run_warm(service, "print(1)")
            seen.append(run_warm(service, "import ctypes, os, socket, threading\n" + script)["stdout"])
    assert all(int(cookie) > 0 for cookie in seen), seen
    assert len(set(seen)) == len(seen)


def owner_of_network(pid):
    """The user namespace that a process's network namespace belongs to, and its own."""
    net = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    owner = fcntl.ioctl(net, 0xB701)  # NS_GET_USERNS
    inode = os.fstat(owner).st_ino
    os.close(owner)
    os.close(net)
    return inode, os.stat(f"/proc/{pid}/ns/user").st_ino


@pytest.mark.skipif(os.geteuid() != 0, reason="sees the namespaces of others")
@pytest.mark.parametrize("language, program, script", [("python", "python3", "print(1)"), ("bash", "bash", "echo 1")])
def test_a_network_without_sockets_is_used_again(serve, language, program, script):
    """The next jar gets it, and has no rights over it. The launcher is in none of them, nor in ours."""
    slots = "slots: 2, bash_slots: 0" if language == "python" else "slots: 1, bash_slots: 2"
    service = serve(config=f"warm: {{{slots}, jars: 0, heavy_slots: 0}}\n").ready()
    for _ in range(12):
        run_warm(service, script, language=language)
    zygote = find_zygote(service.process.pid)
    assert os.stat(f"/proc/{zygote}/ns/net").st_ino != os.stat("/proc/self/ns/net").st_ino
    for _ in range(200):
        with contextlib.suppress(OSError):  # one may end just now
            slots = [pid for pid in below(service.process.pid) if is_slot(pid, program)]
            networks = {os.stat(f"/proc/{pid}/ns/net").st_ino for pid in slots}
            if any(owner != own for owner, own in map(owner_of_network, slots)):
                break
        run_warm(service, script, language=language)
    else:
        pytest.fail("every jar has a new one")
    assert zygote not in slots
    assert os.stat(f"/proc/{zygote}/ns/net").st_ino not in networks


UNCOVER = """
import ctypes, json, os, sys
libc, seen = ctypes.CDLL(None, use_errno=True), {}
spaces = [os.open(f"/proc/{sys.argv[1]}/ns/{name}", os.O_RDONLY) for name in ("user", "mnt")]
assert all(libc.setns(space, 0) == 0 for space in spaces) and libc.unshare(0x20000) == 0
seen["/"] = [os.listdir("/")]
for path in "/proc", "/script":
    seen[path] = []
    while libc.umount2(path.encode(), 2) == 0:
        seen[path].append(os.listdir(path))
print(json.dumps(seen))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="enters the jar with all rights")
def test_nothing_of_the_machine_lies_under_a_jar(warm):
    """Who takes away what a jar's own mounts cover finds an empty /proc and the script's own file."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        run = pool.submit(run_warm, warm, "import time\nprint(1)\ntime.sleep(1.5)")
        for _ in range(100):
            slots = [pid for pid in below(warm.process.pid) if is_slot(pid)]
            busy = [pid for pid in slots if os.path.exists(f"/proc/{pid}/root/script/script.py")]
            if busy:
                break
            time.sleep(0.02)
        done = subprocess.run(["/usr/bin/python3", "-I", "-c", UNCOVER, str(busy[0])], capture_output=True, text=True)
        assert run.result()["stdout"] == "1\n"
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["/proc"] and all(set(names) <= {"self", "thread-self"} for names in seen["/proc"]), seen
    assert seen["/script"] == [["script.py"], []], seen
    assert {"usr", "work", "script"} < set(seen["/"][0]) and not {"jar0", "nobody", "root", "home"} & set(seen["/"][0])


def test_a_script_with_many_sockets_goes_on(warm):
    """The launcher hears of each of them, but not without end."""
    script = "import socket\nfor _ in range(2000):\n    socket.socket().close()\nprint('done')"
    assert run_warm(warm, script)["stdout"] == "done\n"


# 1,500 processes, one after the other, that share the script's memory and end with the mark of a last call.
ENDS = """import ctypes, mmap, time
loop = bytes.fromhex("b838000000bf1141000031f631d24d31d24d31c00f0585c0750cb8e7000000bf006c65620f05"
                     "48c7c7ffffffff31f631d24d31d2b83d0000000f05ffcb")
code = b"\\x53\\xbb" + (1500).to_bytes(4, "little") + loop + b"\\x75" + (-len(loop) - 2).to_bytes(1, "little", signed=True) + b"\\x5b\\xc3"
memory = mmap.mmap(-1, 4096, prot=7)
memory.write(code)
began = time.monotonic()
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
print(time.monotonic() - began)"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="code for x86-64")
def test_a_script_whose_processes_say_that_they_end_waits(serve):
    """The launcher, which is real-time, would be busy with nothing else: 256 in 50 ms are answered."""
    service = serve(config=SETTINGS).ready()
    assert float(run_warm(service, ENDS)["stdout"]) > 4 * 0.05


def test_large_modules_are_there_for_those_who_name_them(serve):
    """A module of warm.heavy is imported already when the script names it, and only then."""
    service = serve(config="warm: {slots: 1, heavy_slots: 1, heavy: [xml.dom.minidom]}\n").ready()
    script = "import sys\nprint('xml.dom.' + 'minidom' in sys.modules)"
    assert run_warm(service, script)["stdout"] == "False\n"
    for _ in range(100):
        if run_warm(service, script + "  # xml.dom.minidom")["stdout"] == "True\n":
            return
        time.sleep(0.1)
    pytest.fail("it never was there")


def test_without_large_modules_nobody_waits_for_them(serve):
    """None of warm.heavy is in the image: the others serve."""
    service = serve(config="warm: {slots: 1, heavy_slots: 2, heavy: [no_such_module]}\n").ready()
    assert run_warm(service, "print(1)  # no_such_module")["stdout"] == "1\n"


def test_without_any_every_run_is_cold(serve):
    service = serve(config="warm: {slots: 0, heavy_slots: 0, bash_slots: 0, jars: 0}\n").ready()
    for script, language in (("print(1)", "python"), ("echo 1", "bash")):
        result = service.run(script, language).json
        assert result["stdout"] == "1\n" and not result["meta"]["warm"]


def test_the_mark_of_the_last_call_is_only_an_exit(warm):
    """A script that says its end itself has ended, with that code; what it leaves is killed."""
    call = ("import ctypes, os, time\nif os.fork() == 0:\n    time.sleep(%s)\n    print('late', flush=True)\n"
            "    os._exit(0)\nprint('said', flush=True)\n"
            "ctypes.CDLL(None).syscall(231, ctypes.c_ulong(0x62656c00 | 5))\nprint('after')\n")
    for sleep in "0", "30":
        result = run_warm(warm, call % sleep)
        assert (result["cause"], result["exit_code"]) == ("exited", 5)
        assert "after" not in result["stdout"] and result["duration_ms"] < 20000
