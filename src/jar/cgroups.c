/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation.
 *
 * The owner is one running launcher. In each hierarchy it has a directory
 * `belljar.<boot>.<random>`, made below its own cgroup. On v2 there is one hierarchy; on v1 there
 * is one per controller, plus the unified one (without controllers) for cgroup.kill and for birth
 * by CLONE_INTO_CGROUP. The owner holds a lock on each of these directories.
 *
 * The jars' leaves lie below a directory that caps what they have together: on v1 the owner's, on
 * v2 one below it, because the launcher itself lives in the owner's. On v1 a jar that is the only
 * one may have the owner's directories for itself (bj_cgroups_expect_one), but for the unified one:
 * the launcher is born there.
 *
 * A sweeper takes the lock of a foreign directory without waiting. It gets it only when the owner
 * is dead, and then everything below is empty, because the owner was pid 1 of all that ran there.
 */

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/cgroup_file.h"
#include "jar/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#define OWNER_PREFIX "belljar."
#define SUPERVISOR   "supervisor"
#define JARS         "jars"

/* Of directories below an owner's. */
enum { DEPTH = 2 };

static void pick_owner_name(char *name)
{
	char boot[9] = "";
	uint64_t random = 0;
	AUTO_FD int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, boot, 8) != 8)
		memcpy(boot, "00000000", 9);
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint64_t)getpid();
	snprintf(name, BJ_OWNER_NAME_SIZE, OWNER_PREFIX "%s.%016llx", boot,
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

/* Remove @name and, @depth levels deep, what is below it. */
static void remove_tree(int base_fd, const char *name, int depth)
{
	if (unlinkat(base_fd, name, AT_REMOVEDIR) == 0)
		return;

	AUTO_DIR DIR *dir = open_dir(base_fd, name);
	struct dirent *e;

	if (!dir)
		return;
	while (depth > 0 && (e = readdir(dir)))
		if (e->d_type == DT_DIR && e->d_name[0] != '.' &&
		    unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR) < 0)
			remove_tree(dirfd(dir), e->d_name, depth - 1);
	unlinkat(base_fd, name, AT_REMOVEDIR);
}

/* Remove @name if its owner is dead, which is when its lock is free. */
static void sweep_one(struct bj_cgroups *g, int base_fd, const char *name)
{
	AUTO_FD int lock = openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
		return;
	remove_tree(base_fd, name, DEPTH);
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

/* Whether @list, words with spaces between them, has all the controllers that a jar takes. As
 * words: cpuset is not cpu. */
static bool has_controllers(const char *list)
{
	static const char *const needed[] = { "memory", "pids", "cpu" };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(needed); i++)
		if (!bj_cgfile_has_word(list, needed[i]))
			return false;
	return true;
}

/* v2: controllers reach the jars only when every level above them passes them on. */
static int pass_on(int dir_fd, struct bj_err *err)
{
	char have[256];

	if (bj_cgfile_read(dir_fd, "cgroup.subtree_control", have, sizeof(have)) &&
	    has_controllers(have))
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
		/* What passes controllers on takes no processes, and cannot stop while something
		 * below it does the same. */
		remove_tree(dir, JARS, DEPTH - 1);
		bj_cgfile_write(dir, "cgroup.subtree_control", "-memory -pids -cpu", NULL);
		bj_cgfile_write(base, "cgroup.subtree_control", "-memory -pids -cpu", NULL);
	}
	move_all(leaf, g->home, NULL);
	/* That may be gone, with the session that was logged in there. */
	move_all(leaf, base, NULL);
}

/* Root gives a directory to the launcher's uid, which has no rights over it otherwise. On v1 who
 * makes and joins leaves needs no more than that; who has the room itself needs what is his in a
 * leaf: the limits, and what lifts that on the CPU for a kill. */
static int give_away(const struct bj_cgroups *g, enum bj_hier h, int dir, struct bj_err *err)
{
	static const char *const files[BJ_HIER_COUNT][5] = {
		[BJ_HIER_MEMORY] = { "tasks", "memory.limit_in_bytes",
				     "memory.memsw.limit_in_bytes", "memory.swappiness",
				     "memory.kmem.tcp.limit_in_bytes" },
		[BJ_HIER_PIDS] = { "tasks", "pids.max" },
		[BJ_HIER_CPU] = { "tasks", "cpu.cfs_quota_us", "cpu.shares" },
		[BJ_HIER_CPUACCT] = { "tasks" },
		[BJ_HIER_UNIFIED] = { "cgroup.procs", "cgroup.subtree_control" },
	};
	const bool whole = h == BJ_HIER_UNIFIED || g->single;

	if (g->uid == (uid_t)-1)
		return 0;
	if (fchown(dir, g->uid, g->uid) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot give a cgroup away");
	for (size_t i = 0; whole && i < BJ_ARRAY_SIZE(files[h]) && files[h][i]; i++)
		if (fchownat(dir, files[h][i], g->uid, g->uid, 0) < 0 && errno != ENOENT)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot give a cgroup away");
	return 0;
}

static bool base_has_controllers(int fd)
{
	char have[256];

	return fd >= 0 && bj_cgfile_read(fd, "cgroup.controllers", have, sizeof(have)) &&
	       has_controllers(have);
}

/* v2: where the jars are, beside the supervisor. */
static int make_room(struct bj_cgroups *g, struct bj_err *err)
{
	const int dir = g->dir[BJ_HIER_UNIFIED];

	if (mkdirat(dir, JARS, 0755) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a cgroup");
	g->room[BJ_HIER_UNIFIED] = openat(dir, JARS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->room[BJ_HIER_UNIFIED] < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open a cgroup");

	const int r = pass_on(g->room[BJ_HIER_UNIFIED], err);

	return r < 0 ? r : give_away(g, BJ_HIER_UNIFIED, g->room[BJ_HIER_UNIFIED], err);
}

static int make_nursery(struct bj_cgroups *g, struct bj_err *err)
{
	if (g->uid == (uid_t)-1)
		return 0;
	g->nursery = make_supervisor(g, err);
	return g->nursery < 0 ? g->nursery : 0;
}

static int set_up_v2(struct bj_cgroups *g, struct bj_err *err)
{
	int r = make_dir(g, BJ_HIER_UNIFIED, err);

	if (r == 0 && pass_on(g->base[BJ_HIER_UNIFIED], NULL) < 0)
		r = step_aside(g, err);
	if (r == 0)
		r = pass_on(g->dir[BJ_HIER_UNIFIED], err);
	if (r == 0)
		r = give_away(g, BJ_HIER_UNIFIED, g->dir[BJ_HIER_UNIFIED], err);
	if (r == 0)
		r = make_room(g, err);
	return r < 0 ? r : make_nursery(g, err);
}

static int make_v1_dir(struct bj_cgroups *g, enum bj_hier h, struct bj_err *err)
{
	const int r = make_dir(g, h, err);

	if (r < 0)
		return r;
	g->room[h] = g->dir[h];
	return give_away(g, h, g->dir[h], err);
}

/* v1: what the launcher is born in comes first, the controllers later. */
static int set_up_v1(struct bj_cgroups *g, struct bj_err *err)
{
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
	/* cgroup.kill is welcome, not needed. */
	if (g->base[BJ_HIER_UNIFIED] < 0 || make_v1_dir(g, BJ_HIER_UNIFIED, NULL) < 0)
		return 0;
	/* What passes no controllers on may hold processes beside its leaves. */
	if (g->uid == (uid_t)-1)
		return 0;
	g->nursery = fcntl(g->dir[BJ_HIER_UNIFIED], F_DUPFD_CLOEXEC, 0);
	return g->nursery < 0 ? bj_err_set(err, BJ_E_SYSTEM, errno, "cannot hold a cgroup") : 0;
}

static void open_bases(struct bj_cgroups *g, const struct bj_cgroup_place *place,
		       const char *parent)
{
	for (int h = 0; h < BJ_HIER_COUNT; h++) {
		g->dir[h] = g->room[h] = -1;
		g->base[h] = open_base(place, (enum bj_hier)h, parent);
	}
	g->nursery = g->home = -1;
	g->version = base_has_controllers(g->base[BJ_HIER_UNIFIED]) ? 2 : 1;
	if (g->version == 2)
		g->home = open_base(place, BJ_HIER_UNIFIED, NULL);
	/* Root starts from a login session, whose cgroup is full of others: go to the top. */
	if (!parent && geteuid() == 0 && g->version == 2) {
		close(g->base[BJ_HIER_UNIFIED]);
		g->base[BJ_HIER_UNIFIED] = open_base(place, BJ_HIER_UNIFIED, "");
	}
	/* Mounted together, cpu and cpuacct are one directory. */
	if (strcmp(place->mount[BJ_HIER_CPU], place->mount[BJ_HIER_CPUACCT]) == 0 &&
	    g->base[BJ_HIER_CPUACCT] >= 0) {
		close(g->base[BJ_HIER_CPUACCT]);
		g->base[BJ_HIER_CPUACCT] = -1;
	}
}

int bj_cgroups_new(const char *parent, uid_t uid, struct bj_cgroups **ret, struct bj_err *err)
{
	struct bj_cgroup_place place;
	int r = bj_cgroup_find("/proc", &place, err);

	if (r < 0)
		return r;

	struct bj_cgroups *g = calloc(1, sizeof(*g));

	if (!g)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot make cgroups");
	g->uid = uid;
	open_bases(g, &place, parent);
	pick_owner_name(g->owner);
	r = g->version == 2 ? set_up_v2(g, err) : set_up_v1(g, err);
	if (r < 0) {
		bj_cgroups_free(g);
		return r;
	}
	*ret = g;
	return 0;
}

static int write_caps(struct bj_cgroups *g, const struct bj_cgroup_limits *all, struct bj_err *err)
{
	const bool v2 = g->version == 2;
	int r = 0;

	if (all->memory)
		r = bj_cgfile_write_number(g->room[v2 ? BJ_HIER_UNIFIED : BJ_HIER_MEMORY],
					   v2 ? "memory.max" : "memory.limit_in_bytes", all->memory,
					   err);
	if (r == 0 && all->pids)
		r = bj_cgfile_write_number(g->room[v2 ? BJ_HIER_UNIFIED : BJ_HIER_PIDS], "pids.max",
					   all->pids, err);
	if (r == 0 && all->cpu_milli)
		r = bj_cgfile_write_quota(g->room[v2 ? BJ_HIER_UNIFIED : BJ_HIER_CPU], v2,
					  all->cpu_milli, err);
	g->cpu_milli = all->cpu_milli;
	g->memory = all->memory;
	g->pids = all->pids;
	return r < 0 ? bj_err_wrap(err, "cannot cap all jars") : 0;
}

void bj_cgroups_expect_one(struct bj_cgroups *g)
{
	g->single = g->version == 1;
}

int bj_cgroups_complete(struct bj_cgroups *g, const struct bj_cgroup_limits *all,
			struct bj_err *err)
{
	int r = 0;

	for (int h = 0; g->version == 1 && r == 0 && h < BJ_HIER_UNIFIED; h++) {
		if (g->base[h] < 0)
			continue;
		r = make_v1_dir(g, (enum bj_hier)h, err);
		if (r < 0 && h >= BJ_HIER_CPUACCT)
			r = 0; /* accounting is welcome, not needed */
	}
	return r < 0 ? r : write_caps(g, all, err);
}

/* Whether there is a directory beside ours: each counts as a link. */
static bool has_others(int base_fd)
{
	struct stat st;

	return fstat(base_fd, &st) < 0 || st.st_nlink != 3;
}

void bj_cgroups_sweep(struct bj_cgroups *g)
{
	for (int h = 0; g && h < BJ_HIER_COUNT; h++)
		if (g->dir[h] >= 0 && has_others(g->base[h]))
			sweep(g, g->base[h]);
}

const int *bj_cgroups_rooms(const struct bj_cgroups *g)
{
	return g->room;
}

struct bj_cgroups *bj_cgroups_adopt(const struct bj_cgroups_news *news, const int *rooms_take)
{
	struct bj_cgroups *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->version = (int)news->version;
	g->swept = news->swept;
	g->cpu_milli = news->cpu_milli;
	g->aside = news->aside;
	g->single = news->single;
	g->memory = news->memory;
	g->pids = news->pids;
	g->nursery = g->home = -1;
	for (int h = 0; h < BJ_HIER_COUNT; h++) {
		g->room[h] = rooms_take[h];
		g->base[h] = g->dir[h] = -1;
	}
	return g;
}

struct bj_cgroups_news bj_cgroups_tell(const struct bj_cgroups *g)
{
	return (struct bj_cgroups_news){ .version = (uint32_t)g->version,
					 .swept = g->swept,
					 .cpu_milli = g->cpu_milli,
					 .aside = g->aside,
					 .single = g->single,
					 .pids = g->pids,
					 .memory = g->memory };
}

void bj_cgroups_free(struct bj_cgroups *g)
{
	if (!g)
		return;
	while (g->n_spare > 0)
		bj_cgroup_free(g->spare[(g->first_spare + --g->n_spare) % BJ_SPARE_MAX]);
	step_back(g);
	if (g->nursery >= 0)
		close(g->nursery);
	if (g->home >= 0)
		close(g->home);
	if (g->version == 2 && g->room[BJ_HIER_UNIFIED] >= 0)
		close(g->room[BJ_HIER_UNIFIED]);
	for (int h = 0; h < BJ_HIER_COUNT; h++) {
		if (g->dir[h] >= 0) {
			remove_tree(g->base[h], g->owner, DEPTH);
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

bool bj_cgroups_is_aside(const struct bj_cgroups *g)
{
	return g->aside;
}

unsigned int bj_cgroups_swept(const struct bj_cgroups *groups)
{
	return groups->swept;
}
