/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <sys/types.h>

/* Subordinate uids of an ordinary user (/etc/subuid, newuidmap): with them, each jar gets kernel
 * uids of its own even without root. */

/* A child that waits outside the user namespace to write the maps of its parent. */
struct bj_subids_helper {
	pid_t pid;
	int sync; /* the parent's end */
};

/* Start the helper when the caller has at least @count subordinate uids and gids and the tools are
 * there. False: go on without. */
bool bj_subids_start(struct bj_subids_helper *helper, uint32_t count);

/* From inside the new user namespace: have the maps written. Uid 0 is the caller, uids from 1 on
 * are the subordinate ones. False: they were refused. */
bool bj_subids_finish(struct bj_subids_helper *helper);
