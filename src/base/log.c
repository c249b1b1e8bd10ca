/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/cleanup.h"
#include "belljar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const LEVELS[] = { "error", "warn", "info", "debug" };

enum bj_log_level bj_log_level = BJ_LOG_WARN;

void bj_log(enum bj_log_level level, const char *fmt, ...)
{
	if (level > bj_log_level)
		return;

	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	dprintf(STDERR_FILENO, "belljar: %s: %s\n", LEVELS[level], line);
}

int bj_log_set_level(const char *name)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(LEVELS); i++)
		if (strcmp(name, LEVELS[i]) == 0) {
			bj_log_level = (enum bj_log_level)i;
			return 0;
		}
	return -BJ_E_INVALID;
}
