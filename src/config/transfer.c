/* SPDX-License-Identifier: Apache-2.0 */

/* Settings that go from one process of ours to another: a list of texts, each ended by a NUL.
 *
 *	s KEY ORIGIN VALUE            a setting
 *	p NAME                        a profile of the file
 *	v KEY VALUE                   a value of the last profile
 *
 * Values are read back by the same code that reads them from a file, so they are checked again.
 *Each setting must come, or what is missing would be zero. */

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "config/load.h"
#include "config/value.h"

#include <errno.h>
#include <string.h>

static void add(struct bj_buf *buf, const char *text)
{
	bj_buf_add(buf, text, strlen(text) + 1);
}

void bj_settings_pack(const struct bj_settings *settings, struct bj_buf *buf)
{
	const struct bj_loaded *loaded = (const struct bj_loaded *)settings;

	for (size_t i = 0; i < bj_table_size; i++) {
		AUTO_FREE char *value = bj_value_format(&bj_table[i], settings);
		const char origin[] = { (char)('0' + (int)loaded->origins[i].kind), '\0' };

		if (!value) {
			buf->failed = true;
			return;
		}
		add(buf, "s");
		add(buf, bj_table[i].key);
		add(buf, origin);
		add(buf, value);
	}
	for (size_t i = 0; i < loaded->n_profiles; i++) {
		const struct bj_profile *p = &loaded->profiles[i];

		add(buf, "p");
		add(buf, p->name);
		for (size_t j = 0; j < p->n_values; j++) {
			add(buf, "v");
			add(buf, p->values[j].setting->key);
			add(buf, p->values[j].text);
		}
	}
}

/* What is left to read. */
struct reader {
	const char *at;
	size_t left;
	bool came[BJ_MAX_SETTINGS];
};

/* The next text, or NULL at the end. */
static const char *next(struct reader *r)
{
	const size_t n = strnlen(r->at, r->left);
	const char *text = r->at;

	if (n == r->left)
		return NULL;
	r->at += n + 1;
	r->left -= n + 1;
	return text;
}

static int broken(struct bj_err *err)
{
	return bj_err_set(err, BJ_E_PROTOCOL, 0, "settings that arrived are broken");
}

static int read_setting(struct bj_loaded *loaded, struct reader *r, struct bj_err *err)
{
	const char *key = next(r), *origin = next(r), *value = next(r);
	const struct bj_setting *setting = key ? bj_table_find(key) : NULL;

	if (!setting || !origin || !value || origin[0] < '0' || origin[0] > '0' + BJ_FROM_FLAG)
		return broken(err);

	r->came[setting - bj_table] = true;

	const struct bj_origin from = { .kind = (enum bj_origin_kind)(origin[0] - '0') };

	return bj_load_set(loaded, setting, value, value, &from, err);
}

static int read_profile(struct bj_loaded *loaded, struct reader *r, struct bj_err *err)
{
	const char *name = next(r);

	if (!name)
		return broken(err);

	struct bj_profile *list =
		realloc(loaded->profiles, (loaded->n_profiles + 1) * sizeof(*loaded->profiles));

	if (!list)
		return broken(err);
	loaded->profiles = list;
	list[loaded->n_profiles] = (struct bj_profile){ .name = strdup(name) };
	return list[loaded->n_profiles++].name ? 0 : broken(err);
}

static int read_value(struct bj_loaded *loaded, struct reader *r, struct bj_err *err)
{
	const char *key = next(r), *value = next(r);
	const struct bj_setting *setting = key ? bj_table_find(key) : NULL;
	struct bj_profile *p =
		loaded->n_profiles ? &loaded->profiles[loaded->n_profiles - 1] : NULL;

	if (!setting || !value || !p || p->n_values == BJ_ARRAY_SIZE(p->values))
		return broken(err);

	char *text = strdup(value);

	if (!text)
		return broken(err);
	p->values[p->n_values++] = (struct bj_profile_value){ .setting = setting, .text = text };
	return 0;
}

/* NULL, at the end of what came, is no kind. */
static bool is(const char *kind, const char *name)
{
	return kind && strcmp(kind, name) == 0;
}

static int read_all(struct bj_loaded *loaded, struct reader *r, struct bj_err *err)
{
	int rc = 0;

	while (rc == 0 && r->left > 0) {
		const char *kind = next(r);

		if (is(kind, "s"))
			rc = read_setting(loaded, r, err);
		else if (is(kind, "p"))
			rc = read_profile(loaded, r, err);
		else if (is(kind, "v"))
			rc = read_value(loaded, r, err);
		else
			rc = broken(err);
	}
	for (size_t i = 0; rc == 0 && i < bj_table_size; i++)
		if (!r->came[i])
			rc = broken(err);
	return rc;
}

int bj_settings_unpack(const char *data, size_t size, struct bj_settings **ret, struct bj_err *err)
{
	struct bj_loaded *loaded = calloc(1, sizeof(*loaded));
	struct reader reader = { .at = data, .left = size };

	if (!loaded)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the settings");

	const int r = read_all(loaded, &reader, err);

	if (r < 0) {
		bj_settings_free(&loaded->settings);
		return r;
	}
	*ret = &loaded->settings;
	return 0;
}

/* Take back what a profile gave, so that another one can give it. */
static int forget_profile(struct bj_loaded *loaded, struct bj_err *err)
{
	static const struct bj_origin built_in = { .kind = BJ_FROM_DEFAULT };
	int r = 0;

	for (size_t i = 0; i < bj_table_size && r == 0; i++)
		if (loaded->origins[i].kind == BJ_FROM_PROFILE)
			r = bj_load_set(loaded, &bj_table[i], bj_table[i].value, bj_table[i].value,
					&built_in, err);
	return r;
}

int bj_settings_with_profile(const struct bj_settings *settings, const char *name,
			     struct bj_settings **ret, struct bj_err *err)
{
	static const struct bj_origin asked = { .kind = BJ_FROM_FLAG, .name = (char *)"profile" };
	AUTO_BUF struct bj_buf bytes = { 0 };
	struct bj_settings *copy = NULL;

	bj_settings_pack(settings, &bytes);
	if (bytes.failed)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot copy the settings");

	int r = bj_settings_unpack(bytes.data, bytes.size, &copy, err);
	struct bj_loaded *loaded = (struct bj_loaded *)copy;

	if (r == 0)
		r = forget_profile(loaded, err);
	if (r == 0)
		r = bj_load_set(loaded, bj_table_find("profile"), name, name, &asked, err);
	if (r == 0)
		r = bj_load_profile(loaded, err);
	if (r < 0) {
		bj_settings_free(copy);
		return r;
	}
	*ret = copy;
	return 0;
}

bool bj_settings_was_set(const struct bj_settings *settings, const char *key)
{
	const struct bj_loaded *loaded = (const struct bj_loaded *)settings;
	const struct bj_setting *setting = bj_table_find(key);

	return setting && loaded->origins[setting - bj_table].kind > BJ_FROM_PROFILE;
}
