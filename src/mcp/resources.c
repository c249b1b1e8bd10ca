/* SPDX-License-Identifier: Apache-2.0 */

/* Runs as resources: belljar://executions/ID, and below it what they left (artifacts.c). */

#include "base/cleanup.h"
#include "mcp/core.h"
#include "mcp/fixtures.h"

#include <string.h>

#define PREFIX BJ_MCP_EXECUTIONS

enum { PAGE = 50, MAX_URI = 1024 };

/* What {name} stands for may hold slashes. */
#define ARTIFACTS "/artifacts"

static json_t *to_resource(const json_t *execution)
{
	const char *id = bj_rpc_text(execution, "id");
	const char *language = bj_rpc_text(execution, "language");
	const char *cause = bj_rpc_text(execution, "cause");
	const char *state = bj_rpc_text(execution, "state");
	char uri[128], name[64], about[128];

	snprintf(uri, sizeof(uri), PREFIX "%s", id ? id : "");
	snprintf(name, sizeof(name), "run %.32s", id ? id : "");
	snprintf(about, sizeof(about), "A %s script: %s", language ? language : "finished",
		 cause   ? cause
		 : state ? state
			 : "ended");
	return json_pack("{s:s, s:s, s:s, s:s}", "uri", uri, "name", name, "description", about,
			 "mimeType", "application/json");
}

json_t *bj_mcp_resources_list(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	struct bj_mcp_host *host = &call->mcp->host;
	const char *cursor = bj_rpc_text(call->params, "cursor");
	json_t *runs = host->list(host->ctx, bj_mcp_call_tenant(call), cursor, PAGE);
	const char *next = bj_rpc_text(runs, "next");
	json_t *list = json_array(), *result, *run;
	struct belljar *bj;
	void *token = NULL;
	size_t i;

	if (!runs) {
		json_decref(list);
		return bj_rpc_fail(error, BJ_RPC_PARAMS, "cursor: there is no such page");
	}
	bj = host->enter(host->ctx, &token);
	json_array_foreach(json_object_get(runs, "executions"), i, run)
	{
		json_array_append_new(list, to_resource(run));
		if (bj && bj_rpc_text(run, "id"))
			bj_mcp_artifacts_add(bj, bj_rpc_text(run, "id"), list);
	}
	if (bj)
		host->leave(host->ctx, token);
	if (!cursor)
		bj_mcp_fixture_list(call, "resources", list);
	result = json_pack("{s:o}", "resources", list);
	if (next)
		json_object_set_new(result, "nextCursor", json_string(next));
	json_decref(runs);
	return result;
}

json_t *bj_mcp_templates_list(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	static const struct {
		const char *uri, *name, *help, *type; /* NULL: it varies */
	} templates[] = {
		{ PREFIX "{id}", "execution", "A run with its result: output, exit code, findings.",
		  "application/json" },
		{ PREFIX "{id}" ARTIFACTS, "artifacts", "What a run left, with sizes.",
		  "application/json" },
		{ PREFIX "{id}" ARTIFACTS "/{+name}", "artifact",
		  "One thing that a run left: its full output, or a file that it wrote into out/.",
		  NULL },
	};
	json_t *list = json_array();

	if (json_object_get(call->params, "cursor")) {
		json_decref(list);
		return bj_rpc_fail(error, BJ_RPC_PARAMS, "there is one page; leave cursor out");
	}
	for (size_t i = 0; i < BJ_ARRAY_SIZE(templates); i++) {
		json_t *object =
			json_pack("{s:s, s:s, s:s}", "uriTemplate", templates[i].uri, "name",
				  templates[i].name, "description", templates[i].help);

		if (templates[i].type)
			json_object_set_new(object, "mimeType", json_string(templates[i].type));
		json_array_append_new(list, object);
	}
	bj_mcp_fixture_list(call, "resourceTemplates", list);
	return json_pack("{s:o}", "resourceTemplates", list);
}

static json_t *not_found(const struct bj_mcp_call *call, const char *uri,
			 struct bj_rpc_error *error)
{
	bj_rpc_fail(error, call->modern ? BJ_RPC_PARAMS : BJ_RPC_NO_RESOURCE, "Resource not found");
	error->data = json_pack("{s:s}", "uri", uri);
	return NULL;
}

/* The run @id, from the list of those that are kept at hand or from the records. */
static json_t *read_execution(struct bj_mcp_call *call, const struct belljar *bj, const char *uri,
			      const char *id)
{
	struct bj_mcp_host *host = &call->mcp->host;
	json_t *execution = host->find(host->ctx, bj_mcp_call_tenant(call), id);
	AUTO_FREE char *text = NULL;

	if (!execution)
		execution = bj_mcp_recorded(call, bj, id);
	text = execution ? json_dumps(execution, JSON_COMPACT) : NULL;
	json_decref(execution);
	return text ? json_pack("{s:[{s:s, s:s, s:s}]}", "contents", "uri", uri, "mimeType",
				"application/json", "text", text)
		    : NULL;
}

/* Read what @uri names. NULL: there is none, or with @error. */
static json_t *read_ours(struct bj_mcp_call *call, const struct belljar *bj, const char *uri,
			 struct bj_rpc_error *error)
{
	const size_t skip = strlen(PREFIX), more = strlen(ARTIFACTS);
	const char *rest = strncmp(uri, PREFIX, skip) == 0 ? uri + skip : "";
	const size_t n = strcspn(rest, "/");
	char id[BJ_MCP_ID];

	if (n == 0 || n >= sizeof(id))
		return NULL;
	memcpy(id, rest, n);
	id[n] = '\0';
	rest += n;
	if (!*rest)
		return read_execution(call, bj, uri, id);
	if (strncmp(rest, ARTIFACTS, more) != 0)
		return NULL;
	if (!rest[more])
		return bj_mcp_artifacts_read(call, bj, uri, id);
	return rest[more] == '/' ? bj_mcp_artifact_read(call, bj, uri, id, rest + more + 1, error)
				 : NULL;
}

static const char *uri_of(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const char *uri = bj_rpc_text(call->params, "uri");

	if (!uri || strlen(uri) > MAX_URI)
		bj_rpc_fail(error, BJ_RPC_PARAMS, "uri: a text of at most %d bytes is needed",
			    MAX_URI);
	return uri && strlen(uri) <= MAX_URI ? uri : NULL;
}

json_t *bj_mcp_resources_read(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const char *uri = uri_of(call, error);
	struct bj_mcp_host *host = &call->mcp->host;
	json_t *result = NULL;
	struct belljar *bj;
	void *token = NULL;

	if (!uri)
		return NULL;
	if (call->mcp->fixtures && bj_mcp_fixture_resource(call, uri, &result, error))
		return result;
	bj = host->enter(host->ctx, &token);
	if (!bj)
		return bj_rpc_fail(error, BJ_RPC_BUSY, "not now; try again later");
	error->code = 0;
	result = read_ours(call, bj, uri, error);
	host->leave(host->ctx, token);
	return result || error->code ? result : not_found(call, uri, error);
}

json_t *bj_mcp_subscribe(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const char *uri = uri_of(call, error);
	struct bj_mcp_session *s = call->session;

	if (!uri)
		return NULL;
	pthread_mutex_lock(&s->lock);

	const bool full = json_object_size(s->subscribed) >= BJ_MCP_SUBSCRIPTIONS;

	if (!full)
		json_object_set_new(s->subscribed, uri, json_true());
	pthread_mutex_unlock(&s->lock);
	if (full)
		return bj_rpc_fail(error, BJ_RPC_BUSY, "at most %d subscriptions",
				   BJ_MCP_SUBSCRIPTIONS);
	return json_object();
}

json_t *bj_mcp_unsubscribe(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const char *uri = uri_of(call, error);
	struct bj_mcp_session *s = call->session;

	if (!uri)
		return NULL;
	pthread_mutex_lock(&s->lock);
	json_object_del(s->subscribed, uri);
	pthread_mutex_unlock(&s->lock);
	return json_object();
}
