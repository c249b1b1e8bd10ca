/* SPDX-License-Identifier: Apache-2.0 */
#include "check/place.h"

#include <string.h>

enum { MAX_WIDTH = 512 };

/* The size of the line end at @at, or 0. */
static size_t line_end_at(const struct bj_place *p, size_t at)
{
	if (p->text[at] == '\n')
		return 1;
	if (p->text[at] != '\r' || p->language != BJ_LANG_PYTHON)
		return 0;
	return at + 1 < p->size && p->text[at + 1] == '\n' ? 2 : 1;
}

static bool starts_character(const struct bj_place *p, size_t at)
{
	return ((unsigned char)p->text[at] & 0xc0) != 0x80;
}

void bj_place_init(struct bj_place *place, enum bj_language language, const char *text, size_t size)
{
	const size_t bom = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	*place = (struct bj_place){ .text = text,
				    .size = size,
				    .language = language,
				    .at = bom,
				    .line_start = bom,
				    .line = 1,
				    .column = 1 };
}

static void step(struct bj_place *p)
{
	const size_t n = line_end_at(p, p->at);

	if (n) {
		p->at += n;
		p->line_start = p->at;
		p->line++;
		p->column = 1;
		return;
	}
	p->at++;
	while (p->at < p->size && !starts_character(p, p->at))
		p->at++;
	p->column++;
}

/* Over all lines that end before @offset at once, as far as they end with a plain line feed. */
static void skip_lines(struct bj_place *p, size_t offset)
{
	const size_t to = offset < p->size ? offset : p->size;

	while (p->at < to) {
		const char *from = p->text + p->at;
		const char *end = memchr(from, '\n', to - p->at);

		if (!end ||
		    (p->language == BJ_LANG_PYTHON && memchr(from, '\r', (size_t)(end - from))))
			return;
		p->at = p->line_start = (size_t)(end - p->text) + 1;
		p->line++;
		p->column = 1;
	}
}

void bj_place_seek(struct bj_place *place, size_t offset)
{
	skip_lines(place, offset);
	while (place->at < offset && place->at < place->size)
		step(place);
}

void bj_place_seek_line(struct bj_place *place, uint32_t line)
{
	while (place->line < line && place->at < place->size)
		step(place);
}

uint32_t bj_place_end_column(const struct bj_place *place, size_t end)
{
	uint32_t column = place->column;

	for (size_t at = place->at; at < end && at < place->size && at - place->at < MAX_WIDTH;
	     at++) {
		if (line_end_at(place, at))
			break;
		if (at + 1 == place->size || starts_character(place, at + 1))
			column++;
	}
	return column;
}

size_t bj_place_line_end(const struct bj_place *place, size_t max)
{
	size_t end = place->line_start;

	while (end < place->size && end - place->line_start < max && !line_end_at(place, end))
		end++;
	while (end < place->size && end > place->line_start && !starts_character(place, end))
		end--;
	return end;
}
