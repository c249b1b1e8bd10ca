/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

/* What a script wrote to one stream: the head and the tail, never more than @max bytes in all,
 * and the true count. Zero plus bj_capture_init() is empty. */
struct bj_capture {
	size_t max;
	struct bj_buf head; /* the first half */
	char *tail;         /* a ring of the rest */
	size_t tail_size;   /* bytes in the ring */
	size_t tail_at;     /* where the next byte goes */
	uint64_t total;
};

void bj_capture_init(struct bj_capture *capture, size_t max);
void bj_capture_done(struct bj_capture *capture);

/* False when there is no memory. */
bool bj_capture_add(struct bj_capture *capture, const char *data, size_t size);

/* The text: all of it, or head, a line that says how much is left out, and tail, cut between
 * characters. Fills *@ret, whose data the caller frees. False: no memory. */
bool bj_capture_take(struct bj_capture *capture, struct bj_output *ret);
