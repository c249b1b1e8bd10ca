/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "config/load.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILE = 256 * 1024 };

/* A file that was found, not named, decides what is sealed off and how: it must be of the
 * administrator or of who runs belljar, and not everybody may write it. */
static int check_owner(int fd, const char *path, struct bj_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot look at %.120s", path);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "%.120s belongs to another user; name it in BELLJAR_CONFIG if it "
				  "is to be used",
				  path);
	if (st.st_mode & S_IWOTH)
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "%.120s can be written by everybody; `chmod o-w` it", path);
	return 0;
}

static int read_fd(struct bj_loaded *loaded, int fd, const char *path, struct bj_err *err)
{
	AUTO_BUF struct bj_buf data = { .max = MAX_FILE };
	int r = bj_fd_read_all(fd, &data);

	if (r == -EFBIG)
		return bj_err_set(err, BJ_E_LIMIT, 0, "%.120s is larger than %d KiB", path,
				  MAX_FILE / 1024);
	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot read %.120s", path);
	loaded->file = strdup(path);
	if (!loaded->file)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read %.120s", path);
	return bj_load_yaml(loaded, data.data ? data.data : "", data.size, err);
}

static int read_named(struct bj_loaded *loaded, const char *path, const char *named_by,
		      struct bj_err *err)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return bj_err_set(err, errno == ENOENT ? BJ_E_NOT_FOUND : BJ_E_SYSTEM, errno,
				  "cannot open the settings file %.120s%s", path, named_by);
	return read_fd(loaded, fd, path, err);
}

/* 1: it was read; 0: it is not there. */
static int read_if_there(struct bj_loaded *loaded, const char *path, struct bj_err *err)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open the settings file %.120s",
				  path);

	int r = check_owner(fd, path, err);

	if (r == 0)
		r = read_fd(loaded, fd, path, err);
	return r < 0 ? r : 1;
}

static int read_below(struct bj_loaded *loaded, const char *dir, const char *rest,
		      struct bj_err *err)
{
	AUTO_FREE char *path = NULL;

	if (asprintf(&path, "%s/%s", dir, rest) < 0) {
		path = NULL;
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot name the settings file");
	}
	return read_if_there(loaded, path, err);
}

static int read_own(struct bj_loaded *loaded, struct bj_err *err)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	if (xdg && xdg[0] == '/')
		return read_below(loaded, xdg, "belljar/config.yaml", err);
	if (home && home[0] == '/')
		return read_below(loaded, home, ".config/belljar/config.yaml", err);
	return 0;
}

int bj_load_file(struct bj_loaded *loaded, const char *path, struct bj_err *err)
{
	const char *variable = getenv("BELLJAR_CONFIG");

	if (path)
		return read_named(loaded, path, "", err);
	if (variable && variable[0] != '\0')
		return read_named(loaded, variable, ", which BELLJAR_CONFIG names", err);

	int r = read_own(loaded, err);

	if (r == 0)
		r = read_if_there(loaded, "/etc/belljar/config.yaml", err);
	return r < 0 ? r : 0;
}
