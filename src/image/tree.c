/* SPDX-License-Identifier: Apache-2.0 */
#include "image/tree.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WHITEOUT        ".wh."
#define WHITEOUT_OWN    ".wh..wh." /* of the file system that invented them */
#define WHITEOUT_OPAQUE ".wh..wh..opq"

/* --- walking ---------------------------------------------------------------------------------- */

/* Open one component below @dir. RESOLVE_BENEATH says again what the name's own check has said. */
static int open_component(int dir, const char *name, int flags)
{
	const struct open_how how = {
		.flags = (uint64_t)(flags | O_NOFOLLOW | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
}

static int bad_path(const char *path, const char *why, struct bj_err *err)
{
	return bj_err_set(err, BJ_E_INVALID, 0, "the archive is not safe: %.100s %s", path, why);
}

/* Take the next component off *@path into @name. 1: there is one, 0: the path is over. */
static int next_component(const char **path, char name[BJ_TREE_NAME + 1], struct bj_err *err)
{
	const char *at = *path;

	while (*at == '/' || (at[0] == '.' && (at[1] == '/' || at[1] == '\0')))
		at++;

	const size_t n = strcspn(at, "/");

	*path = at + n;
	if (n == 0)
		return 0;
	if (n > BJ_TREE_NAME)
		return bad_path(at, "has too long a name", err);
	memcpy(name, at, n);
	name[n] = '\0';
	if (strcmp(name, "..") == 0)
		return bad_path(at, "leads out of it", err);
	return 1;
}

static int check_path(const char *path, struct bj_err *err)
{
	char name[BJ_TREE_NAME + 1];
	int r, depth = 0;

	if (path[0] == '/')
		return bad_path(path, "is an absolute path", err);
	if (strlen(path) >= BJ_TREE_PATH)
		return bad_path(path, "is too long a path", err);
	for (const char *at = path; (r = next_component(&at, name, err)) > 0;)
		depth++;
	if (r < 0)
		return r;
	return depth > BJ_TREE_DEPTH ? bad_path(path, "is too deep", err) : 0;
}

/* Count one entry with @bytes of content. */
static int charge(struct bj_tree *tree, uint64_t bytes, struct bj_err *err)
{
	if (tree->files >= tree->limits.files)
		return bj_err_set(err, BJ_E_LIMIT, 0,
				  "the image has more than %llu files; see images.max_files",
				  (unsigned long long)tree->limits.files);
	if (bytes > tree->limits.bytes - tree->bytes)
		return bj_err_set(err, BJ_E_LIMIT, 0,
				  "the image is over %llu MiB; see images.max_size",
				  (unsigned long long)(tree->limits.bytes >> 20));
	tree->files++;
	tree->bytes += bytes;
	return 0;
}

/* Where an entry goes: the directory and the last component. An empty name is the root itself. */
struct spot {
	int dir; /* owned */
	char name[BJ_TREE_NAME + 1];
};

static void spot_done(struct spot *spot)
{
	if (spot->dir >= 0)
		close(spot->dir);
}

#define AUTO_SPOT __attribute__((cleanup(spot_done)))

/* Step into @name. -ENOENT, -ENOTDIR, -ELOOP. */
static int step(int dir, const char *name)
{
	const int fd = open_component(dir, name, O_PATH | O_DIRECTORY);

	return fd < 0 ? -errno : fd;
}

/* The same after making it. Parents that no entry of the archive names count like those it does:
 * each long path could bring dozens. */
static int make_step(struct bj_tree *tree, int dir, const char *name, struct bj_err *err)
{
	const int r = charge(tree, 0, err);

	if (r < 0)
		return r;

	const int fd = mkdirat(dir, name, 0755) < 0 ? -errno : step(dir, name);

	return fd < 0 ? bj_err_set(err, BJ_E_SYSTEM, -fd, "cannot make %.100s", name) : fd;
}

/* Find the spot of @path. 0, or 1 when a parent is missing (with @make false). */
static int find_spot(struct bj_tree *tree, const char *path, bool make, struct spot *ret,
		     struct bj_err *err)
{
	const char *at = path;
	char next[BJ_TREE_NAME + 1];
	int r = check_path(path, err);

	if (r < 0)
		return r;
	AUTO_FD int dir = fcntl(tree->root, F_DUPFD_CLOEXEC, 3);
	if (dir < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot unpack an image");
	ret->name[0] = '\0';
	r = next_component(&at, ret->name, err);
	while (r > 0 && next_component(&at, next, err) > 0) {
		int fd = step(dir, ret->name);

		if (fd == -ENOENT && !make)
			return 1;
		if (fd == -ENOTDIR || fd == -ELOOP)
			return bad_path(path, "leads through something that is no directory", err);
		if (fd < 0 && fd != -ENOENT)
			return bj_err_set(err, BJ_E_SYSTEM, -fd, "cannot unpack %.100s", path);
		if (fd < 0)
			fd = make_step(tree, dir, ret->name, err);
		if (fd < 0)
			return fd;
		close(dir);
		dir = fd;
		memcpy(ret->name, next, sizeof(next));
	}
	ret->dir = bj_take_fd(&dir);
	return 0;
}

/* --- removing --------------------------------------------------------------------------------- */

static int empty_directory(int fd_take, int depth);

/* 0 or -errno. */
static int remove_entry(int dir, const char *name, int depth)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (depth > BJ_TREE_DEPTH + 1)
		return -ELOOP;

	const int fd = open_component(dir, name, O_RDONLY | O_DIRECTORY);
	const int r = fd < 0 ? -errno : empty_directory(fd, depth + 1);

	if (r < 0)
		return r;
	return unlinkat(dir, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int empty_directory(int fd_take, int depth)
{
	AUTO_DIR DIR *dir = fdopendir(fd_take);
	struct dirent *e;

	if (!dir) {
		close(fd_take);
		return -ENOMEM;
	}
	while ((e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;

		const int r = remove_entry(dirfd(dir), e->d_name, depth);

		if (r < 0)
			return r;
	}
	return 0;
}

int bj_tree_remove(int dir_fd, const char *name, struct bj_err *err)
{
	const int r = remove_entry(dir_fd, name, 0);

	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "cannot remove %.100s", name) : 0;
}

bool bj_tree_is_whiteout(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, WHITEOUT, strlen(WHITEOUT)) == 0;
}

int bj_tree_whiteout(struct bj_tree *tree, const char *path, struct bj_err *err)
{
	AUTO_SPOT struct spot spot = { .dir = -1 };

	if (!bj_tree_is_whiteout(path))
		return 0;

	int r = find_spot(tree, path, false, &spot, err);

	if (r != 0)
		return r; /* nothing there to remove */

	const char *name = spot.name + strlen(WHITEOUT);

	if (strcmp(spot.name, WHITEOUT_OPAQUE) == 0) {
		const int fd = open_component(spot.dir, ".", O_RDONLY | O_DIRECTORY);

		r = fd < 0 ? -errno : empty_directory(fd, 0);
	} else if (strncmp(spot.name, WHITEOUT_OWN, strlen(WHITEOUT_OWN)) == 0) {
		return 1;
	} else if (!name[0] || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		return bad_path(path, "removes what is not its own", err);
	} else {
		r = remove_entry(spot.dir, name, 0);
	}
	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "cannot unpack %.100s", path) : 1;
}

/* --- making ----------------------------------------------------------------------------------- */

/* The spot for a new entry, with what was there before removed. The root cannot be replaced. */
static int clear_spot(struct bj_tree *tree, const char *path, uint64_t bytes, struct spot *ret,
		      struct bj_err *err)
{
	int r = charge(tree, bytes, err);

	if (r == 0)
		r = find_spot(tree, path, true, ret, err);
	if (r < 0)
		return r;
	if (!ret->name[0])
		return bad_path(path, "replaces the root", err);
	r = remove_entry(ret->dir, ret->name, 0);
	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "cannot unpack %.100s", path) : 0;
}

int bj_tree_dir(struct bj_tree *tree, const char *path, struct bj_err *err)
{
	AUTO_SPOT struct spot spot = { .dir = -1 };
	int r = charge(tree, 0, err);

	if (r == 0)
		r = find_spot(tree, path, true, &spot, err);
	if (r < 0 || !spot.name[0])
		return r;
	/* A directory that a lower layer has stays; a file or a link of that name goes. */
	AUTO_FD int old = step(spot.dir, spot.name);
	if (old >= 0)
		return 0;
	r = remove_entry(spot.dir, spot.name, 0);
	if (r == 0 && mkdirat(spot.dir, spot.name, 0755) < 0)
		r = -errno;
	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "cannot unpack %.100s", path) : 0;
}

int bj_tree_symlink(struct bj_tree *tree, const char *path, const char *target, struct bj_err *err)
{
	AUTO_SPOT struct spot spot = { .dir = -1 };

	if (!target[0] || strlen(target) >= BJ_TREE_PATH)
		return bad_path(path, "is a link to nothing or to too long a path", err);

	const int r = clear_spot(tree, path, 0, &spot, err);

	if (r < 0)
		return r;
	if (symlinkat(target, spot.dir, spot.name) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot unpack %.100s", path);
	return 0;
}

int bj_tree_hardlink(struct bj_tree *tree, const char *path, const char *target, struct bj_err *err)
{
	AUTO_SPOT struct spot from = { .dir = -1 };
	AUTO_SPOT struct spot to = { .dir = -1 };
	struct stat old, now;
	int r = find_spot(tree, target, false, &from, err);

	if (r < 0)
		return r;
	if (r > 0 || fstatat(from.dir, from.name, &old, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(old.st_mode))
		return bad_path(path, "is a link to no file of the archive", err);
	r = find_spot(tree, path, true, &to, err);
	if (r == 0 && to.name[0] && fstatat(to.dir, to.name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    now.st_ino == old.st_ino && now.st_dev == old.st_dev)
		return charge(tree, 0, err); /* it is that file already */
	spot_done(&to);
	to.dir = -1;
	if (r == 0)
		r = clear_spot(tree, path, 0, &to, err);
	if (r < 0)
		return r;
	if (linkat(from.dir, from.name, to.dir, to.name, 0) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot unpack %.100s", path);
	return 0;
}

int bj_tree_file(struct bj_tree *tree, const char *path, uint64_t size, bool executable,
		 struct bj_err *err)
{
	AUTO_SPOT struct spot spot = { .dir = -1 };
	const int r = clear_spot(tree, path, size, &spot, err);

	if (r < 0)
		return r;

	const int fd =
		openat(spot.dir, spot.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       executable ? 0755 : 0644);

	return fd < 0 ? bj_err_set(err, BJ_E_SYSTEM, errno, "cannot unpack %.100s", path) : fd;
}

/* --- settling --------------------------------------------------------------------------------- */

static int settle_entry(int dir, const char *name, uid_t uid, gid_t gid, int *ret_dir,
			struct bj_err *err)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot look at %.100s", name);
	if ((!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) ||
	    (!S_ISLNK(st.st_mode) && (st.st_mode & 07022)))
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "%.100s should not be in an image", name);
	if (uid != (uid_t)-1 && fchownat(dir, name, uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot take over %.100s", name);
	*ret_dir = S_ISDIR(st.st_mode) ? open_component(dir, name, O_RDONLY | O_DIRECTORY) : -1;
	if (S_ISDIR(st.st_mode) && *ret_dir < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open %.100s", name);
	return 0;
}

static int settle(int fd_take, uid_t uid, gid_t gid, int depth, struct bj_err *err)
{
	AUTO_DIR DIR *dir = fdopendir(fd_take);
	struct dirent *e;

	if (!dir || depth > BJ_TREE_DEPTH) {
		if (!dir)
			close(fd_take);
		return bj_err_set(err, BJ_E_LIMIT, 0, "the image is too deep");
	}
	while ((e = readdir(dir))) {
		int below = -1;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;

		int r = settle_entry(dirfd(dir), e->d_name, uid, gid, &below, err);

		if (r == 0 && below >= 0)
			r = settle(below, uid, gid, depth + 1, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int bj_tree_settle(int root, uid_t uid, gid_t gid, struct bj_err *err)
{
	const int fd = open_component(root, ".", O_RDONLY | O_DIRECTORY);

	if (fd < 0 || (uid != (uid_t)-1 && fchown(root, uid, gid) < 0)) {
		if (fd >= 0)
			close(fd);
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open an image");
	}
	return settle(fd, uid, gid, 0, err);
}
