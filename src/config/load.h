/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/table.h"

/* Settings on their way in, with where each value came from. Private to src/config. */

enum bj_origin_kind {
	BJ_FROM_DEFAULT,
	BJ_FROM_PROFILE,
	BJ_FROM_FILE,
	BJ_FROM_ENV,
	BJ_FROM_FLAG,
};

struct bj_origin {
	enum bj_origin_kind kind;
	uint32_t line; /* in the file; 0: not from a file */
	char *name;    /* the variable, the flag or the profile; owned */
};

/* One value of a profile that a file defines. */
struct bj_profile_value {
	const struct bj_setting *setting;
	char *text;
	uint32_t line;
};

struct bj_profile {
	char *name;
	uint32_t line;
	struct bj_profile_value values[BJ_MAX_SETTINGS];
	size_t n_values;
};

/* What bj_settings_load() really allocates. */
struct bj_loaded {
	struct bj_settings settings; /* first: a pointer to it is a pointer to the whole */
	struct bj_origin origins[BJ_MAX_SETTINGS];
	char *file; /* NULL: none was read */
	struct bj_profile *profiles;
	size_t n_profiles;
};

/* Set one value and remember its origin. The message of a failure starts with the place. */
int bj_load_set(struct bj_loaded *loaded, const struct bj_setting *setting, const char *text,
		const char *shown, const struct bj_origin *origin, struct bj_err *err);

/* Read @file, which holds @size bytes of YAML, into @loaded. loaded->file is set already. */
int bj_load_yaml(struct bj_loaded *loaded, const char *data, size_t size, struct bj_err *err);

/* Find the file to read and read it: see bj_settings_load(). */
int bj_load_file(struct bj_loaded *loaded, const char *path, struct bj_err *err);

/* Give the limits that nothing else set the values of the profile in force. */
int bj_load_profile(struct bj_loaded *loaded, struct bj_err *err);
void bj_load_free_profiles(struct bj_loaded *loaded);

/* Replace ${NAME} and ${NAME:-default} in @text by the environment; $${ stays ${. The caller
 * frees *@ret. */
int bj_expand(const char *text, char **ret, struct bj_err *err);

/* Where a value came from, in words: "built in", "belljar.yaml:3". */
enum { BJ_ORIGIN_TEXT = 160 };
void bj_origin_format(const struct bj_loaded *loaded, const struct bj_origin *origin,
		      char text[BJ_ORIGIN_TEXT]);
