/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <sys/types.h>

/* What the script left in out/ comes out as a pack over a pipe, written by a process that is
 * inside the jar with the script's own rights: a trick that fools it opens nothing. Only plain
 * files with one name, directly in out/, are taken; the rest is counted as refused. */

#define BJ_COLLECT_NS (UINT64_C(10) * 1000000000u)

struct bj_collect_plan {
	int init_pidfd;
	uint64_t namespaces; /* to join */
	int out_fd;          /* the pipe */
	uint32_t max_files;
	uint64_t max_bytes;
};

/* Start the collector; it first kills whatever is left in the jar. Returns the pid of a child to
 * wait for, with its pidfd in *@ret_pidfd, or -1. */
pid_t bj_collect_start(const struct bj_collect_plan *plan, int *ret_pidfd);
