/* SPDX-License-Identifier: Apache-2.0 */
#include "check/squeeze.h"

#include "check/pieces.h"

#include <stdlib.h>
#include <string.h>

/* Why this is safe without knowing where strings begin and end. A line goes only when it means
 * nothing in code *and* is nothing but content in a string or a here-document:
 *
 * - It is empty, or its first byte that is not blank is '#'.
 * - It holds no quote, bracket, backslash, '$' or '`': so it ends no string, and nothing in it is
 *   an expansion or an interpolation.
 * - The line before does not end with a backslash: so it continues nothing.
 * - In Bash no here-document ends at an empty line or at a word that begins with '#'.
 *
 * Python compares the indentation of lines and does nothing else with it, so a line keeps its rank
 * among all indentations of the script; when one has a tab, all stay as they are. Bash has no use
 * for it outside of here-documents; when there is one, all stay as they are.
 *
 * The first line of a here-document stays: it says what the document is.
 *
 * Texts of strings are read from the script itself, so they lose nothing but such lines at their
 * end. */

#define MAX_INDENT 256

struct squeeze {
	enum bj_language language;
	const char *text;
	size_t size;
	bool lines, indents;             /* what may go */
	bool heredocs;                   /* there are some */
	unsigned char ranks[MAX_INDENT]; /* by spaces in front of a line: those it keeps */
	struct bj_squeezed *out;
};

static size_t blanks_at(const struct squeeze *s, size_t at)
{
	size_t n = 0;

	while (at + n < s->size && (s->text[at + n] == ' ' || s->text[at + n] == '\t'))
		n++;
	return n;
}

static size_t line_end(const struct squeeze *s, size_t at)
{
	const char *end = memchr(s->text + at, '\n', s->size - at);

	return end ? (size_t)(end - s->text) : s->size;
}

static bool continues(const struct squeeze *s, size_t start)
{
	return start > 1 && s->text[start - 2] == '\\';
}

static bool is_content(const char *text, size_t size)
{
	static const bool speaks[256] = {
		['\''] = true, ['"'] = true,  ['`'] = true, ['$'] = true, ['\\'] = true,
		['{'] = true,  ['}'] = true,  ['('] = true, [')'] = true, ['['] = true,
		[']'] = true,  ['\r'] = true, ['\f'] = true
	};

	for (size_t i = 0; i < size; i++)
		if (speaks[(unsigned char)text[i]])
			return false;
	return true;
}

/* Whether a here-document may begin where the line @start does. */
static bool begins_heredoc(const struct squeeze *s, size_t start)
{
	if (!s->heredocs || start == 0)
		return false;

	const char *last = memrchr(s->text, '\n', start - 1);
	const char *before = last ? last + 1 : s->text;

	return memmem(before, (size_t)(s->text + start - before), "<<", 2);
}

/* Whether the line [@start, @end), with its text from @first on, may go. */
static bool is_idle(const struct squeeze *s, size_t start, size_t first, size_t end)
{
	if (!s->lines || end == s->size || continues(s, start))
		return false;
	return (first == end ||
		(s->text[first] == '#' && is_content(s->text + first, end - first))) &&
	       !begins_heredoc(s, start);
}

/* Python: which indentations there are. False: some have a tab or a form feed, go on in the next
 * line, or are very deep. */
static bool rank_indents(struct squeeze *s)
{
	bool seen[MAX_INDENT] = { false };
	unsigned char rank = 0;

	for (size_t at = 0; at < s->size; at = line_end(s, at) + 1) {
		const size_t n = blanks_at(s, at);
		const char next = at + n < s->size ? s->text[at + n] : '\0';

		if (n >= MAX_INDENT - 1 || next == '\f' || next == '\\' ||
		    memchr(s->text + at, '\t', n))
			return false;
		seen[n] = true;
	}
	seen[0] = true;
	for (size_t n = 0; n < MAX_INDENT; n++)
		if (seen[n])
			s->ranks[n] = rank++;
	return true;
}

static char byte_at(const struct squeeze *s, size_t at)
{
	return at < s->size ? s->text[at] : '\0';
}

/* Bash: what here-documents leave us. */
static void look_for_heredocs(struct squeeze *s)
{
	const char *found = s->text;

	s->lines = s->indents = true;
	while ((found = memchr(found, '<', s->size - (size_t)(found - s->text)))) {
		if (byte_at(s, (size_t)(++found - s->text)) != '<')
			continue;
		found++;

		size_t at = (size_t)(found - s->text);

		while (byte_at(s, at) == '-' || byte_at(s, at) == '<' || byte_at(s, at) == '\\' ||
		       byte_at(s, at) == ' ' || byte_at(s, at) == '\t')
			at++;

		const char first = byte_at(s, at);
		const bool quoted = first == '\'' || first == '"' || first == '$';
		const char word = byte_at(s, at + quoted);

		s->indents = false;
		s->heredocs = true;
		if (strchr("#\n \t\"'", word))
			s->lines = false;
	}
}

/* Eight places that follow each other, wherever they are written. */
typedef uint32_t places8 __attribute__((vector_size(32)));

static void put(struct squeeze *s, size_t from, size_t n)
{
	struct bj_squeezed *out = s->out;
	uint32_t *places = out->places + out->size, place = (uint32_t)from;
	places8 next = { place,     place + 1, place + 2, place + 3,
			 place + 4, place + 5, place + 6, place + 7 };
	size_t i = 0;

	memcpy(out->text + out->size, s->text + from, n);
	for (; i + 8 <= n; i += 8, next += 8)
		memcpy(places + i, &next, sizeof(next));
	for (; i < n; i++)
		places[i] = place + (uint32_t)i;
	out->size += n;
}

static size_t kept_indent(const struct squeeze *s, size_t start, size_t n)
{
	if (!s->indents)
		return n;
	if (s->language == BJ_LANG_PYTHON)
		return s->ranks[n];
	return continues(s, start) ? n : 0;
}

static void squeeze_lines(struct squeeze *s)
{
	size_t end;

	for (size_t start = 0; start < s->size; start = end + 1) {
		const size_t n = blanks_at(s, start);
		const size_t kept = kept_indent(s, start, n);

		end = line_end(s, start);
		if (is_idle(s, start, start + n, end))
			continue;
		put(s, start + n - kept, end + (end < s->size) - (start + n - kept));
	}
	s->out->text[s->out->size] = '\0';
	s->out->places[s->out->size] = (uint32_t)s->size;
}

bool bj_squeeze(enum bj_language language, const char *text, size_t size, struct bj_squeezed *ret)
{
	struct squeeze s = { .language = language, .text = text, .size = size, .out = ret };

	*ret = (struct bj_squeezed){ .text = bj_piece_new(size + 1),
				     .places = bj_piece_new((size + 1) * sizeof(*ret->places)) };
	if (!ret->text || !ret->places) {
		bj_squeezed_done(ret);
		return false;
	}
	if (language == BJ_LANG_PYTHON) {
		s.lines = true;
		s.indents = rank_indents(&s);
	} else {
		look_for_heredocs(&s);
	}
	squeeze_lines(&s);
	return true;
}

void bj_squeezed_done(struct bj_squeezed *squeezed)
{
	bj_piece_free(squeezed->text);
	bj_piece_free(squeezed->places);
	*squeezed = (struct bj_squeezed){ 0 };
}
