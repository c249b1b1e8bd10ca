/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/check.h"

/* A Python script may declare an encoding (PEP 263), and CPython reads its bytes so. When that is
 * one with a byte for every character and the script has bytes outside ASCII, *@ret_text is the
 * script in UTF-8, for the caller to free, and *@ret asks for that; places then are characters of
 * what CPython reads. In every other case *@ret is *@request and *@ret_text NULL. -1: no memory. */
int bj_decode(const struct bj_check_request *request, struct bj_check_request *ret,
	      char **ret_text);
