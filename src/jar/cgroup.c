/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation.
 *
 * The owner is one running launcher. In each hierarchy it has a directory
 * `belljar.<boot>.<random>`, made below its own cgroup. On v2 there is one hierarchy; on v1 there
 * is one per controller, plus the unified one (without controllers) for cgroup.kill and for birth
 * by CLONE_INTO_CGROUP. The owner holds a lock on each of these directories.
 *
 * A sweeper takes the lock of a foreign directory without waiting. It gets it only when the owner
 * is dead, and then everything below is empty, because the owner was pid 1 of all that ran there.
 */

#include "jar/cgroup.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/cgroup_file.h"
#include "jar/cgroup_find.h"
#include "jar/layers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#define OWNER_PREFIX "belljar."
#define SUPERVISOR   "supervisor"

enum { OWNER_NAME_SIZE = 48, PERIOD_US = 100000 };

struct bj_cgroups {
	int version;
	unsigned int swept;
	char owner[OWNER_NAME_SIZE];
	int base[BJ_HIER_COUNT]; /* the directories that hold the owner's; -1: not used */
	int dir[BJ_HIER_COUNT];  /* the owner's own */
	int home;                /* v2: where this process was; -1: unknown */
	int nursery;             /* the cgroup a launcher of root is born in; -1: none */
	bool aside;              /* it left that place, which had to become empty */
};

struct bj_cgroup {
	const struct bj_cgroups *groups;
	char name[32];
	int dir[BJ_HIER_COUNT];
	int tasks[BJ_HIER_COUNT]; /* v1: opened by us, written by the process that joins */
	int oom_fd;
	int pids_fd; /* pids.events, kept open because it is read often */
};

/* --- the owner's directories ------------------------------------------------------------------ */

static void pick_owner_name(char *name)
{
	char boot[9] = "";
	uint64_t random = 0;
	AUTO_FD int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, boot, 8) != 8)
		memcpy(boot, "00000000", 9);
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint64_t)getpid();
	snprintf(name, OWNER_NAME_SIZE, OWNER_PREFIX "%s.%016llx", boot,
		 (unsigned long long)random);
}

static DIR *open_dir(int base_fd, const char *name)
{
	const int fd = openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static void remove_tree(int base_fd, const char *name)
{
	AUTO_DIR DIR *dir = open_dir(base_fd, name);
	struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (e->d_type == DT_DIR && e->d_name[0] != '.')
			unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
	unlinkat(base_fd, name, AT_REMOVEDIR);
}

/* Remove @name if its owner is dead, which is when its lock is free. */
static void sweep_one(struct bj_cgroups *g, int base_fd, const char *name)
{
	AUTO_FD int lock = openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
		return;
	remove_tree(base_fd, name);
	g->swept++;
}

static void sweep(struct bj_cgroups *g, int base_fd)
{
	AUTO_DIR DIR *dir = open_dir(base_fd, ".");
	struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (e->d_type == DT_DIR && strcmp(e->d_name, g->owner) != 0 &&
		    strncmp(e->d_name, OWNER_PREFIX, strlen(OWNER_PREFIX)) == 0)
			sweep_one(g, base_fd, e->d_name);
}

/* Lock the directory that we have just made. A sweeper may have it for the moment between, and
 * removes it then: so wait for the lock, and see whether our descriptor is of what is there now. */
static bool lock_dir(struct bj_cgroups *g, enum bj_hier h)
{
	struct stat ours, there;

	g->dir[h] = openat(g->base[h], g->owner, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->dir[h] >= 0 && flock(g->dir[h], LOCK_EX) == 0 && fstat(g->dir[h], &ours) == 0 &&
	    fstatat(g->base[h], g->owner, &there, 0) == 0 && ours.st_ino == there.st_ino)
		return true;
	if (g->dir[h] >= 0)
		close(g->dir[h]);
	g->dir[h] = -1;
	return false;
}

static int make_dir(struct bj_cgroups *g, enum bj_hier h, struct bj_err *err)
{
	for (int attempt = 0; attempt < 100; attempt++) {
		if (mkdirat(g->base[h], g->owner, 0755) < 0 && errno != EEXIST)
			return bj_err_set(err, BJ_E_UNSUPPORTED, errno,
					  "cannot make a cgroup; `belljar doctor` tells how to "
					  "delegate one");
		if (lock_dir(g, h))
			return 0;
	}
	return bj_err_set(err, BJ_E_SYSTEM, 0, "cannot keep a cgroup: something removes it");
}

static int open_base(const struct bj_cgroup_place *place, enum bj_hier h, const char *parent)
{
	char path[1024];

	if (!place->mount[h][0])
		return -1;
	if (parent)
		snprintf(path, sizeof(path), "%s/%s", place->mount[h], parent);
	else
		snprintf(path, sizeof(path), "%s", place->path[h]);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* v2: controllers reach the jars only when every level above them passes them on. */
static int pass_on(int dir_fd, struct bj_err *err)
{
	char have[256];

	if (bj_cgfile_read(dir_fd, "cgroup.subtree_control", have, sizeof(have)) &&
	    strstr(have, "memory") && strstr(have, "pids") && strstr(have, "cpu"))
		return 0;
	if (bj_cgfile_write(dir_fd, "cgroup.subtree_control", "+memory +pids +cpu", NULL) < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, errno,
				  "the own cgroup cannot be divided; `belljar doctor` tells how to "
				  "delegate one");
	return 0;
}

static pid_t parent_of(pid_t pid)
{
	char path[32], text[512];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);

	/* pid (name) state parent; the name may hold anything */
	const char *p =
		bj_cgfile_read(AT_FDCWD, path, text, sizeof(text)) ? strrchr(text, ')') : NULL;

	return p && strlen(p) > 4 ? (pid_t)strtol(p + 4, NULL, 10) : -1;
}

/* This process, the front that started it, and what else the front started. */
static bool is_ours(pid_t pid)
{
	return pid == getpid() || pid == getppid() || parent_of(pid) == getppid();
}

/* Move the processes of @from to @to, as far as they are there: some may end meanwhile. Nobody
 * moves, and the answer is false, when @only is set and refuses one of them. */
static bool move_all(int from, int to, bool (*only)(pid_t))
{
	char procs[4096];
	pid_t pids[128];
	size_t n = 0;

	if (!bj_cgfile_read(from, "cgroup.procs", procs, sizeof(procs)))
		return true;
	for (char *p = procs, *end; *p; p = end + 1) {
		const long pid = strtol(p, &end, 10);

		if (end == p || *end != '\n' || n == BJ_ARRAY_SIZE(pids) ||
		    (only && !only((pid_t)pid)))
			return false;
		pids[n++] = (pid_t)pid;
	}
	for (size_t i = 0; i < n; i++)
		bj_cgfile_write_number(to, "cgroup.procs", (uint64_t)pids[i], NULL);
	return true;
}

static int make_supervisor(const struct bj_cgroups *g, struct bj_err *err)
{
	if (mkdirat(g->dir[BJ_HIER_UNIFIED], SUPERVISOR, 0755) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a cgroup");

	const int leaf =
		openat(g->dir[BJ_HIER_UNIFIED], SUPERVISOR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return leaf < 0 ? bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open a cgroup") : leaf;
}

/* v2: a cgroup with processes of its own passes nothing on. Step aside into a leaf, when the only
 * ones in the way are ours. The front may start another meanwhile: then again. */
static int step_aside(struct bj_cgroups *g, struct bj_err *err)
{
	const int base = g->base[BJ_HIER_UNIFIED];
	AUTO_FD int leaf = make_supervisor(g, err);
	int r = leaf;

	g->aside = true;
	for (int attempt = 0; leaf >= 0 && attempt < 8; attempt++) {
		if (!move_all(base, leaf, is_ours))
			return bj_err_set(err, BJ_E_UNSUPPORTED, EBUSY,
					  "the own cgroup holds other processes; "
					  "`belljar doctor` tells how to delegate one");
		r = pass_on(base, err);
		if (r == 0)
			break;
	}
	return r;
}

/* Go back to where we came from: a cgroup that is not empty cannot be removed. */
static void step_back(struct bj_cgroups *g)
{
	const int base = g->base[BJ_HIER_UNIFIED], dir = g->dir[BJ_HIER_UNIFIED];

	if (dir < 0)
		return;
	AUTO_FD int leaf = openat(dir, SUPERVISOR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (leaf < 0)
		return;
	if (g->aside) {
		/* What passes controllers on takes no processes. */
		bj_cgfile_write(dir, "cgroup.subtree_control", "-memory -pids -cpu", NULL);
		bj_cgfile_write(base, "cgroup.subtree_control", "-memory -pids -cpu", NULL);
	}
	move_all(leaf, g->home, NULL);
	/* That may be gone, with the session that was logged in there. */
	move_all(leaf, base, NULL);
}

int bj_cgroups_delegate(struct bj_cgroups *g, uid_t id, struct bj_err *err)
{
	static const char *const files[] = { "cgroup.procs", "cgroup.subtree_control", "tasks" };

	for (int h = 0; h < BJ_HIER_COUNT; h++) {
		if (g->dir[h] < 0)
			continue;
		if (fchown(g->dir[h], id, id) < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot give a cgroup away");
		for (size_t i = 0; i < BJ_ARRAY_SIZE(files); i++)
			if (fchownat(g->dir[h], files[i], id, id, 0) < 0 && errno != ENOENT)
				return bj_err_set(err, BJ_E_SYSTEM, errno,
						  "cannot give a cgroup away");
	}
	if (g->dir[BJ_HIER_UNIFIED] < 0)
		return 0;
	g->nursery = make_supervisor(g, err);
	return g->nursery < 0 ? g->nursery : 0;
}

static bool base_has_controllers(int fd)
{
	char have[256];

	return fd >= 0 && bj_cgfile_read(fd, "cgroup.controllers", have, sizeof(have)) &&
	       strstr(have, "memory") && strstr(have, "pids") && strstr(have, "cpu");
}

static int set_up_v2(struct bj_cgroups *g, struct bj_err *err)
{
	g->version = 2;

	int r = make_dir(g, BJ_HIER_UNIFIED, err);

	if (r == 0 && pass_on(g->base[BJ_HIER_UNIFIED], NULL) < 0)
		r = step_aside(g, err);
	if (r == 0)
		r = pass_on(g->dir[BJ_HIER_UNIFIED], err);
	return r;
}

static int set_up_v1(struct bj_cgroups *g, struct bj_err *err)
{
	g->version = 1;
	if (g->base[BJ_HIER_MEMORY] < 0 || g->base[BJ_HIER_PIDS] < 0 || g->base[BJ_HIER_CPU] < 0)
		return bj_err_set(
			err, BJ_E_UNSUPPORTED, 0,
			"no memory, pids and cpu cgroups here; `belljar doctor` tells more");

	/* Birth in the unified hierarchy needs rights over where we are, not only over where we
	 * want to be. An ordinary user has them on v2 alone; here the pid namespace kills. */
	if (geteuid() != 0 && g->base[BJ_HIER_UNIFIED] >= 0) {
		close(g->base[BJ_HIER_UNIFIED]);
		g->base[BJ_HIER_UNIFIED] = -1;
	}

	int r = 0;

	for (int h = 0; r == 0 && h < BJ_HIER_COUNT; h++) {
		if (g->base[h] < 0)
			continue;
		r = make_dir(g, (enum bj_hier)h, err);
		if (r < 0 && h >= BJ_HIER_CPUACCT)
			r = 0; /* accounting and cgroup.kill are welcome, not needed */
	}
	return r;
}

int bj_cgroups_new(const char *parent, struct bj_cgroups **ret, struct bj_err *err)
{
	struct bj_cgroup_place place;
	int r = bj_cgroup_find("/proc", &place, err);

	if (r < 0)
		return r;

	struct bj_cgroups *g = calloc(1, sizeof(*g));

	if (!g)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot make cgroups");
	for (int h = 0; h < BJ_HIER_COUNT; h++) {
		g->dir[h] = -1;
		g->base[h] = open_base(&place, (enum bj_hier)h, parent);
	}
	g->nursery = -1;
	g->home = open_base(&place, BJ_HIER_UNIFIED, NULL);
	/* Root starts from a login session, whose cgroup is full of others: go to the top. */
	if (!parent && geteuid() == 0 && base_has_controllers(g->base[BJ_HIER_UNIFIED])) {
		close(g->base[BJ_HIER_UNIFIED]);
		g->base[BJ_HIER_UNIFIED] = open_base(&place, BJ_HIER_UNIFIED, "");
	}
	/* Mounted together, cpu and cpuacct are one directory. */
	if (strcmp(place.mount[BJ_HIER_CPU], place.mount[BJ_HIER_CPUACCT]) == 0 &&
	    g->base[BJ_HIER_CPUACCT] >= 0) {
		close(g->base[BJ_HIER_CPUACCT]);
		g->base[BJ_HIER_CPUACCT] = -1;
	}
	pick_owner_name(g->owner);
	r = base_has_controllers(g->base[BJ_HIER_UNIFIED]) ? set_up_v2(g, err) : set_up_v1(g, err);
	if (r < 0) {
		bj_cgroups_free(g);
		return r;
	}
	for (int h = 0; h < BJ_HIER_COUNT; h++)
		if (g->dir[h] >= 0)
			sweep(g, g->base[h]);
	*ret = g;
	return 0;
}

void bj_cgroups_free(struct bj_cgroups *g)
{
	if (!g)
		return;
	step_back(g);
	if (g->nursery >= 0)
		close(g->nursery);
	if (g->home >= 0)
		close(g->home);
	for (int h = 0; h < BJ_HIER_COUNT; h++) {
		if (g->dir[h] >= 0) {
			remove_tree(g->base[h], g->owner);
			close(g->dir[h]);
		}
		if (g->base[h] >= 0)
			close(g->base[h]);
	}
	free(g);
}

int bj_cgroups_version(const struct bj_cgroups *groups)
{
	return groups->version;
}

int bj_cgroups_nursery(const struct bj_cgroups *g)
{
	return g->nursery;
}

unsigned int bj_cgroups_swept(const struct bj_cgroups *groups)
{
	return groups->swept;
}

/* --- one leaf --------------------------------------------------------------------------------- */

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
	return 0;
}

static int limit_cpu(const struct bj_cgroup *cg, uint32_t milli, struct bj_err *err)
{
	const uint64_t quota = (uint64_t)milli * PERIOD_US / 1000;
	char text[48];

	if (cg->groups->version == 1)
		return bj_cgfile_write_number(cg->dir[BJ_HIER_CPU], "cpu.cfs_quota_us",
					      quota < 1000 ? 1000 : quota, err);
	snprintf(text, sizeof(text), "%llu %d", (unsigned long long)(quota < 1000 ? 1000 : quota),
		 PERIOD_US);
	return bj_cgfile_write(cg->dir[BJ_HIER_UNIFIED], "cpu.max", text, err);
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

int bj_cgroup_change(const struct bj_cgroup *cg, const struct bj_cgroup_limits *from,
		     const struct bj_cgroup_limits *to, struct bj_err *err)
{
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

static int open_leaf(struct bj_cgroup *cg, enum bj_hier h, struct bj_err *err)
{
	const int parent = cg->groups->dir[h];

	if (mkdirat(parent, cg->name, 0755) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make cgroup %s", cg->name);
	cg->dir[h] = openat(parent, cg->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cg->dir[h] < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open cgroup %s", cg->name);
	if (h == BJ_HIER_UNIFIED)
		return 0;
	/* Writing to tasks takes microseconds where cgroup.procs may take milliseconds. */
	cg->tasks[h] = openat(cg->dir[h], "tasks", O_WRONLY | O_CLOEXEC);
	if (cg->tasks[h] < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open cgroup %s", cg->name);
	return 0;
}

int bj_cgroup_new(struct bj_cgroups *groups, const char *name,
		  const struct bj_cgroup_limits *limits, struct bj_cgroup **ret, struct bj_err *err)
{
	struct bj_cgroup *cg = calloc(1, sizeof(*cg));
	int r = 0;

	if (!cg)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot make a cgroup");
	cg->groups = groups;
	cg->oom_fd = cg->pids_fd = -1;
	snprintf(cg->name, sizeof(cg->name), "%s", name);
	for (int h = 0; h < BJ_HIER_COUNT; h++)
		cg->dir[h] = cg->tasks[h] = -1;
	for (int h = 0; r == 0 && h < BJ_HIER_COUNT; h++)
		if (groups->dir[h] >= 0)
			r = open_leaf(cg, (enum bj_hier)h, err);
	if (r == 0)
		r = write_limits(cg, limits, err);
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

bool bj_cgroup_free(struct bj_cgroup *cg)
{
	bool clean = true;

	if (!cg)
		return true;
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
		if (unlinkat(cg->groups->dir[h], cg->name, AT_REMOVEDIR) < 0 && errno != ENOENT)
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

void bj_cgroup_kill(const struct bj_cgroup *cg)
{
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

void bj_cgroup_read_stats(const struct bj_cgroup *cg, struct bj_cgroup_stats *ret)
{
	const int u = cg->dir[BJ_HIER_UNIFIED];

	if (cg->groups->version == 2) {
		*ret = (struct bj_cgroup_stats){
			.cpu_ns = bj_cgfile_read_number(u, "cpu.stat", "usage_usec") * 1000,
			.peak_memory = bj_cgfile_read_number(u, "memory.peak", ""),
			.oom_kills = bj_cgfile_read_number(u, "memory.events", "oom_kill"),
			.pids_hits = bj_cgroup_pids_hits(cg),
		};
		return;
	}

	const int acct =
		cg->dir[BJ_HIER_CPUACCT] >= 0 ? cg->dir[BJ_HIER_CPUACCT] : cg->dir[BJ_HIER_CPU];
	*ret = (struct bj_cgroup_stats){
		.cpu_ns = bj_cgfile_read_number(acct, "cpuacct.usage", ""),
		.peak_memory = bj_cgfile_read_number(cg->dir[BJ_HIER_MEMORY],
						     "memory.max_usage_in_bytes", ""),
		.oom_kills = bj_cgfile_read_number(cg->dir[BJ_HIER_MEMORY], "memory.oom_control",
						   "oom_kill"),
		.pids_hits = bj_cgroup_pids_hits(cg),
	};
}
