/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/options.h"
#include "config/settings.h"

/* The arguments of a verb and the settings that they call for. Options that name a setting, and
 * --config, are dealt with; every other option, and every plain argument, goes to @take. The
 * caller frees *@ret. */
int bj_load(int argc, char **argv, const struct bj_option *options,
	    int (*take)(void *ctx, const struct bj_parse *p, struct bj_err *err), void *ctx,
	    struct bj_settings **ret, struct bj_err *err);
