/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/squeeze.h"

/* What bash accepts and the grammar does not, written in another way that means the same. Each
 * @step, from 0, does more than the one before. *@ret, which the caller empties, knows the place
 * of every byte; its first *@ret_same bytes are those of @text. False: there is nothing to mend, or
 * no memory. */
#define BJ_SH_MENDS 4
bool bj_sh_mend(const struct bj_squeezed *text, unsigned step, struct bj_squeezed *ret,
		size_t *ret_same);
