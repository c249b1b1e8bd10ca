/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/record.h"

/* Looking at what was recorded. Lists go from the newest to the oldest, a page at a time. */

/* Which runs. Negative, NULL and 0 are any. */
struct bj_history_filter {
	int state, cause, language;
	const char *tool, *tenant, *name; /* tenant "local": the local user */
	uint64_t since_ms, until_ms;      /* created in [since, until) */
	unsigned int limit;
	const char *before; /* an id: only runs older than it */
};

#define BJ_HISTORY_ALL ((struct bj_history_filter){ .state = -1, .cause = -1, .language = -1 })

/* {"executions": [...], "next": an id or null}. NULL: @err is filled. */
json_t *bj_history_list(struct bj_archive *archive, const struct bj_history_filter *filter,
			struct bj_err *err);

/* The one id that begins with @prefix. */
int bj_history_find(struct bj_archive *archive, const char *prefix, char ret_id[33],
		    struct bj_err *err);

/* The run @id as an object: as in the list, with its result (null: none yet), its limits, the
 * script as far as it is kept (null: it is not), and the question to a person (null: none was
 * asked). */
json_t *bj_history_show(const struct bj_record *record, const char *id, struct bj_err *err);
