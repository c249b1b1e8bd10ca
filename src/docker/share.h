/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "docker/client.h"
#include "docker/container.h"

/* The fast way into a container of an engine on this machine: a directory in memory that the
 * container has mounted, read-only, as /script. What we write there it sees at once, where an
 * upload makes the engine start a process of its own. Script text touches no disk either way.
 *
 *	/dev/shm/belljar-OWNER/        ours alone: nobody else gets past it by name
 *	    run                        the helper
 *	    CONTAINER/                 what one container sees */
struct bj_share {
	int dir; /* -1: there is none, and all is uploaded */
	char path[64];
};

/* Make the directory of @owner where an engine at @host can be expected to see it. There being no
 * such place is no error. */
void bj_share_open(struct bj_share *share, const char *owner, const struct bj_docker_host *host);

/* Remove the directory of @owner, ours or a dead one's, and close ours. */
void bj_share_close(struct bj_share *share);
void bj_share_sweep(const char *owner);

/* The directory of one container: made with the helper in it, asked for, removed. @path is what
 * goes into its mount. */
bool bj_share_make(const struct bj_share *share, const char *name, char *path, size_t size);
bool bj_share_has(const struct bj_share *share, const char *name);
void bj_share_remove(const struct bj_share *share, const char *name);

/* Put one file into it; @file is a path below /script. */
int bj_share_write(const struct bj_share *share, const char *name, const char *file,
		   const void *data, size_t size, struct bj_err *err);
