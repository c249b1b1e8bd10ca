/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/role.h"

/* The broker: the only process that holds the engine's socket, which is as good as root. It makes
 * containers from one template and takes nothing but launch messages. */

struct bj_broker_settings {
	const char *host;     /* NULL: found as the docker command does */
	const char *image[2]; /* by enum bj_language */
	const char *runtime;  /* NULL: the engine's choice */
	const char *state_dir;
	const char *seccomp_file; /* NULL: see @seccomp_engine */
	bool seccomp_engine;      /* the engine's own profile, not ours */
	bool required;            /* refuse when a limit cannot be enforced */
	bool mount_script;        /* hand scripts to a local engine through a mount */
	bool pull;                /* fetch a missing image from its registry */
	bool sweep_all;           /* sweep before the first word, and wait for it */
	uint32_t pool;            /* containers kept ready once there is a second run */
	uint64_t sweep_ms;        /* between two looks for what the dead left */
	uint64_t timeout_ms;      /* of one request */
};

/* Start it; @settings are copied with the fork. The caller frees *@ret with bj_process_free(). */
int bj_broker_new(const struct bj_broker_settings *settings, struct bj_process **ret,
		  struct bj_err *err);
