/* SPDX-License-Identifier: Apache-2.0 */
#include "check/sh_mend.h"

#include "check/pieces.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Most of these were met in scripts of a Linux system. They are tried only on a text with errors,
 * and count only when none is left. No two words become one, and no byte but those that are
 * written anew comes into a string or out of one; and no line begins or ceases to end a
 * here-document. So whatever a wrong guess does, it hides no command in a string and no word from
 * its command. */

#define NEAR 2048 /* how far a parenthesis is followed */

struct mend {
	const char *s;
	const uint32_t *places;
	size_t size;
	struct bj_squeezed *out;
	bool changed;
	size_t same; /* bytes in front of the first change */
	bool in_backquotes;
	bool backquotes; /* there is one that is not escaped */
	bool extglob;    /* the script speaks of it */
};

static char at(const struct mend *m, size_t i)
{
	return i < m->size ? m->s[i] : '\0';
}

static void put(struct mend *m, char c, size_t from)
{
	m->out->places[m->out->size] = m->places[from];
	m->out->text[m->out->size++] = c;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* "for NAME do": the grammar wants a semicolon. */
static size_t mend_for(struct mend *m, size_t i)
{
	size_t end = i + 4;

	if (strncmp(m->s + i, "for ", 4) != 0 || (i && is_name(m->s[i - 1])))
		return 0;
	while (is_name(at(m, end)))
		end++;
	if (end == i + 4 || strncmp(m->s + end, " do", 3) != 0 || is_name(at(m, end + 3)))
		return 0;
	for (size_t k = i; k < end; k++)
		put(m, m->s[k], k);
	put(m, ';', end);
	return end - i;
}

/* "[ "$1" = -- ]": the grammar wants a word there. */
static size_t mend_dashes(struct mend *m, size_t i)
{
	if (strncmp(m->s + i, "= -- ]", 6) != 0)
		return 0;
	put(m, '=', i);
	put(m, ' ', i + 1);
	put(m, 'h', i + 2);
	put(m, 'h', i + 3);
	return 4;
}

/* "${x//a/\`b\`}": a backquote that is escaped is a letter, where no others are. */
static size_t mend_letter(struct mend *m, size_t i)
{
	if (strncmp(m->s + i, "\\`", 2) != 0 || (i && m->s[i - 1] == '\\') || m->backquotes)
		return 0;
	put(m, 'h', i + 1);
	return 2;
}

/* "{ ...; } <<< WORD": the grammar takes a file there, but no text. */
static size_t mend_text(struct mend *m, size_t i)
{
	size_t before = i;

	while (before && is_blank(m->s[before - 1]))
		before--;
	if (strncmp(m->s + i, "<<<", 3) != 0 || !before || m->s[before - 1] != '}')
		return 0;
	put(m, '<', i);
	put(m, ' ', i + 1);
	put(m, ' ', i + 2);
	return 3;
}

/* "<>", "<<\WORD" and "= ~" */
static size_t mend_pairs(struct mend *m, size_t i)
{
	const bool both = strncmp(m->s + i, "<>", 2) == 0;
	const bool here = strncmp(m->s + i, "<<\\", 3) == 0;
	const size_t n = both ? 2 : 3;

	if (!both && !here && strncmp(m->s + i, "= ~", 3) != 0)
		return 0;
	for (size_t k = i; k + 1 < i + n; k++)
		put(m, m->s[k], k);
	put(m, both || here ? ' ' : 'h', i + n - 1);
	return n;
}

/* Backquotes as "$(" and ")", unless there is a backslash in between: that means something else
 * there. */
static size_t mend_backquote(struct mend *m, size_t i)
{
	if (m->s[i] != '`' || (i && m->s[i - 1] == '\\'))
		return 0;
	if (!m->in_backquotes) {
		const char *end = strchr(m->s + i + 1, '`');

		if (!end || memchr(m->s + i, '\\', (size_t)(end - m->s) - i))
			return 0;
		put(m, '$', i);
	}
	put(m, m->in_backquotes ? ')' : '(', i);
	m->in_backquotes = !m->in_backquotes;
	return 1;
}

/* "\(" and its like as "'('"; as a word of its own, which only test and find have, as nothing. */
static size_t mend_escape(struct mend *m, size_t i)
{
	if (m->s[i] != '\\' || !at(m, i + 1) || !strchr("();&|<>", at(m, i + 1)) ||
	    (i && m->s[i - 1] == '\\'))
		return 0;

	const bool alone =
		i && is_blank(m->s[i - 1]) && is_blank(at(m, i + 2)) && strchr("()", m->s[i + 1]);

	put(m, alone ? ' ' : '\'', i);
	put(m, alone ? ' ' : m->s[i + 1], i + 1);
	put(m, alone ? ' ' : '\'', i + 1);
	return 2;
}

/* A "$" that expands nothing: "s/.$//". */
static size_t mend_dollar(struct mend *m, size_t i)
{
	if (m->s[i] != '$' || !at(m, i + 1) || !strchr("/)\\.,:% \n", at(m, i + 1)))
		return 0;
	put(m, '.', i);
	return 1;
}

/* Where the parenthesis at @i ends; 0: nowhere near. Quotes hide parentheses. */
static size_t closing(const struct mend *m, size_t i)
{
	const size_t end = m->size - i > NEAR ? i + NEAR : m->size;
	size_t depth = 0;
	char quote = '\0';

	for (; i < end; i++) {
		const char c = m->s[i];

		if (c == '\\' && quote != '\'')
			i++;
		else if (quote)
			quote = c == quote ? '\0' : quote;
		else if (c == '\'' || c == '"')
			quote = c;
		else if (c == '(')
			depth++;
		else if (c == ')' && --depth == 0)
			return i;
	}
	return 0;
}

/* "((a) | b)" is a group in a group; the grammar takes "((" for arithmetic. */
static size_t mend_groups(struct mend *m, size_t i)
{
	if (strncmp(m->s + i, "((", 2) != 0 || (i && (m->s[i - 1] == '$' || m->s[i - 1] == '(')))
		return 0;

	const size_t inner = closing(m, i + 1);

	if (!inner || at(m, inner + 1) == ')')
		return 0;
	put(m, '(', i);
	put(m, ' ', i);
	put(m, '(', i + 1);
	return 2;
}

/* Whether a command may begin at @i. */
static bool starts_command(const struct mend *m, size_t i)
{
	while (i && is_blank(m->s[i - 1]))
		i--;
	if (!i)
		return true;
	if (m->s[i - 1] == '\n')
		return i < 2 || m->s[i - 2] != '\\';
	return strchr(";&|({", m->s[i - 1]) != NULL;
}

/* Whether the word before @i is one that a command follows. */
static bool follows_keyword(const struct mend *m, size_t i)
{
	static const char *const words[] = { "if",    "elif", "then", "else", "while",
					     "until", "do",   "time", "!" };
	size_t end = i, from;

	while (end && is_blank(m->s[end - 1]))
		end--;
	from = end;
	while (from && (is_name(m->s[from - 1]) || m->s[from - 1] == '!'))
		from--;
	for (size_t k = 0; k < sizeof(words) / sizeof(words[0]) && end < i; k++)
		if (end - from == strlen(words[k]) && !memcmp(m->s + from, words[k], end - from))
			return true;
	return false;
}

#define PATTERN 256 /* bytes of !(...) */

/* "rm !(a|b)" with extglob is a word. Only what no command could be: without blanks, expansions and
 * quotes, and where no command begins. */
static size_t mend_extglob(struct mend *m, size_t i)
{
	size_t depth = 0, end = i + 1;

	if (!m->extglob || at(m, i + 1) != '(' || at(m, i + 2) == ')' || starts_command(m, i) ||
	    follows_keyword(m, i) || (i && m->s[i - 1] == '$'))
		return 0;
	for (; end < m->size && end - i < PATTERN; end++) {
		const char c = m->s[end];

		if (!is_name(c) && !strchr("()|[]*?+@!^-.,/:~%=#", c))
			return 0;
		depth += c == '(';
		if (c == ')' && --depth == 0)
			break;
	}
	if (at(m, end) != ')' || depth)
		return 0;
	for (size_t k = i; k <= end; k++)
		put(m, strchr("()|!#", m->s[k]) ? '_' : m->s[k], k);
	return end + 1 - i;
}

/* The end of the value at @i when it is a plain word, a plain string or one $(...); else 0. */
static size_t value_end(const struct mend *m, size_t i)
{
	size_t end = i;

	if (strncmp(m->s + i, "$(", 2) == 0) {
		end = closing(m, i + 1);
		return end && !memmem(m->s + i, end - i, "case", 4) ? end + 1 : 0;
	}
	if (m->s[i] == '"') {
		end = i + 1 + strcspn(m->s + i + 1, "\"\\`$(\n");
		return at(m, end) == '"' ? end + 1 : 0;
	}
	return i + strspn(m->s + i, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_./:$@%+,-");
}

/* "NAME=value 2>file" is an assignment and a redirection, without a command. @i: its "=". */
static size_t mend_assignment(struct mend *m, size_t i)
{
	size_t name = i;

	while (name && is_name(m->s[name - 1]))
		name--;
	if (name == i || isdigit((unsigned char)m->s[name]) || !starts_command(m, name))
		return 0;

	const size_t end = value_end(m, i + 1);
	size_t next = end;

	if (!end)
		return 0;
	while (is_blank(at(m, next)))
		next++;
	if (next == end)
		return 0;
	while (isdigit((unsigned char)at(m, next)))
		next++;
	if ((at(m, next) != '<' && at(m, next) != '>') || at(m, next + 1) == '(')
		return 0;
	for (size_t k = i; k < end; k++)
		put(m, m->s[k], k);
	put(m, ';', end);
	return end - i;
}

/* "<<WORD" without a command. */
static size_t mend_here(struct mend *m, size_t i)
{
	if (strncmp(m->s + i, "<<", 2) != 0 || at(m, i + 2) == '<' || (i && m->s[i - 1] == '<') ||
	    !starts_command(m, i))
		return 0;
	put(m, ':', i);
	put(m, ' ', i);
	put(m, '<', i);
	put(m, '<', i + 1);
	if (at(m, i + 2) != '\\')
		return 2;
	put(m, ' ', i + 2);
	return 3;
}

/* "{fd}>file" without a command: the shell chooses the number. */
static size_t mend_descriptor(struct mend *m, size_t i)
{
	size_t end = i + 1;

	while (is_name(at(m, end)))
		end++;
	if (end == i + 1 || isdigit((unsigned char)m->s[i + 1]) || at(m, end) != '}' ||
	    (at(m, end + 1) != '<' && at(m, end + 1) != '>') || at(m, end + 2) == '(' ||
	    (!starts_command(m, i) && !follows_keyword(m, i)))
		return 0;
	for (size_t k = i; k <= end; k++)
		put(m, ' ', k);
	return end + 1 - i;
}

/* A backslash at the end of the script, where there is nothing that it could join or hide. */
static size_t mend_last(struct mend *m, size_t i)
{
	size_t before = i;

	if (i + 1 != m->size && (i + 2 != m->size || m->s[i + 1] != '\n'))
		return 0;
	while (before && m->s[before - 1] == '\\')
		before--;
	if ((i - before) % 2)
		return 0;
	put(m, ' ', i);
	return 1;
}

/* The later ones are tried only when the earlier ones alone do not help. Each begins with one of a
 * few bytes. An assignment comes first: the others do not look into one that is mended. */
static const struct {
	size_t (*mend)(struct mend *, size_t);
	const char *first;
} WAYS[] = {
	{ mend_assignment, "=" },  { mend_here, "<" },      { mend_for, "f" },
	{ mend_extglob, "!@+*?" }, { mend_dashes, "=" },    { mend_letter, "\\" },
	{ mend_text, "<" },        { mend_pairs, "<=" },    { mend_descriptor, "{" },
	{ mend_last, "\\" },       { mend_groups, "(" },    { mend_escape, "\\" },
	{ mend_dollar, "$" },      { mend_backquote, "`" },
};

enum { N_WAYS = sizeof(WAYS) / sizeof(WAYS[0]) };

_Static_assert(BJ_SH_MENDS == 4, "the steps of ways_of()");
_Static_assert(N_WAYS <= 16, "one bit each");

/* The step that also ends a here-document that nothing ends. */
#define STEP_END 3

static size_t ways_of(unsigned step)
{
	return step == 1 ? N_WAYS - 1 : step == 2 ? N_WAYS : 11;
}

/* Try those of @ways, one bit each, at @i. How many bytes one of them took; 0: none did. */
static size_t mend_at(struct mend *m, unsigned ways, size_t i)
{
	for (; ways; ways &= ways - 1) {
		const size_t n = WAYS[__builtin_ctz(ways)].mend(m, i);

		if (n)
			return n;
	}
	return 0;
}

/* The bytes [@from, @to) as they are. */
static void put_all(struct mend *m, size_t from, size_t to)
{
	struct bj_squeezed *out = m->out;

	memcpy(out->text + out->size, m->s + from, to - from);
	memcpy(out->places + out->size, m->places + from, (to - from) * sizeof(*out->places));
	out->size += to - from;
}

static void mend_all(struct mend *m, size_t n_ways)
{
	uint16_t ways[256] = { 0 }; /* by their first byte */
	size_t from = 0;            /* bytes from here on are to be put as they are */

	for (size_t w = 0; w < n_ways; w++)
		for (const char *c = WAYS[w].first; *c; c++)
			ways[(unsigned char)*c] |= (uint16_t)(1u << w);
	for (size_t i = 0; i < m->size;) {
		const unsigned some = ways[(unsigned char)m->s[i]];

		if (!some) {
			i++;
			continue;
		}
		put_all(m, from, i);
		from = i;

		const size_t n = mend_at(m, some, i);

		if (n && !m->changed)
			m->same = i;
		m->changed |= n > 0;
		i += n ? n : 1;
		from += n;
	}
	put_all(m, from, m->size);
}

/* Whether there is one that is not escaped. */
static bool has_backquotes(const char *s, size_t size)
{
	if (!memchr(s, '`', size))
		return false;
	for (size_t i = 0; i < size; i++) {
		if (s[i] == '\\')
			i++;
		else if (s[i] == '`')
			return true;
	}
	return false;
}

/* The word of a here-document. */
struct here {
	const char *word;
	size_t size;
	bool tabs; /* they may stand in front of its end */
};

/* What a line may hold for no way to change it. */
static bool is_plain(char c)
{
	return is_name(c) || (c && strchr("-.,:/%+@#!~^=", c));
}

/* The first "<<" that is no "<<<" in [@from, @end); NULL: there is none. */
static const char *next_here(const char *from, const char *end)
{
	while ((from = memmem(from, (size_t)(end - from), "<<", 2))) {
		const size_t n = strspn(from, "<");

		if (n == 2)
			return from;
		from += n;
	}
	return NULL;
}

/* The word behind the "<<" at @s. False: it is not a plain one. */
static bool read_here(const char *s, struct here *ret)
{
	char quote = '\0';

	s += 2;
	ret->tabs = *s == '-';
	s += ret->tabs;
	while (is_blank(*s))
		s++;
	if (*s == '\'' || *s == '"')
		quote = *s;
	s += quote || *s == '\\';
	ret->word = s;
	while (is_plain(*s))
		s++;
	ret->size = (size_t)(s - ret->word);
	if (quote && *s++ != quote)
		return false;
	return ret->size > 0 && strchr(" \t\n;&|()<>", *s);
}

/* Whether the word of each here-document, and of what looks like one, is plain. */
static bool plain_heres(const struct bj_squeezed *text)
{
	const char *end = text->text + text->size, *at = text->text;
	struct here here;

	for (; (at = next_here(at, end)); at += 2)
		if (!read_here(at, &here))
			return false;
	return true;
}

/* The end of the line that ends @here, which begins at @at; NULL: none does. */
static const char *end_of(const struct here *here, const char *at, const char *end)
{
	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		at++;
		at += here->tabs ? strspn(at, "\t") : 0;
		if ((size_t)(end - at) >= here->size && !memcmp(at, here->word, here->size) &&
		    (at + here->size == end || at[here->size] == '\n'))
			return at + here->size;
	}
	return NULL;
}

/* The first here-document that no line ends: all that follows is in it, and bash takes the end of
 * the script for its end. A wrong guess makes a command that is not there. */
static bool unended(const struct bj_squeezed *text, struct here *ret)
{
	const char *end = text->text + text->size, *at = text->text;

	while ((at = next_here(at, end))) {
		if (!read_here(at, ret))
			return false;
		at = end_of(ret, at, end);
		if (!at)
			return true;
	}
	return false;
}

/* Its bytes have the place of the last one of the script, so no node ends behind that. */
static void put_end(struct mend *m, const struct here *here)
{
	const size_t last = m->size - 1;

	if (!m->changed)
		m->same = m->size;
	m->changed = true;
	if (m->s[last] != '\n')
		put(m, '\n', last);
	for (size_t i = 0; i < here->size; i++)
		put(m, here->word[i], last);
	put(m, '\n', last);
}

/* Whether the line of @size bytes at @line of what was made is one of the text, whose byte @*from
 * is not behind it yet. */
static bool is_old(const struct mend *m, size_t line, size_t size, size_t *from)
{
	const struct bj_squeezed *out = m->out;

	while (*from < m->size && m->places[*from] < out->places[line])
		++*from;
	return m->places[*from] == out->places[line] && m->size - *from >= size &&
	       !memcmp(m->s + *from, out->text + line, size) &&
	       (*from == 0 || m->s[*from - 1] == '\n') &&
	       (at(m, *from + size) == '\n' || *from + size == m->size);
}

/* Whether a line that was mended could end a here-document now. */
static bool ends_anew(const struct mend *m)
{
	const struct bj_squeezed *out = m->out;
	size_t from = 0, next;

	for (size_t line = 0; line < out->size; line = next) {
		const char *text = out->text + line;
		const char *stop = memchr(text, '\n', out->size - line);
		const size_t size = stop ? (size_t)(stop - text) : out->size - line;
		size_t plain = strspn(text, "\t");

		next = line + size + 1;
		if (plain == size)
			continue;
		while (plain < size && is_plain(text[plain]))
			plain++;
		if (plain == size && !is_old(m, line, size, &from))
			return true;
	}
	return false;
}

bool bj_sh_mend(const struct bj_squeezed *text, unsigned step, struct bj_squeezed *ret,
		size_t *ret_same)
{
	struct mend m = { .s = text->text,
			  .places = text->places,
			  .size = text->size,
			  .out = ret,
			  .backquotes = has_backquotes(text->text, text->size),
			  .extglob = memmem(text->text, text->size, "extglob", 7) != NULL };
	const bool heres = next_here(text->text, text->text + text->size);
	struct here here = { 0 };

	*ret = (struct bj_squeezed){ 0 };
	if (!plain_heres(text) || (step == STEP_END && !unended(text, &here)))
		return false;

	/* No way makes more than twice as much. */
	const size_t room = text->size * 2 + here.size + 3;

	*ret = (struct bj_squeezed){ .text = bj_piece_new(room),
				     .places = bj_piece_new(room * sizeof(*ret->places)) };
	if (ret->text && ret->places) {
		mend_all(&m, ways_of(step));

		const bool sound = !heres || !ends_anew(&m);

		if (here.size)
			put_end(&m, &here);
		m.changed &= sound;
		ret->text[ret->size] = '\0';
		ret->places[ret->size] = m.places[m.size];
	}
	if (!m.changed)
		bj_squeezed_done(ret);
	*ret_same = m.same;
	return m.changed;
}
