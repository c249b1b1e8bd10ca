/* SPDX-License-Identifier: Apache-2.0 */
#include "image/archive.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <dlfcn.h>
#include <stddef.h>

#define SYMBOL(field, name)                                                                        \
	{                                                                                          \
		name, offsetof(struct bj_archive_lib, field)                                       \
	}

int bj_archive_load(struct bj_archive_lib *ret, struct bj_err *err)
{
	static const struct {
		const char *name;
		size_t offset;
	} symbols[] = {
		SYMBOL(read_new, "archive_read_new"),
		SYMBOL(read_free, "archive_read_free"),
		SYMBOL(filter_gzip, "archive_read_support_filter_gzip"),
		SYMBOL(filter_bzip2, "archive_read_support_filter_bzip2"),
		SYMBOL(filter_xz, "archive_read_support_filter_xz"),
		SYMBOL(filter_zstd, "archive_read_support_filter_zstd"),
		SYMBOL(format_tar, "archive_read_support_format_tar"),
		SYMBOL(format_raw, "archive_read_support_format_raw"),
		SYMBOL(format_empty, "archive_read_support_format_empty"),
		SYMBOL(open_fd, "archive_read_open_fd"),
		SYMBOL(open, "archive_read_open"),
		SYMBOL(next_header, "archive_read_next_header"),
		SYMBOL(read_data, "archive_read_data"),
		SYMBOL(read_block, "archive_read_data_block"),
		SYMBOL(filter_bytes, "archive_filter_bytes"),
		SYMBOL(error, "archive_error_string"),
		SYMBOL(set_error, "archive_set_error"),
		SYMBOL(path, "archive_entry_pathname"),
		SYMBOL(path_utf8, "archive_entry_pathname_utf8"),
		SYMBOL(symlink, "archive_entry_symlink"),
		SYMBOL(symlink_utf8, "archive_entry_symlink_utf8"),
		SYMBOL(hardlink, "archive_entry_hardlink"),
		SYMBOL(hardlink_utf8, "archive_entry_hardlink_utf8"),
		SYMBOL(type, "archive_entry_filetype"),
		SYMBOL(mode, "archive_entry_mode"),
		SYMBOL(size, "archive_entry_size"),
		SYMBOL(mtime, "archive_entry_mtime"),
	};
	void *lib = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "images need libarchive; install libarchive13");
	for (size_t i = 0; i < BJ_ARRAY_SIZE(symbols); i++) {
		void *symbol = dlsym(lib, symbols[i].name);

		if (!symbol)
			return bj_err_set(err, BJ_E_UNSUPPORTED, 0, "libarchive has no %s",
					  symbols[i].name);
		*(void **)((char *)ret + symbols[i].offset) = symbol;
	}
	return 0;
}

/* --- names ------------------------------------------------------------------------------------ */

const char *bj_archive_path(const struct bj_archive_lib *lib, struct archive_entry *e)
{
	const char *text = lib->path(e);

	return text ? text : lib->path_utf8(e);
}

const char *bj_archive_symlink(const struct bj_archive_lib *lib, struct archive_entry *e)
{
	const char *text = lib->symlink(e);

	return text ? text : lib->symlink_utf8(e);
}

const char *bj_archive_hardlink(const struct bj_archive_lib *lib, struct archive_entry *e)
{
	const char *text = lib->hardlink(e);

	return text ? text : lib->hardlink_utf8(e);
}

struct archive *bj_archive_reader(const struct bj_archive_lib *lib)
{
	struct archive *a = lib->read_new();

	if (!a)
		return NULL;
	lib->filter_gzip(a);
	lib->filter_bzip2(a);
	lib->filter_xz(a);
	lib->filter_zstd(a);
	return a;
}
