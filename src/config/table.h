/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/size.h"
#include "config/settings.h"

/* The table of settings: what there is, what is allowed, what it means. Private to src/config. */

enum bj_type {
	BJ_T_COUNT,    /* uint32_t */
	BJ_T_SIZE,     /* uint64_t, bytes */
	BJ_T_DURATION, /* uint64_t, milliseconds */
	BJ_T_CPUS,     /* uint32_t, thousandths of a CPU */
	BJ_T_CHOICE,   /* an enum: the index into @choices */
	BJ_T_WORD,     /* char *: one of @choices */
	BJ_T_BOOL,     /* bool */
	BJ_T_NAME,     /* char *: a word of letters, digits and a few signs */
	BJ_T_FILE,     /* char *: a path; in a file it starts at the file's directory */
	BJ_T_PATH,     /* char *: an absolute path without `..` */
	BJ_T_MODULES,  /* struct bj_strings: names of Python modules */
	BJ_T_NAMES,    /* struct bj_strings: words as BJ_T_NAME has them, @max at most */
	BJ_T_SECRET,   /* char *: printable, and never shown */
	BJ_T_RULES,    /* struct bj_strings: approval rules, see config/rule.h */
};

/* A variable of an older system that means one of our settings. */
enum bj_env_form {
	BJ_ENV_PLAIN, /* the text as it would stand in YAML */
	BJ_ENV_KIB,   /* a number of KiB */
	BJ_ENV_BLOCK, /* true: block, false: warn */
};

struct bj_setting {
	const char *key; /* dotted */
	enum bj_type type;
	bool optional; /* an empty value is fine and means none (NULL) */
	size_t offset; /* in struct bj_settings */
	uint64_t min, max;
	const char *const *choices; /* NULL-terminated, in the order of the enum */
	const char *value;          /* the default, as it would stand in YAML; "": none */
	const char *env;            /* beside BELLJAR_<KEY>; NULL: none */
	enum bj_env_form env_form;
	const char *help; /* one or two sentences */
};

/* A profile that ships: limits by their keys. */
struct bj_shipped_value {
	const char *key;
	const char *value;
};

struct bj_shipped_profile {
	const char *name;
	const char *help;
	const struct bj_shipped_value *values; /* ends with a NULL key */
};

enum { BJ_ENV_NAME = 64, BJ_MAX_SETTINGS = 128 };

extern const struct bj_setting bj_table[];
extern const size_t bj_table_size;
extern const struct bj_shipped_profile bj_shipped_profiles[]; /* ends with a NULL name */

const struct bj_setting *bj_table_find(const char *key); /* NULL: no such setting */
bool bj_table_is_among(const struct bj_setting *setting, const char *only); /* see settings.h */

/* The first setting of the section @path, such as "limits"; NULL: no such section. */
const struct bj_setting *bj_table_section(const char *path);

/* BELLJAR_LIMITS_MEMORY for limits.memory. */
void bj_table_env_name(const struct bj_setting *setting, char name[BJ_ENV_NAME]);

/* What the value may be, in words: "a size from 16MiB to 1TiB". The caller frees it. */
char *bj_table_allowed(const struct bj_setting *setting);

/* A number as one would write it for @setting: 512MiB, 60s, 0.5. */
void bj_table_number(const struct bj_setting *setting, uint64_t v, char text[BJ_SIZE_TEXT]);

const char *bj_table_type_name(const struct bj_setting *setting);

/* Whether its value is a list. */
bool bj_table_is_list(const struct bj_setting *setting);
