/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Who runs a script right now. Each process that runs scripts has a number and holds a lock on the
 * byte of that number in one shared file: the kernel lets go of it when the process dies, whatever
 * it died of, so a dead owner's runs can be told from a live one's. */
struct bj_owner {
	int fd;         /* of this process alone; -1: closed */
	int64_t number; /* > 0 */
};

/* Take a number in the file @name of @dir_fd. */
int bj_owner_init(struct bj_owner *owner, int dir_fd, const char *name, struct bj_err *err);
void bj_owner_done(struct bj_owner *owner);

/* Whether the process with this number lives; ours does. */
bool bj_owner_lives(const struct bj_owner *owner, int64_t number);
