/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* A script without the bytes that cost the parser time and mean nothing: lines that are empty,
 * lines that are nothing but a comment, and indentation beyond what tells one block from another.
 * What is left parses to the same tree, and every byte knows where it came from. */
struct bj_squeezed {
	char *text; /* NUL-terminated */
	size_t size;
	uint32_t *places; /* by byte of @text, its end included: the byte of the script */
};

/* False: no memory. The caller empties *@ret with bj_squeezed_done(). */
bool bj_squeeze(enum bj_language language, const char *text, size_t size, struct bj_squeezed *ret);
void bj_squeezed_done(struct bj_squeezed *squeezed);
