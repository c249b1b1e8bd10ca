/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Whether @spec can be run at all: there is a script, every limit is one that a setting may have,
 * and the descriptors are open. -BJ_E_INVALID with what is wrong and what is allowed. */
int bj_valid_spec(const struct bj_spec *spec, struct bj_err *err);
