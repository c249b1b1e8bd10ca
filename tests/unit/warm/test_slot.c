/* SPDX-License-Identifier: Apache-2.0 */

/* What a zygote and its slots make of the messages of the launcher. Each runs in a process of its
 * own, with its socket at the number that it knows. */

#include "unit.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "jar/namespaces.h"
#include "jar/pack.h"
#include "jar/script.h"
#include "jar/sys.h"
#include "warm/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* They are called by Python, through ctypes, so no header has them. */
void bj_slot_needless(void);
int bj_slot_serve(void);
int bj_slot_wait(void);
int bj_slot_count(int kind);
const char *bj_slot_text(int kind, int i);

enum { REFUSED = 90, RAN = 91, CHECKED = 92, JOINED = 93, WRONG = 94 };

static void make_pair(int pair[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
}

/* Run @body with the second end of @pair. */
static pid_t start_with(int (*body)(void), const int pair[2])
{
	const pid_t pid = fork();

	if (pid == 0) {
		/* Their end only: then the last message is followed by the end. */
		close(pair[0]);
		if (dup2(pair[1], BJ_ZYGOTE_SOCKET) < 0)
			_exit(WRONG);
		if (pair[1] != BJ_ZYGOTE_SOCKET)
			close(pair[1]);
		_exit(body());
	}
	close(pair[1]);
	return pid;
}

static pid_t start(int (*body)(void), int *ret_sock)
{
	int pair[2];

	make_pair(pair);
	*ret_sock = pair[0];
	return start_with(body, pair);
}

static int finish(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* --- the zygote ------------------------------------------------------------------------------- */

static int serve(void)
{
	const int r = bj_slot_serve();

	if (r < 0)
		return REFUSED;
	/* In the new process, which is the second of its jar. */
	return r == 1 && getpid() == 2 ? JOINED : WRONG;
}

/* One request and where its answers arrive. */
struct asked {
	int pid[2], slot[2], null;
};

static struct asked ask(int sock, const struct bj_spawn *msg, size_t size, int init, int task,
			size_t n_fds)
{
	struct asked a = { .null = open("/dev/null", O_RDONLY | O_CLOEXEC) };

	assert_int_equal(pipe2(a.pid, O_CLOEXEC), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, a.slot), 0);

	const int fds[BJ_SPAWN_MAX] = { init >= 0 ? init : a.null, a.pid[1], a.slot[1],
					task >= 0 ? task : a.null };

	assert_int_equal(bj_fd_send(sock, msg, size, fds, n_fds), 0);
	close(a.pid[1]);
	close(a.slot[1]);
	return a;
}

static void forget(const struct asked *a)
{
	close(a->pid[0]);
	close(a->slot[0]);
	close(a->null);
}

static void expect_ready(int sock)
{
	char word = 0;

	assert_int_equal(recv(sock, &word, 1, 0), 1);
	assert_int_equal(word, 'r');
}

/* A request that is not whole ends the zygote: the next one, which is, is not served. */
static void broken_requests_end_it(void **state)
{
	static const struct {
		size_t size;
		uint32_t has_birth, n_tasks;
		size_t n_fds;
	} rows[] = {
		{ sizeof(struct bj_spawn) - 1, 0, 0, BJ_SPAWN_FIXED },
		{ 1, 0, 0, BJ_SPAWN_FIXED },
		{ sizeof(struct bj_spawn), 0, 0, BJ_SPAWN_FIXED - 1 },
		{ sizeof(struct bj_spawn), 0, 0, BJ_SPAWN_FIXED + 1 },
		{ sizeof(struct bj_spawn), 1, 0, BJ_SPAWN_FIXED },
		{ sizeof(struct bj_spawn), 0, 1, BJ_SPAWN_FIXED },
		{ sizeof(struct bj_spawn), 1, 1, BJ_SPAWN_FIXED + 1 },
		{ sizeof(struct bj_spawn), 0, BJ_SPAWN_MAX_TASKS + 1, BJ_SPAWN_FIXED },
		{ sizeof(struct bj_spawn), 0, UINT32_MAX, BJ_SPAWN_FIXED - 1 },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		const struct bj_spawn bad = { .has_birth = rows[i].has_birth,
					      .n_tasks = rows[i].n_tasks };
		const struct bj_spawn good = { 0 };
		struct bj_seal_report report;
		int pair[2];

		/* Both are there before it reads the first. */
		make_pair(pair);

		const struct asked first = ask(pair[0], &bad, rows[i].size, -1, -1, rows[i].n_fds);
		const struct asked second =
			ask(pair[0], &good, sizeof(good), -1, -1, BJ_SPAWN_FIXED);
		const pid_t pid = start_with(serve, pair);

		assert_int_equal(finish(pid), REFUSED);
		assert_int_equal(read(first.slot[0], &report, sizeof(report)), 0);
		close(pair[0]); /* and with it what nobody took */
		assert_int_equal(read(second.slot[0], &report, sizeof(report)), 0);
		forget(&first);
		forget(&second);
	}
}

/* A jar that is gone is the end of one request: it is told why, and the next one is served. */
static void a_jar_that_cannot_be_joined_is_reported(void **state)
{
	static const struct {
		uint32_t n_tasks;
		const char *why;
	} rows[] = { { 0, "cannot join the jar" }, { 1, "cannot join a cgroup" } };
	int sock;
	const pid_t pid = start(serve, &sock);

	(void)state;
	expect_ready(sock);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		const struct bj_spawn msg = { .n_tasks = rows[i].n_tasks };
		const struct asked a =
			ask(sock, &msg, sizeof(msg), -1, -1, BJ_SPAWN_FIXED + rows[i].n_tasks);
		struct bj_seal_report report = { 0 };
		pid_t born;

		assert_int_equal(read(a.slot[0], &report, sizeof(report)), sizeof(report));
		assert_int_equal(report.failed, 1);
		assert_non_null(strstr(report.err.msg, rows[i].why));
		assert_int_equal(read(a.pid[0], &born, sizeof(born)), 0);
		forget(&a);
	}
	close(sock);
	assert_int_equal(finish(pid), REFUSED);
}

static void a_process_is_born_in_the_jar(void **state)
{
	const struct bj_spawn msg = { .n_tasks = 1, .hurry = 1 };
	/* What joins a cgroup writes "0" into its file. */
	AUTO_FD int task = memfd_create("tasks", MFD_CLOEXEC);
	int sock, init_fd = -1, ends[2];
	char byte;

	(void)state;
	if (geteuid() != 0)
		skip(); /* namespaces without a user namespace */
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);

	const pid_t init = bj_sys_clone3(bj_namespaces(), &init_fd, -1);

	if (init == 0) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	assert_true(init > 0);
	close(ends[0]);

	const pid_t pid = start(serve, &sock);

	expect_ready(sock);

	const struct asked a = ask(sock, &msg, sizeof(msg), init_fd, task, BJ_SPAWN_FIXED + 1);
	pid_t born = 0;

	assert_int_equal(bj_fd_read_exact(a.pid[0], &born, sizeof(born)), 0);
	assert_int_equal(finish(born), JOINED);
	assert_int_equal(pread(task, &byte, 1, 0), 1);
	assert_int_equal(byte, '0');
	close(sock);
	assert_int_equal(finish(pid), REFUSED);
	close(ends[1]);
	close(init_fd);
	forget(&a);
	assert_int_equal(finish(init), 0);
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

static int be_needless(void)
{
	bj_slot_needless();
	return RAN;
}

static void one_that_nobody_needs_says_so(void **state)
{
	int sock;
	const pid_t pid = start(be_needless, &sock);
	char word = 0;

	(void)state;
	assert_int_equal(recv(sock, &word, 1, 0), 1);
	assert_int_equal(word, 'n');
	assert_int_equal(finish(pid), RAN);
	close(sock);
}

/* --- a slot ----------------------------------------------------------------------------------- */

/* Say what came, on the stream that came with it. */
static int take_script(void)
{
	const int r = bj_slot_wait();

	if (r < 0)
		return REFUSED;
	for (int kind = 0; kind < 2; kind++)
		for (int i = 0; i < bj_slot_count(kind); i++)
			dprintf(1, "%d %s\n", kind, bj_slot_text(kind, i));
	/* Nothing but the streams and the verdict is left. */
	return fcntl(BJ_ZYGOTE_SOCKET + 1, F_GETFD) < 0 ? (r & 1 ? CHECKED : RAN) : WRONG;
}

static int make_spec(bool whole)
{
	AUTO_BUF struct bj_buf pack = { 0 };

	bj_pack_add(&pack, BJ_PACK_ARG, "", "one", 4);
	bj_pack_add(&pack, BJ_PACK_ENV, "", "A=b", 4);
	if (whole)
		bj_pack_add(&pack, BJ_PACK_END, "", "", 0);
	assert_false(pack.failed);
	return bj_fd_memfile("spec", pack.data, pack.size);
}

/* Hand a script over; the exit status, and in @said what was written. */
static int hand_over(const struct bj_slot_go *go, size_t size, int spec, size_t n_fds, char *said,
		     size_t room)
{
	AUTO_FD int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int out[2], sock;
	const pid_t pid = start(take_script, &sock);

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);

	const int fds[BJ_SLOT_FDS] = { null, out[1], null, null, spec };

	assert_int_equal(bj_fd_send(sock, go, size, fds, n_fds), 0);
	close(out[1]);

	const int status = finish(pid);
	const ssize_t n = read(out[0], said, room - 1);

	assert_true(n >= 0);
	said[n] = '\0';
	close(out[0]);
	close(sock);
	return status;
}

static void a_script_comes_with_what_is_its_own(void **state)
{
	struct bj_slot_go go = { .no_limits = 1 };
	AUTO_FD int spec = make_spec(true);
	char said[256];

	(void)state;
	/* What every script has in its environment the interpreter has already. */
	assert_int_equal(hand_over(&go, sizeof(go), spec, BJ_SLOT_FDS, said, sizeof(said)), RAN);
	assert_string_equal(said, "0 one\n1 A=b\n");
	go.check_only = 1;
	assert_int_equal(hand_over(&go, sizeof(go), spec, BJ_SLOT_FDS, said, sizeof(said)),
			 CHECKED);
}

static void broken_scripts_are_refused(void **state)
{
	const struct bj_slot_go go = { .no_limits = 1 };
	AUTO_FD int good = make_spec(true), cut = make_spec(false);
	AUTO_FD int empty = bj_fd_memfile("spec", "", 0), noise = bj_fd_memfile("spec", "xyz", 3);
	AUTO_FD int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const struct {
		size_t size;
		int spec;
		size_t n_fds;
	} rows[] = {
		{ sizeof(go) - 1, good, BJ_SLOT_FDS }, { sizeof(go), good, BJ_SLOT_FDS - 1 },
		{ sizeof(go), empty, BJ_SLOT_FDS },    { sizeof(go), noise, BJ_SLOT_FDS },
		{ sizeof(go), cut, BJ_SLOT_FDS },      { sizeof(go), null, BJ_SLOT_FDS },
	};
	char said[256];

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		assert_int_equal(hand_over(&go, rows[i].size, rows[i].spec, rows[i].n_fds, said,
					   sizeof(said)),
				 REFUSED);
		assert_string_equal(said, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_requests_end_it),
		cmocka_unit_test(a_jar_that_cannot_be_joined_is_reported),
		cmocka_unit_test(a_process_is_born_in_the_jar),
		cmocka_unit_test(one_that_nobody_needs_says_so),
		cmocka_unit_test(a_script_comes_with_what_is_its_own),
		cmocka_unit_test(broken_scripts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
