/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "check/secrets.h"

#include <ctype.h>

/* From a match to the secret. Every walk here is bounded, so a text full of matches costs a
 * constant for each. */
enum {
	MAX_VALUE = 512,   /* what is looked at to judge a value */
	MAX_WHOLE = 16384, /* what belongs to one that was judged */
	MAX_ANNOTATION = 64,
	MAX_LINE_BACK = 256,
	MAX_KEY_HEADER = 512,
	MAX_KEY = 16384,
};

/* A place in the text that moves forward. */
struct cursor {
	const char *text;
	size_t size, at;
};

static char peek(const struct cursor *c)
{
	return c->at < c->size ? c->text[c->at] : '\0';
}

static void skip_blanks(struct cursor *c)
{
	while (peek(c) == ' ' || peek(c) == '\t')
		c->at++;
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

/* ": str =" between a Python name and its value. */
static bool skip_annotation(struct cursor *c)
{
	for (size_t n = 0; n < MAX_ANNOTATION; n++, c->at++) {
		const char ch = peek(c);

		if (ch == '=') {
			c->at++;
			return peek(c) != '=';
		}
		if (!isalnum((unsigned char)ch) && !strchr("_[]., |\"'", ch ? ch : '\n'))
			return false;
	}
	return false;
}

/* r, b, f, u and their pairs before a quote. */
static void skip_prefix(struct cursor *c)
{
	size_t n = 0;

	while (n < 2 && c->at + n < c->size && strchr("rRbBuUfF", c->text[c->at + n]))
		n++;
	if (c->at + n < c->size && is_quote(c->text[c->at + n]))
		c->at += n;
}

/* A quote that follows an odd number of its like on the same line closes a string: the name
 * stands inside a text such as "Password: ". */
static bool quote_closes(const struct cursor *c, size_t at, bool escaped)
{
	bool inside = false;

	for (size_t i = at, n = 0; i > 0 && n < MAX_LINE_BACK; i--, n++) {
		if (c->text[i - 1] == '\n')
			break;
		if (c->text[i - 1] == c->text[at] && (i > 1 && c->text[i - 2] == '\\') == escaped)
			inside = !inside;
	}
	return inside;
}

/* Does the line hold an open quote of either kind before @at? Then this is text, not code. */
static bool inside_string(const struct cursor *c, size_t at)
{
	bool single = false, twofold = false;

	for (size_t i = at, n = 0; i > 0 && n < MAX_LINE_BACK && c->text[i - 1] != '\n'; i--, n++) {
		single ^= c->text[i - 1] == '\'';
		twofold ^= c->text[i - 1] == '"';
	}
	return single || twofold;
}

/* "AWS::IAM::AccessKey" names a type. */
static bool is_type_name(const struct cursor *c, size_t at)
{
	for (size_t n = 0; at > 0 && n < MAX_ANNOTATION; n++, at--) {
		const char ch = c->text[at - 1];

		if (ch == ':' && at > 1 && c->text[at - 2] == ':')
			return true;
		if (!isalnum((unsigned char)ch) && !strchr("_-.\"' ]", ch ? ch : '\n'))
			return false;
	}
	return false;
}

#define BARE_STOPS " \t\n\v\f\r;&|()<>\"'`"

static bool ends_bare_value(char c)
{
	return strchr(BARE_STOPS, c);
}

/* A value that is longer than what was judged goes on up to one of @stops. */
static bool judge_range(const struct cursor *c, size_t end, enum bj_strength strength,
			const char *stops, size_t *ret_start, size_t *ret_end)
{
	const size_t n_stops = strlen(stops);

	if (end <= c->at || !bj_secret_value_is_real(c->text + c->at, end - c->at, strength))
		return false;
	if (end - c->at == MAX_VALUE)
		while (end < c->size && end - c->at < MAX_WHOLE &&
		       !memchr(stops, c->text[end], n_stops))
			end++;
	*ret_start = c->at;
	*ret_end = end;
	return true;
}

/* The cursor stands on a quote, maybe with a backslash before it. */
static bool judge_quoted(struct cursor *c, enum bj_strength strength, size_t *ret_start,
			 size_t *ret_end)
{
	const bool escaped = peek(c) == '\\';
	const size_t open = c->at + escaped;
	const char quote = open < c->size ? c->text[open] : '\0';

	if (!is_quote(quote) || quote_closes(c, open, escaped))
		return false;
	c->at = open + 1;
	if (!escaped && c->at + 1 < c->size && peek(c) == quote && c->text[c->at + 1] == quote)
		c->at += 2;

	size_t end = c->at;

	while (end < c->size && end - c->at < MAX_VALUE && c->text[end] != quote &&
	       c->text[end] != '\n')
		end++;
	if (escaped && end > c->at && c->text[end - 1] == '\\')
		end--;
	return judge_range(c, end, strength, quote == '"' ? "\"\n" : "'\n", ret_start, ret_end);
}

static bool judge_bare(struct cursor *c, enum bj_strength strength, size_t *ret_start,
		       size_t *ret_end)
{
	size_t end = c->at;

	while (end < c->size && end - c->at < MAX_VALUE && !ends_bare_value(c->text[end]))
		end++;
	return judge_range(c, end, strength, BARE_STOPS, ret_start, ret_end);
}

/* session_id = "550e8400-e29b-41d4-a716-446655440000": a number of something, not the key to it. */
static bool is_number_of(const struct cursor *c, size_t name_end, size_t start, size_t end)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	while (name_end && strchr("\"' ]\\", c->text[name_end - 1]))
		name_end--;
	if (name_end < 2 || (c->text[name_end - 2] | 32) != 'i' ||
	    (c->text[name_end - 1] | 32) != 'd' || end - start != sizeof(form) - 1)
		return false;
	for (size_t i = start; i < end; i++)
		if (form[i - start] == '-' ? c->text[i] != '-'
					   : !isxdigit((unsigned char)c->text[i]))
			return false;
	return true;
}

#define PARTS_MAX 16 /* of a tuple or dictionary that are judged */

/* creds = ("bob", "..."), PASSWORDS = {"bob": "..."}: the first real value of those that stand
 * behind one of @before. The cursor stands behind what opens them. */
static bool judge_parts(struct cursor *c, enum bj_strength strength, char before, size_t *ret_start,
			size_t *ret_end)
{
	const size_t stop = c->size - c->at < MAX_VALUE ? c->size : c->at + MAX_VALUE;
	char last = '\0';

	for (int n = 0; c->at < stop && n < PARTS_MAX; c->at++) {
		const char ch = peek(c);

		if (ch == ')' || ch == '}' || ch == '(' || ch == '{')
			return false;
		if (!is_quote(ch)) {
			last = isspace((unsigned char)ch) ? last : ch;
			continue;
		}

		const char *end = memchr(c->text + c->at + 1, ch, stop - c->at - 1);

		if (!end)
			return false;
		c->at++;
		n++;
		if (last == before &&
		    judge_range(c, (size_t)(end - c->text), strength, "\"'\n", ret_start, ret_end))
			return true;
		c->at = (size_t)(end - c->text);
		last = ch;
	}
	return false;
}

/* How many blanks and dashes stand on @c's line before the name that ends at @name_end; SIZE_MAX:
 * something else does. */
static size_t indent_of(const struct cursor *c, size_t name_end)
{
	size_t at = name_end, blanks = 0;

	while (at > 0 && (isalnum((unsigned char)c->text[at - 1]) || c->text[at - 1] == '_') &&
	       name_end - at < MAX_ANNOTATION)
		at--;
	while (at > 0 && (c->text[at - 1] == ' ' || c->text[at - 1] == '-') &&
	       blanks < MAX_ANNOTATION) {
		at--;
		blanks++;
	}
	return !at || c->text[at - 1] == '\n' || c->text[at - 1] == '\r' ? blanks : SIZE_MAX;
}

/* A line of a text: "password: x" of YAML, "PASSWORD=x" of an environment file inside a Python
 * string. Code has such lines as well, so the value must look like a secret and like nothing that
 * has a meaning there. */
static bool judge_line(struct cursor *c, char op, enum bj_rule_language language, size_t name_end,
		       size_t *ret_start, size_t *ret_end)
{
	const size_t indent = indent_of(c, name_end);
	bool word = true; /* it could be a name of the program */
	size_t end = c->at;

	for (; end < c->size && end - c->at < MAX_VALUE && !ends_bare_value(c->text[end]); end++) {
		if (strchr(",[]{}", c->text[end]))
			return false;
		word &= isalnum((unsigned char)c->text[end]) || c->text[end] == '_' ||
			c->text[end] == '.';
	}
	if (indent == SIZE_MAX || (end < c->size && c->text[end] != '\n' && c->text[end] != '\r'))
		return false;
	if (op == '=' && (indent || !isupper((unsigned char)c->text[name_end - 1]) ||
			  (word && end - c->at < 20)))
		return false;
	return judge_range(c, end,
			   language == BJ_RULE_PYTHON ? BJ_STRENGTH_STRONG : BJ_STRENGTH_WORD,
			   BARE_STOPS, ret_start, ret_end);
}

/* "https://x.y/?api_key=...": the cursor stands at the value. */
static bool judge_parameter(struct cursor *c, size_t name_end, size_t *ret_start, size_t *ret_end)
{
	size_t at = name_end, end = c->at;

	while (at > 0 && name_end - at < MAX_ANNOTATION &&
	       (isalnum((unsigned char)c->text[at - 1]) || c->text[at - 1] == '_'))
		at--;
	if (!at || (c->text[at - 1] != '?' && c->text[at - 1] != '&'))
		return false;
	while (end < c->size && end - c->at < MAX_VALUE && !ends_bare_value(c->text[end]))
		end++;
	return judge_range(c, end, BJ_STRENGTH_LONG, BARE_STOPS, ret_start, ret_end);
}

/* user, password = "bob", "...": a name stands before this one. */
static bool is_one_of_several(const struct cursor *c, size_t name_end)
{
	size_t at = name_end;

	while (at > 0 && name_end - at < MAX_ANNOTATION &&
	       (isalnum((unsigned char)c->text[at - 1]) || strchr("_ ", c->text[at - 1])))
		at--;
	return at > 0 && c->text[at - 1] == ',';
}

/* After the first = or : that follows a telling name. */
static bool judge_assignment(const struct bj_secret_rule *rule, enum bj_rule_language language,
			     struct cursor *c, size_t *ret_start, size_t *ret_end)
{
	const char op = c->text[c->at - 1];
	const bool bare_ok = language != BJ_RULE_PYTHON && op == '=';
	const size_t name_end = c->at - 1;

	if (is_type_name(c, name_end))
		return false;

	if (op == '=' && peek(c) == '=') {
		/* Comparing with a password gives it away; comparing tokens is what parsers do. */
		if (rule->strength != BJ_STRENGTH_WEAK)
			return false;
		c->at++;
	} else if ((op == ':' && peek(c) == '=') || (op == '=' && peek(c) == '>')) {
		c->at++;
	}

	const bool glued = !isspace((unsigned char)peek(c));

	skip_blanks(c);
	skip_prefix(c);
	if (op == ':' && (isalnum((unsigned char)peek(c)) || peek(c) == '_')) {
		if (inside_string(c, name_end))
			return false;
		if (judge_line(c, op, language, name_end, ret_start, ret_end))
			return true;
		if (!skip_annotation(c))
			return false;
		skip_blanks(c);
		skip_prefix(c);
	}
	if (language == BJ_RULE_PYTHON && op == '=' && glued && !is_quote(peek(c)) &&
	    (judge_line(c, op, language, name_end, ret_start, ret_end) ||
	     judge_parameter(c, name_end, ret_start, ret_end)))
		return true;
	if (peek(c) == '{' && op == '=' && rule->strength == BJ_STRENGTH_WEAK) {
		c->at++;
		return judge_parts(c, BJ_STRENGTH_WORD, ':', ret_start, ret_end);
	}

	const bool tuple = peek(c) == '(';

	if (tuple) {
		c->at++;
		skip_blanks(c);
		skip_prefix(c);
	}

	const struct cursor first = *c;
	const bool several = is_quote(peek(c)) && is_one_of_several(c, name_end);
	size_t start, end;
	const bool found =
		is_quote(peek(c)) || peek(c) == '\\'
			? judge_quoted(c, rule->strength, &start, &end)
			: bare_ok && glued && judge_bare(c, rule->strength, &start, &end);

	/* ("bob", "..."): the second one. */
	if (!found && op == '=' && (tuple || several)) {
		*c = first;
		return judge_parts(
			c, rule->strength == BJ_STRENGTH_WEAK ? BJ_STRENGTH_WORD : rule->strength,
			',', ret_start, ret_end);
	}
	if (!found || is_number_of(c, name_end, start, end))
		return false;
	*ret_start = start;
	*ret_end = end;
	return true;
}

/* Right at the value, which may open with a quote. */
static bool judge_flag(const struct bj_secret_rule *rule, struct cursor *c, size_t *ret_start,
		       size_t *ret_end)
{
	if (is_quote(peek(c)))
		c->at++;

	size_t end = c->at;

	while (end < c->size && end - c->at < MAX_VALUE && !ends_bare_value(c->text[end]) &&
	       c->text[end] != '}')
		end++;
	/* name=value pairs name a secret, they do not hold it. */
	if (rule->strength == BJ_STRENGTH_WEAK && memchr(c->text + c->at, '=', end - c->at))
		return false;
	return judge_range(c, end, rule->strength, BARE_STOPS "}", ret_start, ret_end);
}

/* How many bytes stand before the first digit. */
static size_t until_digit(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && !isdigit((unsigned char)s[n]))
		n++;
	return n;
}

/* Documents write EXAMPLE into a key, or count through the digits or the alphabet. */
static bool is_sample(const char *s, size_t len)
{
	size_t run = 0;

	if (memmem(s, len, "EXAMPLE", 7) || memmem(s, len, "example", 7))
		return true;
	for (size_t i = 1; i < len; i++) {
		const int step = (s[i] | 32) - (s[i - 1] | 32);
		const bool counts = step == 1 || (s[i] == '0' && s[i - 1] == '9');

		run = isalnum((unsigned char)s[i]) && counts ? run + 1 : 0;
		if (run >= 9)
			return true;
	}
	return false;
}

/* Made by a machine: the tail is no row of x, no word and no sample. */
static bool is_random(const char *text, size_t start, size_t end)
{
	const size_t n = end - start < 32 ? (end - start) / 2 : 16;
	bool seen[256] = { false };
	size_t distinct = 0;

	for (size_t i = end - n; i < end; i++) {
		distinct += !seen[(unsigned char)text[i]];
		seen[(unsigned char)text[i]] = true;
	}
	return distinct * 3 >= n && distinct >= 4 && !is_sample(text + start, end - start);
}

static bool is_base64(char c)
{
	return isalnum((unsigned char)c) || c == '+' || c == '/';
}

/* A pattern asks for the shortest form; the rest of a longer token is masked with it. */
static size_t token_end(const struct cursor *c, size_t to)
{
	size_t end = to;

	while (end < c->size && end - to < MAX_VALUE &&
	       (is_base64(c->text[end]) || c->text[end] == '_' || c->text[end] == '-'))
		end++;
	return end;
}

static bool judge_keyed(const struct cursor *c, size_t from, size_t to, size_t *ret_start,
			size_t *ret_end)
{
	size_t end = to;

	while (end > from && c->text[end - 1] == '=')
		end--;

	size_t start = end;

	while (start > from && !strchr("=:\"' ,;&?\t", c->text[start - 1]))
		start--;
	if (end - start < 8 || !is_random(c->text, start, end))
		return false;
	*ret_start = start;
	*ret_end = token_end(c, to);
	return true;
}

/* "postgres:postgres@localhost": what a database of one's own machine comes with. */
static bool is_own_default(const struct cursor *c, size_t colon, size_t at_sign)
{
	static const char *const hosts[] = { "localhost", "127.0.0.1", "[::1]",
					     "db:", "postgres:" };
	const size_t len = at_sign - colon;
	const char *host = c->text + at_sign + 1;
	const size_t left = c->size - at_sign - 1;

	if (colon < len + 2 || memcmp(c->text + colon, c->text + colon - 1 - len, len) != 0 ||
	    c->text[colon - 2 - len] != '/')
		return false;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(hosts); i++)
		if (left >= strlen(hosts[i]) && !memcmp(host, hosts[i], strlen(hosts[i])))
			return true;
	return false;
}

/* The cursor stands behind the @ of scheme://user:secret@host. */
static bool judge_url(struct cursor *c, size_t *ret_start, size_t *ret_end)
{
	const size_t at_sign = c->at - 1;
	size_t colon = 0;

	for (size_t i = at_sign; i > 1 && at_sign - i < MAX_LINE_BACK; i--) {
		if (c->text[i - 1] == '/')
			break;
		if (c->text[i - 1] == ':')
			colon = i;
	}
	c->at = colon;
	return colon && !is_own_default(c, colon, at_sign) &&
	       judge_range(c, at_sign, BJ_STRENGTH_WEAK, "@", ret_start, ret_end);
}

/* "echo 'VALUE' | sudo -S": the last word before the pipe that stands on the line of the cursor. */
static bool judge_piped(const struct bj_secret_rule *rule, struct cursor *c, size_t *ret_start,
			size_t *ret_end)
{
	const size_t stop = c->at > MAX_VALUE ? c->at - MAX_VALUE : 0;
	size_t end = c->at;

	while (end > stop && c->text[end - 1] != '|')
		end--;
	end -= end > stop;
	while (end > stop && (c->text[end - 1] == ' ' || c->text[end - 1] == '\t'))
		end--;

	const char quote = end > stop && is_quote(c->text[end - 1]) ? c->text[end - 1] : '\0';

	end -= quote != '\0';
	c->at = end;
	while (c->at > stop &&
	       (quote ? c->text[c->at - 1] != quote : !ends_bare_value(c->text[c->at - 1])))
		c->at--;
	/* printf 'VALUE\n' */
	if (quote && end - c->at > 2 && !memcmp(c->text + end - 2, "\\n", 2))
		end -= 2;
	return c->at > stop && judge_range(c, end, rule->strength, "", ret_start, ret_end);
}

/* A header alone is what parsers of keys look for; a key has a body. */
static bool has_key_body(const struct cursor *c, size_t at)
{
	const size_t stop = c->size - at < MAX_KEY_HEADER ? c->size : at + MAX_KEY_HEADER;

	for (size_t run = 0; at < stop; at++) {
		run = is_base64(c->text[at]) ? run + 1 : 0;
		if (run >= 20)
			return true;
	}
	return false;
}

static bool judge_block(const struct cursor *c, size_t from, size_t to, size_t *ret_start,
			size_t *ret_end)
{
	if (!has_key_body(c, to))
		return false;

	const size_t left = c->size - to;
	const size_t room = left < MAX_KEY ? left : MAX_KEY;
	const char *end = memmem(c->text + to, room, "-----END ", 9);
	const char *dashes =
		end ? memmem(end + 9, (size_t)(c->text + to + room - end - 9), "-----", 5) : NULL;

	*ret_start = from;
	*ret_end = dashes ? (size_t)(dashes + 5 - c->text) : to + room;
	return true;
}

bool bj_secret_judge(const struct bj_secret_rule *rule, enum bj_rule_language language,
		     const char *text, size_t size, size_t from, size_t to, size_t *ret_start,
		     size_t *ret_end)
{
	struct cursor c = { text, size, to };

	switch (rule->kind) {
	case BJ_SECRET_ASSIGN:
		return judge_assignment(rule, language, &c, ret_start, ret_end);
	case BJ_SECRET_FLAG:
		return judge_flag(rule, &c, ret_start, ret_end);
	case BJ_SECRET_KEYED:
		return judge_keyed(&c, from, to, ret_start, ret_end);
	case BJ_SECRET_URL:
		return judge_url(&c, ret_start, ret_end);
	case BJ_SECRET_BLOCK:
		return judge_block(&c, from, to, ret_start, ret_end);
	case BJ_SECRET_PIPED:
		return judge_piped(rule, &c, ret_start, ret_end);
	case BJ_SECRET_TOKEN:
	case BJ_SECRET_PLAIN:
		break;
	}
	*ret_start = from;
	*ret_end = rule->kind == BJ_SECRET_PLAIN ? to : token_end(&c, to);
	if (rule->kind == BJ_SECRET_PLAIN)
		return true;
	/* A short prefix is also that of names in programs; those have no digits. */
	if (rule->strength == BJ_STRENGTH_STRONG &&
	    until_digit(text + from, to - from) == to - from)
		return false;
	return is_random(text, from, to);
}
