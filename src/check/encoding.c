/* SPDX-License-Identifier: Apache-2.0 */
#include "check/encoding.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <ctype.h>

/* U+202A to U+202E and U+2066 to U+2069. */
static bool is_bidi(const unsigned char *t)
{
	return t[0] == 0xe2 && ((t[1] == 0x80 && t[2] >= 0xaa && t[2] <= 0xae) ||
				(t[1] == 0x81 && t[2] >= 0xa6 && t[2] <= 0xa9));
}

static void keep_first(size_t *place, size_t at)
{
	if (*place == SIZE_MAX)
		*place = at;
}

static size_t read_one(const unsigned char *t, size_t size, size_t at, struct bj_encoding *e)
{
	const size_t n = bj_utf8_step((const char *)t + at, size - at);

	if (n == 0)
		keep_first(&e->invalid, at);
	else if (n == 3 && is_bidi(t + at))
		keep_first(&e->bidi, at);
	else if (t[at] == '\0')
		keep_first(&e->nul, at);
	else if (t[at] == '\r' && at + 1 < size && t[at + 1] == '\n')
		keep_first(&e->crlf, at);
	if (n != 1)
		e->ascii = false;
	return n ? n : 1;
}

/* How many of the next bytes, by eights, are ASCII but for NUL and carriage returns. */
static size_t plain_run(const unsigned char *t, size_t size, size_t at)
{
	static const uint64_t ONES = 0x0101010101010101u, RETURNS = 0x0d0d0d0d0d0d0d0du;
	static const uint64_t HIGH_BITS = 0x8080808080808080u;
	const size_t start = at;

	for (; at + 8 <= size; at += 8) {
		uint64_t word;

		memcpy(&word, t + at, sizeof(word));
		/* A byte that is 0 borrows from its high bit when 1 is taken off. */
		if ((word | (word - ONES) | ((word ^ RETURNS) - ONES)) & HIGH_BITS)
			break;
	}
	return at - start;
}

void bj_encoding_read(const char *text, size_t size, struct bj_encoding *ret)
{
	const unsigned char *t = (const unsigned char *)text;
	struct bj_encoding e = { .nul = SIZE_MAX,
				 .invalid = SIZE_MAX,
				 .crlf = SIZE_MAX,
				 .bidi = SIZE_MAX,
				 .ascii = true };

	if (size >= 3 && memcmp(t, "\xef\xbb\xbf", 3) == 0)
		e.bom = 3;
	if (size >= 2 && (memcmp(t, "\xff\xfe", 2) == 0 || memcmp(t, "\xfe\xff", 2) == 0))
		e.utf16 = true;
	for (size_t at = e.bom; at < size; e.chars++) {
		const size_t plain = plain_run(t, size, at);

		e.chars += plain;
		at += plain;
		if (at == size)
			break;
		at += read_one(t, size, at, &e);
	}
	*ret = e;
}

static bool ends_line(char c)
{
	return c == '\n' || c == '\r';
}

/* A line of nothing but blanks and a comment lets the second line speak too. */
static bool is_blank_line(const char *line, size_t size)
{
	size_t i = 0;

	while (i < size && strchr(" \t\f", line[i]))
		i++;
	return i == size || line[i] == '#';
}

static bool take_name(const char *text, size_t at, size_t end, struct bj_cookie *ret)
{
	size_t n = 0;

	while (at < end && (text[at] == ' ' || text[at] == '\t'))
		at++;
	ret->start = at;
	for (; at < end && (isalnum((unsigned char)text[at]) || strchr("-_.", text[at])); at++)
		if (n + 1 < sizeof(ret->name))
			ret->name[n++] = text[at] == '_' ? '-' : (char)tolower(text[at]);
	ret->name[n] = '\0';
	ret->end = at;
	return n > 0;
}

static bool find_in_line(const char *text, size_t start, size_t end, struct bj_cookie *ret)
{
	size_t at = start;

	while (at < end && strchr(" \t\f", text[at]))
		at++;
	if (at == end || text[at] != '#')
		return false;
	for (; at + 7 <= end; at++)
		if (memcmp(text + at, "coding", 6) == 0 &&
		    (text[at + 6] == ':' || text[at + 6] == '=') &&
		    take_name(text, at + 7, end, ret))
			return true;
	return false;
}

bool bj_cookie_find(const char *text, size_t size, struct bj_cookie *ret)
{
	size_t start = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	for (int line = 0; line < 2; line++) {
		size_t end = start;

		while (end < size && !ends_line(text[end]))
			end++;
		if (find_in_line(text, start, end, ret))
			return true;
		if (!is_blank_line(text + start, end - start))
			return false;
		if (end + 1 < size && text[end] == '\r' && text[end + 1] == '\n')
			end++;
		start = end < size ? end + 1 : size;
	}
	return false;
}

bool bj_cookie_is_harmless(const struct bj_cookie *cookie, const struct bj_encoding *encoding)
{
	static const char *const UTF8[] = { "utf-8", "utf8", "u8", "utf", "cp65001" };
	static const char *const ASCII_FIRST[] = { "ascii",  "us-ascii", "latin",     "latin-1",
						   "latin1", "l1",       "iso8859-1", "iso-latin-1",
						   "koi8-r", "koi8-u",   "cp437",     "cp850" };
	static const char *const FAMILIES[] = { "iso-8859-", "cp125", "windows-125" };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(UTF8); i++)
		if (strcmp(cookie->name, UTF8[i]) == 0)
			return true;
	/* CPython takes any utf-8-something for UTF-8. */
	if (strncmp(cookie->name, "utf-8-", 6) == 0)
		return true;
	if (!encoding->ascii || encoding->bom)
		return false;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(ASCII_FIRST); i++)
		if (strcmp(cookie->name, ASCII_FIRST[i]) == 0)
			return true;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(FAMILIES); i++)
		if (strncmp(cookie->name, FAMILIES[i], strlen(FAMILIES[i])) == 0)
			return true;
	return false;
}
