/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <sys/types.h>

/* Identity and capabilities of the calling process. */

/* Give up every capability: bounding, ambient, inheritable, permitted, effective. Without the right
 * to drop from the bounding set that is all that stays, and an error. */
int bj_creds_drop_caps(struct bj_err *err);

/* Keep only the capabilities in @keep (bits of CAP_*), in every set. */
int bj_creds_keep_caps(uint64_t keep, struct bj_err *err);

/* The same for a process that executes one program and then nothing more, in few steps: to empty
 * the bounding set takes one for each capability. Uid 0 has no rights of its own from here on, so
 * an exec gains none, and no process can undo that. */
int bj_creds_end_root(struct bj_err *err);

/* Let every capability there is survive an exec by a uid that is not 0. */
int bj_creds_keep_over_exec(struct bj_err *err);

/* Become @uid and @gid for good, without supplementary groups where the kernel lets us drop
 * them (a user namespace with setgroups denied has none to give). */
int bj_creds_become(uid_t uid, gid_t gid, struct bj_err *err);

int bj_creds_no_new_privs(struct bj_err *err);
