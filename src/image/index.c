/* SPDX-License-Identifier: Apache-2.0 */
#include "image/index.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

enum { JSON_MAX = 4 << 20 };

int bj_index_lock(const struct bj_images *images, struct bj_err *err)
{
	AUTO_FD int fd =
		openat(images->dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot lock %.200s", images->path);
	return bj_take_fd(&fd);
}

static json_t *read_json(int dir, const char *name)
{
	AUTO_BUF struct bj_buf text = { .max = JSON_MAX };
	AUTO_FD int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || bj_fd_read_all(fd, &text) < 0)
		return NULL;
	return json_loadb(text.data ? text.data : "", text.size, 0, NULL);
}

/* Write aside and rename: a reader sees the old file or the new one. */
static int write_json(int dir, const char *name, const json_t *value, struct bj_err *err)
{
	AUTO_FREE char *text = json_dumps(value, JSON_INDENT(1) | JSON_SORT_KEYS);
	char aside[64];

	snprintf(aside, sizeof(aside), ".%s", name);
	AUTO_FD int fd =
		openat(dir, aside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 || !text ? -errno : bj_fd_write_all(fd, text, strlen(text));

	if (r == 0 && (fsync(fd) < 0 || renameat(dir, aside, dir, name) < 0))
		r = -errno;
	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "cannot write %s", name) : 0;
}

json_t *bj_index_read(const struct bj_images *images)
{
	json_t *names = read_json(images->dir, "index.json");

	if (json_is_object(names))
		return names;
	json_decref(names);
	return json_object();
}

int bj_index_write(const struct bj_images *images, const json_t *names, struct bj_err *err)
{
	return write_json(images->dir, "index.json", names, err);
}

int bj_index_describe(int dir, const struct bj_image_info *i, struct bj_err *err)
{
	json_t *value = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:i}", "digest", i->digest,
				  "python", i->python, "bash", i->bash, "size", (json_int_t)i->size,
				  "files", (json_int_t)i->files, "created", (json_int_t)i->created,
				  "layers", (int)i->layers);
	const int r = value ? write_json(dir, "image.json", value, err)
			    : bj_err_set(err, BJ_E_INVALID, 0,
					 "the image has an interpreter with an unreadable name");

	json_decref(value);
	return r;
}

int bj_index_info(const struct bj_images *images, const char *digest, struct bj_image_info *ret,
		  struct bj_err *err)
{
	char file[BJ_DIGEST_HEX + 16];
	const char *said = NULL, *python = NULL, *bash = NULL;
	json_int_t size = 0, files = 0, created = 0, layers = 0;

	snprintf(file, sizeof(file), "%.64s/image.json", digest);

	json_t *value = read_json(images->dir, file);
	const int r = json_unpack(value, "{s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "digest", &said,
				  "python", &python, "bash", &bash, "size", &size, "files", &files,
				  "created", &created, "layers", &layers);

	if (r == 0) {
		*ret = (struct bj_image_info){ .size = (uint64_t)size,
					       .files = (uint64_t)files,
					       .created = (uint64_t)created,
					       .layers = (uint32_t)layers };
		snprintf(ret->digest, sizeof(ret->digest), "%.64s", said);
		snprintf(ret->python, sizeof(ret->python), "%s", python);
		snprintf(ret->bash, sizeof(ret->bash), "%s", bash);
	}
	json_decref(value);
	return r < 0 ? bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "the image %.12s is not whole; import it "
				  "again",
				  digest)
		     : 0;
}
