/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/layer.h"

/* The first layer: is this a text that belljar and the interpreter read alike, and is it short
 * enough? What it refuses is refused under every policy. */

enum { BJ_MAX_CHARS = 10000 }; /* the built-in limit */

enum bj_text_verdict {
	BJ_TEXT_FINE,
	BJ_TEXT_REFUSED,   /* some hit must stop the script */
	BJ_TEXT_TOO_LARGE, /* the same, and nobody should look at the bytes */
};

enum bj_text_verdict bj_layer_length(const struct bj_check_request *request,
				     struct bj_findings *findings);

const struct bj_rule *bj_rules_length(size_t *ret_n);
