/* SPDX-License-Identifier: Apache-2.0 */
#include "check/decode.h"

#include "base/cleanup.h"
#include "check/encoding.h"
#include "encodings.h"

static int by_name(const void *key, const void *item)
{
	return strcmp(key, ((const struct encoding_name *)item)->name);
}

/* The upper half of the encoding called @name; NULL: it has none that is a plain table. */
static const uint16_t *find_table(const char *name)
{
	/* CPython reads "latin-1-unix" and the like as Latin-1. */
	static const char *const latin[] = { "latin-1-", "iso-8859-1-", "iso-latin-1-" };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(latin); i++)
		if (strncmp(name, latin[i], strlen(latin[i])) == 0)
			name = "latin-1";

	const struct encoding_name *found =
		bsearch(name, encoding_names, BJ_ARRAY_SIZE(encoding_names),
			sizeof(encoding_names[0]), by_name);

	return found ? encoding_tables[found->table] : NULL;
}

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | c >> 12);
	out[1] = (char)(0x80 | (c >> 6 & 0x3f));
	out[2] = (char)(0x80 | (c & 0x3f));
	return 3;
}

static bool is_ascii(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

/* SIZE_MAX: a byte has no character in this encoding. */
static size_t decode(const uint16_t *table, const char *text, size_t size, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		const unsigned char byte = (unsigned char)text[i];

		if (byte < 0x80)
			out[n++] = text[i];
		else if (table[byte - 0x80])
			n += put_utf8(out + n, table[byte - 0x80]);
		else
			return SIZE_MAX;
	}
	out[n] = '\0';
	return n;
}

int bj_decode(const struct bj_check_request *request, struct bj_check_request *ret, char **ret_text)
{
	struct bj_cookie cookie;

	*ret = *request;
	*ret_text = NULL;
	if (request->language != BJ_LANG_PYTHON || request->size > UINT32_MAX / 4 ||
	    !bj_cookie_find(request->text, request->size, &cookie) ||
	    is_ascii(request->text, request->size))
		return 0;

	const uint16_t *table = find_table(cookie.name);
	const bool bom = memcmp(request->text, "\xef\xbb\xbf", 3) == 0;

	/* With a mark for UTF-8 in front CPython refuses the declaration. */
	if (!table || bom)
		return 0;

	char *text = malloc(request->size * 3 + 1);

	if (!text)
		return -1;

	const size_t size = decode(table, request->text, request->size, text);

	if (size == SIZE_MAX) {
		free(text);
		return 0;
	}
	ret->text = *ret_text = text;
	ret->size = size;
	ret->decoded = true;
	return 0;
}
