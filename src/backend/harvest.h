/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"
#include "jar/pack.h"

/* Files that arrive as a pack over a pipe and are written into a directory. The bytes come from
 * inside a jar: hostile. Each file is written aside and renamed, so no half file has its name. */
struct bj_harvest {
	int pipe; /* the pack comes from here; -1: none, or done */
	int dir;  /* borrowed */
	uint32_t max_files;
	uint64_t max_bytes;
	uint32_t files, refused;
	uint64_t bytes;
	/* where we are in the stream */
	struct bj_pack_head head;
	size_t head_have;
	char name[BJ_PACK_NAME_MAX + 1];
	size_t name_have;
	uint64_t data_left;
	int file;
	bool ended;
	char partial[48]; /* name of the file being written */
};

void bj_harvest_init(struct bj_harvest *harvest, const char *run_id, int pipe_take, int dir,
		     uint32_t max_files, uint64_t max_bytes);

/* Read what is there. 0 to go on, 1 at the end of the stream, negative when the stream is
 * malformed or a file cannot be written (@err says which). */
int bj_harvest_read(struct bj_harvest *harvest, struct bj_err *err);

void bj_harvest_done(struct bj_harvest *harvest);
