/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Resource limits of the script's processes: the kernel's oldest wall, and the only one for
 * processes where there is no cgroup. */
struct bj_rlimits {
	uint64_t file_size; /* bytes of the largest file */
	uint64_t processes;
};

int bj_rlimits_set(const struct bj_rlimits *limits, struct bj_err *err);
