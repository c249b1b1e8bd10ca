/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Tests that need to be the first process of a pid namespace, with mounts of their own, as the
 * launcher is. */

#include "unit.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GOOD = 0, NO_NAMESPACES = 77 };

static inline int in_new_namespaces(int flags, int (*body)(void))
{
	int status = 0;

	if (unshare(CLONE_NEWNS | CLONE_NEWPID | flags) < 0)
		return NO_NAMESPACES;

	const pid_t pid = fork();

	if (pid == 0)
		_exit(body());
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* @body returns GOOD, or a number that says where it went wrong. With @flags there are more
 * namespaces. Skipped where there are none for us. */
static inline void run_in_namespaces(int flags, int (*body)(void))
{
	int status = 0;
	const pid_t pid = fork();

	if (pid == 0)
		_exit(in_new_namespaces(flags, body));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_NAMESPACES)
		skip();
	assert_int_equal(WEXITSTATUS(status), GOOD);
}
