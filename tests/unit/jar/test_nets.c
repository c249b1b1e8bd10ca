/* SPDX-License-Identifier: Apache-2.0 */

/* Network namespaces that are kept for the next jar. Each test is a process in a user namespace of
 * its own, as the launcher is. */

#include "unit.h"

#include "base/cleanup.h"
#include "jar/nets.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GOOD = 0, BAD = 1, NO_NAMESPACES = 77 };

static void run(int (*body)(void))
{
	int status = 0;
	const pid_t pid = fork();

	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER) < 0 ? NO_NAMESPACES : body());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_NAMESPACES)
		skip();
	assert_int_equal(WEXITSTATUS(status), GOOD);
}

static ino_t where(void)
{
	struct stat st = { 0 };

	return stat("/proc/self/ns/net", &st) == 0 ? st.st_ino : 0;
}

/* A new one, which we are in then. */
static int make(ino_t *ret)
{
	const int fd =
		unshare(CLONE_NEWNET) < 0 ? -1 : open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	*ret = where();
	return fd;
}

static int use_again(void)
{
	struct bj_nets nets;
	const ino_t host = where();
	ino_t first, second;

	bj_nets_init(&nets);

	const ino_t own = where();

	if (nets.own < 0 || own == host || bj_nets_enter(&nets))
		return BAD;
	bj_nets_keep(&nets, make(&first));
	bj_nets_keep(&nets, make(&second));
	bj_nets_go_back(&nets);
	if (where() != own || !bj_nets_enter(&nets) || where() != second)
		return BAD;
	bj_nets_go_back(&nets);
	if (where() != own || !bj_nets_enter(&nets) || where() != first)
		return BAD;
	bj_nets_go_back(&nets);
	/* Each once. */
	return where() == own && !bj_nets_enter(&nets) && where() == own ? GOOD : BAD;
}

static void test_each_is_given_once(void **state)
{
	(void)state;
	run(use_again);
}

static int too_many(void)
{
	struct bj_nets nets;
	int last = -1;

	bj_nets_init(&nets);
	for (int i = 0; i <= BJ_NETS_MAX; i++)
		bj_nets_keep(&nets, last = dup(nets.own));
	return nets.n == BJ_NETS_MAX && fcntl(last, F_GETFD) < 0 ? GOOD : BAD;
}

static void test_there_are_never_many(void **state)
{
	(void)state;
	run(too_many);
}

static int without_own(void)
{
	struct bj_nets nets = { .own = -1 };
	const int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	bj_nets_keep(&nets, fd);
	return nets.n == 0 && fcntl(fd, F_GETFD) < 0 && !bj_nets_enter(&nets) ? GOOD : BAD;
}

static void test_who_cannot_come_back_keeps_none(void **state)
{
	(void)state;
	run(without_own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_given_once),
		cmocka_unit_test(test_there_are_never_many),
		cmocka_unit_test(test_who_cannot_come_back_keeps_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
