/* SPDX-License-Identifier: Apache-2.0 */
#include "record/folder.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SHARED = 02770 };

int bj_folder_path(const struct bj_settings *settings, char path[BJ_FOLDER_PATH],
		   struct bj_err *err)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;

	if (settings->state_dir)
		n = snprintf(path, BJ_FOLDER_PATH, "%s", settings->state_dir);
	else if (geteuid() == 0)
		n = snprintf(path, BJ_FOLDER_PATH, "/var/lib/belljar");
	else if (state && state[0] == '/')
		n = snprintf(path, BJ_FOLDER_PATH, "%s/belljar", state);
	else if (home && home[0] == '/')
		n = snprintf(path, BJ_FOLDER_PATH, "%s/.local/state/belljar", home);
	else
		return bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "no place for records: set state_dir, or record.enabled to "
				  "false");
	/* Room for what is appended. */
	if (n + 64 >= BJ_FOLDER_PATH)
		return bj_err_set(err, BJ_E_LIMIT, 0, "state_dir: the path is too long");
	return 0;
}

static int cannot(const char *path, struct bj_err *err)
{
	return bj_err_set(err, BJ_E_SYSTEM, errno,
			  "cannot keep records in %.100s; set state_dir, or record.enabled to "
			  "false",
			  path);
}

static int make_dirs(char *path, mode_t last, struct bj_err *err)
{
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';

		const int r = mkdir(path, 0755);
		const int why = errno;

		if (r < 0 && why != EEXIST && access(path, F_OK) < 0) {
			errno = why;
			cannot(path, err);
			*p = '/';
			return -BJ_E_SYSTEM;
		}
		*p = '/';
	}
	return mkdir(path, last) < 0 && errno != EEXIST ? cannot(path, err) : 0;
}

/* The state directory, whose path is @top bytes long, and what @path names in it: private. */
static int make_ours(char *path, size_t top, struct bj_err *err)
{
	int r;

	path[top] = '\0';
	r = make_dirs(path, 0700, err);
	path[top] = '/';
	for (char *p = path + top + 1; r == 0 && (p = strchr(p, '/')); p++) {
		*p = '\0';
		r = mkdir(path, 0700) < 0 && errno != EEXIST ? cannot(path, err) : 0;
		*p = '/';
	}
	if (r == 0 && mkdir(path, 0700) < 0 && errno != EEXIST)
		r = cannot(path, err);
	return r;
}

/* Nobody but us, root, or whom root gave it to, may change what stands there. */
static int check_owner(int fd, const char *path, struct bj_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return cannot(path, err);
	if (geteuid() != 0 && st.st_uid != geteuid())
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "%.100s belongs to somebody else; set state_dir", path);
	if (st.st_mode & 02 || ((st.st_mode & 020) && st.st_gid != 0))
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "others may write to %.100s; chmod go-w it, or set state_dir",
				  path);
	return 0;
}

int bj_folder_open(const struct bj_settings *settings, const char *name, char *ret_path,
		   struct bj_err *err)
{
	char path[BJ_FOLDER_PATH];
	int r = bj_folder_path(settings, path, err);

	if (r < 0)
		return r;

	const size_t top = strlen(path);

	snprintf(path + top, sizeof(path) - top, "/%s", name);

	AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT) {
		r = make_ours(path, top, err);
		if (r < 0)
			return r;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0)
		return cannot(path, err);
	r = check_owner(fd, path, err);
	if (r < 0)
		return r;
	if (ret_path)
		memcpy(ret_path, path, BJ_FOLDER_PATH);
	return bj_take_fd(&fd);
}

mode_t bj_folder_mode(int dir_fd, bool folder)
{
	struct stat st;

	if (fstat(dir_fd, &st) < 0 || !(st.st_mode & 020))
		return folder ? 0700 : 0600;
	/* Shared: the folder lets only its user and root in, so these need no second lock. */
	return folder ? 0775 : 0664;
}

/* --- giving ----------------------------------------------------------------------------------- */

static int give_entry(int dir, const char *name, uid_t uid)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISLNK(st.st_mode))
		return 0;
	if (st.st_uid == uid && st.st_gid == 0)
		return 0;
	/* The folder may be another's already: change what was opened, never a path. */
	AUTO_FD int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return 0;
	/* A second name could lead to a file of somebody else. */
	if (S_ISREG(st.st_mode) && st.st_nlink > 1)
		return 0;
	if (fchown(fd, uid, 0) < 0)
		return -errno;
	return fchmod(fd, S_ISDIR(st.st_mode) ? SHARED : 0660) < 0 ? -errno : 0;
}

static int give_all(int dir_take, uid_t uid, unsigned int depth)
{
	AUTO_DIR DIR *d = fdopendir(dir_take);
	const struct dirent *e;
	int r = 0;

	if (!d) {
		close(dir_take);
		return -errno;
	}
	while (r == 0 && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		r = give_entry(dirfd(d), e->d_name, uid);
		if (r == 0 && depth > 0 && e->d_type == DT_DIR) {
			const int sub = openat(dirfd(d), e->d_name,
					       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			r = sub < 0 ? 0 : give_all(sub, uid, depth - 1);
		}
	}
	return r;
}

int bj_folder_give(const struct bj_settings *settings, const char *name, uid_t uid,
		   struct bj_err *err)
{
	enum { DEPTH = 4 };
	char path[BJ_FOLDER_PATH];
	struct stat st;
	AUTO_FD int fd = bj_folder_open(settings, name, path, err);

	if (fd < 0)
		return -err->code;
	if (fstat(fd, &st) == 0 && st.st_uid == uid && st.st_gid == 0 && (st.st_mode & 020))
		return 0;
	/* Last of all: until then nobody else can put anything in. */
	const int copy = dup(fd);
	const int r = copy < 0 ? -errno : give_all(copy, uid, DEPTH);

	if (r < 0) {
		errno = -r;
		return cannot(path, err);
	}
	if (fchown(fd, uid, 0) < 0 || fchmod(fd, SHARED) < 0)
		return cannot(path, err);
	return 0;
}
