/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a text is encoded. One pass over the bytes; places are byte offsets of the first of its
 * kind, SIZE_MAX when there is none. */
struct bj_encoding {
	uint64_t chars; /* code points without the mark at the start; a bad byte counts as one */
	size_t bom;     /* size of a UTF-8 byte-order mark at the start, or 0 */
	size_t nul;
	size_t invalid; /* not UTF-8 as CPython reads it: no surrogates, nothing overlong */
	size_t crlf;    /* a carriage return before a line feed */
	size_t bidi;    /* a character that overrides the direction of text */
	bool ascii;
	bool utf16; /* starts with a UTF-16 mark */
};

void bj_encoding_read(const char *text, size_t size, struct bj_encoding *ret);

/* A PEP 263 declaration in the first or second line. */
struct bj_cookie {
	char name[64]; /* lower case, _ as - */
	size_t start, end;
};

/* Found as CPython finds it. */
bool bj_cookie_find(const char *text, size_t size, struct bj_cookie *ret);

/* True when the interpreter reads the text as UTF-8 readers do: the cookie says UTF-8, or all is
 * ASCII and the encoding leaves ASCII alone. */
bool bj_cookie_is_harmless(const struct bj_cookie *cookie, const struct bj_encoding *encoding);
