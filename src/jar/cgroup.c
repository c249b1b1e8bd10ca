/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/cgroup.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "jar/cgroup_file.h"
#include "jar/cgroup_own.h"
#include "jar/layers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

/* What may be charged to a leaf whose processes are dead, and does not shut it out from being used
 * again: objects that the kernel frees later, and what each CPU holds in advance. */
#define RESIDUE_MAX (UINT64_C(1) << 20)

struct bj_cgroup {
	struct bj_cgroups *groups;
	char name[32];
	struct bj_cgroup_limits limits; /* as written */
	bool killed;                    /* its CPU limit is lifted */
	bool single;                    /* v1: it has the rooms themselves */
	int dir[BJ_HIER_COUNT];
	int tasks[BJ_HIER_COUNT]; /* v1: opened by us, written by the process that joins */
	int oom_fd;
	int pids_fd; /* pids.events, kept open because it is read often */
};

/* v1: sockets may hold this part of the memory limit, beside it. */
enum { SOCKET_PART = 8 };

static int limit_memory(const struct bj_cgroup *cg, uint64_t bytes, struct bj_err *err)
{
	const bool v2 = cg->groups->version == 2;
	const int dir = cg->dir[v2 ? BJ_HIER_UNIFIED : BJ_HIER_MEMORY];
	const int r = bj_cgfile_write_number(dir, v2 ? "memory.max" : "memory.limit_in_bytes",
					     bytes, err);

	if (r < 0)
		return r;
	/* Swap is off. The files are missing where the kernel has no swap accounting. */
	if (v2) {
		bj_cgfile_write(dir, "memory.swap.max", "0", NULL);
		return bj_cgfile_write(dir, "memory.oom.group", "1", err);
	}
	bj_cgfile_write_number(dir, "memory.memsw.limit_in_bytes", bytes, NULL);
	bj_cgfile_write(dir, "memory.swappiness", "0", NULL);
	/* What waits in sockets is counted apart, and only once it has a limit. */
	bj_cgfile_write_number(dir, "memory.kmem.tcp.limit_in_bytes", bytes / SOCKET_PART, NULL);
	return 0;
}

/* On v1 the kernel refuses a leaf more than what all leaves may have together. */
static int limit_cpu(const struct bj_cgroup *cg, uint32_t milli, struct bj_err *err)
{
	const uint32_t all = cg->groups->cpu_milli;
	const bool v2 = cg->groups->version == 2;

	return bj_cgfile_write_quota(cg->dir[v2 ? BJ_HIER_UNIFIED : BJ_HIER_CPU], v2,
				     all && all < milli ? all : milli, err);
}

/* What a jar in the rooms themselves may have: there is nothing above them that caps it. */
static struct bj_cgroup_limits capped(const struct bj_cgroup *cg, struct bj_cgroup_limits limits)
{
	const struct bj_cgroups *g = cg->groups;

	if (cg->single && g->memory && g->memory < limits.memory)
		limits.memory = g->memory;
	if (cg->single && g->pids && g->pids < limits.pids)
		limits.pids = g->pids;
	return limits;
}

static int write_limits(const struct bj_cgroup *cg, const struct bj_cgroup_limits *limits,
			struct bj_err *err)
{
	const bool v2 = cg->groups->version == 2;
	int r = 0;

	if (!bj_layer_faulty(BJ_LAYER_MEMORY))
		r = limit_memory(cg, limits->memory, err);
	if (r == 0 && !bj_layer_faulty(BJ_LAYER_PIDS))
		r = bj_cgfile_write_number(cg->dir[v2 ? BJ_HIER_UNIFIED : BJ_HIER_PIDS], "pids.max",
					   limits->pids, err);
	if (r == 0 && !bj_layer_faulty(BJ_LAYER_CPU))
		r = limit_cpu(cg, limits->cpu_milli, err);
	return r;
}

int bj_cgroup_change(struct bj_cgroup *cg, const struct bj_cgroup_limits *wanted,
		     struct bj_err *err)
{
	const struct bj_cgroup_limits within = capped(cg, *wanted), *to = &within;
	const struct bj_cgroup_limits *from = &cg->limits;
	const bool v2 = cg->groups->version == 2;
	int r = 0;

	/* On v1 the limit with swap may never be below the one without: going down it comes
	 * first, going up last. Writing both twice needs no case. */
	if (from->memory != to->memory && !bj_layer_faulty(BJ_LAYER_MEMORY)) {
		if (!v2)
			bj_cgfile_write_number(cg->dir[BJ_HIER_MEMORY],
					       "memory.memsw.limit_in_bytes", to->memory, NULL);
		r = limit_memory(cg, to->memory, err);
	}
	if (r == 0 && from->pids != to->pids && !bj_layer_faulty(BJ_LAYER_PIDS))
		r = bj_cgfile_write_number(cg->dir[v2 ? BJ_HIER_UNIFIED : BJ_HIER_PIDS], "pids.max",
					   to->pids, err);
	if (r == 0 && from->cpu_milli != to->cpu_milli && !bj_layer_faulty(BJ_LAYER_CPU))
		r = limit_cpu(cg, to->cpu_milli, err);
	if (r == 0)
		cg->limits = *to;
	return r;
}

/* v1 tells of an OOM through an eventfd; v2 kills the whole group by itself. */
static void watch_oom(struct bj_cgroup *cg)
{
	char line[32];

	if (cg->groups->version == 2)
		return;
	AUTO_FD int control =
		openat(cg->dir[BJ_HIER_MEMORY], "memory.oom_control", O_RDONLY | O_CLOEXEC);
	cg->oom_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	snprintf(line, sizeof(line), "%d %d", cg->oom_fd, control);
	if (control < 0 || cg->oom_fd < 0 ||
	    bj_cgfile_write(cg->dir[BJ_HIER_MEMORY], "cgroup.event_control", line, NULL) < 0) {
		if (cg->oom_fd >= 0)
			close(cg->oom_fd);
		cg->oom_fd = -1;
	}
}

static int open_tasks(struct bj_cgroup *cg, enum bj_hier h, struct bj_err *err)
{
	/* Writing to tasks takes microseconds where cgroup.procs may take milliseconds. */
	cg->tasks[h] = openat(cg->dir[h], "tasks", O_WRONLY | O_CLOEXEC);
	if (cg->tasks[h] < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open cgroup %s", cg->name);
	return 0;
}

static int open_leaf(struct bj_cgroup *cg, enum bj_hier h, struct bj_err *err)
{
	const int parent = cg->groups->room[h];
	const bool single = cg->single && h != BJ_HIER_UNIFIED;

	if (!single && mkdirat(parent, cg->name, 0755) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make cgroup %s", cg->name);
	cg->dir[h] = single ? fcntl(parent, F_DUPFD_CLOEXEC, 0)
			    : openat(parent, cg->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cg->dir[h] < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open cgroup %s", cg->name);
	return h == BJ_HIER_UNIFIED ? 0 : open_tasks(cg, h, err);
}

/* --- leaves that are used again ----------------------------------------------------------------
 *
 * To make and remove five directories costs the kernel more than a millisecond for each jar, most
 * of it after the answer, in the way of others. On v1 every counter can be set back, so a leaf
 * whose jar ended as it should is kept. It is looked at again before it is used: nobody in it, next
 * to nothing charged to it, all counters at zero, all limits written. */

static void drain_oom(const struct bj_cgroup *cg)
{
	uint64_t times;

	if (cg->oom_fd >= 0)
		(void)!read(cg->oom_fd, &times, sizeof(times));
}

static int acct_dir(const struct bj_cgroup *cg)
{
	return cg->dir[cg->dir[BJ_HIER_CPUACCT] >= 0 ? BJ_HIER_CPUACCT : BJ_HIER_CPU];
}

static bool zero_counters(const struct bj_cgroup *cg)
{
	const int memory = cg->dir[BJ_HIER_MEMORY];

	drain_oom(cg);
	return bj_cgfile_write(acct_dir(cg), "cpuacct.usage", "0", NULL) == 0 &&
	       bj_cgfile_write(memory, "memory.max_usage_in_bytes", "0", NULL) == 0 &&
	       bj_cgfile_write(memory, "memory.failcnt", "0", NULL) == 0;
}

static bool is_as_new(struct bj_cgroup *cg, const struct bj_cgroup_limits *limits)
{
	if (bj_cgroup_population(cg) != 0 || bj_cgroup_memory(cg) > RESIDUE_MAX ||
	    bj_cgroup_pids_hits(cg) > 0 || bj_cgroup_oom_kills(cg) > 0 || !zero_counters(cg) ||
	    bj_cgroup_change(cg, limits, NULL) < 0)
		return false;
	/* Written anew it starts a new period, and whoever was throttled is forgotten. */
	if (!bj_layer_faulty(BJ_LAYER_CPU) && limit_cpu(cg, limits->cpu_milli, NULL) < 0)
		return false;
	for (int h = 0; h < BJ_HIER_UNIFIED; h++)
		if (cg->dir[h] >= 0 && open_tasks(cg, (enum bj_hier)h, NULL) < 0)
			return false;
	return true;
}

/* The one that has waited longest has least charged to it. */
static struct bj_cgroup *take_spare(struct bj_cgroups *groups,
				    const struct bj_cgroup_limits *limits)
{
	while (groups->n_spare > 0) {
		struct bj_cgroup *cg = groups->spare[groups->first_spare];

		groups->first_spare = (groups->first_spare + 1) % BJ_SPARE_MAX;
		groups->n_spare--;
		if (is_as_new(cg, limits))
			return cg;
		bj_cgroup_free(cg);
	}
	return NULL;
}

bool bj_cgroup_give_back(struct bj_cgroup *cg)
{
	struct bj_cgroups *groups = cg ? cg->groups : NULL;

	if (!cg || groups->version == 2 || cg->killed || cg->single ||
	    groups->n_spare == BJ_SPARE_MAX || bj_cgroup_population(cg) != 0)
		return bj_cgroup_free(cg);
	bj_cgroup_joined(cg);
	groups->spare[(groups->first_spare + groups->n_spare++) % BJ_SPARE_MAX] = cg;
	return true;
}

/* --- one leaf ----------------------------------------------------------------------------------
 */

static int make_leaf(struct bj_cgroups *groups, const char *name,
		     const struct bj_cgroup_limits *limits, struct bj_cgroup **ret,
		     struct bj_err *err)
{
	struct bj_cgroup *cg = calloc(1, sizeof(*cg));
	int r = 0;

	if (!cg)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot make a cgroup");
	cg->groups = groups;
	cg->single = groups->single;
	groups->single = false;
	cg->limits = capped(cg, *limits);
	cg->oom_fd = cg->pids_fd = -1;
	snprintf(cg->name, sizeof(cg->name), "%s", name);
	for (int h = 0; h < BJ_HIER_COUNT; h++)
		cg->dir[h] = cg->tasks[h] = -1;
	for (int h = 0; r == 0 && h < BJ_HIER_COUNT; h++)
		if (groups->room[h] >= 0)
			r = open_leaf(cg, (enum bj_hier)h, err);
	if (r == 0)
		r = write_limits(cg, &cg->limits, err);
	if (r < 0) {
		bj_cgroup_free(cg);
		return r;
	}
	watch_oom(cg);
	cg->pids_fd = openat(cg->dir[groups->version == 2 ? BJ_HIER_UNIFIED : BJ_HIER_PIDS],
			     "pids.events", O_RDONLY | O_CLOEXEC);
	*ret = cg;
	return 0;
}

int bj_cgroup_new(struct bj_cgroups *groups, const char *name,
		  const struct bj_cgroup_limits *limits, struct bj_cgroup **ret, struct bj_err *err)
{
	struct bj_cgroup *spare = take_spare(groups, limits);

	if (!spare)
		return make_leaf(groups, name, limits, ret, err);
	*ret = spare;
	return 0;
}

bool bj_cgroup_free(struct bj_cgroup *cg)
{
	if (!cg)
		return true;

	/* Rooms are not ours to remove: whoever can says whether somebody is left in them. */
	bool clean = !cg->single || bj_cgroup_population(cg) == 0;

	if (cg->oom_fd >= 0)
		close(cg->oom_fd);
	if (cg->pids_fd >= 0)
		close(cg->pids_fd);
	for (int h = 0; h < BJ_HIER_COUNT; h++) {
		if (cg->tasks[h] >= 0)
			close(cg->tasks[h]);
		if (cg->dir[h] < 0)
			continue;
		close(cg->dir[h]);
		if (cg->single && h != BJ_HIER_UNIFIED)
			continue;
		if (unlinkat(cg->groups->room[h], cg->name, AT_REMOVEDIR) < 0 && errno != ENOENT)
			clean = false;
	}
	free(cg);
	return clean;
}

int bj_cgroup_birth_fd(const struct bj_cgroup *cg)
{
	return cg->dir[BJ_HIER_UNIFIED];
}

int bj_cgroup_join(const struct bj_cgroup *cg, struct bj_err *err)
{
	for (int h = 0; h < BJ_HIER_COUNT; h++)
		if (cg->tasks[h] >= 0 && write(cg->tasks[h], "0", 1) != 1)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot join cgroup %s",
					  cg->name);
	return 0;
}

void bj_cgroup_joined(struct bj_cgroup *cg)
{
	for (int h = 0; h < BJ_HIER_COUNT; h++) {
		if (cg->tasks[h] >= 0)
			close(cg->tasks[h]);
		cg->tasks[h] = -1;
	}
}

uint64_t bj_cgroup_population(const struct bj_cgroup *cg)
{
	return bj_cgfile_read_number(
		cg->dir[cg->groups->version == 2 ? BJ_HIER_UNIFIED : BJ_HIER_PIDS], "pids.current",
		"");
}

const int *bj_cgroup_tasks(const struct bj_cgroup *cg)
{
	return cg->tasks;
}

int bj_cgroup_oom_fd(const struct bj_cgroup *cg)
{
	return cg->oom_fd;
}

uint64_t bj_cgroup_pids_hits(const struct bj_cgroup *cg)
{
	char text[64];
	const ssize_t n = cg->pids_fd < 0 ? -1 : pread(cg->pids_fd, text, sizeof(text) - 1, 0);

	if (n <= 4 || memcmp(text, "max ", 4) != 0)
		return 0;
	text[n] = '\0';
	return strtoull(text + 4, NULL, 10);
}

uint64_t bj_cgroup_oom_kills(const struct bj_cgroup *cg)
{
	if (cg->groups->version == 2)
		return bj_cgfile_read_number(cg->dir[BJ_HIER_UNIFIED], "memory.events", "oom_kill");
	return bj_cgfile_read_number(cg->dir[BJ_HIER_MEMORY], "memory.oom_control", "oom_kill");
}

bool bj_cgroup_is_out_of_memory(const struct bj_cgroup *cg)
{
	const int dir = cg->dir[BJ_HIER_MEMORY];

	/* The kernel tells before it kills. */
	return bj_cgroup_oom_kills(cg) > 0 || bj_cgfile_read_number(dir, "memory.failcnt", "") > 0;
}

void bj_cgroup_kill(struct bj_cgroup *cg)
{
	cg->killed = true;
	if (cg->groups->version == 2) {
		bj_cgfile_write(cg->dir[BJ_HIER_UNIFIED], "cpu.max", "max", NULL);
		bj_cgfile_write(cg->dir[BJ_HIER_UNIFIED], "cpu.weight", "10000", NULL);
	} else {
		bj_cgfile_write(cg->dir[BJ_HIER_CPU], "cpu.cfs_quota_us", "-1", NULL);
		bj_cgfile_write(cg->dir[BJ_HIER_CPU], "cpu.shares", "262144", NULL);
	}
	if (cg->dir[BJ_HIER_UNIFIED] >= 0)
		bj_cgfile_write(cg->dir[BJ_HIER_UNIFIED], "cgroup.kill", "1", NULL);
}

uint64_t bj_cgroup_memory(const struct bj_cgroup *cg)
{
	if (cg->groups->version == 2)
		return bj_cgfile_read_number(cg->dir[BJ_HIER_UNIFIED], "memory.current", "");
	return bj_cgfile_read_number(cg->dir[BJ_HIER_MEMORY], "memory.usage_in_bytes", "");
}

void bj_cgroup_read_stats(const struct bj_cgroup *cg, struct bj_cgroup_stats *ret)
{
	const int u = cg->dir[BJ_HIER_UNIFIED];

	if (cg->groups->version == 2) {
		*ret = (struct bj_cgroup_stats){
			.cpu_ns = bj_cgfile_read_number(u, "cpu.stat", "usage_usec") * 1000,
			.peak_memory = bj_cgfile_read_number(u, "memory.peak", ""),
			.oom_kills = bj_cgroup_oom_kills(cg),
			.pids_hits = bj_cgroup_pids_hits(cg),
		};
		return;
	}

	*ret = (struct bj_cgroup_stats){
		.cpu_ns = bj_cgfile_read_number(acct_dir(cg), "cpuacct.usage", ""),
		.peak_memory = bj_cgfile_read_number(cg->dir[BJ_HIER_MEMORY],
						     "memory.max_usage_in_bytes", ""),
		.oom_kills = bj_cgroup_oom_kills(cg),
		.pids_hits = bj_cgroup_pids_hits(cg),
	};
}
