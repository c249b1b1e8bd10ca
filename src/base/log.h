/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* One line on stderr, at the edge. Below the engine: debug only. Secrets never. */

enum bj_log_level { BJ_LOG_ERROR, BJ_LOG_WARN, BJ_LOG_INFO, BJ_LOG_DEBUG };

extern enum bj_log_level bj_log_level; /* the one global of the program */

void bj_log(enum bj_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Set the level by name; -BJ_E_INVALID when there is no such level. */
int bj_log_set_level(const char *name);
