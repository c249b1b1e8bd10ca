/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/audit.h"
#include "record/record.h"

/* What the verbs that manage tenants and keys share: the records and the audit log, opened by who
 * owns them. */
struct bj_office {
	struct bj_settings *settings;
	struct bj_archive *archive;
};

/* Open them with the settings of @config (NULL: the usual ones). */
int bj_office_open(const char *config, struct bj_office *ret, struct bj_err *err);
void bj_office_close(struct bj_office *office);

/* Write down what is about to change, with who changes it. */
int bj_office_note(struct bj_office *office, const char *kind, json_t *data_take,
		   struct bj_err *err);

/* Print @value (taken) as one line of JSON. */
int bj_office_print(json_t *value_take, struct bj_err *err);

/* A time in milliseconds since 1970 as text, "-" for null. */
enum { BJ_OFFICE_TIME = 32 };
const char *bj_office_time(const json_t *ms, char text[BJ_OFFICE_TIME]);
