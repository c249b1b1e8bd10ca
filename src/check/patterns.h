/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/layer.h"

#include <hs/hs.h>

/* The patterns of the user's danger rules: compiled once, matched by libhs in linear time.
 * Immutable once made: any thread may use it, each with a scratch of its own. */

struct bj_patterns;

enum {
	BJ_PATTERN_MAX = 1000,     /* bytes of one pattern */
	BJ_PATTERNS_SIZE = 8 << 20 /* bytes of all of them, compiled */
};

/* On failure *@ret_bad is the index of the pattern that is wrong, or @n when all together are too
 * big. The caller frees *@ret. */
int bj_patterns_new(const char *const *patterns, size_t n, struct bj_patterns **ret,
		    size_t *ret_bad, struct bj_err *err);
void bj_patterns_free(struct bj_patterns *patterns); /* NULL is fine */

/* Whether pattern @id matches inside [@text, @size). *@scratch is made at the first call and is
 * the caller's, for hs_free_scratch(). Without memory it matches: nothing slips through. */
bool bj_patterns_match(const struct bj_patterns *patterns, uint32_t id, const char *text,
		       size_t size, hs_scratch_t **scratch);
