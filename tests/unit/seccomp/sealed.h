/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "unit.h"

#include "seccomp/filters.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Children that run under the filters, as a script does. Each test is one child: a filter never
 * comes off again. */

/* What the child answers when the filters could not be loaded. No errno is that large. */
enum { NOT_SEALED = 250 };

/* Not _exit(): the leak sanitizer hooks it and needs calls that a filter may refuse. */
static inline _Noreturn void end_child(int code)
{
	for (;;)
		syscall(SYS_exit_group, code);
}

/* Exactly what the seal of a jar does around the filters. */
static inline void seal(const struct bj_filter *custom)
{
	signal(SIGSYS, SIG_IGN);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || bj_filter_seal(custom) < 0)
		end_child(NOT_SEALED);
}

/* Run @body in a sealed child and return its wait status. */
static inline int in_child(const struct bj_filter *custom, int (*body)(const void *),
			   const void *arg)
{
	int status = 0;

	fflush(NULL);

	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		seal(custom);
		end_child(body(arg));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

struct call {
	const char *name;
	long number;
	int errnum; /* expected; 0: success */
	unsigned long args[6];
};

/* The errno of one raw call; 0: it succeeded. */
static inline int try_call(const void *arg)
{
	const struct call *c = arg;
	const long r = syscall(c->number, c->args[0], c->args[1], c->args[2], c->args[3],
			       c->args[4], c->args[5]);

	return r < 0 ? errno : 0;
}

static inline void expect_call(const struct bj_filter *custom, const struct call *c)
{
	const int status = in_child(custom, try_call, c);

	if (!WIFEXITED(status) || WEXITSTATUS(status) != c->errnum)
		fail_msg("%s(%#lx, %#lx, %#lx): wait status %#x, expected errno %d", c->name,
			 c->args[0], c->args[1], c->args[2], status, c->errnum);
}
