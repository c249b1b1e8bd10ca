/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/harvest.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

void bj_harvest_init(struct bj_harvest *h, const char *run_id, int pipe_take, int dir,
		     uint32_t max_files, uint64_t max_bytes)
{
	*h = (struct bj_harvest){ .pipe = pipe_take,
				  .dir = dir,
				  .file = -1,
				  .max_files = max_files,
				  .max_bytes = max_bytes };
	snprintf(h->partial, sizeof(h->partial), ".belljar.%s", run_id);
}

static void drop_partial(struct bj_harvest *h)
{
	if (h->file < 0)
		return;
	close(h->file);
	h->file = -1;
	unlinkat(h->dir, h->partial, 0);
}

void bj_harvest_done(struct bj_harvest *h)
{
	drop_partial(h);
	if (h->pipe >= 0)
		close(h->pipe);
	h->pipe = -1;
}

static int open_file(struct bj_harvest *h, struct bj_err *err)
{
	if (!bj_pack_name_ok(h->name, h->name_have) || strcmp(h->name, h->partial) == 0 ||
	    h->files >= h->max_files || h->head.data_size > h->max_bytes - h->bytes)
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "the collector broke its limits");
	h->file = openat(h->dir, h->partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			 0644);
	if (h->file < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot write to the output directory");
	h->files++;
	h->bytes += h->head.data_size;
	return 0;
}

/* There is a directory of that name, or the file system has no such names. */
static bool is_of_name(int errnum)
{
	return errnum == EISDIR || errnum == ENAMETOOLONG || errnum == EINVAL || errnum == EILSEQ;
}

static int close_file(struct bj_harvest *h, struct bj_err *err)
{
	if (renameat(h->dir, h->partial, h->dir, h->name) < 0) {
		const int errnum = errno;

		drop_partial(h);
		if (is_of_name(errnum)) {
			h->files--;
			h->bytes -= h->head.data_size;
			h->refused++;
			return 0;
		}
		return bj_err_set(err, BJ_E_SYSTEM, errnum,
				  "cannot write %.100s to the output "
				  "directory",
				  h->name);
	}
	close(h->file);
	h->file = -1;
	return 0;
}

/* The head and the name of a record are there. */
static int begin_record(struct bj_harvest *h, struct bj_err *err)
{
	h->name[h->name_have] = '\0';
	h->data_left = h->head.data_size;
	if (h->head.type == BJ_PACK_END) {
		h->ended = true;
		return 0;
	}
	if (h->head.type == BJ_PACK_REFUSED) {
		h->refused++;
		h->data_left = 0;
		return 0;
	}
	if (h->head.type != BJ_PACK_FILE)
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "the collector sent something else");
	return open_file(h, err);
}

static size_t take(void *to, size_t *have, size_t want, const char *data, size_t size)
{
	const size_t n = want - *have < size ? want - *have : size;

	memcpy((char *)to + *have, data, n);
	*have += n;
	return n;
}

static int write_data(struct bj_harvest *h, const char *data, size_t n, struct bj_err *err)
{
	const int r = bj_fd_write_all(h->file, data, n);

	h->data_left -= n;
	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r,
				  "cannot write %.100s to the output "
				  "directory",
				  h->name);
	return 0;
}

/* Take one step through @data: the bytes used, or negative. */
static ssize_t step(struct bj_harvest *h, const char *data, size_t size, struct bj_err *err)
{
	size_t used = 0;
	int r = 0;

	if (h->head_have < sizeof(h->head)) {
		used = take(&h->head, &h->head_have, sizeof(h->head), data, size);
		if (h->head_have == sizeof(h->head) && !bj_pack_head_valid(&h->head))
			return bj_err_set(err, BJ_E_PROTOCOL, 0, "the collector sent rubbish");
		if (h->head_have < sizeof(h->head) || h->head.name_size > 0)
			return (ssize_t)used;
		r = begin_record(h, err);
	} else if (h->name_have < h->head.name_size) {
		used = take(h->name, &h->name_have, h->head.name_size, data, size);
		if (h->name_have < h->head.name_size)
			return (ssize_t)used;
		r = begin_record(h, err);
	} else {
		used = h->data_left < size ? (size_t)h->data_left : size;
		r = write_data(h, data, used, err);
	}
	if (r < 0)
		return r;
	if (h->data_left > 0 || h->ended)
		return (ssize_t)used;
	if (h->file >= 0)
		r = close_file(h, err);
	h->head_have = h->name_have = 0;
	return r < 0 ? r : (ssize_t)used;
}

int bj_harvest_read(struct bj_harvest *h, struct bj_err *err)
{
	char block[65536];
	const ssize_t n = read(h->pipe, block, sizeof(block));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read the files of out/");
	if (n == 0)
		return h->ended ? 1
				: bj_err_set(err, BJ_E_PROTOCOL, 0,
					     "not all files of out/ could be collected");
	for (size_t at = 0; at < (size_t)n && !h->ended;) {
		const ssize_t used = step(h, block + at, (size_t)n - at, err);

		if (used < 0)
			return (int)used;
		at += (size_t)used;
	}
	return 0;
}
