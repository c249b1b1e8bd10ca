/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* The candidate nearest to @word by edit distance, for "did you mean"; NULL when none is near. */
const char *bj_nearest(const char *word, const char *const *candidates, size_t n);
