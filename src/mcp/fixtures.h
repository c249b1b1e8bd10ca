/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mcp/core.h"

/* What the official conformance suite looks for in a server: tools, resources and prompts with
 * fixed names. Only test builds have them; in others these do nothing. */

#ifdef BJ_FAULTS
void bj_mcp_fixture_list(const struct bj_mcp_call *call, const char *what, json_t *list);
/* False: there is no such fixture. Else the result or, with NULL, @error. */
bool bj_mcp_fixture_tool(struct bj_mcp_call *call, const char *name, json_t **ret,
			 struct bj_rpc_error *error);
json_t *bj_mcp_fixture_schema(const char *name); /* NULL: there is none */
/* How many milliseconds a call of it may take before it becomes a task; -1: it never does. */
int bj_mcp_fixture_patience(const char *name);
bool bj_mcp_fixture_resource(struct bj_mcp_call *call, const char *uri, json_t **ret,
			     struct bj_rpc_error *error);
bool bj_mcp_fixture_prompt(struct bj_mcp_call *call, const char *name, json_t **ret,
			   struct bj_rpc_error *error);
#else
static inline void bj_mcp_fixture_list(const struct bj_mcp_call *call, const char *what,
				       json_t *list)
{
	(void)call, (void)what, (void)list;
}

static inline int bj_mcp_fixture_patience(const char *name)
{
	(void)name;
	return -1;
}

static inline json_t *bj_mcp_fixture_schema(const char *name)
{
	(void)name;
	return NULL;
}

static inline bool bj_mcp_fixture_tool(struct bj_mcp_call *call, const char *name, json_t **ret,
				       struct bj_rpc_error *error)
{
	(void)call, (void)name, (void)ret, (void)error;
	return false;
}

static inline bool bj_mcp_fixture_resource(struct bj_mcp_call *call, const char *uri, json_t **ret,
					   struct bj_rpc_error *error)
{
	(void)call, (void)uri, (void)ret, (void)error;
	return false;
}

static inline bool bj_mcp_fixture_prompt(struct bj_mcp_call *call, const char *name, json_t **ret,
					 struct bj_rpc_error *error)
{
	(void)call, (void)name, (void)ret, (void)error;
	return false;
}
#endif
