/* SPDX-License-Identifier: Apache-2.0 */
#include "config/value.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/size.h"
#include "config/rule.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

enum { MAX_MODULES = 1000, MAX_NAME = 255, MIN_SECRET = 16 };

#define LETTERS    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS     "0123456789"
#define NAME_SET   LETTERS DIGITS "._-/:@"
#define MODULE_SET LETTERS DIGITS "_."

static void *field(const struct bj_setting *setting, struct bj_settings *settings)
{
	return (char *)settings + setting->offset;
}

static const void *const_field(const struct bj_setting *setting, const struct bj_settings *settings)
{
	return (const char *)settings + setting->offset;
}

const char *bj_value_shown(const char *text, char out[BJ_SHOWN])
{
	size_t n = 0;

	for (; text[n] && n + 1 < BJ_SHOWN; n++)
		out[n] = (unsigned char)text[n] < ' ' || text[n] == 0x7f ? '?' : text[n];
	out[n] = '\0';
	return out;
}

static int refuse(const struct bj_setting *setting, const char *shown, struct bj_err *err)
{
	AUTO_FREE char *allowed = bj_table_allowed(setting);
	char text[BJ_SHOWN];

	if (shown[0] == '\0')
		return bj_err_set(err, BJ_E_INVALID, 0, "a value is missing; allowed: %s",
				  allowed ? allowed : "?");
	return bj_err_set(err, BJ_E_INVALID, 0, "\"%s\" is not allowed; allowed: %s",
			  bj_value_shown(shown, text), allowed ? allowed : "?");
}

static int parse_number(const struct bj_setting *setting, const char *text, uint64_t *ret)
{
	uint32_t milli;
	int r;

	switch (setting->type) {
	case BJ_T_SIZE:
		return bj_size_parse(text, ret);
	case BJ_T_DURATION:
		return bj_duration_parse_ms(text, ret);
	case BJ_T_CPUS:
		r = bj_cpus_parse_milli(text, &milli);
		if (r == 0)
			*ret = milli;
		return r;
	default:
		return bj_u64_parse(text, ret);
	}
}

static int set_number(const struct bj_setting *setting, const char *text, void *to)
{
	uint64_t v = 0;

	if (parse_number(setting, text, &v) < 0 || v < setting->min || v > setting->max)
		return -BJ_E_INVALID;
	if (setting->type == BJ_T_SIZE || setting->type == BJ_T_DURATION)
		*(uint64_t *)to = v;
	else
		*(uint32_t *)to = (uint32_t)v;
	return 0;
}

static int find_choice(const struct bj_setting *setting, const char *text)
{
	/* The name other systems use for a jar on this machine. */
	if (setting->offset == offsetof(struct bj_settings, backend) && strcmp(text, "local") == 0)
		return BJ_BACKEND_NATIVE;
	for (int i = 0; setting->choices[i]; i++)
		if (strcmp(setting->choices[i], text) == 0)
			return i;
	return -BJ_E_INVALID;
}

static int set_choice(const struct bj_setting *setting, const char *text, void *to)
{
	const int i = find_choice(setting, text);

	if (i < 0)
		return i;
	*(int *)to = i;
	return 0;
}

static int set_bool(const struct bj_setting *setting, const char *text, void *to)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };

	(void)setting;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(words); i++)
		if (strcasecmp(words[i], text) == 0) {
			*(bool *)to = i % 2;
			return 0;
		}
	return -BJ_E_INVALID;
}

static bool all_of(const char *text, const char *set, size_t max)
{
	const size_t n = strlen(text);

	return n > 0 && n <= max && strspn(text, set) == n;
}

static bool has_parent_part(const char *path)
{
	for (const char *p = path; (p = strstr(p, "..")); p += 2)
		if ((p == path || p[-1] == '/') && (p[2] == '/' || p[2] == '\0'))
			return true;
	return false;
}

static bool is_path(const char *text)
{
	if (text[0] == '\0' || strlen(text) >= PATH_MAX)
		return false;
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return true;
}

/* Long enough not to be guessed, and fit for a header. */
static bool is_secret(const char *text)
{
	const size_t n = strlen(text);

	for (const char *p = text; *p; p++)
		if (*p <= ' ' || *p >= 0x7f)
			return false;
	return n >= MIN_SECRET && n <= MAX_NAME;
}

static bool is_name(const char *text)
{
	return all_of(text, NAME_SET, MAX_NAME) && text[0] != '-';
}

static bool string_is_allowed(const struct bj_setting *setting, const char *text)
{
	switch (setting->type) {
	case BJ_T_WORD:
		return find_choice(setting, text) >= 0;
	case BJ_T_NAME:
		return is_name(text);
	case BJ_T_PATH:
		return is_path(text) && text[0] == '/' && !has_parent_part(text);
	case BJ_T_SECRET:
		return is_secret(text);
	default:
		return is_path(text);
	}
}

static int set_string(const struct bj_setting *setting, const char *text, void *to)
{
	char **slot = to;
	char *copy = NULL;

	if (text[0] != '\0' || !setting->optional) {
		if (!string_is_allowed(setting, text))
			return -BJ_E_INVALID;
		copy = strdup(text);
		if (!copy)
			return -BJ_E_SYSTEM;
	}
	free(*slot);
	*slot = copy;
	return 0;
}

static void free_strings(struct bj_strings *strings)
{
	for (size_t i = 0; i < strings->n; i++)
		free(strings->items[i]);
	free(strings->items);
	*strings = (struct bj_strings){ 0 };
}

static bool item_is_allowed(const struct bj_setting *setting, const char *text)
{
	struct bj_approval_rule rule;

	if (setting->type == BJ_T_RULES)
		return bj_rule_read(text, &rule);
	if (setting->type == BJ_T_NAMES)
		return is_name(text);
	return setting->choices ? find_choice(setting, text) >= 0
				: all_of(text, MODULE_SET, MAX_NAME);
}

/* Add one module name; blanks around it are dropped. The array keeps a NULL at its end. */
static int add_module(const struct bj_setting *setting, struct bj_strings *list, const char *from,
		      size_t len)
{
	for (; len > 0 && *from == ' '; from++)
		len--;
	while (len > 0 && from[len - 1] == ' ')
		len--;
	if (list->n >= (setting->type == BJ_T_NAMES ? setting->max : MAX_MODULES))
		return -BJ_E_LIMIT;

	char **items = realloc(list->items, (list->n + 2) * sizeof(*items));

	if (!items)
		return -BJ_E_SYSTEM;
	list->items = items;

	AUTO_FREE char *name = strndup(from, len);

	if (!name)
		return -BJ_E_SYSTEM;
	if (!item_is_allowed(setting, name))
		return -BJ_E_INVALID;
	items[list->n++] = BJ_TAKE_PTR(name);
	items[list->n] = NULL;
	return 0;
}

static int set_modules(const struct bj_setting *setting, const char *text, void *to)
{
	struct bj_strings list = { 0 };
	const char *p = text;

	while (*text) {
		const size_t len = strcspn(p, ",");
		const int r = add_module(setting, &list, p, len);

		if (r < 0) {
			free_strings(&list);
			return r;
		}
		if (p[len] == '\0')
			break;
		p += len + 1;
	}
	free_strings(to);
	*(struct bj_strings *)to = list;
	return 0;
}

static int (*const SETTERS[])(const struct bj_setting *, const char *, void *) = {
	[BJ_T_COUNT] = set_number,  [BJ_T_SIZE] = set_number,     [BJ_T_DURATION] = set_number,
	[BJ_T_CPUS] = set_number,   [BJ_T_CHOICE] = set_choice,   [BJ_T_WORD] = set_string,
	[BJ_T_BOOL] = set_bool,     [BJ_T_NAME] = set_string,     [BJ_T_FILE] = set_string,
	[BJ_T_PATH] = set_string,   [BJ_T_MODULES] = set_modules, [BJ_T_NAMES] = set_modules,
	[BJ_T_SECRET] = set_string, [BJ_T_RULES] = set_modules,
};

int bj_value_set(const struct bj_setting *setting, const char *text, const char *shown,
		 struct bj_settings *settings, struct bj_err *err)
{
	if (setting->offset == offsetof(struct bj_settings, backend) && strcmp(text, "e2b") == 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "e2b, the cloud service, comes in a later version; allowed "
				  "until then: native, docker or direct");

	const int r = SETTERS[setting->type](setting, text, field(setting, settings));

	if (r == -BJ_E_SYSTEM)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot keep the value");
	if (setting->type == BJ_T_SECRET)
		shown = "(hidden)";
	return r < 0 ? refuse(setting, shown, err) : 0;
}

static char *format_number(const struct bj_setting *setting, const void *from)
{
	char text[BJ_SIZE_TEXT];

	if (setting->type == BJ_T_SIZE)
		bj_size_format(*(const uint64_t *)from, text);
	else if (setting->type == BJ_T_DURATION)
		bj_duration_format(*(const uint64_t *)from, text);
	else if (setting->type == BJ_T_CPUS)
		bj_cpus_format(*(const uint32_t *)from, text);
	else
		snprintf(text, sizeof(text), "%" PRIu32, *(const uint32_t *)from);
	return strdup(text);
}

static char *format_modules(const struct bj_strings *list)
{
	struct bj_buf buf = { 0 };

	for (size_t i = 0; i < list->n; i++)
		bj_buf_printf(&buf, "%s%s", i ? "," : "", list->items[i]);
	return bj_buf_take(&buf);
}

char *bj_value_format(const struct bj_setting *setting, const struct bj_settings *settings)
{
	const void *from = const_field(setting, settings);

	switch (setting->type) {
	case BJ_T_COUNT:
	case BJ_T_SIZE:
	case BJ_T_DURATION:
	case BJ_T_CPUS:
		return format_number(setting, from);
	case BJ_T_CHOICE:
		return strdup(setting->choices[*(const int *)from]);
	case BJ_T_BOOL:
		return strdup(*(const bool *)from ? "true" : "false");
	case BJ_T_MODULES:
	case BJ_T_NAMES:
	case BJ_T_RULES:
		return format_modules(from);
	default:
		break;
	}

	const char *text = *(char *const *)from;

	return strdup(text ? text : "");
}

void bj_value_free_all(struct bj_settings *settings)
{
	for (size_t i = 0; i < bj_table_size; i++) {
		const struct bj_setting *s = &bj_table[i];

		if (SETTERS[s->type] == set_modules)
			free_strings(field(s, settings));
		else if (SETTERS[s->type] == set_string)
			free(*(char **)field(s, settings));
	}
}
