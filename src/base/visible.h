/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"

/* Text that nobody vouches for, on its way to a person. It must not drive a terminal: control
 * characters are shown as ^X, all but tab and line ends, and what is not UTF-8 becomes U+FFFD. A
 * character may come in pieces. Zero is a valid start.
 *
 * What a person decides by must not hide a part of itself either: where @judged is set, characters
 * that go back to the start of a line, turn text around or take no room are shown by name. */
struct bj_visible {
	bool judged;
	char held[4]; /* the start of a character whose rest has not come yet */
	size_t n_held;
};

/* Append what @data shows as to @to. */
void bj_visible_add(struct bj_visible *visible, struct bj_buf *to, const char *data, size_t size);

/* The text is over: append what is left. */
void bj_visible_end(struct bj_visible *visible, struct bj_buf *to);

/* What @text, which is judged, shows as on one line. The caller frees it; NULL without memory. */
char *bj_visible_line(const char *text);
