/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/subids.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
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

/* In the helper: wait for the word, write both maps, answer. */
__attribute__((noreturn)) static void serve(int sync, pid_t parent, uint32_t count, uint32_t uids,
					    uint32_t gids)
{
	char go;

	if (read(sync, &go, 1) != 1)
		_exit(1);

	const bool ok = run_tool(NEWUIDMAP, parent, geteuid(), uids, count) &&
			run_tool(NEWGIDMAP, parent, getegid(), gids, count);

	_exit(write(sync, ok ? "y" : "n", 1) != 1);
}

bool bj_subids_start(struct bj_subids_helper *helper, uint32_t count)
{
	const struct passwd *pw = getpwuid(geteuid());
	const pid_t parent = getpid();
	uint32_t uids, gids;
	int pair[2];

	if (!pw || access(NEWUIDMAP, X_OK) < 0 || access(NEWGIDMAP, X_OK) < 0 ||
	    !find_range("/etc/subuid", pw->pw_name, geteuid(), count, &uids) ||
	    !find_range("/etc/subgid", pw->pw_name, geteuid(), count, &gids) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	helper->pid = fork();
	if (helper->pid == 0) {
		close(pair[0]);
		serve(pair[1], parent, count, uids, gids);
	}
	close(pair[1]);
	helper->sync = pair[0];
	return helper->pid > 0;
}

bool bj_subids_finish(struct bj_subids_helper *helper)
{
	char answer = 'n';
	const bool ok = write(helper->sync, "g", 1) == 1 && read(helper->sync, &answer, 1) == 1 &&
			answer == 'y';

	close(helper->sync);
	waitpid(helper->pid, NULL, 0);
	return ok;
}
