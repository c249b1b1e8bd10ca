/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/tar.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 512 };

struct head {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
	char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], pad[12];
};

_Static_assert(sizeof(struct head) == BLOCK, "a tar header is one block");

/* A name of up to 100 bytes stands alone; a longer one goes before its data in an entry of its
 * own, which is how GNU tar writes it and every reader takes it. */
static void add_head(struct bj_buf *tar, const char *name, size_t name_size, char type,
		     unsigned int mode, size_t size)
{
	struct head h = { .type = type };
	unsigned int sum = 0;

	memcpy(h.name, name, name_size < sizeof(h.name) ? name_size : sizeof(h.name));
	snprintf(h.mode, sizeof(h.mode), "%07o", mode);
	snprintf(h.uid, sizeof(h.uid), "%07o", 0u);
	snprintf(h.gid, sizeof(h.gid), "%07o", 0u);
	snprintf(h.size, sizeof(h.size), "%011zo", size);
	snprintf(h.mtime, sizeof(h.mtime), "%011o", 0u);
	memcpy(h.magic, "ustar", 6);
	memcpy(h.version, "00", 2);
	memset(h.sum, ' ', sizeof(h.sum));
	for (size_t i = 0; i < sizeof(h); i++)
		sum += ((const unsigned char *)&h)[i];
	snprintf(h.sum, sizeof(h.sum), "%06o", sum);
	bj_buf_add(tar, &h, sizeof(h));
}

static void add_data(struct bj_buf *tar, const void *data, size_t size)
{
	static const char zero[BLOCK];

	bj_buf_add(tar, data, size);
	if (size % BLOCK)
		bj_buf_add(tar, zero, BLOCK - size % BLOCK);
}

static void add_entry(struct bj_buf *tar, const char *name, char type, unsigned int mode,
		      size_t size)
{
	const size_t n = strlen(name);

	if (n >= sizeof(((struct head *)0)->name)) {
		add_head(tar, "././@LongLink", 13, 'L', 0, n + 1);
		add_data(tar, name, n + 1);
	}
	add_head(tar, name, n, type, mode, size);
}

void bj_tar_dir(struct bj_buf *tar, const char *name, unsigned int mode)
{
	add_entry(tar, name, '5', mode, 0);
}

void bj_tar_file(struct bj_buf *tar, const char *name, unsigned int mode, const void *data,
		 size_t size)
{
	add_entry(tar, name, '0', mode, size);
	add_data(tar, data, size);
}

void bj_tar_end(struct bj_buf *tar)
{
	static const char zero[2 * BLOCK];

	bj_buf_add(tar, zero, sizeof(zero));
}
