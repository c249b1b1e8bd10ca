/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "config/load.h"
#include "config/value.h"

#include <jansson.h>
#include <string.h>

enum { WIDTH = 96 };

/* The section of a key: "limits" of "limits.memory"; 0 characters at the top. */
static size_t section_length(const struct bj_setting *setting)
{
	const char *dot = strchr(setting->key, '.');

	return dot ? (size_t)(dot - setting->key) : 0;
}

static bool same_section(const struct bj_setting *a, const struct bj_setting *b)
{
	const size_t n = section_length(a);

	return n == section_length(b) && strncmp(a->key, b->key, n) == 0;
}

/* @text as comment lines of at most WIDTH columns. */
static void add_comment(struct bj_buf *buf, const char *indent, const char *text)
{
	const size_t room = WIDTH - strlen(indent) - 2;

	while (*text) {
		size_t n = strlen(text);

		if (n > room)
			for (n = room; n > 0 && text[n] != ' '; n--)
				;
		if (n == 0)
			n = strcspn(text, " ");
		bj_buf_printf(buf, "%s# %.*s\n", indent, (int)n, text);
		text += n + strspn(text + n, " ");
	}
}

static void add_yaml_value(struct bj_buf *buf, const struct bj_setting *setting, const char *value)
{
	if (bj_table_is_list(setting))
		bj_buf_printf(buf, "[%s]", value);
	else
		bj_buf_puts(buf, value[0] ? value : "\"\"");
}

static void explain_setting(struct bj_buf *buf, const struct bj_setting *setting)
{
	const size_t section = section_length(setting);
	const char *indent = section ? "  " : "";
	AUTO_FREE char *allowed = bj_table_allowed(setting);
	AUTO_BUF struct bj_buf line = { 0 };
	char env[BJ_ENV_NAME];

	bj_table_env_name(setting, env);
	bj_buf_printf(&line, "Allowed: %s%s. Environment: %s%s%s.", allowed ? allowed : "?",
		      setting->optional ? "; empty: none" : "", env, setting->env ? ", " : "",
		      setting->env ? setting->env : "");
	add_comment(buf, indent, setting->help);
	if (!line.failed)
		add_comment(buf, indent, line.data);
	bj_buf_printf(buf, "%s%s: ", indent, setting->key + (section ? section + 1 : 0));
	add_yaml_value(buf, setting, setting->value);
	bj_buf_puts(buf, "\n");
}

static char *explain_yaml(const char *only)
{
	struct bj_buf buf = { 0 };
	const struct bj_setting *last = NULL;

	if (!only)
		add_comment(
			&buf, "",
			"Every setting of belljar with its default. A flag wins over the "
			"environment, "
			"the environment over this file, this file over the profile. ${NAME} and "
			"${NAME:-default} are taken from the environment.");
	for (size_t i = 0; i < bj_table_size; i++) {
		const struct bj_setting *s = &bj_table[i];

		if (!bj_table_is_among(s, only))
			continue;
		bj_buf_puts(&buf, only && !last ? "" : "\n");
		if (section_length(s) && (!last || !same_section(s, last)))
			bj_buf_printf(&buf, "%.*s:\n", (int)section_length(s), s->key);
		explain_setting(&buf, s);
		last = s;
	}
	if (only)
		return bj_buf_take(&buf);
	bj_buf_puts(&buf,
		    "\n# Profiles that ship; name more of your own here, each with any of the "
		    "limits above.\n");
	for (const struct bj_shipped_profile *p = bj_shipped_profiles; p->name; p++)
		bj_buf_printf(&buf, "#   %s: %s\n", p->name, p->help);
	bj_buf_puts(&buf, "profiles: {}\n");
	return bj_buf_take(&buf);
}

static json_t *explain_one(const struct bj_setting *s)
{
	AUTO_FREE char *allowed = bj_table_allowed(s);
	char env[BJ_ENV_NAME];
	json_t *names = json_array();

	bj_table_env_name(s, env);
	json_array_append_new(names, json_string(env));
	if (s->env)
		json_array_append_new(names, json_string(s->env));
	return json_pack("{s:s, s:s, s:s?, s:s, s:b, s:o, s:s}", "key", s->key, "type",
			 bj_table_type_name(s), "allowed", allowed, "default", s->value, "optional",
			 (int)s->optional, "environment", names, "help", s->help);
}

static json_t *explain_profile(const struct bj_shipped_profile *p)
{
	json_t *limits = json_object();

	for (const struct bj_shipped_value *v = p->values; v->key; v++)
		json_object_set_new(limits, v->key, json_string(v->value));
	return json_pack("{s:s, s:s, s:o}", "name", p->name, "help", p->help, "limits", limits);
}

/* Gives @root away. */
static char *dump(json_t *root)
{
	char *text = json_dumps(root, JSON_INDENT(2));

	json_decref(root);
	return text;
}

static char *explain_json(const char *only)
{
	json_t *settings = json_array(), *profiles = json_array();

	for (size_t i = 0; i < bj_table_size; i++)
		if (bj_table_is_among(&bj_table[i], only))
			json_array_append_new(settings, explain_one(&bj_table[i]));
	for (const struct bj_shipped_profile *p = bj_shipped_profiles; !only && p->name; p++)
		json_array_append_new(profiles, explain_profile(p));
	return dump(json_pack("{s:o, s:o}", "settings", settings, "profiles", profiles));
}

char *bj_settings_explain(const char *only, bool json)
{
	return json ? explain_json(only) : explain_yaml(only);
}

/* A path from the environment may be no UTF-8, which JSON cannot hold. */
static json_t *text_or_marks(const char *text)
{
	json_t *value = json_string(text);
	AUTO_FREE char *copy = value ? NULL : strdup(text);

	for (char *p = copy; p && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	return value ? value : json_string(copy);
}

/* The value as it may be seen. */
static char *shown_value(const struct bj_loaded *loaded, const struct bj_setting *setting)
{
	char *value = bj_value_format(setting, &loaded->settings);

	if (setting->type != BJ_T_SECRET || !value || value[0] == '\0')
		return value;
	free(value);
	return strdup("(hidden)");
}

static char *show_json(const struct bj_loaded *loaded, const char *only)
{
	json_t *values = json_object();

	for (size_t i = 0; i < bj_table_size; i++) {
		if (!bj_table_is_among(&bj_table[i], only))
			continue;

		AUTO_FREE char *value = shown_value(loaded, &bj_table[i]);
		char origin[BJ_ORIGIN_TEXT];

		if (!value) {
			json_decref(values);
			return NULL;
		}
		bj_origin_format(loaded, &loaded->origins[i], origin);
		json_object_set_new(values, bj_table[i].key,
				    json_pack("{s:o?, s:o?}", "value", text_or_marks(value),
					      "origin", text_or_marks(origin)));
	}

	json_t *file = loaded->file ? text_or_marks(loaded->file) : json_null();

	return dump(json_pack("{s:o?, s:o}", "file", file, "settings", values));
}

static char *show_text(const struct bj_loaded *loaded, const char *only)
{
	struct bj_buf buf = { 0 };

	bj_buf_printf(&buf, "# settings file: %s\n", loaded->file ? loaded->file : "none");
	for (size_t i = 0; i < bj_table_size; i++) {
		if (!bj_table_is_among(&bj_table[i], only))
			continue;

		AUTO_FREE char *value = shown_value(loaded, &bj_table[i]);
		AUTO_BUF struct bj_buf line = { 0 };
		char origin[BJ_ORIGIN_TEXT];

		if (!value)
			return NULL;
		bj_origin_format(loaded, &loaded->origins[i], origin);
		bj_buf_printf(&line, "%s: ", bj_table[i].key);
		add_yaml_value(&line, &bj_table[i], value);
		bj_buf_printf(&buf, "%-40s # %s\n", line.failed ? "?" : line.data, origin);
	}
	return bj_buf_take(&buf);
}

char *bj_settings_show(const struct bj_settings *settings, const char *only, bool json)
{
	const struct bj_loaded *loaded = (const struct bj_loaded *)settings;

	return json ? show_json(loaded, only) : show_text(loaded, only);
}
