/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/subids.h"

#include "base/cleanup.h"
#include "jar/mounts.h"

#include <fcntl.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
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

/* Claim one block of @ids that no other belljar on this machine has. The claim is a name in the
 * abstract socket space: it leaves no file, and the kernel takes it back when its holders die. */
static bool claim_block(struct bj_subids *ids)
{
	const uint32_t blocks = ids->count / BLOCK ? ids->count / BLOCK : 1;

	for (uint32_t i = 0; i < blocks; i++) {
		struct sockaddr_un addr = { .sun_family = AF_UNIX };
		const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		const int n = snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1,
				       "belljar.uids.%u", ids->first_uid + i * BLOCK);
		const socklen_t size =
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);

		if (fd < 0)
			return false;
		if (bind(fd, (struct sockaddr *)&addr, size) == 0) {
			/* The descriptor stays open on purpose. */
			ids->first_uid += i * BLOCK;
			ids->first_gid += i * BLOCK;
			ids->count = ids->count < BLOCK ? ids->count : BLOCK;
			return true;
		}
		close(fd);
	}
	return false;
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
	struct bj_subids ids = { .self_uid = geteuid(), .self_gid = getegid() };

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
