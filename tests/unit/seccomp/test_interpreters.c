/* SPDX-License-Identifier: Apache-2.0 */

/* Python and Bash work under floor and default: SCRP-01, DS-SEC. */

#include "sealed.h"

#include "base/cleanup.h"

static int run(const void *arg)
{
	char *const *argv = (char *const *)arg;

	execv(argv[0], argv);
	return 127;
}

static void expect_ok(const char *interpreter, const char *text)
{
	const char *const argv[] = { interpreter, "-c", text, NULL };
	const int status = in_child(NULL, run, argv);

	if (status != 0)
		fail_msg("wait status %#x from: %s", status, text);
}

static const char *const PYTHON[] = {
	"import signal, faulthandler; faulthandler.enable()\n"
	"assert signal.getsignal(signal.SIGSYS) == signal.SIG_IGN",

	"import threading\n"
	"t = [threading.Thread(target=lambda: None) for _ in range(20)]\n"
	"[x.start() for x in t]; [x.join() for x in t]",

	"import multiprocessing as m\n"
	"with m.get_context('fork').Pool(2) as p: assert p.map(abs, [-1, -2]) == [1, 2]",

	"import multiprocessing as m\n"
	"with m.get_context('spawn').Pool(2) as p: assert p.map(abs, [-1, -2]) == [1, 2]",

	"import multiprocessing as m\n"
	"with m.get_context('forkserver').Pool(2) as p: assert p.map(abs, [-1, -2]) == [1, 2]",

	"from multiprocessing import shared_memory as s, Value, Queue, Lock\n"
	"x = s.SharedMemory(create=True, size=10); x.close(); x.unlink()\n"
	"Value('i', 1); Lock(); q = Queue(); q.put(1); assert q.get() == 1",

	"from concurrent.futures import ProcessPoolExecutor as P\n"
	"with P(2) as p: assert list(p.map(abs, [-3])) == [3]",

	"import subprocess\n"
	"assert subprocess.run(['/bin/echo', 'x'], capture_output=True).stdout == b'x\\n'\n"
	"assert subprocess.run('exit 3', shell=True).returncode == 3",

	"import asyncio\n"
	"async def f():\n"
	"    p = await asyncio.create_subprocess_exec('/bin/true')\n"
	"    s = await asyncio.start_server(lambda r, w: w.close(), '127.0.0.1', 0)\n"
	"    r, w = await asyncio.open_connection(*s.sockets[0].getsockname())\n"
	"    assert await r.read() == b''\n"
	"    w.close(); s.close()\n"
	"    return await p.wait()\n"
	"assert asyncio.run(f()) == 0",

	"import socket, ssl, tempfile, os, shutil, mmap, sqlite3, ctypes, select, pty\n"
	"a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'\n"
	"d = tempfile.mkdtemp(); open(d + '/f', 'w').write('x'); shutil.copy(d + '/f', d + '/g')\n"
	"os.chmod(d + '/g', 0o600); os.utime(d + '/g'); os.mkfifo(d + '/p'); shutil.rmtree(d)\n"
	"mmap.mmap(-1, 4096).close(); sqlite3.connect(':memory:').execute('select 1')\n"
	"select.epoll().close(); os.getrandom(4); os.sched_getaffinity(0); os.sync()",

	/* A pseudo-terminal of the script's own still works, controlling terminal included. */
	"import pty, os\n"
	"pid, fd = pty.fork()\n"
	"if pid == 0: os.write(1, os.ttyname(0).encode()); os._exit(0)\n"
	"assert os.read(fd, 100).startswith(b'/dev/pts/'); os.waitpid(pid, 0)",
};

static const char *const BASH[] = {
	"x=$(echo a | tr a b); [[ $x == b ]]",
	"cat <(echo x) > /dev/null; sleep 0.01 & wait $!; (exit 3); [ $? = 3 ]",
	"trap 'echo t' SYS TERM; kill -SYS $$; ulimit -n 64; umask 077; read -t 0 x; true",
	"set -e; d=$(mktemp -d); ln -s x $d/l; mkfifo $d/p; ls -l $d >/dev/null; rm -r $d",
	"kill -SYS $$; bash -c 'kill -SYS $$'; true",
};

static void python_works(void **state)
{
	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(PYTHON); i++)
		expect_ok("/usr/bin/python3", PYTHON[i]);
}

static void bash_works(void **state)
{
	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(BASH); i++)
		expect_ok("/bin/bash", BASH[i]);
}

/* Runtimes such as node set every signal at their start and abort when that fails. */
static void runtime_that_sets_every_signal_works(void **state)
{
	(void)state;
	expect_ok("/usr/bin/python3", "import signal\n"
				      "for s in signal.valid_signals() - {9, 19, 32, 33}:\n"
				      "    signal.signal(s, signal.SIG_DFL)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(python_works),
		cmocka_unit_test(bash_works),
		cmocka_unit_test(runtime_that_sets_every_signal_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
