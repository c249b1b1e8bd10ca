/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum { DIGITS = 20 };

/* --- strings ---------------------------------------------------------------------------------- */

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* What stands for a byte that is not plain, or NULL for one that begins a longer character. */
static const char *escape(unsigned char c, char to[8])
{
	static const char names[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
	const char *at = c ? strchr(names, c) : NULL;

	if (c >= 0x80)
		return NULL;
	if (at)
		snprintf(to, 8, "\\%c", letters[at - names]);
	else
		snprintf(to, 8, "\\u%04x", c);
	return to;
}

/* Stretches that need no change are copied as they are. */
void bj_json_string(struct bj_buf *buf, const char *text, size_t size)
{
	size_t from = 0, n = 1;
	char to[8];

	bj_buf_add(buf, "\"", 1);
	for (size_t at = 0; at < size; at += n ? n : 1) {
		n = 1;
		if (is_plain((unsigned char)text[at]))
			continue;
		n = bj_utf8_step(text + at, size - at);

		const char *other = n ? escape((unsigned char)text[at], to) : "\xef\xbf\xbd";

		if (!other)
			continue;
		bj_buf_add(buf, text + from, at - from);
		bj_buf_puts(buf, other);
		from = at + 1;
	}
	bj_buf_add(buf, text + from, size - from);
	bj_buf_add(buf, "\"", 1);
}

/* --- members ---------------------------------------------------------------------------------- */

void bj_json_next(struct bj_buf *buf)
{
	const char last = buf->size ? buf->data[buf->size - 1] : '{';

	if (last != '{' && last != '[')
		bj_buf_add(buf, ",", 1);
}

void bj_json_name(struct bj_buf *buf, const char *name)
{
	bj_json_next(buf);
	bj_buf_add(buf, "\"", 1);
	bj_buf_puts(buf, name);
	bj_buf_add(buf, "\":", 2);
}

void bj_json_null(struct bj_buf *buf, const char *name)
{
	bj_json_name(buf, name);
	bj_buf_puts(buf, "null");
}

void bj_json_text_n(struct bj_buf *buf, const char *name, const char *text, size_t size)
{
	bj_json_name(buf, name);
	bj_json_string(buf, text, size);
}

void bj_json_text(struct bj_buf *buf, const char *name, const char *text)
{
	if (text)
		bj_json_text_n(buf, name, text, strlen(text));
	else
		bj_json_null(buf, name);
}

void bj_json_flag(struct bj_buf *buf, const char *name, bool value)
{
	bj_json_name(buf, name);
	bj_buf_puts(buf, value ? "true" : "false");
}

/* The digits of @value, right-aligned in @to; where they begin. */
static const char *digits(uint64_t value, char to[DIGITS])
{
	size_t at = DIGITS;

	do
		to[--at] = (char)('0' + value % 10);
	while ((value /= 10) > 0);
	return to + at;
}

static void put_digits(struct bj_buf *buf, uint64_t value)
{
	char to[DIGITS];
	const char *from = digits(value, to);

	bj_buf_add(buf, from, (size_t)(to + DIGITS - from));
}

void bj_json_int(struct bj_buf *buf, const char *name, int64_t value)
{
	bj_json_name(buf, name);
	if (value < 0)
		bj_buf_add(buf, "-", 1);
	put_digits(buf, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void bj_json_fixed(struct bj_buf *buf, const char *name, uint64_t value, unsigned int decimals)
{
	char to[DIGITS];
	uint64_t unit = 1;

	for (unsigned int i = 0; i < decimals; i++)
		unit *= 10;
	bj_json_name(buf, name);
	put_digits(buf, value / unit);
	bj_buf_add(buf, ".", 1);

	/* The unit above the fraction gives it its zeros in front. */
	const char *from = digits(value % unit + unit, to) + 1;
	size_t n = (size_t)(to + DIGITS - from);

	while (n > 1 && from[n - 1] == '0')
		n--;
	bj_buf_add(buf, from, n);
}

void bj_json_open(struct bj_buf *buf, const char *name, char bracket)
{
	bj_json_name(buf, name);
	bj_buf_add(buf, &bracket, 1);
}

void bj_json_close(struct bj_buf *buf, char bracket)
{
	bj_buf_add(buf, &bracket, 1);
}
