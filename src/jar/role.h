/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/process.h"
#include "jar/wire.h"

#include <sys/types.h>

/* A process of ours with one job, forked from the front before it has read anything, joined to it
 * by a socket pair: the broker, the host of direct runs. It takes the same launch messages as the
 * launcher and forks one worker for each, so that one run can block, fail or die by itself. */

/* Both sides of a launch, checked. In a worker the descriptors are its own. */
struct bj_role_launch {
	struct bj_wire_launch launch;
	char run_id[33];
	int fds[BJ_WIRE_FD_MAX];
	int out_fd; /* one of @fds; -1: none */
};

/* What a role does, in its own process. Only @work must be there. */
struct bj_role_ops {
	/* Get ready, and say in @hello how that went. */
	void (*greet)(void *self, struct bj_wire_reply *hello);
	/* In the role, before the worker of @launch is forked: what to take along. */
	void (*prepare)(void *self, struct bj_role_launch *launch);
	/* In the role, after it. */
	void (*started)(void *self, pid_t worker);
	/* In the worker. Fills the reply that ends the run. */
	void (*work)(void *self, struct bj_role_launch *launch, struct bj_wire_reply *ret);
	/* In the worker, after the reply: what nobody has to wait for. */
	void (*tidy)(void *self);
	/* In the role, when a child is gone; when the front is gone; and when all workers are too.
	 */
	void (*reaped)(void *self, pid_t pid, int status);
	void (*closing)(void *self);
	void (*leave)(void *self);
	/* In the role, every @tick_ms milliseconds or so; 0: never. */
	void (*tick)(void *self);
	int tick_ms;
};

/* The message that starts a run in a role. */
struct bj_role_message {
	struct bj_wire_launch launch;
	char run_id[33];
	char pad[7]; /* zero */
};

/* Fork the role. @self is used in the new process only. Otherwise as bj_process_new(). */
int bj_role_new(const char *name, const struct bj_role_ops *ops, void *self,
		struct bj_process **ret, struct bj_err *err);
