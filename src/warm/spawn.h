/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/seal.h"

/* What the launcher asks of a zygote: one process in one jar. */

enum { BJ_ZYGOTE_SOCKET = 3, BJ_SPAWN_MAX_TASKS = 5 };

struct bj_spawn {
	struct bj_seal_limits limits;
	uint32_t has_birth; /* a v2 cgroup to be born in follows */
	uint32_t n_tasks;   /* v1 files to join through follow */
	uint32_t hurry;     /* a script is there already: no time to warm up */
};

/* Descriptors of a request, in this order; then the birth cgroup, then the task files. */
enum bj_spawn_fd {
	BJ_SPAWN_INIT,   /* pidfd of the jar's init */
	BJ_SPAWN_PID,    /* the pid is written here */
	BJ_SPAWN_REPORT, /* and here what holds, once the process waits */
	BJ_SPAWN_SLOT,   /* the script comes from here */
	BJ_SPAWN_FIXED,
	BJ_SPAWN_MAX = BJ_SPAWN_FIXED + 1 + BJ_SPAWN_MAX_TASKS,
};
