/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation: two readers stand behind each other. The first undoes the compression, and
 * its bytes are hashed and counted; the second reads them as a tar archive. So the digest is that
 * of what was unpacked, and a bomb is seen while it goes off. */

#include "image/layer.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BLOCK = 65536,
	/* Gzip reaches 1,000; what people compress stays below 20. */
	RATIO_MAX = 200,
};
/* Small archives of nothing but zeros are honest. */
#define RATIO_FROM (UINT64_C(64) << 20)

struct stream {
	const struct bj_archive_lib *lib;
	struct archive *raw;
	crypto_hash_sha256_state hash;
	uint64_t bytes, max;
	struct bj_err err;
	char block[BLOCK];
};

void bj_image_digest(const void *data, size_t size, char ret[BJ_DIGEST_HEX])
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, data, size);
	sodium_bin2hex(ret, BJ_DIGEST_HEX, hash, sizeof(hash));
}

bool bj_image_is_bomb(uint64_t in, uint64_t out)
{
	return out > RATIO_FROM && out / RATIO_MAX > in;
}

static int broken(const struct bj_archive_lib *lib, struct archive *a, struct bj_err *err)
{
	const char *why = lib->error(a);

	return bj_err_set(err, BJ_E_INVALID, 0, "the archive cannot be read: %.140s",
			  why ? why : "it is damaged");
}

/* --- the uncompressed bytes ------------------------------------------------------------------- */

static la_ssize_t read_stream(struct archive *tar, void *ctx, const void **ret)
{
	struct stream *s = ctx;
	const la_ssize_t n = s->lib->read_data(s->raw, s->block, sizeof(s->block));

	if (n < 0)
		broken(s->lib, s->raw, &s->err);
	if (n > 0) {
		s->bytes += (uint64_t)n;
		crypto_hash_sha256_update(&s->hash, (unsigned char *)s->block, (size_t)n);
		if (s->bytes > s->max ||
		    bj_image_is_bomb((uint64_t)s->lib->filter_bytes(s->raw, -1), s->bytes))
			bj_err_set(&s->err, BJ_E_LIMIT, 0,
				   "a layer unpacks to more than it may; see images.max_size");
	}
	if (s->err.code) {
		if (tar)
			s->lib->set_error(tar, EIO, "%s", s->err.msg);
		return ARCHIVE_FATAL;
	}
	*ret = s->block;
	return n;
}

/* 1: there is something to read, 0: the file is empty. */
static int open_raw(struct stream *s, int fd, struct bj_err *err)
{
	struct archive_entry *entry;

	s->raw = bj_archive_reader(s->lib);
	if (!s->raw)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for an archive");
	s->lib->format_raw(s->raw);
	s->lib->format_empty(s->raw);
	if (s->lib->open_fd(s->raw, fd, BLOCK) != ARCHIVE_OK)
		return broken(s->lib, s->raw, err);

	const int r = s->lib->next_header(s->raw, &entry);

	return r == ARCHIVE_EOF ? 0 : r < ARCHIVE_WARN ? broken(s->lib, s->raw, err) : 1;
}

/* --- entries ---------------------------------------------------------------------------------- */

static int write_file(const struct bj_archive_lib *lib, struct archive *tar, int fd, uint64_t size,
		      struct bj_err *err)
{
	const void *data;
	size_t n;
	la_int64_t offset;
	int r;

	while ((r = lib->read_block(tar, &data, &n, &offset)) == ARCHIVE_OK) {
		/* A sparse map may name any place: nothing is written past the size in the head. */
		if (offset < 0 || (uint64_t)offset > size || n > size - (uint64_t)offset)
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "the archive is not safe: a file is longer than it says");
		for (size_t done = 0; done < n;) {
			const ssize_t w = pwrite(fd, (const char *)data + done, n - done,
						 offset + (la_int64_t)done);

			if (w <= 0)
				return bj_err_set(err, BJ_E_SYSTEM, errno,
						  "cannot write a file of the image");
			done += (size_t)w;
		}
	}
	if (r != ARCHIVE_EOF)
		return broken(lib, tar, err);
	if (ftruncate(fd, (off_t)size) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot write a file of the image");
	return 0;
}

static int add_file(const struct bj_archive_lib *lib, struct archive *tar, struct archive_entry *e,
		    const char *path, struct bj_tree *tree, struct bj_err *err)
{
	const la_int64_t size = lib->size(e);
	/* Python believes a compiled module only when the time of its source is as it was. */
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = lib->mtime(e) } };

	if (size < 0)
		return bj_err_set(err, BJ_E_INVALID, 0, "the archive is not safe: a negative size");
	AUTO_FD int fd = bj_tree_file(tree, path, (uint64_t)size, lib->mode(e) & 0111, err);
	if (fd < 0)
		return fd;

	const int r = write_file(lib, tar, fd, (uint64_t)size, err);

	if (r == 0)
		futimens(fd, times);
	return r;
}

static int add_entry(const struct bj_archive_lib *lib, struct archive *tar, struct archive_entry *e,
		     const char *path, struct bj_tree *tree, struct bj_err *err)
{
	const char *link = bj_archive_hardlink(lib, e);

	if (link)
		return bj_tree_hardlink(tree, path, link, err);
	switch (lib->type(e)) {
	case S_IFDIR:
		return bj_tree_dir(tree, path, err);
	case S_IFREG:
		return add_file(lib, tar, e, path, tree, err);
	case S_IFLNK:
		link = bj_archive_symlink(lib, e);
		return bj_tree_symlink(tree, path, link ? link : "", err);
	default:
		tree->dropped++;
		return 0;
	}
}

static int take_entry(const struct bj_archive_lib *lib, struct archive *tar,
		      struct archive_entry *e, bool whiteouts, struct bj_tree *tree,
		      struct bj_err *err)
{
	const char *path = bj_archive_path(lib, e);

	if (!path)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "the archive is not safe: an entry has no name");
	if (whiteouts)
		return bj_tree_whiteout(tree, path, err);
	return bj_tree_is_whiteout(path) ? 0 : add_entry(lib, tar, e, path, tree, err);
}

static int take_entries(struct stream *s, struct archive *tar, bool whiteouts, struct bj_tree *tree,
			struct bj_err *err)
{
	struct archive_entry *entry;
	uint64_t seen = 0;
	int r;

	while ((r = s->lib->next_header(tar, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
		/* Entries that make nothing cost time, too. */
		if (++seen > tree->limits.files)
			return bj_err_set(err, BJ_E_LIMIT, 0,
					  "a layer has more than %llu entries; see "
					  "images.max_files",
					  (unsigned long long)tree->limits.files);

		const int taken = take_entry(s->lib, tar, entry, whiteouts, tree, err);

		if (taken < 0)
			return taken;
	}
	if (r == ARCHIVE_EOF)
		return 0;
	if (s->err.code)
		*err = s->err;
	return s->err.code ? -s->err.code : broken(s->lib, tar, err);
}

static int read_layer(struct stream *s, int fd, bool whiteouts, struct bj_tree *tree,
		      struct bj_err *err)
{
	const void *rest;
	la_ssize_t n = 0;
	int r = open_raw(s, fd, err);

	if (r <= 0)
		return r;

	struct archive *tar = s->lib->read_new();

	if (!tar)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for an archive");
	s->lib->format_tar(tar);
	s->lib->format_empty(tar);
	r = s->lib->open(tar, s, NULL, read_stream, NULL) == ARCHIVE_OK
		    ? take_entries(s, tar, whiteouts, tree, err)
		    : broken(s->lib, tar, err);
	s->lib->read_free(tar);
	/* The padding behind the last entry belongs to the digest. */
	while (r == 0 && (n = read_stream(NULL, s, &rest)) > 0)
		;
	if (r == 0 && n < 0) {
		*err = s->err;
		return -err->code;
	}
	return r;
}

int bj_image_layer(const struct bj_archive_lib *lib, int fd, bool whiteouts, struct bj_tree *tree,
		   char ret_digest[BJ_DIGEST_HEX], struct bj_err *err)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	struct stream *s = calloc(1, sizeof(*s));

	if (!s || lseek(fd, 0, SEEK_SET) < 0) {
		free(s);
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read a layer");
	}
	s->lib = lib;
	/* Heads and padding come on top of the files' own bytes. */
	s->max = tree->limits.bytes + tree->limits.files * 2048;
	crypto_hash_sha256_init(&s->hash);

	const int r = read_layer(s, fd, whiteouts, tree, err);

	if (s->raw)
		lib->read_free(s->raw);
	crypto_hash_sha256_final(&s->hash, hash);
	free(s);
	if (r < 0)
		return r;
	sodium_bin2hex(ret_digest, BJ_DIGEST_HEX, hash, sizeof(hash));
	return 0;
}
