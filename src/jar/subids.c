/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/subids.h"

#include "base/cleanup.h"
#include "jar/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define NEWUIDMAP "/usr/bin/newuidmap"
#define NEWGIDMAP "/usr/bin/newgidmap"

/* Two ids a jar: enough for two thousand of them. */
enum { BLOCK = 4096 };

/* The first range of @path that belongs to @user. */
static bool find_range(const char *path, const char *user, uid_t uid, uint32_t *ret_first,
		       uint32_t *ret_count)
{
	char line[256], number[16];
	AUTO_FILE FILE *f = fopen(path, "re");

	snprintf(number, sizeof(number), "%u", uid);
	while (f && fgets(line, sizeof(line), f)) {
		char name[128];
		unsigned int first, n;

		if (sscanf(line, "%127[^:]:%u:%u", name, &first, &n) == 3 &&
		    (strcmp(name, user) == 0 || strcmp(name, number) == 0)) {
			*ret_first = first;
			*ret_count = n;
			return true;
		}
	}
	return false;
}

static bool run_tool(const char *tool, pid_t pid, uid_t own, uint32_t first, uint32_t count)
{
	char target[16], inner[16], base[16], n[16];
	char *const argv[] = { (char *)tool, target, (char *)"0", inner, (char *)"1",
			       (char *)"1",  base,   n,           NULL };
	char *const envp[] = { NULL };
	int status = -1;

	snprintf(target, sizeof(target), "%d", pid);
	snprintf(inner, sizeof(inner), "%u", own);
	snprintf(base, sizeof(base), "%u", first);
	snprintf(n, sizeof(n), "%u", count);

	const pid_t child = fork();

	if (child == 0) {
		execve(tool, argv, envp);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* --- claims ----------------------------------------------------------------------------------- */

/* All belljars of a user lock bytes of one file: the first while they look around or clean up, and
 * the one whose number is the first id of their block for as long as they use it. The kernel takes
 * a lock back when its last holder is dead. The last to leave removes the file. */
#define CLAIMS "uids"
enum { GUARD = 0, ATTEMPTS = 100 };

static bool lock_bytes(int file, short type, off_t first, off_t count, bool wait)
{
	struct flock lock = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = first, .l_len = count
	};

	return fcntl(file, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) == 0;
}

/* A directory of ours alone, made when it is missing, or -1. Others may have put something of that
 * name there first. */
static int open_own_dir(const char *path)
{
	struct stat st;

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return -1;
	AUTO_FD int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || fstat(dir, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022))
		return -1;
	return bj_take_fd(&dir);
}

/* Where this user's claims are; the directory's path goes to @path. */
static int open_claims_dir(char *path, size_t size)
{
	const char *runtime = geteuid() == 0 ? "/run" : getenv("XDG_RUNTIME_DIR");

	if (runtime && runtime[0] == '/' &&
	    snprintf(path, size, "%s/belljar", runtime) < (int)size) {
		const int dir = open_own_dir(path);

		if (dir >= 0)
			return dir;
	}
	snprintf(path, size, "/tmp/belljar-%u", geteuid());
	return open_own_dir(path);
}

/* The file with the guard locked, or -1. It may be removed by another before we have the guard. */
static int open_claims(char *path, size_t size)
{
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		struct stat st;
		AUTO_FD int dir = open_claims_dir(path, size);
		AUTO_FD int file =
			dir < 0 ? -1
				: openat(dir, CLAIMS, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
					 0600);
		if (file < 0 && errno == ENOENT)
			continue;
		if (file < 0 || !lock_bytes(file, F_WRLCK, GUARD, 1, true) ||
		    fstat(file, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
			return -1;
		if (st.st_nlink > 0)
			return bj_take_fd(&file);
	}
	return -1;
}

/* Claim one block of @ids that no other belljar of this user has. */
static bool claim_block(struct bj_subids *ids)
{
	const uint32_t blocks = ids->count / BLOCK ? ids->count / BLOCK : 1;
	AUTO_FD int file = open_claims(ids->claims, sizeof(ids->claims));

	for (uint32_t i = 0; file >= 0 && i < blocks; i++) {
		if (!lock_bytes(file, F_WRLCK, (off_t)ids->first_uid + (off_t)i * BLOCK, 1, false))
			continue;
		lock_bytes(file, F_UNLCK, GUARD, 1, false);
		ids->claim = bj_take_fd(&file);
		ids->first_uid += i * BLOCK;
		ids->first_gid += i * BLOCK;
		ids->count = ids->count < BLOCK ? ids->count : BLOCK;
		return true;
	}
	return false;
}

void bj_subids_release(struct bj_subids *ids)
{
	char path[sizeof(ids->claims) + sizeof(CLAIMS) + 1];

	if (ids->claim < 0)
		return;
	snprintf(path, sizeof(path), "%s/" CLAIMS, ids->claims);
	/* A lock on the rest of the file is to be had when nobody else has a claim. */
	if (lock_bytes(ids->claim, F_WRLCK, GUARD, 1, true) &&
	    lock_bytes(ids->claim, F_WRLCK, GUARD + 1, 0, false)) {
		unlink(path);
		/* Root's belongs to the machine, and may hold a socket. */
		if (geteuid() != 0)
			rmdir(ids->claims);
	}
	close(bj_take_fd(&ids->claim));
}

/* The whole range of an ordinary user, when it has one of a useful size. */
static bool find_own(struct bj_subids *ids)
{
	const struct passwd *pw = getpwuid(geteuid());
	uint32_t uids, gids;

	if (!pw || access(NEWUIDMAP, X_OK) < 0 || access(NEWGIDMAP, X_OK) < 0 ||
	    !find_range("/etc/subuid", pw->pw_name, geteuid(), &ids->first_uid, &uids) ||
	    !find_range("/etc/subgid", pw->pw_name, geteuid(), &ids->first_gid, &gids))
		return false;
	ids->count = uids < gids ? uids : gids;
	return ids->count >= 2;
}

struct bj_subids bj_subids_find(uint32_t base, uint32_t count)
{
	const bool root = geteuid() == 0;
	struct bj_subids ids = { .self_uid = geteuid(), .self_gid = getegid(), .claim = -1 };

	if (root) {
		ids.first_uid = ids.first_gid = base;
		ids.count = count;
	}
	if ((!root && !find_own(&ids)) || !claim_block(&ids)) {
		ids.count = 0;
		if (root)
			ids.self_uid = ids.self_gid = base;
		return ids;
	}
	/* Root's launcher has an id of the block itself; an ordinary user's has its own. */
	if (root) {
		ids.self_uid = ids.first_uid++;
		ids.self_gid = ids.first_gid++;
		ids.count--;
	}
	return ids;
}

static bool write_proc(pid_t pid, const char *file, const char *text)
{
	char path[64];
	const size_t len = strlen(text);

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, len) == (ssize_t)len;
}

/* The caller alone, as nobody: uid 0 is not mapped, since nothing needs it there and the kernel
 * asks for more rights to map it again. */
static bool map_alone(const struct bj_subids *ids, pid_t pid)
{
	char uid_map[48], gid_map[48];

	snprintf(uid_map, sizeof(uid_map), "%d %u 1\n", BJ_JAR_UID, ids->self_uid);
	snprintf(gid_map, sizeof(gid_map), "%d %u 1\n", BJ_JAR_GID, ids->self_gid);
	/* Without this an ordinary user may not write a group map. */
	return write_proc(pid, "setgroups", "deny") && write_proc(pid, "uid_map", uid_map) &&
	       write_proc(pid, "gid_map", gid_map);
}

static bool map_as_root(const struct bj_subids *ids, pid_t pid)
{
	char uid_map[96], gid_map[96];

	snprintf(uid_map, sizeof(uid_map), "0 %u 1\n1 %u %u\n", ids->self_uid, ids->first_uid,
		 ids->count);
	snprintf(gid_map, sizeof(gid_map), "0 %u 1\n1 %u %u\n", ids->self_gid, ids->first_gid,
		 ids->count);
	return write_proc(pid, "uid_map", uid_map) && write_proc(pid, "gid_map", gid_map);
}

bool bj_subids_map(const struct bj_subids *ids, pid_t pid)
{
	if (ids->count == 0)
		return map_alone(ids, pid);
	if (geteuid() == 0)
		return map_as_root(ids, pid);
	return run_tool(NEWUIDMAP, pid, ids->self_uid, ids->first_uid, ids->count) &&
	       run_tool(NEWGIDMAP, pid, ids->self_gid, ids->first_gid, ids->count);
}
