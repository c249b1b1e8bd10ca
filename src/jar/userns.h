/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <sys/types.h>

/* Which uids of the launcher's namespace a jar's two users are. */
struct bj_userns_ids {
	uint32_t init;   /* uid 0 inside */
	uint32_t script; /* uid 65534 inside */
	bool shared;     /* one uid for both: 65534 inside, @script outside */
};

/* Write the user and group maps of @pid, which waits in a new user namespace. */
int bj_userns_map(pid_t pid, const struct bj_userns_ids *ids, struct bj_err *err);
