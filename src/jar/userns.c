/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/userns.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "jar/cgroup_file.h"
#include "jar/layers.h"
#include "jar/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static int write_map(int proc_fd, pid_t pid, const char *file, const char *text, struct bj_err *err)
{
	char path[64];
	const size_t len = strlen(text);

	snprintf(path, sizeof(path), "%d/%s", pid, file);
	AUTO_FD int fd = openat(proc_fd, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot write %s of the jar", file);
	return 0;
}

int bj_userns_map(int proc_fd, pid_t pid, const struct bj_userns_ids *ids, struct bj_err *err)
{
	char map[96];

	if (bj_layer_faulty(BJ_LAYER_USER_NS))
		return 0;

	if (ids->shared)
		snprintf(map, sizeof(map), "%d %u 1\n", BJ_JAR_UID, ids->script);
	else
		snprintf(map, sizeof(map), "0 %u 1\n%d %u 1\n", ids->init, BJ_JAR_UID, ids->script);

	const int r = write_map(proc_fd, pid, "uid_map", map, err);

	return r < 0 ? r : write_map(proc_fd, pid, "gid_map", map, err);
}

int bj_userns_forbid(int proc_fd, struct bj_err *err)
{
	return bj_cgfile_write_number(proc_fd, "sys/user/max_user_namespaces", 0, err);
}
