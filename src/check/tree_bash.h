/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Where the scanner of Bash's grammar has nothing to say. Part of tree_core.c.
 *
 * It is asked before nearly every token, and three times of four finds none of its own. Here its
 * code (scan() in scanner.c) is followed for the places where most words are. Whatever this does
 * not know is left to the scanner: it says too seldom that there is nothing, never too often. */

#define SH_MODES 160 /* of the scanner, which has a few less */

/* What a byte of ASCII can be to it. */
enum {
	SH_OTHER,  /* look closer */
	SH_LETTER, /* part of a name */
	SH_DIGIT,  /* the same, but for where a name begins */
	SH_END,    /* ends a name, and is nothing to the scanner by itself */
	SH_AFTER,  /* ends a name, but may be something by itself */
	SH_BLANK,  /* the same */
};

static const uint8_t sh_bytes[256] = {
	['A' ... 'Z'] = SH_LETTER,
	['a' ... 'z'] = SH_LETTER,
	['0' ... '9'] = SH_DIGIT,
	['_'] = SH_DIGIT,
	[' '] = SH_BLANK,
	['\t'] = SH_BLANK,
	['\n'] = SH_AFTER,
	['<'] = SH_AFTER,
	['>'] = SH_END,
	['"'] = SH_END,
	['\''] = SH_END,
	[')'] = SH_END,
	['('] = SH_END,
	[';'] = SH_END,
	['|'] = SH_END,
	['&'] = SH_END,
	['.'] = SH_END,
	[','] = SH_END,
	['/'] = SH_END,
	['$'] = SH_AFTER,
	['`'] = SH_END,
	['~'] = SH_END,
};

/* What it looks for in one of its modes. */
enum {
	SH_KNOWN = 1 << 0,
	SH_RARE = 1 << 1,    /* something that is not followed here */
	SH_CONCAT = 1 << 2,  /* a word may go on */
	SH_BRACE = 1 << 3,   /* but not at "}" */
	SH_BRACKET = 1 << 4, /* or "]" */
	SH_EMPTY = 1 << 5,   /* an assignment of nothing */
	SH_HASH = 1 << 6,    /* "#", "!" and "=" of an expansion */
	SH_TEST = 1 << 7,    /* "-f" */
	SH_DOLLAR = 1 << 8,  /* a "$" that expands nothing */
	SH_NAMES = 1 << 9,   /* one of the next three */
	SH_VARIABLE = 1 << 10,
	SH_NUMBER = 1 << 11,  /* a descriptor */
	SH_ARROW = 1 << 12,   /* "<<" */
	SH_NEWLINE = 1 << 13, /* line ends are not blanks */
};

/* What the first byte of all can be to it: one of these. */
enum {
	SH_FIRST_OTHER = 1 << 0,
	SH_FIRST_BLANK = 1 << 1,
	SH_FIRST_END = 1 << 2, /* of a command */
	SH_FIRST_SIGN = 1 << 3,
	SH_FIRST_BRACE = 1 << 4,
	SH_FIRST_BRACKET = 1 << 5,
	SH_FIRST_HASH = 1 << 6,
	SH_FIRST_ALL = (1 << 7) - 1,
};

#define SH_FIRST 16 /* where in a mode those stand that are a token there */

static const uint8_t sh_firsts[256] = {
	[0 ... 255] = SH_FIRST_OTHER, [' '] = SH_FIRST_BLANK, ['\t'] = SH_FIRST_BLANK,
	['\n'] = SH_FIRST_BLANK,      [';'] = SH_FIRST_END,   ['&'] = SH_FIRST_END,
	[')'] = SH_FIRST_SIGN,        ['|'] = SH_FIRST_SIGN,  ['>'] = SH_FIRST_SIGN,
	['('] = SH_FIRST_SIGN,        ['<'] = SH_FIRST_SIGN,  ['}'] = SH_FIRST_BRACE,
	[']'] = SH_FIRST_BRACKET,     ['#'] = SH_FIRST_HASH,  ['!'] = SH_FIRST_HASH,
	['='] = SH_FIRST_HASH,
};

/* The first bytes that are a token in a mode: a word goes on, an assignment of nothing, a sign in
 * an expansion. */
static unsigned sh_tokens(unsigned set)
{
	unsigned firsts = 0;

	if (set & SH_CONCAT)
		firsts = SH_FIRST_ALL &
			 ~(unsigned)(SH_FIRST_SIGN | SH_FIRST_END |
				     (set & SH_BRACE ? SH_FIRST_BRACE : SH_FIRST_BLANK) |
				     (set & SH_BRACKET ? SH_FIRST_BRACKET : 0));
	if (set & SH_EMPTY)
		firsts |= SH_FIRST_BLANK | SH_FIRST_END;
	if (set & SH_HASH)
		firsts |= SH_FIRST_HASH;
	return firsts;
}

/* By mode, for all parses of all threads; 0: not yet known. */
static uint32_t sh_modes[SH_MODES];

static __attribute__((noinline)) unsigned quick_bash_mode(const struct quick *q, unsigned mode)
{
	enum { EXPANSION_WORD = 13, ERROR_RECOVERY = 28 };
	static const uint16_t about[] = {
		/* Here-documents, patterns and regular expressions are rare. */
		[0 ... 4] = SH_RARE,
		[10 ... 14] = SH_RARE,
		[5] = SH_NUMBER | SH_NAMES,
		[6] = SH_EMPTY,
		[7] = SH_CONCAT,
		[8] = SH_VARIABLE | SH_NAMES,
		[9] = SH_TEST,
		[15] = SH_DOLLAR,
		[17 ... 18] = SH_HASH,
		[21] = SH_BRACE,
		[22] = SH_BRACKET,
		[23] = SH_ARROW | SH_NAMES,
		[25] = SH_NEWLINE,
		[ERROR_RECOVERY] = SH_RARE,
	};
	const bool *valid = ts_language_enabled_external_tokens(q->language, mode);
	unsigned set = SH_KNOWN;

	for (unsigned i = 0; i < sizeof(about) / sizeof(about[0]); i++)
		set |= valid[i] ? about[i] : 0;
	set |= sh_tokens(set) << SH_FIRST;
	if (mode < SH_MODES)
		__atomic_store_n(&sh_modes[mode], set, __ATOMIC_RELAXED);
	return set;
}

/* The byte after the name or number at @at. */
static inline uint32_t sh_name_end(const struct quick *q, uint32_t at)
{
	while (at < q->size && (sh_bytes[(unsigned char)q->text[at]] == SH_LETTER ||
				sh_bytes[(unsigned char)q->text[at]] == SH_DIGIT))
		at++;
	return at;
}

static inline uint8_t sh_byte(const struct quick *q, uint32_t at)
{
	return at < q->size ? sh_bytes[(unsigned char)q->text[at]] : SH_OTHER;
}

/* A name of letters that begins at @at is no token of its own. */
static inline bool sh_is_plain_name(const struct quick *q, unsigned set, uint32_t at)
{
	return !(set & SH_VARIABLE) || sh_byte(q, sh_name_end(q, at)) >= SH_END;
}

/* A number without a zero in front is no descriptor. */
static inline bool sh_is_plain_number(const struct quick *q, unsigned set, uint32_t at)
{
	if (set & SH_VARIABLE || q->text[at] == '0' || q->text[at] == '_')
		return false;

	const uint32_t end = sh_name_end(q, at);

	return end < q->size && q->text[end] != '<' && q->text[end] != '>';
}

/* "-": it looks for "-f" and goes on behind that. */
static bool sh_is_plain_dash(const struct quick *q, unsigned set, uint32_t at)
{
	const uint8_t next = sh_byte(q, at + 1);
	uint32_t end = at + 1;

	if (!(set & SH_TEST) || (set & SH_VARIABLE))
		return false;
	if (next == SH_DIGIT)
		return set & SH_NAMES && sh_is_plain_number(q, set, at + 1);
	if (next == SH_OTHER)
		return set & SH_NAMES && end < q->size && q->text[end] == '-' &&
		       sh_byte(q, end + 1) == SH_LETTER;
	while (sh_byte(q, end) == SH_LETTER)
		end++;
	if (set & SH_NAMES && sh_byte(q, end) == SH_DIGIT)
		return sh_is_plain_number(q, set, end);
	return end > at + 1 && sh_byte(q, end) == SH_END;
}

/* "$": where it looks for one that expands nothing, it goes on behind it. */
static bool sh_is_plain_dollar(const struct quick *q, unsigned set, uint32_t at)
{
	const uint8_t next = sh_byte(q, at + 1);

	if ((set & (SH_TEST | SH_DOLLAR)) != (SH_TEST | SH_DOLLAR))
		return !(set & SH_DOLLAR) || set & SH_NAMES;
	if (!(set & SH_NAMES))
		return false;
	if (next == SH_LETTER)
		return sh_is_plain_name(q, set, at + 1);
	if (next == SH_DIGIT)
		return sh_is_plain_number(q, set, at + 1);
	if (next == SH_OTHER && at + 1 < q->size && q->text[at + 1] == '{')
		return sh_byte(q, at + 2) == SH_LETTER;
	return next == SH_END && q->text[at + 1] != '"';
}

/* Bytes that are looked at more closely, behind the blanks in front of a token. */
static bool sh_is_plain(const struct quick *q, unsigned set, uint32_t at)
{
	switch (q->text[at]) {
	case '$':
		return sh_is_plain_dollar(q, set, at);
	case '-':
		return sh_is_plain_dash(q, set, at);
	case '<':
		return !(set & SH_ARROW) || (at + 1 < q->size && q->text[at + 1] != '<');
	case '\n':
		return set & SH_NEWLINE && set & SH_NAMES;
	case '{':
		return sh_byte(q, at + 1) == SH_LETTER || sh_byte(q, at + 1) == SH_BLANK;
	case '*':
	case '?':
	case '@':
		return sh_byte(q, at + 1) == SH_END || sh_byte(q, at + 1) == SH_BLANK;
	case '#':
	case '=':
	case ':':
	case '+':
	case '%':
	case '!':
	case '[':
	case ']':
	case '}':
	case '^':
		return true;
	default:
		return sh_byte(q, at) == SH_DIGIT && set & SH_NAMES &&
		       sh_is_plain_number(q, set, at);
	}
}

/* Whether the scanner has nothing to say here and would change nothing in itself. */
static inline bool quick_bash_is_idle(const struct quick *q, unsigned mode)
{
	uint32_t at = q->at;
	unsigned set = mode < SH_MODES ? __atomic_load_n(&sh_modes[mode], __ATOMIC_RELAXED) : 0;

	if (__builtin_expect(!set, 0))
		set = quick_bash_mode(q, mode);
	if (set & SH_RARE || at >= q->size ||
	    set >> SH_FIRST & sh_firsts[(unsigned char)q->text[at]])
		return false;
	while (sh_byte(q, at) == SH_BLANK)
		at++;

	const uint8_t byte = sh_byte(q, at);

	if (byte == SH_LETTER)
		return sh_is_plain_name(q, set, at);
	return byte == SH_END || (at < q->size && sh_is_plain(q, set, at));
}
