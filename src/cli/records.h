/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/check.h"
#include "cli/options.h"
#include "record/record.h"

#include <jansson.h>

/* What the verbs that look at records share. */

/* The records of the settings in force, with what masks secrets. */
struct bj_records {
	struct bj_settings *settings;
	struct bj_checker *checker;
	struct bj_record record;
};

/* @config: the settings file, or NULL. Fails where nothing is recorded. The caller ends *@ret with
 * bj_records_close(), also after a failure. */
int bj_records_open(const char *config, struct bj_records *ret, struct bj_err *err);
void bj_records_close(struct bj_records *records);

#define AUTO_RECORDS __attribute__((cleanup(bj_records_close)))

/* The command line of a verb about one run, whose @options are json and config. */
struct bj_records_line {
	const char *config, *id;
	bool json;
};
int bj_records_parse(const char *verb, const struct bj_option *options, int argc, char **argv,
		     struct bj_records_line *ret, struct bj_err *err);

/* A text member of @object; "-" where it is null or missing. */
const char *bj_records_text(const json_t *object, const char *name);

/* Print @text, which a script or an agent wrote, on stdout: without control characters when that is
 * a terminal. */
int bj_records_print(const char *text, size_t size, struct bj_err *err);

/* The lines that @old and @new_text do not share, as `diff -u` would print them, appended to @ret.
 * False: they are the same. */
bool bj_diff(const char *old_name, const char *old, const char *new_name, const char *new_text,
	     struct bj_buf *ret);

/* A day, a time (both UTC) or how long ago, in ms since 1970. */
int bj_records_time(const char *text, uint64_t *ret, struct bj_err *err);

/* Who sits at the keyboard. */
const char *bj_records_user(void);
