/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <jansson.h>

/* Findings as a JSON array, the same for a result and for `belljar check`. What is not UTF-8 is
 * replaced. NULL: no memory. */
json_t *bj_findings_to_json(const struct bj_finding *findings, size_t n);
