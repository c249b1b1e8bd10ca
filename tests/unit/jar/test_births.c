/* SPDX-License-Identifier: Apache-2.0 */

/* A process that is born with our own descriptors leaves them to us, and keeps the low ones only.
 */

#include "unit.h"

#include "jar/births.h"
#include "jar/sys.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void test_numbers_lie_side_by_side_and_come_back(void **state)
{
	struct bj_births b;
	int fds[BJ_BIRTHS];

	(void)state;
	bj_births_init(&b);
	for (int i = 0; i < BJ_BIRTHS; i++) {
		fds[i] = dup(STDOUT_FILENO);
		assert_true(fds[i] > b.first);
		assert_true(bj_births_take(&b, &fds[i]));
		assert_int_equal(fds[i], b.first + i);
		assert_int_equal(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
	}

	int more = dup(STDOUT_FILENO);
	const int was = more;

	assert_false(bj_births_take(&b, &more));
	assert_int_equal(more, was);
	bj_births_release(&b, fds[3]);
	bj_births_release(&b, -1);
	/* A descriptor that somebody opens meanwhile does not get the number. */
	assert_true(is_open(fds[3]));
	assert_true(bj_births_take(&b, &more));
	assert_int_equal(more, fds[3]);
	assert_false(is_open(was));
}

static void test_a_hole_does_not_matter(void **state)
{
	struct bj_births b;
	const int hole = dup(STDOUT_FILENO), above = dup(STDOUT_FILENO);

	(void)state;
	close(hole);
	bj_births_init(&b);
	assert_int_equal(b.free, (1u << BJ_BIRTHS) - 1);
	assert_true(b.first > hole);
	for (int i = 0; i < BJ_BIRTHS; i++)
		assert_int_not_equal(b.first + i, above);
}

static void test_without_numbers_there_are_none(void **state)
{
	struct bj_births b = { .first = 3 };
	int fd = dup(STDOUT_FILENO);

	(void)state;
	assert_false(bj_births_take(&b, &fd));
	assert_true(is_open(fd));
}

/* 0 when all is as it should be in the child. */
static int look(int keep, int secret)
{
	if (!is_open(secret))
		return 2; /* born with a copy of too little */
	if (bj_births_leave(keep) < 0)
		return 3;
	for (int fd = keep + 1; fd < secret + 64; fd++)
		if (is_open(fd))
			return 4;
	if (!is_open(keep))
		return 5;
	/* These are its own now. */
	close(keep);
	return dup2(STDIN_FILENO, secret) == secret ? 0 : 6;
}

static void test_it_leaves_what_is_ours(void **state)
{
	struct bj_births b;
	int keep = dup(STDOUT_FILENO), pidfd = -1, status = 0, pipe_fds[2];

	(void)state;
	bj_births_init(&b);
	assert_true(bj_births_take(&b, &keep));
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);

	const pid_t pid = bj_sys_clone3(CLONE_FILES, &pidfd, -1);

	if (pid == 0)
		_exit(look(keep, pipe_fds[0]));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);

	char x = 0;

	assert_true(is_open(keep));
	assert_int_equal(read(pipe_fds[0], &x, 1), 1);
	assert_int_equal(x, 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_lie_side_by_side_and_come_back),
		cmocka_unit_test(test_a_hole_does_not_matter),
		cmocka_unit_test(test_without_numbers_there_are_none),
		cmocka_unit_test(test_it_leaves_what_is_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
