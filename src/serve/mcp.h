/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mcp/mcp.h"
#include "serve/exchange.h"

/* MCP over Streamable HTTP: one path that takes POST, GET and DELETE. Sessions, for revisions up
 * to 2025-11-25, are bounded in number and in idle time. */

struct bj_service;
struct bj_mcp_door;

/* NULL: no memory. */
struct bj_mcp_door *bj_mcp_door_new(struct bj_service *service);
void bj_mcp_door_free(struct bj_mcp_door *door); /* NULL is fine; no request is under way */

/* What to hold from now on. @listen: HOST:PORT of the service; NULL: none. */
void bj_mcp_door_configure(struct bj_mcp_door *door, const struct bj_mcp_settings *settings,
			   const char *listen);

/* End every session and call, so that no connection waits any more. */
void bj_mcp_door_stop(struct bj_mcp_door *door);

void bj_mcp_handle(struct bj_mcp_door *door, const struct bj_request *request,
		   struct bj_answer *answer);
