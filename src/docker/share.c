/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/share.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "docker/embed.h"
#include "docker/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#define MEMORY "/dev/shm"
#define HELPER "run"

/* Memory from which programs run, and no policy that keeps containers out of it. */
static bool is_usable(void)
{
	struct statfs fs;
	struct statvfs vfs;
	char enforcing = '0';
	AUTO_FD int selinux = open("/sys/fs/selinux/enforce", O_RDONLY | O_CLOEXEC);

	if (selinux >= 0 && read(selinux, &enforcing, 1) == 1 && enforcing == '1')
		return false;
	return statfs(MEMORY, &fs) == 0 && fs.f_type == TMPFS_MAGIC && statvfs(MEMORY, &vfs) == 0 &&
	       !(vfs.f_flag & ST_NOEXEC);
}

static int write_file(int dir, const char *name, const void *data, size_t size, mode_t mode)
{
	AUTO_FD int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	const int r = fd < 0 ? -errno : bj_fd_write_all(fd, data, size);

	/* The mode comes last: not the umask's, and nobody sees half a file. */
	return r < 0 ? r : fchmod(fd, mode) < 0 ? -errno : 0;
}

static int make_dir(int dir, const char *name)
{
	return mkdirat(dir, name, 0700) < 0 || fchmodat(dir, name, 0755, 0) < 0 ? -errno : 0;
}

void bj_share_open(struct bj_share *share, const char *owner, const struct bj_docker_host *host)
{
	*share = (struct bj_share){ .dir = -1 };
	if (!host->socket || !is_usable())
		return;
	snprintf(share->path, sizeof(share->path), MEMORY "/belljar-%s", owner);
	if (mkdir(share->path, 0700) < 0)
		return;
	share->dir = open(share->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (share->dir < 0 ||
	    write_file(share->dir, HELPER, bj_embed_inside, bj_embed_inside_size, 0555) < 0)
		bj_share_close(share);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) < 0 && errno != ENOENT;
}

/* Nobody else can change what is in it, so names do. */
static void remove_tree(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
		nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void bj_share_sweep(const char *owner)
{
	char path[64];

	snprintf(path, sizeof(path), MEMORY "/belljar-%.32s", owner);
	remove_tree(path);
}

void bj_share_close(struct bj_share *share)
{
	if (share->path[0])
		remove_tree(share->path);
	if (share->dir >= 0)
		close(share->dir);
	*share = (struct bj_share){ .dir = -1 };
}

bool bj_share_make(const struct bj_share *share, const char *name, char *path, size_t size)
{
	if (share->dir < 0 || make_dir(share->dir, name) < 0)
		return false;
	snprintf(path, size, "%s/%s", share->path, name);
	AUTO_FD int dir = openat(share->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0 && make_dir(dir, BJ_INSIDE_BELOW(BJ_INSIDE_DIR)) == 0 &&
	    make_dir(dir, BJ_INSIDE_BELOW(BJ_INSIDE_INPUTS)) == 0 &&
	    linkat(share->dir, HELPER, dir, BJ_INSIDE_BELOW(BJ_INSIDE_HELPER), 0) == 0)
		return true;
	bj_share_remove(share, name);
	return false;
}

bool bj_share_has(const struct bj_share *share, const char *name)
{
	return share->dir >= 0 && faccessat(share->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void bj_share_remove(const struct bj_share *share, const char *name)
{
	char path[sizeof(share->path) + BJ_CONTAINER_NAME];

	if (share->dir < 0)
		return;
	snprintf(path, sizeof(path), "%s/%s", share->path, name);
	remove_tree(path);
}

int bj_share_write(const struct bj_share *share, const char *name, const char *file,
		   const void *data, size_t size, struct bj_err *err)
{
	AUTO_FD int dir = openat(share->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const int r = dir < 0 ? -errno : write_file(dir, file, data, size, 0444);

	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot hand %.60s to a container", file);
	return 0;
}
