/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/leave.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { STACK = 16384 };

#ifndef BJ_SANITIZED /* they know of one stack for each thread */

/* No descriptor stays here: whoever reads our output waits for its end. */
static int hold(void *parent_ptr)
{
	const pid_t parent = *(const pid_t *)parent_ptr;

	close_range(0, ~0u, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
		while (getppid() == parent)
			pause();
	_exit(0);
}

void bj_leave_memory(void)
{
	static _Alignas(16) char stack[STACK];
	static pid_t self;

	self = getpid();
	/* The first process of a container takes all others along when it ends. */
	if (self != 1)
		(void)clone(hold, stack + sizeof(stack), CLONE_VM, &self);
}

#else

void bj_leave_memory(void)
{
}

#endif
