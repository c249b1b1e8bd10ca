/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Ask the person at the terminal about a run, as spec->on_ask: what was found, and what changed
 * since the version that was approved last. Nobody is asked where there is no terminal. */
int bj_ask(void *ctx, const struct bj_question *question, bool *ret_approved, char **ret_by,
	   char **ret_reason);
