/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Where the hierarchies are and where in them the calling process lives. */

enum bj_hier {
	BJ_HIER_MEMORY,
	BJ_HIER_PIDS,
	BJ_HIER_CPU,
	BJ_HIER_CPUACCT,
	BJ_HIER_UNIFIED,
	BJ_HIER_COUNT
};

struct bj_cgroup_place {
	char path[BJ_HIER_COUNT]
		 [512]; /* the caller's own directory in each; "" when there is none */
	char mount[BJ_HIER_COUNT][256];
};

/* Read /proc/self/mountinfo and /proc/self/cgroup below @proc ("/proc"). Fills *@ret. */
int bj_cgroup_find(const char *proc, struct bj_cgroup_place *ret, struct bj_err *err);
