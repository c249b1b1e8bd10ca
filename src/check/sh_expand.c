/* SPDX-License-Identifier: Apache-2.0 */
#include "check/shell_parts.h"

#include <ctype.h>

/* What the shell makes of a constant: ${x:1:2}, ${x/a/b}, ${x%.txt}, ${x,,}, printf '\x72\x6d'.
 * All bounded: no constant is longer than BJ_SH_WORD. */

#define TRIM_MAX 64 /* constants that a pattern is cut off from are no longer than this */

struct out {
	char *s;
	size_t n, room;
};

static void put(struct out *o, const char *s, size_t n)
{
	if (n > o->room - o->n)
		n = o->room - o->n;
	memcpy(o->s + o->n, s, n);
	o->n += n;
}

/* The number at *@at, which moves behind it; @missing when there is none. */
static long number(const char *s, size_t len, size_t *at, long missing)
{
	char digits[8] = "";
	size_t n = 0;

	while (*at < len && s[*at] == ' ')
		(*at)++;
	while (*at < len && n + 1 < sizeof(digits) &&
	       (isdigit((unsigned char)s[*at]) || (s[*at] == '-' && !n)))
		digits[n++] = s[(*at)++];
	return n ? strtol(digits, NULL, 10) : missing;
}

/* :from:count */
static bool substring(const char *v, size_t len, const char *op, size_t op_len, struct out *o)
{
	size_t at = 1;
	long from = number(op, op_len, &at, -1);
	long count = (long)len;

	/* "${x:-2}" is a default, "${x: -2}" a part. */
	if (at == 1 || op[1] == '-')
		return false;
	if (at < op_len && op[at] == ':') {
		at++;
		count = number(op, op_len, &at, (long)len);
	}
	if (at != op_len)
		return false;
	if (from < 0)
		from += (long)len;
	if (from < 0 || from > (long)len)
		return true;

	long to = count < 0 ? (long)len + count : from + count;

	if (to > (long)len)
		to = (long)len;
	if (to > from)
		put(o, v + from, (size_t)(to - from));
	return true;
}

/* /a/b and //a/b, for a text that is no pattern */
static bool replace(const char *v, size_t len, const char *op, size_t op_len, struct out *o)
{
	const bool all = op_len > 1 && op[1] == '/';
	const char *from = op + 1 + all;
	const size_t left = op_len - 1 - all;
	const char *slash = memchr(from, '/', left);
	const size_t n = slash ? (size_t)(slash - from) : left;
	const char *to = slash ? slash + 1 : from + n;
	const size_t n_to = left - (size_t)(to - from);
	bool done = false;

	if (!n || memchr(from, '*', n) || memchr(from, '?', n) || memchr(from, '[', n) ||
	    from[0] == '#' || from[0] == '%')
		return false;
	for (size_t i = 0; i < len;) {
		if (!done && len - i >= n && !memcmp(v + i, from, n)) {
			put(o, to, n_to);
			i += n;
			done = !all;
		} else {
			put(o, v + i++, 1);
		}
	}
	return true;
}

/* #pattern, ##pattern, %pattern, %%pattern */
static bool trim(const char *v, size_t len, const char *op, size_t op_len, struct out *o)
{
	const bool twice = op_len > 1 && op[1] == op[0];
	const bool front = op[0] == '#';
	const char *pattern = op + 1 + twice;
	const size_t n = op_len - 1 - twice;

	if (len > TRIM_MAX || !n || memchr(pattern, '$', n))
		return false;
	for (size_t i = 0; i <= len; i++) {
		const size_t cut = twice ? len - i : i;
		const char *part = front ? v : v + len - cut;

		if (bj_danger_glob(pattern, n, part, cut)) {
			put(o, front ? v + cut : v, len - cut);
			return true;
		}
	}
	put(o, v, len);
	return true;
}

/* ^^ ^ ,, , */
static bool change_case(const char *v, size_t len, const char *op, size_t op_len, struct out *o)
{
	const bool all = op_len == 2 && op[1] == op[0];

	if (op_len > 2 || (op_len == 2 && !all))
		return false;
	for (size_t i = 0; i < len; i++) {
		const int c = (unsigned char)v[i];
		const char new = (char)(!all && i ? c : op[0] == '^' ? toupper(c) : tolower(c));

		put(o, &new, 1);
	}
	return true;
}

/* @U @u @L change letters; @P @E @Q @A and others leave a plain name as it is. */
static bool transform(const char *v, size_t len, const char *op, size_t op_len, struct out *o)
{
	static const char letters[] = "ULu", same[] = "PEQKk";
	static const char *const ways[] = { "^^", ",,", "^" };
	const char *way = op_len == 2 ? memchr(letters, op[1], 3) : NULL;

	if (way)
		return change_case(v, len, ways[way - letters], strlen(ways[way - letters]), o);
	if (op_len != 2 || !memchr(same, op[1], sizeof(same) - 1))
		return false;
	put(o, v, len);
	return true;
}

bool bj_sh_operate(const char *value, const char *op, size_t op_len, char *out, size_t *ret_len)
{
	static const struct {
		char op;
		bool (*make)(const char *v, size_t len, const char *op, size_t op_len,
			     struct out *o);
	} ways[] = { { ':', substring },   { '/', replace },     { '#', trim },     { '%', trim },
		     { '^', change_case }, { ',', change_case }, { '@', transform } };
	struct out o = { .s = out, .room = BJ_SH_WORD - 1 };
	bool done = false;

	for (size_t i = 0; op_len && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (ways[i].op == op[0] && !strpbrk(value, "\x01\x02\x03"))
			done = ways[i].make(value, strlen(value), op, op_len, &o);
	*ret_len = o.n;
	return done;
}

/* The escape at @s, which is a backslash: how many bytes it takes. */
static size_t put_escape(struct out *o, const char *s, size_t len)
{
	static const char from[] = "abefnrtv\\'\"", to[] = "\a\b\033\f\n\r\t\v\\'\"";
	const char *at = len > 1 ? memchr(from, s[1], sizeof(from) - 1) : NULL;
	char digits[5] = "";
	size_t n = 0;

	if (at) {
		put(o, &to[at - from], 1);
		return 2;
	}

	const bool hex = len > 1 && s[1] == 'x';
	/* \NNN, and \0NNN of echo and %b */
	const size_t most = hex ? 2 : len > 1 && s[1] == '0' ? 4 : 3;

	while (1 + hex + n < len && n < most &&
	       (hex ? isxdigit((unsigned char)s[1 + hex + n]) != 0
		    : s[1 + n] >= '0' && s[1 + n] <= '7')) {
		digits[n] = s[1 + hex + n];
		n++;
	}
	if (!n) {
		put(o, s, 1);
		return 1;
	}

	const char c = (char)strtoul(digits, NULL, hex ? 16 : 8);

	/* The marks are ours. */
	put(o, c >= 1 && c <= 3 ? "?" : &c, 1);
	return 1 + hex + n;
}

size_t bj_sh_unescape(const char *s, size_t len, char *out, size_t room)
{
	struct out o = { .s = out, .room = room };

	for (size_t i = 0; i < len;) {
		if (s[i] == '\\')
			i += put_escape(&o, s + i, len - i);
		else
			put(&o, &s[i++], 1);
	}
	return o.n;
}

size_t bj_sh_printf(const char *format, const char *const *args, size_t n_args, char *out,
		    size_t room)
{
	struct out o = { .s = out, .room = room };
	size_t used = 0;

	for (const char *f = format; *f; f++) {
		if (*f == '\\') {
			f += put_escape(&o, f, strlen(f)) - 1;
			continue;
		}
		if (*f != '%' || f[1] == '%') {
			put(&o, f, 1);
			f += *f == '%';
			continue;
		}
		f += 1 + strspn(f + 1, "-+ #0123456789.*");

		const char *arg = used < n_args ? args[used++] : "";

		if (*f == 'b')
			o.n += bj_sh_unescape(arg, strlen(arg), o.s + o.n, o.room - o.n);
		else
			put(&o, arg, strlen(arg));
		if (!*f)
			break;
	}
	return o.n;
}

size_t bj_sh_find_braces(const char *s, size_t len, size_t *ret_start)
{
	size_t open = SIZE_MAX;
	bool comma = false;
	char quote = '\0';

	for (size_t i = 0; i < len; i++) {
		if (quote || s[i] == '"' || s[i] == '\'') {
			quote = !quote ? s[i] : s[i] == quote ? '\0' : quote;
			open = SIZE_MAX;
		} else if (s[i] == '\\' || s[i] == '$') {
			open = SIZE_MAX;
			i++;
		} else if (s[i] == '{') {
			open = i;
			comma = false;
		} else if (s[i] == '}' && open != SIZE_MAX && comma) {
			*ret_start = open;
			return i + 1 - open;
		}
		comma |= i < len && s[i] == ',';
	}
	return 0;
}
