/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <jansson.h>
#include <seccomp.h>

/* One entry of "syscalls" in a profile, and the values it is made of. Used by profile.c only. */

struct bj_rules {
	scmp_filter_ctx ctx; /* NULL: only look at the entries */
	uint32_t default_action;
	int newest; /* the highest number that a rule mentions */
};

/* Every field of @object must be in @known (NULL-terminated); @where names the object. */
int bj_rule_check_fields(const json_t *object, const char *where, const char *const *known,
			 struct bj_err *err);

/* The action in field @field of @object, with the errno in field @errno_field. @prefix is what
 * stands before the field in a message: "" or "syscalls[3].". */
int bj_rule_action(const json_t *object, const char *prefix, const char *field,
		   const char *errno_field, uint32_t *ret_action, struct bj_err *err);

/* Add @entry, the one at @index, to @rules. */
int bj_rule_add(struct bj_rules *rules, const json_t *entry, size_t index, struct bj_err *err);

/* Answer ENOSYS to each number above the newest. */
int bj_rule_add_unknown(struct bj_rules *rules, struct bj_err *err);
