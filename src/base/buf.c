/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bj_buf_done(struct bj_buf *buf)
{
	free(buf->data);
	*buf = (struct bj_buf){ 0 };
}

char *bj_buf_reserve(struct bj_buf *buf, size_t size)
{
	if (buf->failed || size > SIZE_MAX / 4 || buf->size > SIZE_MAX / 4 ||
	    (buf->max && buf->size + size > buf->max)) {
		buf->failed = true;
		return NULL;
	}

	const size_t need = buf->size + size + 1;

	if (need > buf->room) {
		const size_t room = need < 256 ? 256 : need + need / 2;
		char *data = realloc(buf->data, room);

		if (!data) {
			buf->failed = true;
			return NULL;
		}
		buf->data = data;
		buf->room = room;
	}
	buf->data[buf->size] = '\0';
	return buf->data + buf->size;
}

void bj_buf_add(struct bj_buf *buf, const void *data, size_t size)
{
	char *to = bj_buf_reserve(buf, size);

	if (!to)
		return;
	if (size)
		memcpy(to, data, size);
	buf->size += size;
	buf->data[buf->size] = '\0';
}

void bj_buf_puts(struct bj_buf *buf, const char *text)
{
	bj_buf_add(buf, text, strlen(text));
}

void bj_buf_printf(struct bj_buf *buf, const char *fmt, ...)
{
	char *to = bj_buf_reserve(buf, 0);
	va_list ap;

	if (!to)
		return;

	/* Mostly there is room already. */
	const size_t room = buf->room - buf->size;

	va_start(ap, fmt);
	const int n = vsnprintf(to, room, fmt, ap);
	va_end(ap);
	buf->failed |= n < 0;
	if (n < 0 || (size_t)n >= room || (buf->max && buf->size + (size_t)n > buf->max)) {
		*to = '\0';
		to = bj_buf_reserve(buf, n < 0 ? 0 : (size_t)n);
		if (!to)
			return;
		va_start(ap, fmt);
		vsnprintf(to, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	buf->size += (size_t)n;
}

char *bj_buf_take(struct bj_buf *buf)
{
	if (!bj_buf_reserve(buf, 0)) {
		bj_buf_done(buf);
		return NULL;
	}

	char *data = buf->data;

	*buf = (struct bj_buf){ 0 };
	return data;
}
