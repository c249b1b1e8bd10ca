/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <sys/types.h>

/* Two splitters for what comes out of an attach: pure, fed with any chunks, cut anywhere.
 *
 * The engine sends frames: a stream number, three zero bytes, a length of four bytes, big end
 * first, then the bytes. Within standard output the helper's records stand around what the script
 * wrote (inside.h). */

enum { BJ_DEMUX_HEAD = 8 };

struct bj_demux {
	unsigned char head[BJ_DEMUX_HEAD];
	size_t head_have;
	uint32_t left; /* bytes of the frame still to come */
};

/* A piece of a stream: @stream is 1 or 2, @data points into the input. */
struct bj_demux_piece {
	int stream;
	const char *data;
	size_t size;
};

/* Take one piece from the front of @data: returns the bytes used (with ret->size 0 when they held
 * no payload), or -BJ_E_PROTOCOL when this is no such stream. */
ssize_t bj_demux_next(struct bj_demux *demux, const char *data, size_t size,
		      struct bj_demux_piece *ret);
