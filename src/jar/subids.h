/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <sys/types.h>

/* Where the uids of a launcher's user namespace come from. With subordinate ids, uid 0 in it is
 * the launcher, and uids from 1 on are for jars, two each. Without, there is one uid, nobody. */
struct bj_subids {
	uint32_t self_uid, self_gid;   /* outside, of the launcher */
	uint32_t first_uid, first_gid; /* outside, of uid and gid 1 inside */
	uint32_t count;                /* 0: none */
	int claim;                     /* holds the ids while it, or a copy, is open; -1: none */
	char claims[160];              /* the directory that it is in */
};

/* The ids for the calling user: root takes from the @count ids from @base on; others from what
 * /etc/subuid and /etc/subgid give them, when the tools that map it are there. Of these a block is
 * claimed that no other belljar has, by a lock in a directory that only this user can write to. */
struct bj_subids bj_subids_find(uint32_t base, uint32_t count);

/* Give the claim back, when no copy of it is open any more. */
void bj_subids_release(struct bj_subids *ids);

/* Write the maps of @pid, which is in a user namespace of its own. */
bool bj_subids_map(const struct bj_subids *ids, pid_t pid);
