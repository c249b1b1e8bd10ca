/* SPDX-License-Identifier: Apache-2.0 */
#include "config/settings.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/size.h"
#include "config/load.h"
#include "config/value.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

void bj_origin_format(const struct bj_loaded *loaded, const struct bj_origin *origin,
		      char text[BJ_ORIGIN_TEXT])
{
	const char *name = origin->name ? origin->name : "?";

	if (origin->kind == BJ_FROM_DEFAULT)
		snprintf(text, BJ_ORIGIN_TEXT, "built in");
	else if (origin->kind == BJ_FROM_FILE)
		snprintf(text, BJ_ORIGIN_TEXT, "%.90s:%u", loaded->file, origin->line);
	else if (origin->kind == BJ_FROM_PROFILE && origin->line)
		snprintf(text, BJ_ORIGIN_TEXT, "profile %.40s (%.90s:%u)", name, loaded->file,
			 origin->line);
	else
		snprintf(text, BJ_ORIGIN_TEXT, "%s%.60s",
			 origin->kind == BJ_FROM_PROFILE ? "profile " : "", name);
}

int bj_load_set(struct bj_loaded *loaded, const struct bj_setting *setting, const char *text,
		const char *shown, const struct bj_origin *origin, struct bj_err *err)
{
	struct bj_origin *slot = &loaded->origins[setting - bj_table];
	AUTO_FREE char *name = origin->name ? strdup(origin->name) : NULL;

	if (origin->name && !name)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot keep a setting");

	const int r = bj_value_set(setting, text, shown, &loaded->settings, err);

	if (r < 0) {
		char place[BJ_ORIGIN_TEXT];

		bj_origin_format(loaded, origin, place);
		return bj_err_wrap(err, "%s: %s", place, setting->key);
	}
	free(slot->name);
	*slot = *origin;
	slot->name = BJ_TAKE_PTR(name);
	return 0;
}

static int set_defaults(struct bj_loaded *loaded, struct bj_err *err)
{
	static const struct bj_origin built_in = { .kind = BJ_FROM_DEFAULT };
	int r = 0;

	for (size_t i = 0; i < bj_table_size && r == 0; i++)
		r = bj_load_set(loaded, &bj_table[i], bj_table[i].value, bj_table[i].value,
				&built_in, err);
	return r;
}

/* A variable of an older system, in the form the table wants. NULL: it cannot be put so. */
static const char *translate(const struct bj_setting *setting, enum bj_env_form form,
			     const char *value, char text[BJ_SIZE_TEXT])
{
	uint64_t kib;

	if (form == BJ_ENV_PLAIN)
		return value;
	if (form == BJ_ENV_KIB) {
		if (bj_u64_parse(value, &kib) < 0 || kib < 1 || kib > setting->max >> 10)
			return NULL;
		snprintf(text, BJ_SIZE_TEXT, "%uKiB", (unsigned int)kib);
		return text;
	}
	if (strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0)
		return "block";
	if (strcasecmp(value, "false") == 0 || strcmp(value, "0") == 0)
		return "warn";
	return NULL;
}

static int set_from_env(struct bj_loaded *loaded, const struct bj_setting *setting, char *name,
			enum bj_env_form form, struct bj_err *err)
{
	const struct bj_origin origin = { .kind = BJ_FROM_ENV, .name = name };
	const char *value = getenv(name);
	char text[BJ_SIZE_TEXT], shown[BJ_SHOWN];

	if (!value || value[0] == '\0')
		return 0;

	const char *translated = translate(setting, form, value, text);

	if (!translated && form == BJ_ENV_KIB)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "%s: %s: \"%s\" is not allowed; allowed: a whole number of KiB, "
				  "from 1 to %" PRIu64,
				  name, setting->key, bj_value_shown(value, shown),
				  setting->max >> 10);
	if (!translated)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "%s: %s: \"%s\" is not allowed; allowed: true or false", name,
				  setting->key, bj_value_shown(value, shown));
	return bj_load_set(loaded, setting, translated, value, &origin, err);
}

/* Our own names come after those of other systems, so they win. */
static int set_environment(struct bj_loaded *loaded, struct bj_err *err)
{
	for (size_t i = 0; i < bj_table_size; i++) {
		const struct bj_setting *s = &bj_table[i];
		char name[BJ_ENV_NAME];
		int r = 0;

		if (s->env) {
			snprintf(name, sizeof(name), "%s", s->env);
			r = set_from_env(loaded, s, name, s->env_form, err);
		}
		bj_table_env_name(s, name);
		if (r == 0)
			r = set_from_env(loaded, s, name, BJ_ENV_PLAIN, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int set_overrides(struct bj_loaded *loaded, const struct bj_override *overrides, size_t n,
			 struct bj_err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct bj_override *o = &overrides[i];
		const struct bj_setting *setting = bj_table_find(o->key);
		char typed[64];
		const struct bj_origin origin = { .kind = BJ_FROM_FLAG, .name = typed };

		snprintf(typed, sizeof(typed), "--%s", o->flag);
		if (!setting)
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "%s: there is no setting %.60s; `belljar config "
					  "--explain` lists them",
					  typed, o->key);

		const int r = bj_load_set(loaded, setting, o->value, o->value, &origin, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* One of two settings, and what is wrong with it beside the other. */
struct side {
	const char *key, *what;
};

static const struct bj_origin *origin_of(const struct bj_loaded *loaded, const char *key)
{
	return &loaded->origins[bj_table_find(key) - bj_table];
}

/* Refuse two values: the one that somebody set is named, the first where both were. */
static int refuse_pair(const struct bj_loaded *loaded, struct side first, struct side second,
		       struct bj_err *err)
{
	const bool is_first = origin_of(loaded, first.key)->kind != BJ_FROM_DEFAULT ||
			      origin_of(loaded, second.key)->kind == BJ_FROM_DEFAULT;
	const struct side *side = is_first ? &first : &second;
	char place[BJ_ORIGIN_TEXT];

	bj_origin_format(loaded, origin_of(loaded, side->key), place);
	return bj_err_set(err, BJ_E_INVALID, 0, "%s: %s: %s", place, side->key, side->what);
}

/* Values that are fine alone and wrong together. */
static int check_pairs(const struct bj_loaded *loaded, struct bj_err *err)
{
	const struct bj_settings *s = &loaded->settings;

	if (s->limits.max_output > s->limits.output_cap)
		return refuse_pair(
			loaded,
			(struct side){ "limits.max_output",
				       "more than limits.output_cap, after which a run is killed; "
				       "lower it or raise limits.output_cap" },
			(struct side){ "limits.output_cap",
				       "less than limits.max_output, and a run is killed after it; "
				       "raise it or lower limits.max_output" },
			err);
	if ((uint64_t)s->uid_base + s->uid_count > UINT64_C(1) << 31) {
		static const char both[] = "uid_base + uid_count must stay below 2147483649";

		return refuse_pair(loaded, (struct side){ "native.uid_base", both },
				   (struct side){ "native.uid_count", both }, err);
	}
	return 0;
}

static int load(struct bj_loaded *loaded, const char *path, const struct bj_override *overrides,
		size_t n_overrides, struct bj_err *err)
{
	int r = set_defaults(loaded, err);

	if (r == 0)
		r = bj_load_file(loaded, path, err);
	if (r == 0)
		r = set_environment(loaded, err);
	if (r == 0)
		r = set_overrides(loaded, overrides, n_overrides, err);
	/* The profile fills only what is still built in, so it can come last. */
	if (r == 0)
		r = bj_load_profile(loaded, err);
	if (r == 0)
		r = check_pairs(loaded, err);
	return r;
}

int bj_settings_load(const char *path, const struct bj_override *overrides, size_t n_overrides,
		     struct bj_settings **ret, struct bj_err *err)
{
	struct bj_err ignored;
	struct bj_loaded *loaded = calloc(1, sizeof(*loaded));

	if (!err)
		err = &ignored;
	if (!loaded)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the settings");

	const int r = load(loaded, path, overrides, n_overrides, err);

	if (r < 0) {
		bj_settings_free(&loaded->settings);
		return r;
	}
	*ret = &loaded->settings;
	return 0;
}

void bj_settings_free(struct bj_settings *settings)
{
	struct bj_loaded *loaded = (struct bj_loaded *)settings;

	if (!loaded)
		return;
	bj_value_free_all(settings);
	for (size_t i = 0; i < bj_table_size; i++)
		free(loaded->origins[i].name);
	bj_load_free_profiles(loaded);
	free(loaded->file);
	free(loaded);
}

/* A setting that is a field of the limits, which stand together. */
static bool is_limit(const struct bj_setting *s)
{
	const size_t begin = offsetof(struct bj_settings, limits);

	return s->offset >= begin && s->offset < begin + sizeof(struct bj_limits);
}

int bj_settings_check_limits(const struct bj_limits *limits, struct bj_err *err)
{
	for (size_t i = 0; i < bj_table_size; i++) {
		const struct bj_setting *s = &bj_table[i];

		if (!is_limit(s))
			continue;

		const char *at =
			(const char *)limits + s->offset - offsetof(struct bj_settings, limits);
		const bool wide = s->type == BJ_T_SIZE || s->type == BJ_T_DURATION;
		const uint64_t value = wide ? *(const uint64_t *)(const void *)at
					    : *(const uint32_t *)(const void *)at;

		if (value >= s->min && value <= s->max)
			continue;

		AUTO_FREE char *allowed = bj_table_allowed(s);
		char text[BJ_SIZE_TEXT];

		bj_table_number(s, value, text);
		return bj_err_set(err, BJ_E_INVALID, 0, "%s: %s is not allowed; allowed: %s",
				  s->key, text, allowed ? allowed : "?");
	}
	return 0;
}

uint64_t bj_settings_clamp_timeout(const struct bj_settings *settings, uint64_t asked_ms)
{
	const uint64_t ms = asked_ms ? asked_ms : settings->limits.timeout_ms;

	return ms < settings->max_timeout_ms ? ms : settings->max_timeout_ms;
}

static int set_one(struct bj_settings *settings, const char *key, const char *text, bool secret,
		   struct bj_err *err)
{
	const struct bj_setting *setting = bj_table_find(key);

	if (!setting || (secret ? setting->type != BJ_T_SECRET : setting->type > BJ_T_CPUS))
		return bj_err_set(err, BJ_E_INVALID, 0, "%.60s cannot be set so", key);

	const int r = bj_value_set(setting, text, text, settings, err);

	return r < 0 ? bj_err_wrap(err, "%s", key) : 0;
}

int bj_settings_set_number(struct bj_settings *settings, const char *key, const char *text,
			   struct bj_err *err)
{
	return set_one(settings, key, text, false, err);
}

int bj_settings_set_secret(struct bj_settings *settings, const char *key, const char *text,
			   struct bj_err *err)
{
	return set_one(settings, key, text, true, err);
}
