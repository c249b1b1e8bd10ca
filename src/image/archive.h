/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <archive.h>
#include <archive_entry.h>

/* libarchive, loaded when an image is imported and nowhere else: it brings a dozen libraries along
 * that no run has a use for. */
struct bj_archive_lib {
	struct archive *(*read_new)(void);
	int (*read_free)(struct archive *a);
	int (*filter_gzip)(struct archive *a);
	int (*filter_bzip2)(struct archive *a);
	int (*filter_xz)(struct archive *a);
	int (*filter_zstd)(struct archive *a);
	int (*format_tar)(struct archive *a);
	int (*format_raw)(struct archive *a);
	int (*format_empty)(struct archive *a);
	int (*open_fd)(struct archive *a, int fd, size_t block);
	int (*open)(struct archive *a, void *ctx, archive_open_callback *open,
		    archive_read_callback *read, archive_close_callback *close);
	int (*next_header)(struct archive *a, struct archive_entry **ret);
	la_ssize_t (*read_data)(struct archive *a, void *data, size_t size);
	int (*read_block)(struct archive *a, const void **data, size_t *size, la_int64_t *offset);
	la_int64_t (*filter_bytes)(struct archive *a, int n);
	const char *(*error)(struct archive *a);
	void (*set_error)(struct archive *a, int number, const char *fmt, ...);
	const char *(*path)(struct archive_entry *e);
	const char *(*path_utf8)(struct archive_entry *e);
	const char *(*symlink)(struct archive_entry *e);
	const char *(*symlink_utf8)(struct archive_entry *e);
	const char *(*hardlink)(struct archive_entry *e);
	const char *(*hardlink_utf8)(struct archive_entry *e);
	__LA_MODE_T (*type)(struct archive_entry *e);
	__LA_MODE_T (*mode)(struct archive_entry *e);
	la_int64_t (*size)(struct archive_entry *e);
	time_t (*mtime)(struct archive_entry *e);
};

/* Load it. -BJ_E_UNSUPPORTED when it is not installed. */
int bj_archive_load(struct bj_archive_lib *ret, struct bj_err *err);

/* The names of an entry, whatever its character set: what cannot be told is NULL. */
const char *bj_archive_path(const struct bj_archive_lib *lib, struct archive_entry *e);
const char *bj_archive_symlink(const struct bj_archive_lib *lib, struct archive_entry *e);
const char *bj_archive_hardlink(const struct bj_archive_lib *lib, struct archive_entry *e);

/* A reader with every compression that images come in; the format is the caller's choice. NULL:
 * no memory. The caller frees it with lib->read_free(). */
struct archive *bj_archive_reader(const struct bj_archive_lib *lib);
