/* SPDX-License-Identifier: Apache-2.0 */

/* What is told while a request is under way, and to those who subscribed. */

#include "base/cleanup.h"
#include "mcp/core.h"

#include <poll.h>
#include <string.h>

void bj_mcp_send(struct bj_mcp_call *call, json_t *message_take)
{
	if (message_take && !call->cancelled && call->sink.send)
		call->sink.send(call->sink.ctx, message_take);
	json_decref(message_take);
}

void bj_mcp_progress(struct bj_mcp_call *call, double progress, double total, const char *text)
{
	if (!call->token)
		return;

	json_t *params =
		json_pack("{s:O, s:f}", "progressToken", call->token, "progress", progress);

	if (total > 0)
		json_object_set_new(params, "total", json_real(total));
	/* The message came with 2025-03-26. */
	if (text && strcmp(call->version, "2024-11-05") != 0)
		json_object_set_new(params, "message", json_string(text));
	bj_mcp_send(call, bj_rpc_notice("notifications/progress", params));
}

static const char *const LEVELS[] = { "debug", "info", "notice", "warning", "error" };

int bj_mcp_level_from_name(const char *name)
{
	static const char *const above[] = { "critical", "alert", "emergency" };

	for (int i = 0; i < (int)BJ_ARRAY_SIZE(LEVELS); i++)
		if (strcmp(LEVELS[i], name) == 0)
			return i;
	for (int i = 0; i < (int)BJ_ARRAY_SIZE(above); i++)
		if (strcmp(above[i], name) == 0)
			return (int)BJ_ARRAY_SIZE(LEVELS) + i;
	return -1;
}

void bj_mcp_log(struct bj_mcp_call *call, enum bj_mcp_level level, const char *logger,
		json_t *data_take)
{
	if ((int)level < call->level) {
		json_decref(data_take);
		return;
	}
	bj_mcp_send(call, bj_rpc_notice("notifications/message",
					json_pack("{s:s, s:s, s:o}", "level", LEVELS[level],
						  "logger", logger, "data", data_take)));
}

/* --- subscriptions ---------------------------------------------------------------------------- */

/* A subscriptions/listen that is open. */
struct bj_mcp_listener {
	struct bj_mcp_call *call;
	json_t *filter; /* what was agreed on */
	struct bj_mcp_listener *next;
};

static json_t *subscription_meta(const struct bj_mcp_call *call)
{
	return json_pack("{s:O}", "io.modelcontextprotocol/subscriptionId", call->id);
}

static bool has_text(const json_t *list, const char *text)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_string_value(json_array_get(list, i)), text) == 0)
			return true;
	return false;
}

static void tell_listener(const struct bj_mcp_listener *l, const char *list, const char *uri)
{
	char key[32], method[64];
	const json_t *uris = json_object_get(l->filter, "resourceSubscriptions");

	if (list) {
		snprintf(key, sizeof(key), "%sListChanged", list);
		snprintf(method, sizeof(method), "notifications/%s/list_changed", list);
		if (json_is_true(json_object_get(l->filter, key)))
			bj_mcp_send(l->call,
				    bj_rpc_notice(method, json_pack("{s:o}", "_meta",
								    subscription_meta(l->call))));
		return;
	}
	if (has_text(uris, uri))
		bj_mcp_send(l->call,
			    bj_rpc_notice("notifications/resources/updated",
					  json_pack("{s:o, s:s}", "_meta",
						    subscription_meta(l->call), "uri", uri)));
}

static void tell_session(struct bj_mcp_session *s, const char *uri)
{
	pthread_mutex_lock(&s->lock);
	if (s->sink.send && json_object_get(s->subscribed, uri)) {
		json_t *message = bj_rpc_notice("notifications/resources/updated",
						json_pack("{s:s}", "uri", uri));

		s->sink.send(s->sink.ctx, message);
		json_decref(message);
	}
	pthread_mutex_unlock(&s->lock);
}

void bj_mcp_changed(struct bj_mcp *mcp, const char *list, const char *uri)
{
	pthread_mutex_lock(&mcp->lock);
	for (struct bj_mcp_listener *l = mcp->listeners; l; l = l->next)
		tell_listener(l, list, uri);
	for (struct bj_mcp_session *s = mcp->sessions; uri && s; s = s->next)
		tell_session(s, uri);
	pthread_mutex_unlock(&mcp->lock);
}

void bj_mcp_task_changed(struct bj_mcp *mcp, const json_t *details)
{
	const char *id = bj_rpc_text(details, "taskId");

	pthread_mutex_lock(&mcp->lock);
	for (struct bj_mcp_listener *l = mcp->listeners; id && l; l = l->next)
		if (has_text(json_object_get(l->filter, "taskIds"), id)) {
			json_t *params = json_copy((json_t *)details);

			json_object_set_new(params, "_meta", subscription_meta(l->call));
			bj_mcp_send(l->call, bj_rpc_notice("notifications/tasks", params));
		}
	pthread_mutex_unlock(&mcp->lock);
}

/* The part of what was asked for that there is. */
static json_t *agree(struct bj_mcp_call *call, const json_t *asked)
{
	static const char *const lists[] = { "toolsListChanged", "promptsListChanged",
					     "resourcesListChanged" };
	const json_t *uris = json_object_get(asked, "resourceSubscriptions");
	const json_t *tasks = json_object_get(asked, "taskIds");
	json_t *filter = json_object();

	if (json_is_array(tasks))
		json_object_set_new(filter, "taskIds", bj_mcp_tasks_mine(call, tasks));

	for (size_t i = 0; i < BJ_ARRAY_SIZE(lists); i++)
		if (json_is_true(json_object_get(asked, lists[i])))
			json_object_set_new(filter, lists[i], json_true());
	if (json_is_array(uris)) {
		json_t *own = json_array();

		for (size_t i = 0; i < json_array_size(uris) && i < BJ_MCP_SUBSCRIPTIONS; i++)
			if (json_is_string(json_array_get(uris, i)))
				json_array_append(own, json_array_get(uris, i));
		json_object_set_new(filter, "resourceSubscriptions", own);
	}
	return filter;
}

json_t *bj_mcp_listen(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const json_t *asked = json_object_get(call->params, "notifications");
	struct bj_mcp *mcp = call->mcp;

	if (!json_is_object(asked))
		return bj_rpc_fail(error, BJ_RPC_PARAMS,
				   "notifications: an object that says what to listen for");
	if (json_object_get(asked, "taskIds") && !bj_mcp_tasks_known(call, error))
		return NULL;

	struct bj_mcp_listener own = { .call = call, .filter = agree(call, asked) };
	struct pollfd p = { .fd = call->cancel_fd, .events = POLLIN };

	bj_mcp_send(call, bj_rpc_notice("notifications/subscriptions/acknowledged",
					json_pack("{s:o, s:O}", "_meta", subscription_meta(call),
						  "notifications", own.filter)));
	pthread_mutex_lock(&mcp->lock);
	own.next = mcp->listeners;
	mcp->listeners = &own;
	pthread_mutex_unlock(&mcp->lock);
	while (poll(&p, 1, -1) < 0)
		;
	pthread_mutex_lock(&mcp->lock);

	struct bj_mcp_listener **at = &mcp->listeners;

	while (*at != &own)
		at = &(*at)->next;
	*at = own.next;

	const bool stopping = mcp->stopping;

	pthread_mutex_unlock(&mcp->lock);
	json_decref(own.filter);
	/* We end it, not the client: say so. */
	if (stopping)
		call->cancelled = false;
	return json_pack("{s:o}", "_meta", subscription_meta(call));
}
