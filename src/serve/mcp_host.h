/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mcp/mcp.h"
#include "serve/service.h"

/* The service as the host of MCP and of tools: its engine, its queue, its list of runs. */
void bj_mcp_host_fill(struct bj_service *service, struct bj_mcp_host *ret);

/* GET /v1/tools, POST /v1/tools/{name}. */
void bj_tools_get(struct bj_service *service, const struct bj_request *request,
		  struct bj_answer *answer);
void bj_tools_post(struct bj_service *service, const struct bj_request *request, const char *name,
		   struct bj_answer *answer);
