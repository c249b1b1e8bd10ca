/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mcp/mcp.h"

#include <pthread.h>

/* A host without a service: runs happen in this process, and the last ones are remembered as long
 * as it lives. */
enum { BJ_MCP_REMEMBERED = 100 };

struct bj_mcp_local {
	struct belljar *bj;
	pthread_mutex_t lock;
	json_t *runs[BJ_MCP_REMEMBERED]; /* results, a ring */
	size_t n;                        /* how many there ever were */
};

void bj_mcp_local_init(struct bj_mcp_local *local, struct belljar *bj, struct bj_mcp_host *ret);
void bj_mcp_local_done(struct bj_mcp_local *local);
