/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <sys/types.h>

/* Control groups, v1 and v2. One belljar owns one directory per hierarchy below its own cgroup
 * (or the one the settings name); each jar is a leaf in it. The owner holds a lock on its
 * directory, so that another belljar sweeps it only when the owner is dead. */

/* The owner's directories. */
struct bj_cgroups;

/* The cgroup of one jar. Limits are written before the first process enters, so nothing ever
 * runs unlimited. Not thread-safe. */
struct bj_cgroup;

struct bj_cgroup_limits {
	uint64_t memory;
	uint32_t cpu_milli;
	uint32_t pids;
};

struct bj_cgroup_stats {
	uint64_t cpu_ns;
	uint64_t peak_memory;
	uint64_t oom_kills;
	uint64_t pids_hits; /* forks refused by the limit */
};

/* Find the hierarchies and make what a launcher must be born in: the owner's directory of the v2
 * hierarchy, below @parent, or below the caller's own cgroup when NULL. Root gives all directories
 * to @uid (user and group; -1: nobody), so that a launcher that has given up root can go on making
 * jars in them. -BJ_E_UNSUPPORTED when this process may not make cgroups here; the message says
 * what to do. The caller frees *@ret. */
int bj_cgroups_new(const char *parent, uid_t uid, struct bj_cgroups **ret, struct bj_err *err);

/* There will be one jar. On v1 it lives in the owner's own directories, not in leaves below them:
 * to make and remove those takes as long as all other directories together. Its limits are the
 * lower ones of its own and the cap. A second jar gets leaves, under the limits of the first. Call
 * it before bj_cgroups_complete(). */
void bj_cgroups_expect_one(struct bj_cgroups *groups);

/* Make the rest, which a launcher that is coming up does not need yet, and cap what all jars may
 * have together (0: no cap). */
int bj_cgroups_complete(struct bj_cgroups *groups, const struct bj_cgroup_limits *all,
			struct bj_err *err);

void bj_cgroups_sweep(struct bj_cgroups *groups); /* what dead owners left; NULL is fine */
void bj_cgroups_free(struct bj_cgroups *groups);  /* removes the directories; NULL is fine */

/* Where that launcher is to be born, for CLONE_INTO_CGROUP: birth in a cgroup needs rights over
 * where the parent is, and to move there takes milliseconds. -1: anywhere. Borrowed. */
int bj_cgroups_nursery(const struct bj_cgroups *groups);

/* What another process needs to make jars there: what is told, and the directories for leaves in
 * the order of enum bj_hier, -1 where there is none (borrowed, and taken by the other side). The
 * copy owns no directories of its own; it is not freed. */
struct bj_cgroups_news {
	uint32_t version, swept, cpu_milli;
	uint32_t aside; /* 1: this process and its parent are elsewhere until bj_cgroups_free() */
	uint32_t single, pids;
	uint64_t memory;
};
struct bj_cgroups_news bj_cgroups_tell(const struct bj_cgroups *groups);
const int *bj_cgroups_rooms(const struct bj_cgroups *groups);
struct bj_cgroups *bj_cgroups_adopt(const struct bj_cgroups_news *news, const int *rooms_take);

int bj_cgroups_version(const struct bj_cgroups *groups); /* 1 or 2 */
bool bj_cgroups_is_aside(const struct bj_cgroups *groups);
unsigned int bj_cgroups_swept(const struct bj_cgroups *groups);

/* Make a leaf called @name with @limits, or take one that was given back, which keeps its name. The
 * caller frees *@ret or gives it back. */
int bj_cgroup_new(struct bj_cgroups *groups, const char *name,
		  const struct bj_cgroup_limits *limits, struct bj_cgroup **ret,
		  struct bj_err *err);

/* Remove the leaf. False when the kernel refused, which means that a process is left in it. */
bool bj_cgroup_free(struct bj_cgroup *cg); /* NULL is fine, and true */

/* The jar of this leaf ended by itself: keep the leaf for another jar where that is safe, else
 * remove it. False as bj_cgroup_free(). */
bool bj_cgroup_give_back(struct bj_cgroup *cg); /* NULL is fine, and true */

/* Change what differs between the limits that hold now and @to. */
int bj_cgroup_change(struct bj_cgroup *cg, const struct bj_cgroup_limits *to, struct bj_err *err);

/* How many processes and threads are in the leaf. */
uint64_t bj_cgroup_population(const struct bj_cgroup *cg);

/* The descriptors with which another process joins: enum bj_hier order, -1 where there is none.
 * Borrowed. */
const int *bj_cgroup_tasks(const struct bj_cgroup *cg);

/* The descriptor for CLONE_INTO_CGROUP, or -1 when there is no v2 hierarchy. Borrowed. */
int bj_cgroup_birth_fd(const struct bj_cgroup *cg);

/* Move the calling process into what bj_cgroup_birth_fd() does not cover (v1 hierarchies). */
int bj_cgroup_join(const struct bj_cgroup *cg, struct bj_err *err);

/* Nobody will join any more: give back the descriptors for it. */
void bj_cgroup_joined(struct bj_cgroup *cg);

/* A descriptor that becomes readable when a v1 jar ran out of memory; -1 on v2, where the kernel
 * ends the whole jar by itself. Borrowed. */
int bj_cgroup_oom_fd(const struct bj_cgroup *cg);

/* How many processes of the leaf the kernel has killed for want of memory. */
uint64_t bj_cgroup_oom_kills(const struct bj_cgroup *cg);

/* After a word from that descriptor: whether this leaf is meant. */
bool bj_cgroup_is_out_of_memory(const struct bj_cgroup *cg);

/* How often a fork was refused because of the limit. The kernel tells nobody on v1: ask. */
uint64_t bj_cgroup_pids_hits(const struct bj_cgroup *cg);

/* Kill everything in the leaf, quickly: the CPU quota is lifted first, so that a throttled
 * process gets to die. */
void bj_cgroup_kill(struct bj_cgroup *cg);

/* The memory that is in use now. */
uint64_t bj_cgroup_memory(const struct bj_cgroup *cg);

void bj_cgroup_read_stats(const struct bj_cgroup *cg, struct bj_cgroup_stats *ret);
