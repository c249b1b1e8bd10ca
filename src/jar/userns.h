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

/* Write the user and group maps of @pid, which waits in a new user namespace. @proc_fd is a /proc
 * of the launcher. */
int bj_userns_map(int proc_fd, pid_t pid, const struct bj_userns_ids *ids, struct bj_err *err);

/* In the jar's own user namespace: there are none inside it. @proc_fd is a /proc of the launcher
 * (bj_mounts_procs). */
int bj_userns_forbid(int proc_fd, struct bj_err *err);
