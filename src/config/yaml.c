/* SPDX-License-Identifier: Apache-2.0 */

/* Reads the settings from YAML, event by event: no tree is built, unknown keys are refused before
 * their value is looked at, so depth and size of what is accepted follow from the table. Anchors,
 * aliases and tags are refused: settings need none, and bombs are made of them. */

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "config/load.h"
#include "config/value.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

enum { MAX_PATH_KEY = 96, MAX_PROFILES = 64 };

struct reader {
	yaml_parser_t parser;
	yaml_event_t event; /* the one being looked at */
	struct bj_loaded *loaded;
	uint32_t seen[BJ_MAX_SETTINGS];     /* the line of each setting; 0: not seen */
	uint32_t sections[BJ_MAX_SETTINGS]; /* the same for sections, by their first setting */
	uint32_t profiles;                  /* the same for the section `profiles` */
	struct bj_err *err;
};

static uint32_t line_of(const struct reader *r)
{
	return (uint32_t)r->event.start_mark.line + 1;
}

static int refuse_at(struct reader *r, uint32_t line, const char *key, const char *what)
{
	return bj_err_set(r->err, BJ_E_INVALID, 0, "%.90s:%u: %s%s%s", r->loaded->file, line, key,
			  key[0] ? ": " : "", what);
}

static int refuse(struct reader *r, const char *key, const char *what)
{
	return refuse_at(r, line_of(r), key, what);
}

/* Does the event carry an anchor or a tag? "!" is what libyaml gives a quoted scalar at times. */
static bool is_decorated(const yaml_event_t *e)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (e->type == YAML_SCALAR_EVENT) {
		anchor = e->data.scalar.anchor;
		tag = e->data.scalar.tag;
	} else if (e->type == YAML_MAPPING_START_EVENT) {
		anchor = e->data.mapping_start.anchor;
		tag = e->data.mapping_start.tag;
	} else if (e->type == YAML_SEQUENCE_START_EVENT) {
		anchor = e->data.sequence_start.anchor;
		tag = e->data.sequence_start.tag;
	}
	return anchor || tag || e->type == YAML_ALIAS_EVENT;
}

static int next(struct reader *r)
{
	yaml_event_delete(&r->event);
	if (!yaml_parser_parse(&r->parser, &r->event)) {
		const char *problem = r->parser.problem ? r->parser.problem : "cannot be read";
		const uint32_t line = (uint32_t)r->parser.problem_mark.line + 1;

		memset(&r->event, 0, sizeof(r->event));
		return bj_err_set(r->err, BJ_E_INVALID, 0, "%.90s:%u: this is not YAML: %s",
				  r->loaded->file, line, problem);
	}
	if (is_decorated(&r->event))
		return refuse(r, "",
			      "anchors, aliases and tags are not understood here; write "
			      "the value out");
	return 0;
}

/* The scalar under the reader, which holds no NUL byte. */
static int scalar(struct reader *r, const char *key, const char **ret)
{
	const char *text = (const char *)r->event.data.scalar.value;

	if (r->event.type != YAML_SCALAR_EVENT)
		return refuse(r, key, "a single value is needed here");
	if (strlen(text) != r->event.data.scalar.length)
		return refuse(r, key, "the value holds a NUL byte");
	*ret = text;
	return 0;
}

static bool is_null(const struct reader *r)
{
	const char *text = (const char *)r->event.data.scalar.value;

	return r->event.type == YAML_SCALAR_EVENT &&
	       r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

/* A relative path starts where the file stands, so that a file can be used from anywhere. */
static int from_directory_of(struct reader *r, char **text)
{
	const char *slash = strrchr(r->loaded->file, '/');
	char *joined;

	if ((*text)[0] == '\0' || (*text)[0] == '/' || !slash)
		return 0;
	if (asprintf(&joined, "%.*s/%s", (int)(slash - r->loaded->file), r->loaded->file, *text) <
	    0)
		return bj_err_set(r->err, BJ_E_SYSTEM, ENOMEM, "cannot keep the value");
	free(*text);
	*text = joined;
	return 0;
}

/* The scalar under the reader, expanded. The caller frees *@ret. */
static int expanded(struct reader *r, const struct bj_setting *setting, char **ret)
{
	const char *raw = "";
	AUTO_FREE char *text = NULL;
	int e = is_null(r) ? 0 : scalar(r, setting->key, &raw);

	if (e < 0)
		return e;
	e = bj_expand(raw, &text, r->err);
	if (e < 0)
		return bj_err_wrap(r->err, "%.90s:%u: %s", r->loaded->file, line_of(r),
				   setting->key);
	if (setting->type == BJ_T_FILE)
		e = from_directory_of(r, &text);
	if (e < 0)
		return e;
	*ret = BJ_TAKE_PTR(text);
	return 0;
}

/* A sequence as the comma-separated text that the table's parser takes. */
static int read_list(struct reader *r, const struct bj_setting *setting, char **ret)
{
	AUTO_BUF struct bj_buf list = { 0 };

	for (;;) {
		AUTO_FREE char *item = NULL;
		int e = next(r);

		if (e < 0)
			return e;
		if (r->event.type == YAML_SEQUENCE_END_EVENT)
			break;
		e = expanded(r, setting, &item);
		if (e < 0)
			return e;
		if (item[0] == '\0' || strchr(item, ','))
			return refuse(r, setting->key, "an item of the list is not a plain name");
		bj_buf_printf(&list, "%s%s", list.size ? "," : "", item);
	}
	*ret = bj_buf_take(&list);
	return *ret ? 0 : bj_err_set(r->err, BJ_E_SYSTEM, ENOMEM, "cannot keep the list");
}

/* Read the value under the reader as text. *@ret_shown, for messages, is what the file says. The
 * caller frees both. */
static int read_text(struct reader *r, const struct bj_setting *setting, char **ret,
		     char **ret_shown)
{
	const bool list = r->event.type == YAML_SEQUENCE_START_EVENT && bj_table_is_list(setting);
	AUTO_FREE char *text = NULL;
	const int e = list ? read_list(r, setting, &text) : expanded(r, setting, &text);

	if (e < 0)
		return e;

	const char *written = list || is_null(r) ? text : (const char *)r->event.data.scalar.value;
	char *shown = written ? strdup(written) : NULL;

	if (!shown)
		return bj_err_set(r->err, BJ_E_SYSTEM, ENOMEM, "cannot keep the value");
	*ret = BJ_TAKE_PTR(text);
	*ret_shown = shown;
	return 0;
}

/* Remember that a key stands in @line; a second time is refused. */
static int see(struct reader *r, uint32_t *seen, uint32_t line, const char *path)
{
	char what[64];

	if (!*seen) {
		*seen = line;
		return 0;
	}
	snprintf(what, sizeof(what), "this key stands in line %u already", *seen);
	return refuse_at(r, line, path, what);
}

static int read_setting(struct reader *r, const struct bj_setting *setting, uint32_t line)
{
	const struct bj_origin origin = { .kind = BJ_FROM_FILE, .line = line_of(r) };
	AUTO_FREE char *text = NULL, *shown = NULL;
	int e = see(r, &r->seen[setting - bj_table], line, setting->key);

	if (e == 0)
		e = read_text(r, setting, &text, &shown);
	return e < 0 ? e : bj_load_set(r->loaded, setting, text, shown, &origin, r->err);
}

/* @near: what may have been meant, or NULL. */
static int unknown_key(struct reader *r, uint32_t line, const char *path, const char *near)
{
	char shown[BJ_SHOWN], what[160];

	if (near)
		snprintf(what, sizeof(what), "there is no such setting; did you mean %s?", near);
	else
		snprintf(what, sizeof(what),
			 "there is no such setting; `belljar config --explain` lists them");
	return refuse_at(r, line, bj_value_shown(path, shown), what);
}

/* Read the key under the reader into @path, below @prefix. */
static int read_key(struct reader *r, const char *prefix, char path[MAX_PATH_KEY])
{
	const char *key = "";
	const int e = scalar(r, prefix, &key);

	if (e < 0)
		return e;
	if (snprintf(path, MAX_PATH_KEY, "%s%s%s", prefix, prefix[0] ? "." : "", key) >=
	    MAX_PATH_KEY)
		return refuse(r, "", "a key is too long to be one of ours");
	return 0;
}

static struct bj_profile *add_profile(struct reader *r, const char *name)
{
	struct bj_loaded *l = r->loaded;
	struct bj_profile *list = realloc(l->profiles, (l->n_profiles + 1) * sizeof(*list));

	if (!list)
		return NULL;
	l->profiles = list;
	list[l->n_profiles] = (struct bj_profile){ .name = strdup(name), .line = line_of(r) };
	if (!list[l->n_profiles].name)
		return NULL;
	return &list[l->n_profiles++];
}

/* One limit of a profile: tried on a scratch value, so that a profile nobody uses is right too. */
static int read_profile_value(struct reader *r, struct bj_profile *profile, const char *path,
			      const struct bj_setting *setting)
{
	struct bj_settings scratch = { 0 };
	const uint32_t line = line_of(r);
	AUTO_FREE char *text = NULL, *shown = NULL;

	for (size_t i = 0; i < profile->n_values; i++)
		if (profile->values[i].setting == setting)
			return refuse(r, path, "this key was set before in the same profile");

	int e = read_text(r, setting, &text, &shown);

	if (e < 0)
		return e;
	e = bj_value_set(setting, text, shown, &scratch, r->err);
	if (e < 0)
		return bj_err_wrap(r->err, "%.90s:%u: %s", r->loaded->file, line, path);
	profile->values[profile->n_values++] =
		(struct bj_profile_value){ setting, BJ_TAKE_PTR(text), line };
	return 0;
}

/* A profile holds limits: what may have been meant is named as it stands in one. */
static int unknown_limit(struct reader *r, const char *path, const char *key)
{
	const char *near = bj_settings_suggest(key);

	if (near && strncmp(near, "limits.", 7) == 0)
		return unknown_key(r, line_of(r), path, near + 7);
	return unknown_key(r, line_of(r), path, NULL);
}

static int read_profile_body(struct reader *r, struct bj_profile *profile, const char *prefix)
{
	for (;;) {
		char path[MAX_PATH_KEY], key[MAX_PATH_KEY];
		int e = next(r);

		if (e < 0)
			return e;
		if (r->event.type == YAML_MAPPING_END_EVENT)
			return 0;
		e = read_key(r, "limits", key);
		if (e < 0)
			return e;
		e = read_key(r, prefix, path);
		if (e < 0)
			return e;

		const struct bj_setting *setting = bj_table_find(key);

		if (!setting)
			return unknown_limit(r, path, key);
		e = next(r);
		if (e == 0)
			e = read_profile_value(r, profile, path, setting);
		if (e < 0)
			return e;
	}
}

static int read_profile(struct reader *r)
{
	const struct bj_setting *by_name = bj_table_find("profile");
	struct bj_settings scratch = { 0 };
	char path[MAX_PATH_KEY];
	const char *name = "";
	int e = scalar(r, "profiles", &name);

	if (e < 0)
		return e;
	e = bj_value_set(by_name, name, name, &scratch, r->err);
	bj_value_free_all(&scratch);
	if (e < 0)
		return bj_err_wrap(r->err, "%.90s:%u: profiles", r->loaded->file, line_of(r));
	e = read_key(r, "profiles", path);
	if (e < 0)
		return e;
	for (size_t i = 0; i < r->loaded->n_profiles; i++)
		if (strcmp(r->loaded->profiles[i].name, name) == 0)
			return refuse(r, path, "there is a profile of this name already");
	if (r->loaded->n_profiles >= MAX_PROFILES)
		return refuse(r, path, "there are too many profiles; 64 are allowed");

	struct bj_profile *profile = add_profile(r, name);

	if (!profile)
		return bj_err_set(r->err, BJ_E_SYSTEM, ENOMEM, "cannot keep the profile");
	e = next(r);
	if (e < 0)
		return e;
	if (r->event.type != YAML_MAPPING_START_EVENT)
		return refuse(r, path, "a profile holds limits, such as `memory: 2GiB`");
	return read_profile_body(r, profile, path);
}

static int read_profiles(struct reader *r, uint32_t line)
{
	const int seen = see(r, &r->profiles, line, "profiles");

	if (seen < 0 || is_null(r))
		return seen;
	if (r->event.type != YAML_MAPPING_START_EVENT)
		return refuse(r, "profiles", "this section holds profiles by name");
	for (;;) {
		int e = next(r);

		if (e < 0)
			return e;
		if (r->event.type == YAML_MAPPING_END_EVENT)
			return 0;
		e = read_profile(r);
		if (e < 0)
			return e;
	}
}

static int read_mapping(struct reader *r, const char *prefix);

/* The value of the key @path, which stands in @line. */
static int read_entry(struct reader *r, const char *path, uint32_t line)
{
	const struct bj_setting *setting = bj_table_find(path);

	if (setting)
		return read_setting(r, setting, line);
	if (strcmp(path, "profiles") == 0)
		return read_profiles(r, line);

	const struct bj_setting *first = bj_table_section(path);

	if (!first)
		return unknown_key(r, line, path, bj_settings_suggest(path));

	const int seen = see(r, &r->sections[first - bj_table], line, path);

	if (seen < 0 || is_null(r))
		return seen;
	if (r->event.type != YAML_MAPPING_START_EVENT)
		return refuse(r, path, "this is a section; its settings stand below it, indented");
	return read_mapping(r, path);
}

/* Everything up to the end of the mapping that has just begun. */
static int read_mapping(struct reader *r, const char *prefix)
{
	for (;;) {
		char path[MAX_PATH_KEY];
		int e = next(r);

		if (e < 0)
			return e;
		if (r->event.type == YAML_MAPPING_END_EVENT)
			return 0;

		const uint32_t line = line_of(r);

		e = read_key(r, prefix, path);
		if (e == 0)
			e = next(r);
		if (e == 0)
			e = read_entry(r, path, line);
		if (e < 0)
			return e;
	}
}

static int read_document(struct reader *r)
{
	int e = next(r);

	if (e < 0)
		return e;
	if (r->event.type == YAML_STREAM_END_EVENT)
		return 0;
	e = next(r);
	if (e < 0)
		return e;
	if (!is_null(r)) {
		if (r->event.type != YAML_MAPPING_START_EVENT)
			return refuse(r, "", "settings are `key: value` lines");
		e = read_mapping(r, "");
	}
	if (e == 0)
		e = next(r);
	if (e == 0)
		e = next(r);
	if (e == 0 && r->event.type != YAML_STREAM_END_EVENT)
		return refuse(r, "", "a second document starts here; one is allowed");
	return e;
}

int bj_load_yaml(struct bj_loaded *loaded, const char *data, size_t size, struct bj_err *err)
{
	struct reader r = { .loaded = loaded, .err = err };

	if (!yaml_parser_initialize(&r.parser))
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read %.90s", loaded->file);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)data, size);

	int e = next(&r);

	if (e == 0)
		e = read_document(&r);
	yaml_event_delete(&r.event);
	yaml_parser_delete(&r.parser);
	return e;
}
