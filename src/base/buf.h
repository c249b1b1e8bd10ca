/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing byte buffer, always NUL-terminated once it holds anything. Zero is a valid empty
 * buffer. Growth past @max (0: no ceiling) or without memory sets @failed and drops the bytes;
 * callers check once, at the end. */
struct bj_buf {
	char *data;
	size_t size;
	size_t room;
	size_t max;
	bool failed;
};

#define AUTO_BUF __attribute__((cleanup(bj_buf_done)))

void bj_buf_done(struct bj_buf *buf);
void bj_buf_add(struct bj_buf *buf, const void *data, size_t size);
void bj_buf_puts(struct bj_buf *buf, const char *text);
void bj_buf_printf(struct bj_buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Make room for @size more bytes and return where they go; NULL when that failed. The caller
 * adds what it wrote to buf->size. */
char *bj_buf_reserve(struct bj_buf *buf, size_t size);

/* Give the bytes away: the caller frees them. NULL when the buffer failed; "" when empty. */
char *bj_buf_take(struct bj_buf *buf);
