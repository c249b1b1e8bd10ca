/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Write what stands in the directory @out as a pack to @to. For a process inside a jar or a
 * container, with the script's own rights, when no process of the script is left. Only plain files
 * with one name, directly in it, are taken; the rest is counted as refused. 0 or negative. */
int bj_walk_out(const char *out, int to, uint32_t max_files, uint64_t max_bytes);
