/* SPDX-License-Identifier: Apache-2.0 */

/* What the launcher hears of a script's calls, and how often. */

#include "jar/farewell.h"
#include "jar/jar.h"
#include "unit.h"

#include "base/fd.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* A child that hands over its listener and makes no call that it would hear of. */
static pid_t start_quiet(int *ret_listener)
{
	int pair[2];
	size_t n = 0;
	char word;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);

	const pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (bj_farewell_offer(pair[1], true) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(pair[1]);
	*ret_listener = -1;
	assert_true(bj_fd_recv(pair[0], &word, 1, ret_listener, 1, &n, 0) >= 0);
	close(pair[0]);
	return pid;
}

/* A call that a signal took back before we came has woken us, too: a script may do that without
 * end. */
static void calls_that_were_taken_back_count(void **state)
{
	const struct bj_jar_ground ground = { 0 };
	struct bj_jar jar = { .phase = BJ_JAR_RUNNING, .run.memory = UINT64_MAX };
	struct bj_err err;
	int fd = -1;
	const pid_t pid = start_quiet(&fd);

	(void)state;
	bj_jar_init(&jar, epoll_create1(EPOLL_CLOEXEC));
	jar.watch[BJ_JAR_EV_LAST] = fd;
	assert_int_equal(bj_jar_watch(&jar, &err), 0);
	for (int i = 0; i < BJ_JAR_TOLD_MAX; i++) {
		assert_true(jar.watched[BJ_JAR_EV_LAST]);
		bj_jar_handle_last(&jar, &ground);
	}
	assert_false(jar.watched[BJ_JAR_EV_LAST]);
	bj_jar_tick(&jar);
	assert_true(jar.watched[BJ_JAR_EV_LAST]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(jar.epoll);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_were_taken_back_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
