/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/table.h"

/* One value of the table, from text and back. */

/* Read @text into the field of @setting in @settings; what was there is freed. @shown is what the
 * user wrote, for the message (an expanded ${NAME} may be a secret). The field is untouched on
 * failure. */
int bj_value_set(const struct bj_setting *setting, const char *text, const char *shown,
		 struct bj_settings *settings, struct bj_err *err);

/* The value as it would stand in YAML ("" for none). The caller frees it; NULL: no memory. */
char *bj_value_format(const struct bj_setting *setting, const struct bj_settings *settings);

/* Free what the fields own. */
void bj_value_free_all(struct bj_settings *settings);

/* @text with control characters replaced and cut to fit, safe to print. Returns @out. */
enum { BJ_SHOWN = 48 };
const char *bj_value_shown(const char *text, char out[BJ_SHOWN]);
