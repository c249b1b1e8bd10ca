/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mcp/rpc.h"
#include "serve/exchange.h"

#include <pthread.h>

/* What an HTTP request must look like before MCP reads it. */

/* Under which names the service may be called, against pages that a browser loads from elsewhere
 * (DNS rebinding). Thread-safe. */
struct bj_mcp_rules {
	pthread_mutex_t lock;
	char *allowed, *listen; /* host names; NULL: none */
};

void bj_mcp_rules_init(struct bj_mcp_rules *rules);
void bj_mcp_rules_done(struct bj_mcp_rules *rules);
void bj_mcp_rules_set(struct bj_mcp_rules *rules, const char *allowed, const char *listen);

/* Whether Host and Origin, where they are there, are ours. */
bool bj_mcp_rules_host(struct bj_mcp_rules *rules, const struct bj_request *req);

/* Whether the media types of a POST fit; code BJ_RPC_INVALID for the body, another for Accept. */
bool bj_mcp_rules_post(const struct bj_request *req, struct bj_rpc_error *error);
bool bj_mcp_rules_wants_events(const struct bj_request *req);

/* Whether there is a revision as the header says, where it says one. */
bool bj_mcp_rules_version(const struct bj_request *req, const json_t *message,
			  struct bj_rpc_error *error);

/* Whether the headers of a stateless request say the same as its body. */
bool bj_mcp_rules_headers(const struct bj_request *req, const json_t *message,
			  struct bj_rpc_error *error);

/* The same for arguments of a tool that its @schema wants repeated. */
bool bj_mcp_rules_params(const struct bj_request *req, const json_t *message, const json_t *schema,
			 struct bj_rpc_error *error);

/* Who asks, so that sessions stay with the one who opened them: their name, and their tenant (NULL:
 * none). */
const char *bj_mcp_rules_owner(const struct bj_request *req, const char **ret_tenant);

/* Whether the fixtures of the conformance suite are asked for; never in other than test builds. */
bool bj_mcp_rules_fixtures(void);
