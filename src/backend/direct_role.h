/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/role.h"

/* The process that runs scripts of the backend direct: no isolation at all, only a deadline, the
 * output cap and a kill that takes the whole tree along. */
int bj_direct_new(const char *python, const char *bash, struct bj_process **ret,
		  struct bj_err *err);
