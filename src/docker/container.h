/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "docker/client.h"
#include "jar/wire.h"

#include <time.h>

/* The one template of a container and its life. Names and labels are made here; nothing of a
 * script reaches a request but as the content of an archive. */

#define BJ_CONTAINER_PREFIX "belljar-"
#define BJ_LABEL_OWNER      "belljar.owner"
#define BJ_LABEL_RUN        "belljar.run"
#define BJ_LABEL_EXPIRES    "belljar.expires"

enum { BJ_CONTAINER_NAME = 48, BJ_OWNER_ID = 33 };

struct bj_container_plan {
	const struct bj_wire_launch *launch;
	const char *image;
	const char *share;   /* a directory of this machine to show as /script; NULL: a volume */
	const char *runtime; /* NULL: the engine's own choice */
	const char *seccomp; /* a profile as JSON; NULL: the engine's default */
	const char *owner;
	const char *run_id; /* "": made ahead of its run */
	uint64_t expires;   /* unix seconds after which nobody can want it any more */
	int64_t processes; /* ulimit of the user, for engines that would raise it; 0: say nothing */
	bool required;     /* refuse when the engine cannot enforce a limit */
};

/* A fresh name. False: no random. */
bool bj_container_name(char name[BJ_CONTAINER_NAME]);

/* Create the container @name; it does not run. -BJ_E_NOT_FOUND when the image is missing. */
int bj_container_create(struct bj_docker *docker, const char *name,
			const struct bj_container_plan *plan, struct bj_err *err);
/* -BJ_E_INVALID instead when the engine cannot see plan->share. */
int bj_container_start(struct bj_docker *docker, const char *name, struct bj_err *err);
int bj_container_kill(struct bj_docker *docker, const char *name, struct bj_err *err);

/* Wait until it does not run any more, for @timeout_ms at most. */
int bj_container_wait(struct bj_docker *docker, const char *name, long timeout_ms,
		      struct bj_err *err);

/* What it has used so far, while it runs. */
struct bj_container_usage {
	uint64_t cpu_ns, memory;
};
int bj_container_stats(struct bj_docker *docker, const char *name, long timeout_ms,
		       struct bj_container_usage *ret, struct bj_err *err);

/* Whether the kernel killed a process of it for want of memory, by the engine's events since
 * @since (unix seconds). 1, 0, or negative. */
int bj_container_had_oom(struct bj_docker *docker, const char *name, time_t since,
			 struct bj_err *err);

/* Unpack a tar archive at @path inside a running container. */
int bj_container_upload(struct bj_docker *docker, const char *name, const char *path,
			const struct bj_buf *tar, struct bj_err *err);

/* What the engine knows about a container that ended. */
struct bj_container_state {
	bool running, oom_killed;
	int exit_code;
};
int bj_container_inspect(struct bj_docker *docker, const char *name, struct bj_container_state *ret,
			 struct bj_err *err);

/* Remove it with its volumes, whatever it does, in three steps: remove; stop and remove by force;
 * kill, then remove. 0 when it is gone, 1 when it was not there, negative when it is still there.
 */
int bj_container_remove(struct bj_docker *docker, const char *name, struct bj_err *err);

/* The request body of a create, for tests too. The caller frees it; NULL: no memory. */
char *bj_container_body(const struct bj_container_plan *plan);
