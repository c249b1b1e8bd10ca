/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"
#include "jar/cgroup_find.h"
#include "jar/jar.h"
#include "jar/process.h"

#include <sys/types.h>

/* The launcher: the only process with privilege. */

/* How many jars wait for scripts; all 0: every run starts from nothing. */
struct bj_launch_pools {
	uint32_t python, heavy, bash, empty; /* at rest */
	uint32_t max;                        /* of each, when there is demand */
	uint32_t images;                     /* beside the first one that have some at once */
	const char *const *modules;          /* imported ahead of time; NULL: none */
	const char *const *heavy_modules;    /* for the heavy ones as well */
};

/* The cap on the CPUs of all jars that is none. */
enum { BJ_LAUNCH_ALL_CPUS = 1024000 };

/* What the launcher must know from the start. Borrowed until bj_launcher_new() returns. */
struct bj_launch_settings {
	const char *cgroup; /* parent cgroup; NULL: the own one */
	uint32_t uid_base, uid_count;
	struct bj_cgroup_limits all; /* what all jars may have together; 0: a safe share */
	uint64_t required;           /* layers that must hold */
	/* What jars show; the first one for who names none. */
	struct bj_launch_image {
		bool there;
		const char *root; /* a tree; NULL: the host's own files */
		const char *python, *bash;
	} images[BJ_WIRE_IMAGES];
	enum bj_mounts_proc proc;
	bool ahead; /* one run comes, and soon: build a jar for it at once */
	bool bound; /* the death of the caller ends the launcher */
	struct bj_launch_pools pools;
	struct bj_jar_shape shape; /* what their jars are built for */
};

/* Start the launcher, as bj_process_new() does. Its end is the end of every jar. */
int bj_launcher_new(const struct bj_launch_settings *settings, struct bj_process **ret,
		    struct bj_err *err);

/* Ask @launcher what it keeps. Waits for half a second at most. */
int bj_launcher_census(const struct bj_process *launcher, struct bj_wire_census *ret,
		       struct bj_err *err);

/* What a launcher is born with. Borrowed from the process that forked it. */
struct bj_launch_birth {
	int control;
	int caller;    /* pidfd of the process whose death ends us; -1: none */
	int sync;      /* to the starter, whose end ends us */
	bool root;     /* we are the machine's root, until the tree is built */
	bool net;      /* the starter makes the network namespace of the first jar */
	uint32_t uids; /* uids from 1 on that jars may have; 0: they share ours */
};

/* What the starter says, once, when the launcher asks for its identity: how that went, and which
 * cgroups it made meanwhile. Their directories come along, in order, without those not there. */
struct bj_launch_means {
	bool mapped;
	bool has_cgroups; /* false: for the reason in @why */
	bool has_room[BJ_HIER_COUNT];
	struct bj_cgroups_news cgroups;
	struct bj_err why;
};

/* The launcher's whole life, in its own process. Never returns. */
__attribute__((noreturn)) void bj_launch_main(const struct bj_launch_birth *birth,
					      const struct bj_launch_settings *settings);
