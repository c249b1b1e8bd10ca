/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/load.h"

#include "base/err.h"

#include <string.h>

enum { MAX_OVERRIDES = 16 };

int bj_load(int argc, char **argv, const struct bj_option *options,
	    int (*take)(void *ctx, const struct bj_parse *p, struct bj_err *err), void *ctx,
	    struct bj_settings **ret, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	struct bj_override overrides[MAX_OVERRIDES];
	const char *config = NULL;
	size_t n = 0;
	int r;

	while ((r = bj_options_next(&p, options, err)) > 0) {
		if (p.option && p.option->key && n == MAX_OVERRIDES)
			return bj_err_set(err, BJ_E_INVALID, 0, "too many options");
		if (p.option && p.option->key)
			overrides[n++] =
				(struct bj_override){ p.option->key, p.value, p.option->name };
		else if (p.option && strcmp(p.option->name, "config") == 0)
			config = p.value;
		else
			r = take(ctx, &p, err);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : bj_settings_load(config, overrides, n, ret, err);
}
