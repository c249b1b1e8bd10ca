/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/subids.h"

#include "base/cleanup.h"
#include "jar/mounts.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define NEWUIDMAP "/usr/bin/newuidmap"
#define NEWGIDMAP "/usr/bin/newgidmap"

/* The first range of @path that belongs to @user and has room for @count. */
static bool find_range(const char *path, const char *user, uid_t uid, uint32_t count,
		       uint32_t *ret_first)
{
	char line[256], number[16];
	AUTO_FILE FILE *f = fopen(path, "re");

	snprintf(number, sizeof(number), "%u", uid);
	while (f && fgets(line, sizeof(line), f)) {
		char name[128];
		unsigned int first, n;

		if (sscanf(line, "%127[^:]:%u:%u", name, &first, &n) == 3 && n >= count &&
		    (strcmp(name, user) == 0 || strcmp(name, number) == 0)) {
			*ret_first = first;
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

static bool find_own(uint32_t count, struct bj_subids *ids)
{
	const struct passwd *pw = getpwuid(geteuid());

	return pw && access(NEWUIDMAP, X_OK) == 0 && access(NEWGIDMAP, X_OK) == 0 &&
	       find_range("/etc/subuid", pw->pw_name, geteuid(), count, &ids->first_uid) &&
	       find_range("/etc/subgid", pw->pw_name, geteuid(), count, &ids->first_gid);
}

struct bj_subids bj_subids_find(uint32_t base, uint32_t count)
{
	struct bj_subids ids = { .self_uid = geteuid(), .self_gid = getegid() };

	if (geteuid() == 0)
		return (struct bj_subids){ .self_uid = base,
					   .self_gid = base,
					   .first_uid = base + 1,
					   .first_gid = base + 1,
					   .count = count - 1 };
	if (find_own(count - 1, &ids))
		ids.count = count - 1;
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
	if (geteuid() == 0)
		return map_as_root(ids, pid);
	if (ids->count == 0)
		return map_alone(ids, pid);
	return run_tool(NEWUIDMAP, pid, ids->self_uid, ids->first_uid, ids->count) &&
	       run_tool(NEWGIDMAP, pid, ids->self_gid, ids->first_gid, ids->count);
}
