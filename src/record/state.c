/* SPDX-License-Identifier: Apache-2.0 */
#include "record/state.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static int make_parents(const char *path, struct bj_err *err)
{
	char part[PATH_MAX];

	for (const char *p = path + 1; (p = strchr(p, '/')); p++) {
		snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return bj_err_set(err, BJ_E_SYSTEM, errno,
					  "cannot make %.120s; set state_dir", part);
	}
	return 0;
}

/* Files that others could replace prove nothing. */
static int check_owner(int fd, const char *path, struct bj_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot look at %.120s", path);
	if ((st.st_uid != geteuid() && geteuid() != 0) || (st.st_mode & 022))
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "%.120s belongs to somebody else or others may write to it; set "
				  "state_dir",
				  path);
	return 0;
}

/* In a directory that root shares with the service's user both must read and write what the other
 * made, without any capability. The directory lets nobody else in, so files need no second lock. */
static void share(int dir, int fd)
{
	struct stat st;

	if (fstat(dir, &st) == 0 && st.st_mode & 020 && fchmod(fd, 0666) < 0)
		return; /* then the other one is told when it opens the file */
}

int bj_state_below(int top, const char *path, const char *below, struct bj_err *err)
{
	static const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	AUTO_FD int fd = openat(top, below, flags);

	if (fd < 0 && errno == ENOENT) {
		if (mkdirat(top, below, 0700) < 0 && errno != EEXIST)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make %.120s/%s", path,
					  below);
		fd = openat(top, below, flags);
	}
	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open %.120s/%s", path, below);
	return bj_take_fd(&fd);
}

static int make(const char *path, struct bj_err *err)
{
	const int r = make_parents(path, err);

	if (r == 0 && mkdir(path, 0700) < 0 && errno != EEXIST)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make %.120s; set state_dir",
				  path);
	return r;
}

int bj_state_open(const char *path, const char *below, struct bj_err *err)
{
	static const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	AUTO_FD int fd = open(path, flags);
	int r = 0;

	if (fd < 0 && errno == ENOENT) {
		r = make(path, err);
		if (r < 0)
			return r;
		fd = open(path, flags);
	}
	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open %.120s; set state_dir",
				  path);
	r = check_owner(fd, path, err);
	if (r < 0)
		return r;
	return below ? bj_state_below(fd, path, below, err) : bj_take_fd(&fd);
}

int bj_state_file(int dir, const char *name, int flags)
{
	struct stat st;
	AUTO_FD int fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((flags & O_CREAT) && st.st_size == 0)
		share(dir, fd);
	return bj_take_fd(&fd);
}
