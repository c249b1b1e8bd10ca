/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "docker/broker.h"
#include "docker/share.h"
#include "docker/track.h"

/* One run in a container, in a process of its own. */

/* What a worker knows from its broker. */
struct bj_worker_ground {
	const struct bj_broker_settings *settings;
	struct bj_docker *docker;
	const struct bj_track *track;
	const struct bj_share *share;
	const char *seccomp; /* JSON, or NULL */
};

/* Make the container @name of the template and start it: it waits for its script. Tracked before
 * it is created. @run is NULL for one that is made ahead. On failure nothing of it is left. */
int bj_worker_make(const struct bj_worker_ground *ground, const struct bj_wire_launch *launch,
		   const struct bj_role_launch *run, const char *name, struct bj_err *err);

/* Remove a container and its track. True when it is gone. */
bool bj_worker_remove(const struct bj_worker_ground *ground, const char *name);

/* Run @launch to its end in the container @name, which waits already when @warm and is made first
 * when not. True when all is well and the container still has to be removed, which nobody needs to
 * wait for (bj_worker_tidy); false when there is nothing left to do. */
bool bj_worker_run(const struct bj_worker_ground *ground, struct bj_role_launch *launch,
		   const char *name, bool warm, struct bj_wire_reply *ret);

/* Remove the container of a run that went well. */
void bj_worker_tidy(const struct bj_worker_ground *ground, const char *name);
