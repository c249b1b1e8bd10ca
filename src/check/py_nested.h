/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/danger_rules.h"
#include "check/python.h"

/* Check what @call, of @function, hands on as constant text to another interpreter. */
int bj_py_nested(const struct bj_danger_pass *pass, const struct bj_py *py, uint32_t call,
		 uint32_t function, struct bj_err *err);
