/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/layer.h"

/* Every rule in force: built-in and the user's. */

/* *@ret is an array of *@ret_n pointers in the order of the layers; the caller frees the array.
 * The rules live as long as @checker. */
int bj_rules_list(const struct bj_checker *checker, const struct bj_rule ***ret, size_t *ret_n,
		  struct bj_err *err);
