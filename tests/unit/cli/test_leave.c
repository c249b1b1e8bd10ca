/* SPDX-License-Identifier: Apache-2.0 */

/* SCRP-06: who gives the memory back has nothing else, and does not outlive who left it. */

#include "unit.h"

#include "base/clock.h"
#include "cli/leave.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_NS UINT64_C(10000000000)

/* The only child of @pid; 0: there is none. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	long child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);

	FILE *file = fopen(path, "re");

	if (file) {
		if (fscanf(file, "%ld", &child) != 1)
			child = 0;
		fclose(file);
	}
	return (pid_t)child;
}

static int count_fds(pid_t pid)
{
	char path[64];
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);

	DIR *dir = opendir(path);

	assert_non_null(dir);
	for (const struct dirent *entry; (entry = readdir(dir));)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* A process that leaves, says so, and ends when it is told to, or is killed. */
static pid_t start_leaver(int *ret_said, int *ret_told)
{
	int said[2], told[2];
	char byte;

	assert_int_equal(pipe(said), 0);
	assert_int_equal(pipe(told), 0);

	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		close(told[1]);
		bj_leave_memory();
		(void)!write(said[1], "l", 1);
		(void)!read(told[0], &byte, 1);
		_exit(7);
	}
	close(said[1]);
	close(told[0]);
	*ret_said = said[0];
	*ret_told = told[1];
	assert_int_equal(read(said[0], &byte, 1), 1);
	return pid;
}

/* Orphans are our children. */
static void wait_until_gone(pid_t orphan)
{
	const uint64_t limit = bj_clock_now() + PATIENCE_NS;

	while (bj_clock_now() < limit) {
		const pid_t got = waitpid(orphan, NULL, WNOHANG | __WALL);

		if (got == orphan || (got < 0 && errno == ECHILD && kill(orphan, 0) < 0))
			return;
		usleep(1000);
	}
	fail_msg("who holds the memory is still there");
}

static void end_of(pid_t leaver, int said, int told, int status)
{
	const uint64_t limit = bj_clock_now() + PATIENCE_NS;
	pid_t holder;
	int got = 0;
	char byte;

	while ((holder = child_of(leaver)) == 0 || count_fds(holder) > 0)
		assert_true(bj_clock_now() < limit);
	if (status == SIGKILL)
		kill(leaver, SIGKILL);
	else
		assert_int_equal(write(told, "e", 1), 1);
	/* Whoever reads what it prints sees the end of it. */
	assert_int_equal(read(said, &byte, 1), 0);
	assert_int_equal(waitpid(leaver, &got, 0), leaver);
	assert_int_equal(got, status);
	wait_until_gone(holder);
	close(said);
	close(told);
}

static void it_ends_with_who_left(void **state)
{
	int said, told;
	const pid_t pid = start_leaver(&said, &told);

	(void)state;
	end_of(pid, said, told, 7 << 8);
}

static void it_ends_with_who_was_killed(void **state)
{
	int said, told;
	const pid_t pid = start_leaver(&said, &told);

	(void)state;
	end_of(pid, said, told, SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_ends_with_who_left),
		cmocka_unit_test(it_ends_with_who_was_killed),
	};

#ifdef BJ_SANITIZED
	return 77; /* nobody holds memory there */
#endif
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
