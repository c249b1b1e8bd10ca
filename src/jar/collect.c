/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/collect.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "jar/creds.h"
#include "jar/mounts.h"
#include "jar/pack.h"
#include "jar/seal.h"
#include "jar/sys.h"
#include "seccomp/filters.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* One walk over out/. */
struct walk {
	const struct bj_collect_plan *plan;
	uint32_t files;
	uint64_t bytes;
};

static int send_head(int fd, enum bj_pack_type type, const char *name, uint64_t size)
{
	const struct bj_pack_head head = { .type = type,
					   .name_size = (uint32_t)strlen(name),
					   .data_size = size };
	const int r = bj_fd_write_all(fd, &head, sizeof(head));

	return r < 0 ? r : bj_fd_write_all(fd, name, head.name_size);
}

/* Open @name if it is a plain file with no other name. Never follows, never hangs. */
static int open_plain(int dir_fd, const char *name, struct stat *ret_st)
{
	AUTO_FD int fd =
		bj_sys_openat2(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0,
			       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);

	if (fd < 0 || fstat(fd, ret_st) < 0 || !S_ISREG(ret_st->st_mode) || ret_st->st_nlink != 1)
		return -1;
	return bj_take_fd(&fd);
}

static int copy_bytes(int from, int to, uint64_t size)
{
	static char block[65536];

	while (size > 0) {
		const size_t want = size < sizeof(block) ? (size_t)size : sizeof(block);

		if (bj_fd_read_exact(from, block, want) < 0 || bj_fd_write_all(to, block, want) < 0)
			return -1;
		size -= want;
	}
	return 0;
}

static int collect_one(struct walk *walk, int dir_fd, const char *name)
{
	const int out = walk->plan->out_fd;
	struct stat st;
	AUTO_FD int fd = open_plain(dir_fd, name, &st);

	if (fd < 0 || !bj_pack_name_ok(name, strlen(name)) ||
	    walk->files >= walk->plan->max_files ||
	    (uint64_t)st.st_size > walk->plan->max_bytes - walk->bytes)
		return send_head(out, BJ_PACK_REFUSED, "", 0);
	walk->files++;
	walk->bytes += (uint64_t)st.st_size;
	if (send_head(out, BJ_PACK_FILE, name, (uint64_t)st.st_size) < 0)
		return -1;
	return copy_bytes(fd, out, (uint64_t)st.st_size);
}

static int collect_all(const struct bj_collect_plan *plan)
{
	struct walk walk = { .plan = plan };
	const int fd = bj_sys_openat2(AT_FDCWD, BJ_JAR_OUT,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0,
				      RESOLVE_NO_SYMLINKS);
	AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir)
		return send_head(plan->out_fd, BJ_PACK_END, "", 0); /* the script removed out/ */
	while ((e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (collect_one(&walk, fd, e->d_name) < 0)
			return -1;
	}
	return send_head(plan->out_fd, BJ_PACK_END, "", 0);
}

__attribute__((noreturn)) static void collector(const struct bj_collect_plan *plan)
{
	/* Still root of the jar's user namespace: nothing of the script survives this, since the
	 * kernel lets no process fork past a pending SIGKILL. */
	kill(-1, SIGKILL);
	if (bj_creds_become(BJ_JAR_UID, BJ_JAR_GID, NULL) < 0 || bj_creds_drop_caps(NULL) < 0 ||
	    bj_creds_no_new_privs(NULL) < 0 || bj_filter_load(&bj_filter_collect) < 0)
		_exit(1);
	_exit(collect_all(plan) < 0);
}

pid_t bj_collect_start(const struct bj_collect_plan *plan, int *ret_pidfd)
{
	const pid_t helper = bj_sys_clone3(0, ret_pidfd, -1);

	if (helper != 0)
		return helper;
	signal(SIGPIPE, SIG_DFL); /* a front that is gone ends the collection */
	if (setns(plan->init_pidfd, (int)bj_seal_namespaces()) < 0)
		_exit(1);

	const pid_t pid = fork();

	if (pid == 0)
		collector(plan);

	int status = -1;

	waitpid(pid, &status, 0);
	_exit(status != 0);
}
