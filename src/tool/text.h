/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

/* A result as text for a model: what happened, then what to change, then the findings, then the
 * output with its middle cut out. At most @max bytes, always UTF-8. */
void bj_tool_text(const struct bj_result *result, size_t max, struct bj_buf *ret);

/* The same for a script that was only checked. */
void bj_tool_check_text(const struct bj_result *result, size_t max, struct bj_buf *ret);

/* Add @text to @buf within @room bytes; what is left out of the middle is said, counted in bytes
 * of @total (what was there before others cut). */
void bj_tool_add_cut(struct bj_buf *buf, const char *text, size_t size, uint64_t total,
		     size_t room);
