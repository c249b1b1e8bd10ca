/* SPDX-License-Identifier: Apache-2.0 */

/* The last call of a process, seen before it is over. */

#include "jar/farewell.h"

#include "base/fd.h"
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that gives us its listener and ends as @end says. */
static pid_t start_with(const struct bj_filter *rest, bool sockets, void (*end)(void),
			int *ret_listener)
{
	int pair[2];
	size_t n = 0;
	char word;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);

	const pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

		const int fd = bj_farewell_listen(sockets, rest);

		if (fd < 0 || bj_fd_send(pair[1], "l", 1, &fd, 1) < 0)
			_exit(99);
		close(fd);
		end();
		_exit(98);
	}
	close(pair[1]);
	assert_int_equal(bj_fd_recv(pair[0], &word, 1, ret_listener, 1, &n, 0), 1);
	assert_int_equal(n, 1);
	close(pair[0]);
	return pid;
}

static pid_t start_telling(bool sockets, void (*end)(void), int *ret_listener)
{
	return start_with(NULL, sockets, end, ret_listener);
}

static pid_t start(void (*end)(void), int *ret_listener)
{
	return start_telling(true, end, ret_listener);
}

static void wait_for_call(int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };

	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_true(p.revents & POLLIN);
}

static void say_seven(void)
{
	bj_farewell_say(7);
}

static void test_the_code_is_heard_and_the_process_stands(void **state)
{
	uint64_t id = 0;
	int fd = -1, code = -1, status = 0;
	const pid_t pid = start(say_seven, &fd);

	(void)state;
	wait_for_call(fd);
	assert_int_equal(bj_farewell_hear(fd, pid, &code, &id), BJ_FAREWELL_LAST);
	assert_int_equal(code, 7);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	close(fd);
}

static void test_it_can_be_let_on(void **state)
{
	uint64_t id = 0;
	int fd = -1, code = -1, status = 0;
	const pid_t pid = start(say_seven, &fd);

	(void)state;
	wait_for_call(fd);
	assert_int_equal(bj_farewell_hear(fd, pid, &code, &id), BJ_FAREWELL_LAST);
	bj_farewell_go_on(fd, id);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	close(fd);
}

/* A process that it started uses the same call: it goes on, and is not taken for the first. */
static void say_in_a_child(void)
{
	int status = 0;
	const pid_t pid = fork();

	if (pid == 0)
		bj_farewell_say(9);
	_exit(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 9 ? 3 : 4);
}

static void test_others_go_on(void **state)
{
	uint64_t id = 0;
	int fd = -1, code = -1, status = 0;
	const pid_t pid = start(say_in_a_child, &fd);

	(void)state;
	wait_for_call(fd);
	assert_int_equal(bj_farewell_hear(fd, pid, &code, &id), BJ_FAREWELL_NONE);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	assert_int_equal(code, -1);
	close(fd);
}

/* A socket is made as ever, and we know of it first. So do those of processes that it starts. */
static void make_sockets(void)
{
	int pair[2], status = 0;
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		_exit(5);

	const pid_t pid = fork();

	if (pid == 0)
		_exit(socket(AF_INET, SOCK_DGRAM, 0) >= 0 ? 8 : 9);
	_exit(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 8 ? 3 : 4);
}

static void test_sockets_are_heard_of(void **state)
{
	uint64_t id = 0;
	int fd = -1, code = -1, status = 0;
	const pid_t pid = start(make_sockets, &fd);

	(void)state;
	for (int i = 0; i < 3; i++) {
		wait_for_call(fd);
		assert_int_equal(bj_farewell_hear(fd, pid, &code, &id), BJ_FAREWELL_SOCKET);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	assert_int_equal(code, -1);
	close(fd);
}

/* Who does not want to hear of them does not. */
static void test_sockets_may_go_untold(void **state)
{
	int fd = -1, status = 0;
	const pid_t pid = start_telling(false, make_sockets, &fd);

	(void)state;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	close(fd);
}

static void leave_again(int sig)
{
	(void)sig;
	_exit(66);
}

static void say_seven_with_a_handler(void)
{
	signal(SIGUSR1, leave_again);
	bj_farewell_say(7);
}

/* A script's own timers go on ticking: none of them may wake what has been answered. */
static void test_no_signal_ends_the_call(void **state)
{
	uint64_t id = 0;
	int fd = -1, code = -1, status = 0;
	const pid_t pid = start(say_seven_with_a_handler, &fd);
	const int pidfd = pidfd_open(pid, 0);
	struct pollfd end = { .fd = pidfd, .events = POLLIN };

	(void)state;
	wait_for_call(fd);
	assert_int_equal(bj_farewell_hear(fd, pid, &code, &id), BJ_FAREWELL_LAST);
	assert_int_equal(kill(pid, SIGUSR1), 0);
	assert_int_equal(poll(&end, 1, 100), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	close(pidfd);
	close(fd);
}

static void exit_plainly(void)
{
	_exit(5);
}

static void test_an_ordinary_exit_is_not_heard(void **state)
{
	int fd = -1, status = 0;
	const pid_t pid = start(exit_plainly, &fd);

	(void)state;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	close(fd);
}

static void say_unheard(void)
{
	usleep(200000);
	bj_farewell_say(6);
}

static void test_it_ends_when_nobody_listens(void **state)
{
	int fd = -1, status = 0;
	const pid_t pid = start(say_unheard, &fd);

	(void)state;
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 6);
}

/* With another filter behind it both answer. */
static int answer_for_both(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (bj_farewell_listen(true, &bj_filter_slot) < 0)
		return 1;
	/* What the other one refuses is refused, what it does not know goes on. */
	if (unshare(CLONE_NEWUSER) == 0 || errno != EPERM)
		return 2;
	return getppid() > 0 ? 0 : 3;
}

static void say_nine(void)
{
	bj_farewell_say(unshare(CLONE_NEWUSER) < 0 ? 9 : 8);
}

static void test_another_filter_goes_along(void **state)
{
	int fd = -1, status = 0, code = 0;
	uint64_t id = 0;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(answer_for_both());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);

	pid = start_with(&bj_filter_slot, true, say_nine, &fd);
	wait_for_call(fd);
	assert_int_equal(bj_farewell_hear(fd, pid, &code, &id), BJ_FAREWELL_LAST);
	assert_int_equal(code, 9);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(fd);
}

static void test_one_that_is_too_long_is_refused(void **state)
{
	(void)state;
	assert_int_equal(bj_farewell_listen(true, &bj_filter_jar), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_code_is_heard_and_the_process_stands),
		cmocka_unit_test(test_it_can_be_let_on),
		cmocka_unit_test(test_others_go_on),
		cmocka_unit_test(test_sockets_are_heard_of),
		cmocka_unit_test(test_sockets_may_go_untold),
		cmocka_unit_test(test_no_signal_ends_the_call),
		cmocka_unit_test(test_an_ordinary_exit_is_not_heard),
		cmocka_unit_test(test_it_ends_when_nobody_listens),
		cmocka_unit_test(test_another_filter_goes_along),
		cmocka_unit_test(test_one_that_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
