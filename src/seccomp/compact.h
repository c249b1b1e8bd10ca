/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum { BJ_COMPACT_NUMBERS = 8 };

/* One short program with the answers that @n programs of libseccomp give together, @codes[0] being
 * the one that would be loaded first: of all answers the strictest, of equally strict ones that of
 * the program loaded last, as the kernel does it. The kernel checks and translates a program each
 * time that it is loaded, so a short one is loaded sooner.
 *
 * Only for the machine's own architecture; each program must kill the calls of all others. Build
 * tool only: it may take its time, and fails when it meets what it does not know. */
int bj_compact(const struct bj_buf *codes, size_t n, struct bj_buf *ret_code, struct bj_err *err);

/* The same in two parts: one answers for the calls @numbers, the other for all others, and each
 * allows what it does not answer for. Both together answer as the whole does. */
struct bj_compact_part {
	uint32_t numbers[BJ_COMPACT_NUMBERS];
	size_t n;
	bool others; /* it is the part for all others */
};
int bj_compact_part(const struct bj_buf *codes, size_t n, const struct bj_compact_part *part,
		    struct bj_buf *ret_code, struct bj_err *err);
