/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"
#include "jar/mounts.h"

#include <sys/types.h>

/* The launcher: the only process with privilege, and the front's handle on it. */

/* What the launcher must know from the start. Borrowed until bj_launcher_new() returns. */
struct bj_launch_settings {
	const char *cgroup; /* parent cgroup; NULL: the own one */
	uint32_t uid_base, uid_count;
	uint64_t required; /* layers that must hold */
	const char *python, *bash;
	enum bj_mounts_proc proc;
};

/* Front's side. Thread-safe once made. */
struct bj_launcher;

/* Start the launcher. It comes up in parallel: bj_launcher_ready() waits for it. The caller
 * frees *@ret. Call it from a process without other threads. */
int bj_launcher_new(const struct bj_launch_settings *settings, struct bj_launcher **ret,
		    struct bj_err *err);

/* Wait until the launcher is up; fails with its own words when it cannot be. *@ret_swept (may be
 * NULL) gets how many leftovers of dead belljars it removed. */
int bj_launcher_ready(struct bj_launcher *launcher, unsigned int *ret_swept, struct bj_err *err);

/* End the launcher and with it every jar. NULL is fine. */
void bj_launcher_free(struct bj_launcher *launcher);

/* The control socket, for sending launch messages. Borrowed. */
int bj_launcher_socket(const struct bj_launcher *launcher);

/* The launcher's whole life, in its own process. Never returns. @cgroups was made before the
 * namespaces were entered; NULL with @why when there is none. */
struct bj_cgroups;
__attribute__((noreturn)) void bj_launch_main(int control,
					      const struct bj_launch_settings *settings,
					      struct bj_cgroups *cgroups, const struct bj_err *why,
					      bool own_uids);
