/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* The namespaces of a jar, as flags of clone and of setns for those who join. Init is born into all
 * of them but one: its network namespace it makes itself. */
uint64_t bj_namespaces(void);

/* The layers that they are. */
uint64_t bj_namespaces_layers(void);
