/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/seal.h"

/* What the launcher asks of a zygote: one process in one jar. */

/* Its descriptors: where requests come from, and its own directory in /proc. */
enum { BJ_ZYGOTE_SOCKET = 3, BJ_ZYGOTE_PROC = 4, BJ_SPAWN_MAX_TASKS = 5 };

struct bj_spawn {
	struct bj_seal_limits limits;
	uint32_t has_birth; /* a v2 cgroup to be born in follows */
	uint32_t n_tasks;   /* v1 files to join through follow */
	uint32_t hurry;     /* a script is there already, or soon: no time to warm up */
	uint32_t sick;      /* enum bj_sick: how a test build's zygote goes wrong */
	uint64_t nonce;     /* comes back in the slot's report */
};

/* What a zygote can get wrong. Only a test build does so, when BELLJAR_SICK says KIND:N, in its
 * first N zygotes of each kind. */
enum bj_sick {
	BJ_SICK_NOT,
	BJ_SICK_WORD,  /* says something that nobody asked for */
	BJ_SICK_PID,   /* names a process that is not in the jar */
	BJ_SICK_NONCE, /* answers another request */
	BJ_SICK_DIES,  /* its slots die on their way */
	BJ_SICK_DEAF,  /* its slots die when their script comes */
	BJ_SICK_SLOW,
	BJ_SICK_MUTE, /* answers nothing */
	BJ_SICK_LATE, /* its slot is ready, and it never tells which process that is */
	BJ_SICK_BUSY, /* takes its time for each; that is no sickness */
	BJ_SICK_COUNT,
};

#ifdef BJ_FAULTS
static inline bool bj_is_sick(uint32_t sick, enum bj_sick how)
{
	return sick == how;
}
#else
static inline bool bj_is_sick(uint32_t sick, enum bj_sick how)
{
	(void)sick, (void)how;
	return false;
}
#endif

/* Descriptors of a request, in this order; then the birth cgroup, then the task files. */
enum bj_spawn_fd {
	BJ_SPAWN_INIT, /* pidfd of the jar's init */
	BJ_SPAWN_PID,  /* the pid is written here */
	BJ_SPAWN_SLOT, /* and here what holds, with what hears the last call, once the process
			* waits; the script comes from here */
	BJ_SPAWN_FIXED,
	BJ_SPAWN_MAX = BJ_SPAWN_FIXED + 1 + BJ_SPAWN_MAX_TASKS,
};
