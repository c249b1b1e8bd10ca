/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* The steps from an empty database to the newest schema. A step that was released never changes:
 * what comes later is another step at the end. The number of steps done is the version. */
extern const char *const bj_schema[];
extern const size_t bj_schema_steps;
