/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/cgroup.h"
#include "jar/cgroup_find.h"

/* What cgroups.c and cgroup.c share, and nobody else knows. */

enum { BJ_OWNER_NAME_SIZE = 48, BJ_SPARE_MAX = 64 };

struct bj_cgroups {
	int version;
	unsigned int swept;
	char owner[BJ_OWNER_NAME_SIZE];
	uid_t uid;               /* whom root gives the directories to; -1: they stay ours */
	int base[BJ_HIER_COUNT]; /* the directories that hold the owner's; -1: not used */
	int dir[BJ_HIER_COUNT];  /* the owner's own */
	int room[BJ_HIER_COUNT]; /* where the jars' leaves are made: below what caps them all */
	uint32_t cpu_milli;      /* what all jars may have together; 0: no cap */
	bool single;             /* v1: the next jar has the rooms for itself */
	uint64_t memory;         /* with single, as cpu_milli */
	uint32_t pids;           /* the same */
	int home;                /* v2: where this process was; -1: unknown */
	int nursery;             /* the cgroup a launcher of root is born in; -1: none */
	bool aside;              /* it left that place, which had to become empty */
	/* Leaves that were given back, in a ring, longest first. */
	struct bj_cgroup *spare[BJ_SPARE_MAX];
	uint32_t first_spare, n_spare;
	uint32_t n_held; /* files that leaves hold open, see cgroup.c */
};
