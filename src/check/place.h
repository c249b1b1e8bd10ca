/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Lines and columns as the interpreter counts them: Python ends a line at \n, \r\n and \r, bash at
 * \n only. Columns are characters, from 1. */

/* A place that only moves forward, so that going through many offsets costs one pass. */
struct bj_place {
	const char *text;
	size_t size;
	enum bj_language language;
	size_t at;         /* byte */
	size_t line_start; /* byte */
	uint32_t line, column;
};

void bj_place_init(struct bj_place *place, enum bj_language language, const char *text,
		   size_t size);

/* Move forward to the byte @offset, or to the start of @line; stops at the end of the text. */
void bj_place_seek(struct bj_place *place, size_t offset);
void bj_place_seek_line(struct bj_place *place, uint32_t line);

/* The column of the byte @end, when it is on this line and near; else that of the line's end or
 * of the limit. */
uint32_t bj_place_end_column(const struct bj_place *place, size_t end);

/* The end of this line, or of the first @max bytes of it, never inside a character. */
size_t bj_place_line_end(const struct bj_place *place, size_t max);
