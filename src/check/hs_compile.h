/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/secrets.h"

/* Compile patterns at run time. The program carries only the matching half of libhs, which starts
 * fast; the compiler is loaded from the machine's libhs.so.5 when the user has patterns of their
 * own. */

/* On failure *@ret_bad is the index of the rule that is wrong, or @n when none is. The caller
 * frees *@ret with hs_free_database(). */
int bj_hs_compile(const struct bj_secret_rule *rules, size_t n, hs_database_t **ret,
		  size_t *ret_bad, struct bj_err *err);
