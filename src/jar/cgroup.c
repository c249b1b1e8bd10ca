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
#include <sys/resource.h>
#include <sys/stat.h>

/* What may be charged to a leaf whose processes are dead, and does not shut it out from being used
 * again: objects that the kernel frees later, and what each CPU holds in advance. */
#define RESIDUE_MAX (UINT64_C(1) << 20)

/* What is counted in a leaf. */
enum counter { POPULATION, REFUSED_FORKS, MEMORY, OOM_KILLS, PEAK, FAILS, CPU, COUNTERS };

/* Of the descriptors: what one leaf holds at most, and the part that all of them may have. */
enum { HELD_MAX = COUNTERS + BJ_HIER_COUNT, HELD_PART = 16 };

struct bj_cgroup {
	struct bj_cgroups *groups;
	char name[32];
	struct bj_cgroup_limits limits; /* as written */
	bool killed;                    /* its CPU limit is lifted */
	bool single;                    /* v1: it has the rooms themselves */
	int dir[BJ_HIER_COUNT];
	int tasks[BJ_HIER_COUNT]; /* v1: opened by us, written by the process that joins */
	int oom_fd;
	int held[COUNTERS]; /* files of counters that are open; -1: opened when asked for */
	uint32_t n_held;    /* of these, and of tasks, that stay open when somebody has joined */
};

static const struct {
	enum bj_hier hier;
	const char *name, *key;
	bool settable;
} FILES[][COUNTERS] = {
	{
		[POPULATION] = { BJ_HIER_PIDS, "pids.current", "", false },
		[REFUSED_FORKS] = { BJ_HIER_PIDS, "pids.events", "max", false },
		[MEMORY] = { BJ_HIER_MEMORY, "memory.usage_in_bytes", "", false },
		[OOM_KILLS] = { BJ_HIER_MEMORY, "memory.oom_control", "oom_kill", false },
		[PEAK] = { BJ_HIER_MEMORY, "memory.max_usage_in_bytes", "", true },
		[FAILS] = { BJ_HIER_MEMORY, "memory.failcnt", "", true },
		[CPU] = { BJ_HIER_CPUACCT, "cpuacct.usage", "", true },
	},
	{
		[POPULATION] = { BJ_HIER_UNIFIED, "pids.current", "", false },
		[REFUSED_FORKS] = { BJ_HIER_UNIFIED, "pids.events", "max", false },
		[MEMORY] = { BJ_HIER_UNIFIED, "memory.current", "", false },
		[OOM_KILLS] = { BJ_HIER_UNIFIED, "memory.events", "oom_kill", false },
		[PEAK] = { BJ_HIER_UNIFIED, "memory.peak", "", false },
		[FAILS] = { BJ_HIER_MEMORY, "", "", false }, /* there is none */
		[CPU] = { BJ_HIER_UNIFIED, "cpu.stat", "usage_usec", false },
	},
};

static int dir_of(const struct bj_cgroup *cg, enum counter c)
{
	const enum bj_hier h = FILES[cg->groups->version == 2][c].hier;

	/* Where both are mounted together there is one directory. */
	return cg->dir[h == BJ_HIER_CPUACCT && cg->dir[h] < 0 ? BJ_HIER_CPU : h];
}

static int open_counter(const struct bj_cgroup *cg, enum counter c)
{
	const bool v2 = cg->groups->version == 2;

	return openat(dir_of(cg, c), FILES[v2][c].name,
		      (FILES[v2][c].settable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
}

static uint64_t count(const struct bj_cgroup *cg, enum counter c)
{
	const bool v2 = cg->groups->version == 2;

	return cg->held[c] >= 0
		       ? bj_cgfile_number_of(cg->held[c], FILES[v2][c].key)
		       : bj_cgfile_read_number(dir_of(cg, c), FILES[v2][c].name, FILES[v2][c].key);
}

static bool set_back(const struct bj_cgroup *cg, enum counter c)
{
	AUTO_FD int own = cg->held[c] < 0 ? open_counter(cg, c) : -1;

	return pwrite(own < 0 ? cg->held[c] : own, "0", 1, 0) == 1;
}

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

static bool zero_counters(const struct bj_cgroup *cg)
{
	drain_oom(cg);
	return set_back(cg, CPU) && set_back(cg, PEAK) && set_back(cg, FAILS);
}

/* To open a file of a cgroup takes the kernel longer than to read it: a leaf that is used again has
 * all of them open, as long as leaves have no more than a sixteenth of our descriptors. Jars that
 * wait have more than that to spare. */
static void hold_files(struct bj_cgroup *cg)
{
	struct rlimit limit = { 0 };

	if (cg->n_held > 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
	    cg->groups->n_held + HELD_MAX > limit.rlim_cur / HELD_PART)
		return;
	for (int c = 0; c < COUNTERS; c++)
		if (cg->held[c] < 0)
			cg->held[c] = open_counter(cg, (enum counter)c);
	cg->n_held = HELD_MAX;
	cg->groups->n_held += cg->n_held;
}

static bool is_as_new(struct bj_cgroup *cg, const struct bj_cgroup_limits *limits)
{
	if (count(cg, POPULATION) != 0 || count(cg, MEMORY) > RESIDUE_MAX ||
	    count(cg, REFUSED_FORKS) > 0 || count(cg, OOM_KILLS) > 0 || !zero_counters(cg) ||
	    bj_cgroup_change(cg, limits, NULL) < 0)
		return false;
	/* Written anew it starts a new period, and whoever was throttled is forgotten. */
	if (!bj_layer_faulty(BJ_LAYER_CPU) && limit_cpu(cg, limits->cpu_milli, NULL) < 0)
		return false;
	for (int h = 0; h < BJ_HIER_UNIFIED; h++)
		if (cg->dir[h] >= 0 && cg->tasks[h] < 0 &&
		    open_tasks(cg, (enum bj_hier)h, NULL) < 0)
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
	hold_files(cg);
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
	cg->oom_fd = -1;
	snprintf(cg->name, sizeof(cg->name), "%s", name);
	for (int h = 0; h < BJ_HIER_COUNT; h++)
		cg->dir[h] = cg->tasks[h] = -1;
	for (int c = 0; c < COUNTERS; c++)
		cg->held[c] = -1;
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
	cg->held[REFUSED_FORKS] = open_counter(cg, REFUSED_FORKS); /* it is read often */
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
	for (int c = 0; c < COUNTERS; c++)
		if (cg->held[c] >= 0)
			close(cg->held[c]);
	cg->groups->n_held -= cg->n_held;
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
	for (int h = 0; cg->n_held == 0 && h < BJ_HIER_COUNT; h++) {
		if (cg->tasks[h] >= 0)
			close(cg->tasks[h]);
		cg->tasks[h] = -1;
	}
}

uint64_t bj_cgroup_population(const struct bj_cgroup *cg)
{
	return count(cg, POPULATION);
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
	return count(cg, REFUSED_FORKS);
}

uint64_t bj_cgroup_oom_kills(const struct bj_cgroup *cg)
{
	return count(cg, OOM_KILLS);
}

bool bj_cgroup_is_out_of_memory(const struct bj_cgroup *cg)
{
	/* The kernel tells before it kills. */
	return count(cg, OOM_KILLS) > 0 || count(cg, FAILS) > 0;
}

void bj_cgroup_kill(struct bj_cgroup *cg)
{
	cg->killed = true;
	if (cg->dir[BJ_HIER_UNIFIED] >= 0)
		bj_cgfile_write(cg->dir[BJ_HIER_UNIFIED], "cgroup.kill", "1", NULL);
	/* After it, or what waits for its quota would run on until it is killed. Now it only runs
	 * to die, and needs time for that. */
	if (cg->groups->version == 2) {
		bj_cgfile_write(cg->dir[BJ_HIER_UNIFIED], "cpu.max", "max", NULL);
		bj_cgfile_write(cg->dir[BJ_HIER_UNIFIED], "cpu.weight", "10000", NULL);
	} else {
		bj_cgfile_write(cg->dir[BJ_HIER_CPU], "cpu.cfs_quota_us", "-1", NULL);
		bj_cgfile_write(cg->dir[BJ_HIER_CPU], "cpu.shares", "262144", NULL);
	}
}

uint64_t bj_cgroup_memory(const struct bj_cgroup *cg)
{
	return count(cg, MEMORY);
}

void bj_cgroup_read_stats(const struct bj_cgroup *cg, struct bj_cgroup_stats *ret)
{
	*ret = (struct bj_cgroup_stats){
		.cpu_ns = count(cg, CPU) * (cg->groups->version == 2 ? 1000 : 1),
		.peak_memory = count(cg, PEAK),
		.oom_kills = count(cg, OOM_KILLS),
		.pids_hits = count(cg, REFUSED_FORKS),
	};
}
