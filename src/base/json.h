/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"

/* JSON straight into a buffer, for what is printed with every run. Commas come by themselves: a
 * member or an element that follows another one gets one. Names are ours and need no escapes. */

/* Text of any bytes as a string: what is not UTF-8 becomes U+FFFD. */
void bj_json_string(struct bj_buf *buf, const char *text, size_t size);

/* Begin an element of an array, or a member: its value comes next. */
void bj_json_next(struct bj_buf *buf);
void bj_json_name(struct bj_buf *buf, const char *name);

/* Members. A NULL text is null. */
void bj_json_text(struct bj_buf *buf, const char *name, const char *text);
void bj_json_text_n(struct bj_buf *buf, const char *name, const char *text, size_t size);
void bj_json_flag(struct bj_buf *buf, const char *name, bool value);
void bj_json_int(struct bj_buf *buf, const char *name, int64_t value);
void bj_json_null(struct bj_buf *buf, const char *name);

/* @value divided by 10 to the power of @decimals (1 at least): 1500 with 3 is 1.5, 2000 is 2.0. */
void bj_json_fixed(struct bj_buf *buf, const char *name, uint64_t value, unsigned int decimals);

/* Members that are objects or arrays: '{' and '}', '[' and ']'. */
void bj_json_open(struct bj_buf *buf, const char *name, char bracket);
void bj_json_close(struct bj_buf *buf, char bracket);
