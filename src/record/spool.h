/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* All that a script writes, while it runs. The result keeps so much of it as limits.max_output
 * says; only what goes beyond that takes a file, which has no name and goes with its descriptor. */
struct bj_spool {
	int dir;      /* where such a file is made; borrowed */
	uint64_t max; /* bytes kept of each stream */
	size_t head;  /* bytes held in memory before a file is made */
	struct bj_spool_stream {
		char *data; /* the first bytes */
		size_t size;
		int file; /* -1: none yet */
		uint64_t total;
		bool failed;
	} streams[2];
	const struct bj_spec *next; /* whose on_event hears everything too */
};

void bj_spool_init(struct bj_spool *spool, int dir, const struct bj_spec *spec, uint64_t max);
void bj_spool_done(struct bj_spool *spool);

/* As spec->on_event. */
void bj_spool_event(void *ctx, const struct bj_event *event);

/* The whole of the stream @i (0: stdout) from its beginning, when the result does not hold it: a
 * descriptor that stays the spool's. -1: the result does, or it could not be kept. */
int bj_spool_rewind(struct bj_spool *spool, int i);
