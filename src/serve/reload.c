/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/reload.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

/* The next text of a packed list; NULL at its end. */
static const char *next(const struct bj_buf *buf, size_t *at)
{
	const char *text = *at < buf->size ? buf->data + *at : NULL;

	if (text)
		*at += strlen(text) + 1;
	return text;
}

/* Both lists hold the table in its order: "s", key, origin, value. */
static json_t *changed_keys(const struct bj_buf *before, const struct bj_buf *now)
{
	json_t *keys = json_array();
	size_t a = 0, b = 0;
	const char *kind;

	while ((kind = next(now, &b)) && strcmp(kind, "s") == 0 && next(before, &a)) {
		const char *key = next(now, &b);
		const char *old = (next(before, &a), next(before, &a), next(before, &a));
		const char *value = (next(now, &b), next(now, &b));

		if (!key || !value || !old || strcmp(old, value) != 0)
			json_array_append_new(keys, json_string(key ? key : "?"));
	}
	return keys;
}

int bj_reload_note(struct bj_audit *audit, const struct bj_settings *settings,
		   struct bj_buf *before, struct bj_err *err)
{
	AUTO_BUF struct bj_buf now = { 0 };
	unsigned char hash[32];
	char hex[65];

	bj_settings_pack(settings, &now);
	if (now.failed)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot compare the settings");
	if (before->size == now.size && memcmp(before->data, now.data, now.size) == 0)
		return 0;
	crypto_generichash(hash, sizeof(hash), (const unsigned char *)now.data, now.size, NULL, 0);
	sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));

	json_t *data = json_pack("{s:s, s:s, s:b}", "hash", hex, "version", bj_version(), "unsafe",
				 (int)settings->allow_unsafe);

	if (before->size)
		json_object_set_new(data, "changed", changed_keys(before, &now));

	const int r = bj_audit_append(audit, before->size ? "settings.change" : "service.start",
				      data, err);

	if (r == 0) {
		sodium_memzero(before->data, before->size);
		bj_buf_done(before);
		*before = now;
		now = (struct bj_buf){ 0 };
	}
	return r;
}
