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

/* Some things the kernel counts by user namespace, and a namespace's share counts for whoever made
 * it, up to root of the machine: inotify instances, of which a user has 128, are one. Without a
 * limit, one jar could take those of all others and of the machine. */

/* In the launcher's user namespace, with all capabilities there: half of what the machine gives a
 * user is for all jars together. */
int bj_userns_limit_all(struct bj_err *err);

/* The same in a jar's: its own part, and no user namespaces inside it. @proc_fd is a /proc of the
 * launcher (bj_mounts_procs). */
int bj_userns_limit_jar(int proc_fd, struct bj_err *err);
