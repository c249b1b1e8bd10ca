/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "check/secrets.h"

#include <ctype.h>

/* What a value is made of. */
struct looks {
	size_t letters, digits, upper, lower, separators, others, distinct;
};

/* Anywhere in a value, these say that a person is to fill it in. */
static const char *const FILLERS[] = {
	"your",      "example",    "placeholder", "changeme", "change_me", "change-me", "redacted",
	"insert",    "xxxx",       "****",        "...",      "dummy",     "replace",   "fixme",
	"todo",      "<",          "${",          "$(",       "{{",        "%(",        "%s",
	"://",       "-here",      "_here",       "secrets.", "vault:",    "env:",      "ssm:",
	"process.",  "os.environ", "getenv",      "`",        "hidden",    "masked",    "not-a-",
	"required|", "nullable|",
};

/* A value that is one of these is a name or a default, not a secret. */
static const char *const PLAIN_WORDS[] = {
	"password", "passwd",    "passphrase",    "secret",     "token",       "apikey",
	"api_key",  "string",    "optional",      "required",   "default",     "username",
	"testing",  "foobar",    "undefined",     "plaintext",  "nothing",     "disabled",
	"enabled",  "prompt",    "unknown",       "invalid",    "missing",     "encrypted",
	"argument", "bearer",    "digest",        "negotiate",  "private",     "public",
	"keyring",  "anonymous", "authorization", "credential", "credentials", "session",
	"cookie",   "simple",    "failed",        "passed",     "stdin",
};

static struct looks look_at(const char *text, size_t size)
{
	struct looks l = { 0 };
	bool seen[256] = { false };

	for (size_t i = 0; i < size; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (!seen[c])
			l.distinct++;
		seen[c] = true;
		if (isdigit(c))
			l.digits++;
		else if (isupper(c))
			l.upper++;
		else if (islower(c))
			l.lower++;
		else if (strchr("_-.:/ ", c))
			l.separators++;
		else
			l.others++;
	}
	l.letters = l.upper + l.lower;
	return l;
}

/* The head of a value in lower case; fillers stand there if anywhere. */
struct head {
	char text[128];
	size_t size;
};

static struct head head_of(const char *text, size_t size)
{
	struct head h = { .size = size < sizeof(h.text) ? size : sizeof(h.text) };

	for (size_t i = 0; i < h.size; i++)
		h.text[i] = (char)tolower((unsigned char)text[i]);
	return h;
}

static bool contains(const struct head *h, const char *word)
{
	return memmem(h->text, h->size, word, strlen(word)) != NULL;
}

static bool is_plain_word(const char *text, size_t size)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(PLAIN_WORDS); i++)
		if (strlen(PLAIN_WORDS[i]) == size && strncasecmp(PLAIN_WORDS[i], text, size) == 0)
			return true;
	return false;
}

/* Whole values that stand for something else: a variable, %NAME%, {name}, @file, a path, or text
 * with blanks in it. */
static bool is_reference(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
			return true;
	if (strchr("$@/~", text[0]) || (text[0] == '%' && text[size - 1] == '%'))
		return true;
	return memchr(text, '{', size) && memchr(text, '}', size);
}

static bool is_filler(const struct head *h)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(FILLERS); i++)
		if (contains(h, FILLERS[i]))
			return true;
	return false;
}

/* "one$two" is a word with a variable in it; with digits it may be a password after all. */
static bool has_variable(const struct looks *l, const char *text, size_t size)
{
	for (size_t i = 0; i + 1 < size && !l->digits; i++)
		if (text[i] == '$' && (isalpha((unsigned char)text[i + 1]) || text[i + 1] == '_'))
			return true;
	return false;
}

/* Words joined by separators are the name of something: "db-password", "auth.token",
 * "content-type-header". But three and more words, none of them about secrets or programs, are a
 * passphrase. */
static bool is_name(const struct looks *l, const struct head *h)
{
	static const char *const about[] = {
		"pass",   "token", "secret", "key",    "auth",    "cred",   "user",
		"login",  "api",   "name",   "env",    "config",  "test",   "field",
		"value",  "file",  "path",   "vault",  "type",    "head",   "content",
		"http",   "form",  "input",  "text",   "label",   "button", "page",
		"url",    "json",  "data",   "error",  "message", "state",  "mode",
		"policy", "hash",  "server", "client", "session", "access"
	};
	const size_t words = l->separators + 1;

	if (l->digits || l->others)
		return false;
	if (!l->separators)
		return contains(h, "passw") || contains(h, "token");
	if (words < 3 || l->upper || l->letters < words * 4 || h->size > 60)
		return true;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(about); i++)
		if (contains(h, about[i]))
			return true;
	return memchr(h->text, '.', h->size) || memchr(h->text, '/', h->size) ||
	       memchr(h->text, ':', h->size) || memchr(h->text, '_', h->size);
}

/* "KEY_F13": a constant of a program. */
static bool is_constant_name(const struct looks *l, const struct head *h)
{
	return l->upper && !l->lower && !l->others && l->digits <= 2 &&
	       memchr(h->text, '_', h->size) && isalpha((unsigned char)h->text[0]);
}

static bool is_weak(const struct looks *l, size_t size)
{
	if (l->digits || l->others)
		return size >= 4 && l->distinct >= 3;
	return size >= 6 && l->distinct >= 4;
}

static bool is_word(const struct looks *l, size_t size)
{
	if (l->letters && l->digits)
		return size >= 6 && l->distinct >= 5;
	if (l->letters && l->others)
		return size >= 8 && l->distinct >= 6;
	return size >= 12 && l->distinct >= 6;
}

static bool is_strong(const struct looks *l, size_t size)
{
	if (!l->letters)
		return l->digits >= 20 && l->distinct >= 6;
	return size >= 8 && l->distinct >= 6 && l->digits >= 2 && l->separators * 5 <= size;
}

/* Nothing but its length tells it from the samples of a manual. */
static bool is_long(const struct looks *l, size_t size)
{
	return size >= 16 && is_strong(l, size);
}

bool bj_secret_value_is_real(const char *text, size_t size, enum bj_strength strength)
{
	static bool (*const JUDGES[])(const struct looks *, size_t) = {
		[BJ_STRENGTH_WEAK] = is_weak,
		[BJ_STRENGTH_WORD] = is_word,
		[BJ_STRENGTH_STRONG] = is_strong,
		[BJ_STRENGTH_LONG] = is_long,
	};

	if (size < 4 || is_reference(text, size))
		return false;

	const struct looks l = look_at(text, size);

	if (!JUDGES[strength](&l, size) || has_variable(&l, text, size) ||
	    is_plain_word(text, size))
		return false;

	const struct head h = head_of(text, size);

	return !is_name(&l, &h) && !is_filler(&h) &&
	       (strength == BJ_STRENGTH_WEAK || !is_constant_name(&l, &h));
}
