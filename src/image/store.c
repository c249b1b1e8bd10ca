/* SPDX-License-Identifier: Apache-2.0 */
#include "image/store.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "image/index.h"
#include "image/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { DIGITS_MIN = 12 };

/* --- the directory ---------------------------------------------------------------------------- */

static int find_place(const char *dir, const char *state_dir, char path[512], struct bj_err *err)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	int n;

	if (dir)
		n = snprintf(path, 512, "%s", dir);
	else if (state_dir)
		n = snprintf(path, 512, "%s/images", state_dir);
	else if (geteuid() == 0)
		n = snprintf(path, 512, "/var/lib/belljar/images");
	else if (data && data[0] == '/')
		n = snprintf(path, 512, "%s/belljar/images", data);
	else if (home && home[0] == '/')
		n = snprintf(path, 512, "%s/.local/share/belljar/images", home);
	else
		return bj_err_set(err, BJ_E_INVALID, 0, "no place for images; set images.dir");
	if (n >= 512)
		return bj_err_set(err, BJ_E_INVALID, 0, "images.dir has too long a name");
	return 0;
}

static int make_dirs(const char *dir, struct bj_err *err)
{
	char path[512];

	snprintf(path, sizeof(path), "%s", dir);
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make %.100s", path);
		*p = '/';
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make %.100s", path);
	return 0;
}

/* What stands here is run: nobody else may write to it. */
static int open_place(const char *path, struct bj_err *err)
{
	struct stat st;
	AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open %.100s", path);
	if ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & 022))
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "%.100s can be written by somebody else; set images.dir", path);
	return bj_take_fd(&fd);
}

int bj_images_open(struct bj_images *images, const char *dir, const char *state_dir, bool make,
		   struct bj_err *err)
{
	*images = (struct bj_images){ .dir = -1 };

	int r = find_place(dir, state_dir, images->path, err);

	if (r == 0 && make)
		r = make_dirs(images->path, err);
	if (r < 0)
		return r;
	if (!make && access(images->path, F_OK) < 0 && errno == ENOENT)
		return 1;
	r = images->dir = open_place(images->path, err);
	return r < 0 ? r : 0;
}

void bj_images_close(struct bj_images *images)
{
	if (images->dir >= 0)
		close(images->dir);
	images->dir = -1;
}

/* --- names ------------------------------------------------------------------------------------ */

static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789._-/";

/* How many characters of @text are the name of a registry with a port; 0: there is none. */
static size_t registry_size(const char *text)
{
	const size_t name = strspn(text, letters);
	const size_t digits = text[name] == ':' ? strspn(text + name + 1, "0123456789") : 0;
	const size_t n = name + 1 + digits;

	return digits > 0 && text[n] == '/' && !memchr(text, '/', name) ? n : 0;
}

int bj_image_name(const char *text, char ret[BJ_IMAGE_NAME], struct bj_err *err)
{
	static const char tags[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				   "._-";
	const char *slash = strrchr(text, '/');
	const char *colon = strchr(slash ? slash : text, ':');
	const size_t registry = registry_size(text);
	const size_t n = colon ? (size_t)(colon - text) : strlen(text);
	const char *tag = colon ? colon + 1 : "latest";

	if (n == 0 || strspn(text + registry, letters) != n - registry || !tag[0] ||
	    strspn(tag, tags) != strlen(tag) || strchr("._-/", text[0]) ||
	    n + strlen(tag) + 2 > BJ_IMAGE_NAME || strncmp(text, "host:", 5) == 0 ||
	    strcmp(text, "host") == 0)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "an image cannot be called %.60s; say something like data:1",
				  text);
	snprintf(ret, BJ_IMAGE_NAME, "%.*s:%s", (int)n, text, tag);
	return 0;
}

static bool is_digest(const char *name)
{
	return strlen(name) == BJ_DIGEST_HEX - 1 &&
	       strspn(name, "0123456789abcdef") == BJ_DIGEST_HEX - 1;
}

/* The image whose digest begins with @digits. 1 when there is exactly one. */
static int find_digest(const struct bj_images *images, const char *wanted, char ret[BJ_DIGEST_HEX])
{
	const int fd = openat(images->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int found = 0;

	while (dir && (e = readdir(dir)))
		if (is_digest(e->d_name) && strncmp(e->d_name, wanted, strlen(wanted)) == 0) {
			snprintf(ret, BJ_DIGEST_HEX, "%.64s", e->d_name);
			found++;
		}
	return found;
}

/* What to do about it is only said where it can be done. */
static int unknown(const char *text, struct bj_err *err)
{
	char name[BJ_IMAGE_NAME];

	if (strstr(text, "sha256:"))
		return bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "there is no image %.100s; `belljar image ls` lists them", text);
	if (bj_image_name(text, name, err) < 0)
		return -err->code;
	return bj_err_set(err, BJ_E_NOT_FOUND, 0,
			  "there is no image %.50s; run `belljar image build --name %.50s` or "
			  "`belljar image import FILE --name %.50s`",
			  text, text, text);
}

/* The digest that @text means: by name, by digest, or by both. */
static int resolve(const struct bj_images *images, const char *text, char name[BJ_IMAGE_NAME],
		   char digest[BJ_DIGEST_HEX], struct bj_err *err)
{
	const char *at = strstr(text, "sha256:");
	const char *wanted = at ? at + 7 : text;

	name[0] = '\0';
	if (images->dir < 0)
		return unknown(text, err);
	if (at ||
	    (strlen(text) >= DIGITS_MIN && strspn(text, "0123456789abcdef") == strlen(text))) {
		if (strlen(wanted) < DIGITS_MIN || find_digest(images, wanted, digest) != 1)
			return unknown(text, err);
		if (at > text && at[-1] == '@')
			snprintf(name, BJ_IMAGE_NAME, "%.*s", (int)(at - 1 - text), text);
		return 0;
	}

	int r = bj_image_name(text, name, err);

	if (r < 0)
		return r;

	json_t *names = bj_index_read(images);
	const char *found = json_string_value(json_object_get(names, name));

	if (found && is_digest(found))
		snprintf(digest, BJ_DIGEST_HEX, "%s", found);
	else
		r = unknown(text, err);
	json_decref(names);
	return r;
}

int bj_images_find(const struct bj_images *images, const char *text, struct bj_image_info *ret,
		   struct bj_err *err)
{
	char name[BJ_IMAGE_NAME], digest[BJ_DIGEST_HEX];
	int r = resolve(images, text, name, digest, err);

	if (r == 0)
		r = bj_index_info(images, digest, ret, err);
	if (r == 0)
		snprintf(ret->name, sizeof(ret->name), "%s", name);
	return r;
}

/* --- listing ---------------------------------------------------------------------------------- */

static bool has_name(json_t *names, const char *digest)
{
	const char *key;
	json_t *value;

	json_object_foreach(names, key, value)
	{
		if (json_string_value(value) && strcmp(json_string_value(value), digest) == 0)
			return true;
	}
	return false;
}

static int see_nameless(const struct bj_images *images, json_t *names,
			int (*see)(void *ctx, const struct bj_image_info *info), void *ctx)
{
	const int fd = openat(images->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct bj_image_info info;
	struct dirent *e;
	int r = 0;

	while (r == 0 && dir && (e = readdir(dir)))
		if (is_digest(e->d_name) && !has_name(names, e->d_name) &&
		    bj_index_info(images, e->d_name, &info, NULL) == 0)
			r = see(ctx, &info);
	return r;
}

int bj_images_each(const struct bj_images *images,
		   int (*see)(void *ctx, const struct bj_image_info *info), void *ctx,
		   struct bj_err *err)
{
	json_t *names = images->dir < 0 ? NULL : bj_index_read(images);
	struct bj_image_info info;
	const char *key;
	json_t *value;
	int r = 0;

	json_object_foreach(names, key, value)
	{
		const char *digest = json_string_value(value);

		if (r == 0 && digest && bj_index_info(images, digest, &info, err) == 0) {
			snprintf(info.name, sizeof(info.name), "%s", key);
			r = see(ctx, &info);
		}
	}
	if (r == 0 && names)
		r = see_nameless(images, names, see, ctx);
	json_decref(names);
	return r;
}

/* --- removing --------------------------------------------------------------------------------- */

/* Take the lock for ourselves. A run that has answered may take a moment until it is all gone, and
 * so does a service that hears of it. */
static bool take_over(int fd)
{
	for (int round = 0; round < 250; round++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		poll(NULL, 0, 20);
	}
	return false;
}

/* Remove the tree of @digest unless somebody holds it. */
static int remove_tree(const struct bj_images *images, const char *digest, struct bj_err *err)
{
	char root[BJ_DIGEST_HEX + 8], aside[BJ_DIGEST_HEX + 8];

	snprintf(root, sizeof(root), "%.64s/root", digest);
	snprintf(aside, sizeof(aside), ".new-%.64s", digest);
	AUTO_FD int fd = openat(images->dir, root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && !take_over(fd))
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "the image %.12s is in use; end its runs and the service first",
				  digest);
	if (renameat(images->dir, digest, images->dir, aside) < 0 && errno != ENOENT)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot remove the image");
	return bj_tree_remove(images->dir, aside, err);
}

/* Drop @name, or every name of @digest when there is none. How many names of it are left. */
static size_t drop_names(json_t *names, const char *name, const char *digest)
{
	const char *key;
	json_t *value;
	void *next;
	size_t left = 0;

	json_object_foreach_safe(names, next, key, value)
	{
		if (!json_string_value(value) || strcmp(json_string_value(value), digest) != 0)
			continue;
		if (!name[0] || strcmp(name, key) == 0)
			json_object_del(names, key);
		else
			left++;
	}
	return left;
}

int bj_images_remove(const struct bj_images *images, const char *text, struct bj_err *err)
{
	char name[BJ_IMAGE_NAME], digest[BJ_DIGEST_HEX];
	int r = resolve(images, text, name, digest, err);

	if (r < 0)
		return r;
	AUTO_FD int lock = bj_index_lock(images, err);
	if (lock < 0)
		return lock;

	json_t *names = bj_index_read(images), *before = json_deep_copy(names);
	const size_t left = drop_names(names, name, digest);

	/* The names first: a service that keeps something for the image lets go of it then. */
	r = bj_index_write(images, names, err);
	if (r == 0 && left == 0)
		r = remove_tree(images, digest, err);
	if (r < 0 && before && json_object_size(before) != json_object_size(names))
		(void)bj_index_write(images, before, NULL);
	json_decref(names);
	json_decref(before);
	return r;
}

/* --- sweeping --------------------------------------------------------------------------------- */

int bj_images_sweep(const struct bj_images *images)
{
	const int fd = openat(images->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int swept = 0;

	while (dir && (e = readdir(dir))) {
		if (strncmp(e->d_name, ".new-", 5) != 0)
			continue;
		AUTO_FD int left = openat(images->dir, e->d_name,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		/* A live import holds its lock. */
		if (left >= 0 && flock(left, LOCK_EX | LOCK_NB) == 0)
			swept += bj_tree_remove(images->dir, e->d_name, NULL) == 0;
	}
	return swept;
}
