/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

/* A pack is a run of named records in one byte string. It carries what only the jar itself reads
 * (arguments, environment, inputs) past the launcher, which never looks inside, and the
 * files a script left in out/ back to the front. Every length is checked against what is there. */

enum bj_pack_type {
	BJ_PACK_ARG = 1, /* data */
	BJ_PACK_ENV,     /* data: K=V */
	BJ_PACK_INPUT,   /* name: file name in the working directory */
	BJ_PACK_FILE,    /* name: file name in out/; data follows */
	BJ_PACK_REFUSED, /* something in out/ that is not collected */
	BJ_PACK_END,
};

enum { BJ_PACK_NAME_MAX = 255 };

struct bj_pack_head {
	uint32_t type;
	uint32_t name_size;
	uint64_t data_size;
};

/* One record of a pack in memory; name and data point into it. The name is NUL-terminated. */
struct bj_pack_record {
	enum bj_pack_type type;
	char name[BJ_PACK_NAME_MAX + 1];
	const char *data;
	size_t size;
};

/* Append a record. A name that is too long fails the buffer. */
void bj_pack_add(struct bj_buf *buf, enum bj_pack_type type, const char *name, const void *data,
		 size_t size);

/* Read the record at *@pos of @pack and step over it: 1 when there is one, 0 at END,
 * -BJ_E_PROTOCOL when the pack is cut short or malformed. */
int bj_pack_next(const void *pack, size_t size, size_t *pos, struct bj_pack_record *ret);

/* Map the pack in the sealed memory file @fd, for the life of the process. */
int bj_pack_map(int fd, const void **ret_pack, size_t *ret_size, struct bj_err *err);

/* Whether @head is one that bj_pack_add() could have made. */
bool bj_pack_head_valid(const struct bj_pack_head *head);

/* A plain file name: one path component, not "." or "..", no control characters, valid UTF-8. */
bool bj_pack_name_ok(const char *name, size_t size);
