/* SPDX-License-Identifier: Apache-2.0 */
#include "base/visible.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

/* Whether more bytes could make a character of @text. */
static bool may_grow(const char *text, size_t size)
{
	const unsigned char lead = (unsigned char)text[0];
	const size_t need = lead >= 0xf0 && lead <= 0xf4   ? 4
			    : lead >= 0xe0 && lead <= 0xef ? 3
			    : lead >= 0xc2 && lead <= 0xdf ? 2
							   : 0;

	for (size_t i = 1; i < size; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return false;
	return size < need;
}

/* The number of a character of two or three bytes, among which are all that deceive. */
static unsigned int number_of(const char *text, size_t n)
{
	const unsigned char *c = (const unsigned char *)text;

	if (n == 2)
		return (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu);
	return n == 3 ? (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu) : 0;
}

static bool deceives(unsigned int c)
{
	static const struct {
		unsigned int first, last;
	} marks[] = { { 0x61c, 0x61c },
		      { 0x200b, 0x200f },
		      { 0x2028, 0x202e },
		      { 0x2060, 0x206f },
		      { 0xfeff, 0xfeff } };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(marks); i++)
		if (c >= marks[i].first && c <= marks[i].last)
			return true;
	return false;
}

/* One character of @n bytes, or, when @n is 0, one byte that is none. */
static void show(struct bj_buf *to, const char *text, size_t n, bool judged)
{
	const unsigned char c = (unsigned char)text[0];
	const bool c1 = n == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0;

	if (n == 0 || c1)
		bj_buf_puts(to, REPLACEMENT);
	else if (judged && deceives(number_of(text, n)))
		bj_buf_printf(to, "<U+%04X>", number_of(text, n));
	else if ((c < 0x20 && c != '\n' && c != '\t' && (c != '\r' || judged)) || c == 0x7f)
		bj_buf_printf(to, "^%c", c ^ 0x40);
	else
		bj_buf_add(to, text, n);
}

/* Show what can be shown of @text; how many bytes that were. A return before a line's end is a part
 * of that end. */
static size_t show_all(struct bj_buf *to, const char *text, size_t size, bool judged)
{
	size_t at = 0;

	while (at < size) {
		const size_t n = bj_utf8_step(text + at, size - at);
		const bool is_return = text[at] == '\r';

		if ((n == 0 && may_grow(text + at, size - at)) ||
		    (judged && is_return && at + 1 == size))
			break;
		show(to, text + at, n, judged && !(is_return && text[at + 1] == '\n'));
		at += n ? n : 1;
	}
	return at;
}

void bj_visible_add(struct bj_visible *v, struct bj_buf *to, const char *data, size_t size)
{
	/* A held character gets one byte at a time until it is whole or is none. */
	while (v->n_held > 0 && size > 0) {
		v->held[v->n_held++] = *data++;
		size--;

		const size_t shown = show_all(to, v->held, v->n_held, v->judged);

		v->n_held -= shown;
		memmove(v->held, v->held + shown, v->n_held);
	}

	const size_t shown = show_all(to, data, size, v->judged);

	if (shown < size) {
		v->n_held = size - shown;
		memcpy(v->held, data + shown, v->n_held);
	}
}

void bj_visible_end(struct bj_visible *v, struct bj_buf *to)
{
	for (size_t i = 0; i < v->n_held; i++)
		bj_buf_puts(to, v->held[i] == '\r' ? "^M" : REPLACEMENT);
	v->n_held = 0;
}

char *bj_visible_line(const char *text)
{
	struct bj_visible visible = { .judged = true };
	struct bj_buf shown = { 0 };

	bj_visible_add(&visible, &shown, text, strlen(text));
	bj_visible_end(&visible, &shown);

	char *line = bj_buf_take(&shown);

	for (char *p = line; p && *p; p++)
		if (*p == '\n' || *p == '\r' || *p == '\t')
			*p = ' ';
	return line;
}
