/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include "base/buf.h"

#include <string.h>

/* Lead byte ranges with the range allowed for the second byte; the rest are 80..BF. */
static const struct {
	unsigned char first, last, second_min, second_max, size;
} FORMS[] = {
	{ 0x00, 0x7f, 0x00, 0x00, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

size_t bj_utf8_step(const char *text, size_t size)
{
	const unsigned char *p = (const unsigned char *)text;

	if (size == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	for (size_t i = 1; i < sizeof(FORMS) / sizeof(FORMS[0]); i++) {
		if (p[0] < FORMS[i].first || p[0] > FORMS[i].last)
			continue;
		if (size < FORMS[i].size || p[1] < FORMS[i].second_min ||
		    p[1] > FORMS[i].second_max)
			return 0;
		for (size_t k = 2; k < FORMS[i].size; k++)
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		return FORMS[i].size;
	}
	return 0;
}

bool bj_utf8_valid(const char *text, size_t size)
{
	for (size_t at = 0; at < size;) {
		const size_t n = bj_utf8_step(text + at, size - at);

		if (n == 0)
			return false;
		at += n;
	}
	return true;
}

char *bj_utf8_repair(const char *text, size_t size, size_t *ret_size)
{
	struct bj_buf buf = { 0 };
	size_t good = 0; /* start of the well-formed stretch not yet copied */

	for (size_t at = 0; at < size;) {
		const size_t n = bj_utf8_step(text + at, size - at);

		if (n == 0) {
			bj_buf_add(&buf, text + good, at - good);
			bj_buf_add(&buf, "\xef\xbf\xbd", 3);
			good = at + 1;
		}
		at += n ? n : 1;
	}
	bj_buf_add(&buf, text + good, size - good);
	*ret_size = buf.size;
	return bj_buf_take(&buf);
}

static bool goes_on(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

void bj_utf8_widen(const char *text, size_t size, size_t *start, size_t *end)
{
	for (int i = 0; i < 3 && *start > 0 && *start < size && goes_on(text[*start]); i++)
		--*start;
	for (int i = 0; i < 3 && *end < size && goes_on(text[*end]); i++)
		++*end;
}

void bj_utf8_mend(char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		const size_t n = bj_utf8_step(text, left);

		if (n == 0)
			*text = '?';
		text += n ? n : 1;
		left -= n ? n : 1;
	}
}
