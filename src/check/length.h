/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/layer.h"

/* The first layer: is this a text that belljar and the interpreter read alike, and is it short
 * enough? What it refuses is refused under every policy, and no later layer looks at it. */

enum { BJ_MAX_CHARS = 10000 }; /* the built-in limit */

/* Adds hits to @findings; *@ret_refused when one of them must stop the script. */
void bj_layer_length(const struct bj_check_request *request, struct bj_findings *findings,
		     bool *ret_refused);

const struct bj_rule *bj_rules_length(size_t *ret_n);
