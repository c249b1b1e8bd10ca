/* SPDX-License-Identifier: Apache-2.0 */
#include "record/audit_line.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

/* A signature of a line can never pass for one of a head. */
#define DOMAIN "belljar-audit-line-1\n"

#define SIG_FIELD ",\"sig\":\""

enum { TIME_TEXT = 32, SIG_TEXT = 89, TEXT_MAX = 256 };

const char bj_audit_no_hash[BJ_AUDIT_HASH] =
	"0000000000000000000000000000000000000000000000000000000000000000";

void bj_audit_hash(const char *text, size_t size, char hash[BJ_AUDIT_HASH])
{
	unsigned char bytes[(BJ_AUDIT_HASH - 1) / 2];

	crypto_generichash(bytes, sizeof(bytes), (const unsigned char *)text, size, NULL, 0);
	sodium_bin2hex(hash, BJ_AUDIT_HASH, bytes, sizeof(bytes));
}

static void print_time(char text[TIME_TEXT])
{
	struct timespec now;
	struct tm utc;
	char seconds[24];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text, TIME_TEXT, "%s.%03ldZ", seconds, now.tv_nsec / 1000000);
}

/* --- making ----------------------------------------------------------------------------------- */

/* A copy of @value in which no text is longer than a line can bear. */
static json_t *clip(const json_t *value)
{
	const char *key;
	json_t *part, *copy;
	size_t i;

	if (json_is_string(value) && json_string_length(value) > TEXT_MAX) {
		size_t n = TEXT_MAX;

		while (n > 0 && ((unsigned char)json_string_value(value)[n] & 0xc0) == 0x80)
			n--;
		return json_sprintf("%.*s...", (int)n, json_string_value(value));
	}
	if (json_is_array(value)) {
		copy = json_array();
		json_array_foreach(value, i, part) json_array_append_new(copy, clip(part));
		return copy;
	}
	if (!json_is_object(value))
		return json_deep_copy(value);
	copy = json_object();
	json_object_foreach((json_t *)value, key, part)
		json_object_set_new_nocheck(copy, key, clip(part));
	return copy;
}

static bool is_plain(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

/* The data as it goes into a line: ASCII only, and cut when it would make the line too long. */
static char *data_text(const char *data)
{
	const size_t flags = JSON_COMPACT | JSON_ENSURE_ASCII;
	const size_t room = BJ_AUDIT_LINE_MAX - 512, size = strlen(data);

	if (size <= room && is_plain(data, size))
		return strdup(data);

	json_t *value = json_loads(data, 0, NULL);
	char *text = value ? json_dumps(value, flags) : NULL;

	if (text && strlen(text) > room) {
		json_t *clipped = clip(value);

		free(text);
		text = json_dumps(clipped, flags);
		json_decref(clipped);
	}
	json_decref(value);
	if (!text || strlen(text) <= room)
		return text;
	free(text);
	return strdup("{\"clipped\":true}");
}

static void sign(const struct bj_audit_key *key, const char *text, size_t size, char sig[SIG_TEXT])
{
	unsigned char bytes[crypto_sign_BYTES];

	crypto_sign_detached(bytes, NULL, (const unsigned char *)text, size, key->secret);
	sodium_bin2base64(sig, SIG_TEXT, bytes, sizeof(bytes), sodium_base64_VARIANT_ORIGINAL);
}

int bj_audit_line_make(const struct bj_audit_key *key, uint64_t seq, const char prev[BJ_AUDIT_HASH],
		       const char *kind, const char *data, struct bj_buf *ret,
		       char hash[BJ_AUDIT_HASH], struct bj_err *err)
{
	AUTO_BUF struct bj_buf buf = { 0 };
	AUTO_FREE char *text = data_text(data);
	char when[TIME_TEXT], sig[SIG_TEXT];

	if (!text)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM,
				  "no memory for a line of the audit log");
	print_time(when);
	bj_buf_printf(&buf,
		      DOMAIN "{\"seq\":%" PRIu64 ",\"time\":\"%s\",\"kind\":\"%s\",\"data\":%s,"
			     "\"prev\":\"%s\"",
		      seq, when, kind, text, prev);
	if (buf.failed)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM,
				  "no memory for a line of the audit log");
	sign(key, buf.data, buf.size, sig);
	bj_buf_printf(&buf, SIG_FIELD "%s\"}", sig);

	const size_t skip = sizeof(DOMAIN) - 1;

	if (buf.failed || buf.size - skip >= BJ_AUDIT_LINE_MAX)
		return bj_err_set(err, BJ_E_LIMIT, 0, "a line of the audit log is too long");
	bj_audit_hash(buf.data + skip, buf.size - skip, hash);
	bj_buf_add(ret, buf.data + skip, buf.size - skip);
	return ret->failed ? bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for a line") : 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int broken(struct bj_err *err)
{
	return bj_err_set(err, BJ_E_DENIED, 0, "this is not a line that was signed with the key");
}

/* Where the signature's field begins; NULL: not at the one place where it can be. */
static const char *find_sig(const char *text, size_t size)
{
	const size_t tail = sizeof(SIG_FIELD) - 1 + SIG_TEXT - 1 + 2;

	if (size <= tail || size >= BJ_AUDIT_LINE_MAX || memchr(text, 0, size))
		return NULL;

	const char *at = text + size - tail;

	return memcmp(at, SIG_FIELD, sizeof(SIG_FIELD) - 1) == 0 &&
			       memcmp(text + size - 2, "\"}", 2) == 0
		       ? at
		       : NULL;
}

static bool sig_fits(const struct bj_audit_key *key, const char *text, const char *sig_at)
{
	unsigned char sig[crypto_sign_BYTES];
	char signed_text[sizeof(DOMAIN) + BJ_AUDIT_LINE_MAX];
	const size_t body = (size_t)(sig_at - text), skip = sizeof(DOMAIN) - 1;
	size_t n = 0;

	memcpy(signed_text, DOMAIN, skip);
	memcpy(signed_text + skip, text, body);
	return sodium_base642bin(sig, sizeof(sig), sig_at + sizeof(SIG_FIELD) - 1, SIG_TEXT - 1,
				 NULL, &n, NULL, sodium_base64_VARIANT_ORIGINAL) == 0 &&
	       n == sizeof(sig) &&
	       crypto_sign_verify_detached(sig, (const unsigned char *)signed_text, skip + body,
					   key->public) == 0;
}

int bj_audit_line_read(const struct bj_audit_key *key, const char *text, size_t size,
		       struct bj_audit_line *ret, struct bj_err *err)
{
	const char *sig_at = find_sig(text, size);

	if (!sig_at || !sig_fits(key, text, sig_at))
		return broken(err);

	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	const char *prev = json_string_value(json_object_get(root, "prev"));
	const json_int_t seq = json_integer_value(json_object_get(root, "seq"));

	if (!prev || strlen(prev) != BJ_AUDIT_HASH - 1 || seq < 1) {
		json_decref(root);
		return broken(err);
	}
	*ret = (struct bj_audit_line){ .seq = (uint64_t)seq, .root = root };
	memcpy(ret->prev, prev, sizeof(ret->prev));
	bj_audit_hash(text, size, ret->hash);
	return 0;
}

void bj_audit_line_done(struct bj_audit_line *line)
{
	json_decref(line->root);
	line->root = NULL;
}
