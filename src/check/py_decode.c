/* SPDX-License-Identifier: Apache-2.0 */
#include "check/py_decode.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char plain(unsigned c)
{
	return c < 0x80 ? (char)c : '\xff';
}

static size_t from_base64(const char *s, size_t n, char *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits = 0, held = 0;
	size_t made = 0;

	for (size_t i = 0; i < n && s[i] != '='; i++) {
		const char *at = memchr(digits, s[i], 64);

		if (!at)
			continue;
		bits = (bits << 6) | (unsigned)(at - digits);
		held += 6;
		if (held >= 8) {
			held -= 8;
			out[made++] = plain((bits >> held) & 0xff);
		}
	}
	return made;
}

static size_t from_hex(const char *s, size_t n, char *out)
{
	char pair[3] = "";
	size_t made = 0, held = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isxdigit((unsigned char)s[i]))
			continue;
		pair[held++] = s[i];
		if (held == 2) {
			out[made++] = plain((unsigned)strtoul(pair, NULL, 16));
			held = 0;
		}
	}
	return made;
}

static size_t from_rot13(const char *s, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++) {
		const unsigned char c = (unsigned char)s[i];
		const unsigned base = islower(c) ? 'a' : 'A';

		out[i] = plain(isalpha(c) ? base + (c - base + 13) % 26 : c);
	}
	return n;
}

static size_t backwards(const char *s, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = s[n - 1 - i];
	return n;
}

static size_t same(const char *s, size_t n, char *out)
{
	memcpy(out, s, n);
	return n;
}

static const struct {
	const char *name;
	bj_py_decoder *decode;
	bool takes_codec;
} CALLS[] = {
	{ "base64.b64decode", from_base64, false },
	{ "base64.standard_b64decode", from_base64, false },
	{ "base64.decodebytes", from_base64, false },
	{ "binascii.a2b_base64", from_base64, false },
	{ "binascii.unhexlify", from_hex, false },
	{ "binascii.a2b_hex", from_hex, false },
	{ "builtins.bytes.fromhex", from_hex, false },
	{ "builtins.bytearray.fromhex", from_hex, false },
	{ "codecs.decode", same, true },
	{ "codecs.encode", same, true },
	{ "builtins.reversed", backwards, false },
	{ "builtins.str", same, true },
	{ "builtins.bytes", same, true },
	{ "builtins.bytearray", same, true },
	{ "builtins.list", same, false },
	{ "sys.intern", same, false },
};

/* Names without anything but letters and digits. Those that leave ASCII as it is stand for all of
 * their kind that scripts name. */
static const struct {
	const char *name;
	bj_py_decoder *decode;
} CODECS[] = {
	{ "utf8", same },
	{ "ascii", same },
	{ "latin1", same },
	{ "utf8sig", same },
	{ "usascii", same },
	{ "iso88591", same },
	{ "iso885915", same },
	{ "cp1252", same },
	{ "windows1252", same },
	{ "cp437", same },
	{ "cp850", same },
	{ "cp1251", same },
	{ "gbk", same },
	{ "gb18030", same },
	{ "shiftjis", same },
	{ "eucjp", same },
	{ "big5", same },
	{ "l1", same },
	{ "u8", same },
	{ "utf", same },
	{ "rot13", from_rot13 },
	{ "hex", from_hex },
	{ "hexcodec", from_hex },
	{ "base64", from_base64 },
	{ "base64codec", from_base64 },
};

bj_py_decoder *bj_py_decoder_of_call(const char *name, bool *takes_codec)
{
	for (size_t i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); i++)
		if (!strcmp(name, CALLS[i].name)) {
			*takes_codec = CALLS[i].takes_codec;
			return CALLS[i].decode;
		}
	return NULL;
}

bj_py_decoder *bj_py_decoder_of_codec(const char *name, size_t len)
{
	char bare[16];
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)name[i]))
			continue;
		if (n + 1 == sizeof(bare))
			return NULL;
		bare[n++] = (char)tolower((unsigned char)name[i]);
	}
	bare[n] = '\0';
	for (size_t i = 0; i < sizeof(CODECS) / sizeof(CODECS[0]); i++)
		if (!strcmp(bare, CODECS[i].name))
			return CODECS[i].decode;
	return NULL;
}
