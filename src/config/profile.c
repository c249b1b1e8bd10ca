/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "config/load.h"

#include <string.h>

static const struct bj_shipped_profile *find_shipped(const char *name)
{
	for (const struct bj_shipped_profile *p = bj_shipped_profiles; p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

static const struct bj_profile *find_own(const struct bj_loaded *loaded, const char *name)
{
	for (size_t i = 0; i < loaded->n_profiles; i++)
		if (strcmp(loaded->profiles[i].name, name) == 0)
			return &loaded->profiles[i];
	return NULL;
}

static int refuse_unknown(const struct bj_loaded *loaded, const struct bj_origin *origin,
			  struct bj_err *err)
{
	AUTO_BUF struct bj_buf names = { 0 };
	char place[BJ_ORIGIN_TEXT];

	for (const struct bj_shipped_profile *p = bj_shipped_profiles; p->name; p++)
		bj_buf_printf(&names, "%s%s", names.size ? ", " : "", p->name);
	for (size_t i = 0; i < loaded->n_profiles; i++)
		if (!find_shipped(loaded->profiles[i].name))
			bj_buf_printf(&names, ", %s", loaded->profiles[i].name);
	bj_origin_format(loaded, origin, place);
	return bj_err_set(err, BJ_E_INVALID, 0,
			  "%s: profile: there is no profile \"%.40s\"; there are: %.100s", place,
			  loaded->settings.profile, names.failed ? "?" : names.data);
}

static int set_unless_set(struct bj_loaded *loaded, const struct bj_setting *setting,
			  const char *text, uint32_t line, struct bj_err *err)
{
	const struct bj_origin *now = &loaded->origins[setting - bj_table];
	const struct bj_origin origin = { .kind = BJ_FROM_PROFILE,
					  .line = line,
					  .name = loaded->settings.profile };

	if (now->kind != BJ_FROM_DEFAULT)
		return 0;
	return bj_load_set(loaded, setting, text, text, &origin, err);
}

int bj_load_profile(struct bj_loaded *loaded, struct bj_err *err)
{
	const char *name = loaded->settings.profile;
	const struct bj_profile *own = find_own(loaded, name);
	const struct bj_shipped_profile *shipped = find_shipped(name);
	int r = 0;

	if (!own && !shipped)
		return refuse_unknown(loaded, &loaded->origins[bj_table_find("profile") - bj_table],
				      err);
	/* The file's own profile comes first, so it changes a shipped one of the same name. */
	for (size_t i = 0; own && r == 0 && i < own->n_values; i++)
		r = set_unless_set(loaded, own->values[i].setting, own->values[i].text,
				   own->values[i].line, err);
	for (const struct bj_shipped_value *v = shipped ? shipped->values : NULL;
	     v && v->key && r == 0; v++)
		r = set_unless_set(loaded, bj_table_find(v->key), v->value, 0, err);
	return r;
}

void bj_load_free_profiles(struct bj_loaded *loaded)
{
	for (size_t i = 0; i < loaded->n_profiles; i++) {
		struct bj_profile *p = &loaded->profiles[i];

		for (size_t j = 0; j < p->n_values; j++)
			free(p->values[j].text);
		free(p->name);
	}
	free(loaded->profiles);
}
