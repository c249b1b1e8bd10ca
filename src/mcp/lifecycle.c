/* SPDX-License-Identifier: Apache-2.0 */

/* How a client and the server get to know each other. */

#include "base/cleanup.h"
#include "mcp/core.h"

#include <string.h>

const char *const bj_mcp_versions[] = { BJ_MCP_MODERN, "2025-11-25", "2025-06-18",
					"2025-03-26",  "2024-11-05", NULL };

enum { NEWEST_WITH_SESSIONS = 1 };

static const char *find_version(const char *version, size_t from)
{
	for (size_t i = from; version && bj_mcp_versions[i]; i++)
		if (strcmp(bj_mcp_versions[i], version) == 0)
			return bj_mcp_versions[i];
	return NULL;
}

bool bj_mcp_version_known(const char *version)
{
	return find_version(version, 0) != NULL;
}

static const char INSTRUCTIONS[] =
	"belljar runs Python and Bash scripts sealed off from the machine: no network, an empty "
	"working directory, limits on time, memory and output. Use run_python_code for "
	"calculations and execute_script for whole scripts; check_script says what would be "
	"refused without running anything. Print what you want to see. Each call starts from "
	"nothing. When a call is refused or killed, the text says what to change.";

json_t *bj_mcp_server_info(void)
{
	return json_pack("{s:s, s:s, s:s}", "name", "belljar", "title", "belljar", "version",
			 bj_version());
}

/* What there is, for clients of @version. */
static json_t *capabilities(const char *version)
{
	json_t *have = json_pack("{s:{}, s:{s:b}, s:{}, s:{}, s:{}}", "tools", "resources",
				 "subscribe", 1, "prompts", "completions", "logging");

	if (strcmp(version, "2025-11-25") == 0)
		json_object_set_new(have, "tasks",
				    json_pack("{s:{}, s:{}, s:{s:{s:{}}}}", "list", "cancel",
					      "requests", "tools", "call"));
	if (strcmp(version, BJ_MCP_MODERN) == 0)
		json_object_set_new(have, "extensions", json_pack("{s:{}}", BJ_MCP_TASKS));
	return have;
}

json_t *bj_mcp_initialize(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const char *asked = bj_rpc_text(call->params, "protocolVersion");
	json_t *can = json_object_get(call->params, "capabilities");
	struct bj_mcp_session *s = call->session;

	if (!asked)
		return bj_rpc_fail(error, BJ_RPC_PARAMS, "protocolVersion: a text is needed");
	if (can && !json_is_object(can))
		return bj_rpc_fail(error, BJ_RPC_PARAMS, "capabilities: an object is needed");

	const char *version = find_version(asked, NEWEST_WITH_SESSIONS);

	if (!version)
		version = bj_mcp_versions[NEWEST_WITH_SESSIONS];
	pthread_mutex_lock(&s->lock);
	s->version = version;
	json_decref(s->capabilities);
	s->capabilities = json_incref(can);
	bj_mcp_client_name(json_object_get(call->params, "clientInfo"), s->client);
	pthread_mutex_unlock(&s->lock);
	call->version = version;
	return json_pack("{s:s, s:o, s:o, s:s}", "protocolVersion", version, "capabilities",
			 capabilities(version), "serverInfo", bj_mcp_server_info(), "instructions",
			 INSTRUCTIONS);
}

json_t *bj_mcp_discover(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	json_t *versions = json_array();

	(void)call, (void)error;
	for (size_t i = 0; bj_mcp_versions[i]; i++)
		json_array_append_new(versions, json_string(bj_mcp_versions[i]));
	return json_pack("{s:o, s:o, s:s}", "supportedVersions", versions, "capabilities",
			 capabilities(BJ_MCP_MODERN), "instructions", INSTRUCTIONS);
}

json_t *bj_mcp_ping(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	(void)call, (void)error;
	return json_object();
}

json_t *bj_mcp_set_level(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const char *name = bj_rpc_text(call->params, "level");
	const int level = name ? bj_mcp_level_from_name(name) : -1;

	if (level < 0)
		return bj_rpc_fail(error, BJ_RPC_PARAMS,
				   "level: say debug, info, notice, warning, error, critical, "
				   "alert or emergency");
	pthread_mutex_lock(&call->session->lock);
	call->session->level = level;
	pthread_mutex_unlock(&call->session->lock);
	return json_object();
}
