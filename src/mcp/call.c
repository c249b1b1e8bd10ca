/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation: one request, from message to answer.
 *
 * A transport makes a call of each request and runs it in whatever thread it likes. The call is
 * known to its session from the start, so that a cancellation that comes right behind finds it.
 * Whether a request is of the stateless kind it says itself, in its _meta; such a request needs no
 * initialized session, and its answer carries what the revision wants of every answer. */

#include "base/cleanup.h"
#include "mcp/core.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define META(name) "io.modelcontextprotocol/" name

static const struct bj_mcp_method METHODS[] = {
	{ "initialize", bj_mcp_initialize, .eras = BJ_MCP_LEGACY },
	{ "ping", bj_mcp_ping, .eras = BJ_MCP_LEGACY },
	{ "logging/setLevel", bj_mcp_set_level, .eras = BJ_MCP_LEGACY },
	{ "server/discover", bj_mcp_discover, .eras = BJ_MCP_STATELESS, .cache = BJ_MCP_PUBLIC },
	{ "tools/list", bj_mcp_tools_list, .eras = BJ_MCP_BOTH, .cache = BJ_MCP_PUBLIC },
	{ "tools/call", bj_mcp_tools_call, .eras = BJ_MCP_BOTH, .slow = true },
	{ "resources/list", bj_mcp_resources_list, .eras = BJ_MCP_BOTH, .cache = BJ_MCP_PRIVATE },
	{ "resources/templates/list", bj_mcp_templates_list, .eras = BJ_MCP_BOTH,
	  .cache = BJ_MCP_PUBLIC },
	{ "resources/read", bj_mcp_resources_read, .eras = BJ_MCP_BOTH, .cache = BJ_MCP_PRIVATE },
	{ "resources/subscribe", bj_mcp_subscribe, .eras = BJ_MCP_LEGACY },
	{ "resources/unsubscribe", bj_mcp_unsubscribe, .eras = BJ_MCP_LEGACY },
	{ "prompts/list", bj_mcp_prompts_list, .eras = BJ_MCP_BOTH, .cache = BJ_MCP_PUBLIC },
	{ "prompts/get", bj_mcp_prompts_get, .eras = BJ_MCP_BOTH },
	{ "completion/complete", bj_mcp_complete, .eras = BJ_MCP_BOTH },
	{ "subscriptions/listen", bj_mcp_listen, .eras = BJ_MCP_STATELESS, .slow = true },
	{ "tasks/get", bj_mcp_tasks_get, .eras = BJ_MCP_LEGACY },
	{ "tasks/result", bj_mcp_tasks_result, .eras = BJ_MCP_LEGACY, .slow = true },
	{ "tasks/list", bj_mcp_tasks_list, .eras = BJ_MCP_LEGACY },
	{ "tasks/cancel", bj_mcp_tasks_cancel, .eras = BJ_MCP_LEGACY },
	{ "tasks/get", bj_mcp_task_get, .eras = BJ_MCP_STATELESS },
	{ "tasks/update", bj_mcp_task_update, .eras = BJ_MCP_STATELESS },
	{ "tasks/cancel", bj_mcp_task_cancel, .eras = BJ_MCP_STATELESS },
};

bool bj_mcp_is_modern(const json_t *message)
{
	const json_t *meta = json_object_get(json_object_get(message, "params"), "_meta");

	return json_object_get(meta, META("protocolVersion")) != NULL;
}

/* --- what a request says of itself ------------------------------------------------------------ */

static void *wrong_version(struct bj_rpc_error *error, const char *version)
{
	json_t *list = json_array();

	for (size_t i = 0; bj_mcp_versions[i]; i++)
		json_array_append_new(list, json_string(bj_mcp_versions[i]));
	bj_rpc_fail(error, BJ_RPC_VERSION, "Unsupported protocol version");
	error->data = json_pack("{s:o, s:s}", "supported", list, "requested", version);
	return NULL;
}

/* False with @error when a stateless request does not say what it must. */
static bool read_meta(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const json_t *meta = json_object_get(call->params, "_meta");
	const char *version = bj_rpc_text(meta, META("protocolVersion"));
	json_t *can = json_object_get(meta, META("clientCapabilities"));
	const char *level = bj_rpc_text(meta, META("logLevel"));

	if (!version) {
		bj_rpc_fail(error, BJ_RPC_PARAMS, "_meta needs " META("protocolVersion"));
		return false;
	}
	if (strcmp(version, BJ_MCP_MODERN) != 0) {
		wrong_version(error, version);
		return false;
	}
	if (!json_is_object(can)) {
		bj_rpc_fail(error, BJ_RPC_PARAMS, "_meta needs " META("clientCapabilities"));
		return false;
	}
	call->version = BJ_MCP_MODERN;
	call->capabilities = json_incref(can);
	bj_mcp_client_name(json_object_get(meta, META("clientInfo")), call->client);
	call->level = level ? bj_mcp_level_from_name(level) : BJ_MCP_SILENT;
	if (call->level < 0) {
		bj_rpc_fail(error, BJ_RPC_PARAMS, "there is no log level %.40s", level);
		return false;
	}
	return true;
}

/* The same of the session. */
static bool read_session(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	struct bj_mcp_session *s = call->session;

	pthread_mutex_lock(&s->lock);
	call->version = s->version;
	call->capabilities = json_incref(s->capabilities);
	memcpy(call->client, s->client, sizeof(call->client));
	call->level = s->level;
	pthread_mutex_unlock(&s->lock);
	if (call->version || call->method->handle == bj_mcp_initialize ||
	    call->method->handle == bj_mcp_ping)
		return true;
	bj_rpc_fail(error, BJ_RPC_INVALID, "send initialize first");
	return false;
}

static const struct bj_mcp_method *find_method(const char *name, bool modern)
{
	const int era = modern ? BJ_MCP_STATELESS : BJ_MCP_LEGACY;

	for (size_t i = 0; name && i < BJ_ARRAY_SIZE(METHODS); i++)
		if (strcmp(METHODS[i].name, name) == 0 && ((int)METHODS[i].eras & era))
			return &METHODS[i];
	return NULL;
}

static bool read_request(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const char *name = bj_rpc_text(call->message, "method");
	const json_t *meta;

	call->params = json_object_get(call->message, "params");
	call->id = json_object_get(call->message, "id");
	meta = json_object_get(call->params, "_meta");
	call->token = json_object_get(meta, "progressToken");
	if (call->token && !json_is_integer(call->token) && !json_is_string(call->token))
		call->token = NULL;
	call->method = find_method(name, call->modern);
	/* What is wrong with the frame is told before what is wrong with the method. */
	if (call->modern && !read_meta(call, error))
		return false;
	if (!call->method) {
		bj_rpc_fail(error, BJ_RPC_METHOD, "there is no method %.60s", name ? name : "");
		return false;
	}
	return call->modern || read_session(call, error);
}

/* --- its life --------------------------------------------------------------------------------- */

void bj_mcp_call_free(struct bj_mcp_call *call)
{
	if (call->sink.release)
		call->sink.release(call->sink.ctx);
	if (call->stop_fd >= 0)
		close(call->stop_fd);
	if (call->cancel_fd >= 0)
		close(call->cancel_fd);
	json_decref(call->message);
	json_decref(call->capabilities);
	json_decref(call->wanted);
	json_decref(call->state);
	bj_mcp_session_unref(call->session);
	free(call);
}

static bool watch(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool open_stop(struct bj_mcp_call *call, int gone_fd)
{
	call->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	call->cancel_fd = epoll_create1(EPOLL_CLOEXEC);
	return call->stop_fd >= 0 && call->cancel_fd >= 0 &&
	       watch(call->cancel_fd, call->stop_fd) &&
	       (gone_fd < 0 || watch(call->cancel_fd, gone_fd));
}

/* Make it known; false with @error when the session has too much to do already. */
static bool enter(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	struct bj_mcp_session *s = call->session;
	bool good = true;

	pthread_mutex_lock(&s->lock);
	for (struct bj_mcp_call *c = s->calls; c && good; c = c->next)
		if (json_equal(c->id, call->id) && !c->task) {
			bj_rpc_fail(error, BJ_RPC_INVALID,
				    "a request with this id is still under way");
			good = false;
		}
	if (good && (s->ended || s->n_calls >= BJ_MCP_CALLS)) {
		bj_rpc_fail(error, BJ_RPC_BUSY, "too many requests at once; try again later");
		good = false;
	}
	if (good) {
		call->next = s->calls;
		if (call->next)
			call->next->prev = call;
		s->calls = call;
		s->n_calls++;
	}
	pthread_mutex_unlock(&s->lock);
	return good;
}

static void leave(struct bj_mcp_call *call)
{
	struct bj_mcp_session *s = call->session;

	pthread_mutex_lock(&s->lock);
	*(call->prev ? &call->prev->next : &s->calls) = call->next;
	if (call->next)
		call->next->prev = call->prev;
	s->n_calls--;
	pthread_mutex_unlock(&s->lock);
}

static struct bj_mcp_call *make(struct bj_mcp_session *session, const json_t *message)
{
	struct bj_mcp_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	*call = (struct bj_mcp_call){ .mcp = session->mcp,
				      .session = session,
				      .message = json_incref((json_t *)message),
				      .modern = session->stateless || bj_mcp_is_modern(message),
				      .stop_fd = -1,
				      .cancel_fd = -1 };
	bj_mcp_session_ref(session);
	return call;
}

static void refuse(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	call->cancelled = false;
	bj_mcp_send(call, bj_rpc_failure(call->id, error));
	bj_mcp_call_free(call);
}

struct bj_mcp_call *bj_mcp_call_new(struct bj_mcp_session *session, const json_t *message,
				    const struct bj_mcp_sink *sink, int gone_fd)
{
	struct bj_mcp_call *call = make(session, message);
	struct bj_rpc_error error = { 0 };

	if (!call) {
		sink->release(sink->ctx);
		return NULL;
	}
	call->sink = *sink;
	if (!read_request(call, &error)) {
		refuse(call, &error);
		return NULL;
	}
	if (call->method->slow && !open_stop(call, gone_fd)) {
		bj_rpc_fail(&error, BJ_RPC_BUSY, "too many files are open; try again later");
		refuse(call, &error);
		return NULL;
	}
	if (!enter(call, &error)) {
		refuse(call, &error);
		return NULL;
	}
	return call;
}

struct bj_mcp_call *bj_mcp_call_again(const struct bj_mcp_call *call)
{
	struct bj_mcp_call *again = make(call->session, call->message);
	struct bj_rpc_error error = { 0 };

	if (!again)
		return NULL;
	if (!read_request(again, &error) || !open_stop(again, -1)) {
		bj_rpc_error_done(&error);
		bj_mcp_call_free(again);
		return NULL;
	}
	return again;
}

/* The message is shared with the request that began it: the answers go into a copy. */
void bj_mcp_call_answer(struct bj_mcp_call *call, json_t *answers)
{
	json_t *message = json_deep_copy(call->message);
	json_t *params = json_object_get(message, "params");

	json_object_set(params, "inputResponses", answers);
	json_object_del(params, "requestState");
	if (call->state)
		json_object_set(params, "requestState", call->state);
	json_decref(call->message);
	json_decref(call->wanted);
	json_decref(call->state);
	call->wanted = call->state = NULL;
	call->message = message;
	call->params = params;
	call->id = json_object_get(message, "id");
	call->token = NULL;
}

bool bj_mcp_call_is_slow(const struct bj_mcp_call *call)
{
	return call->method->slow;
}

/* What a stateless answer carries besides. */
static void dress(const struct bj_mcp_call *call, json_t *result)
{
	json_t *meta = json_object_get(result, "_meta");

	if (!json_object_get(result, "resultType"))
		json_object_set_new(result, "resultType", json_string("complete"));
	if (!meta) {
		meta = json_object();
		json_object_set_new(result, "_meta", meta);
	}
	json_object_set_new(meta, META("serverInfo"), bj_mcp_server_info());
	if (call->method->cache == BJ_MCP_NO_CACHE || call->wanted)
		return;
	json_object_set_new(result, "ttlMs",
			    json_integer(call->method->cache == BJ_MCP_PUBLIC ? 3600000 : 0));
	json_object_set_new(
		result, "cacheScope",
		json_string(call->method->cache == BJ_MCP_PUBLIC ? "public" : "private"));
}

void bj_mcp_call_run(struct bj_mcp_call *call)
{
	struct bj_rpc_error error = { .code = BJ_RPC_INTERNAL, .message = "no memory" };
	json_t *result = call->method->handle(call, &error);

	if (result && call->modern)
		dress(call, result);
	leave(call);
	bj_mcp_send(call,
		    result ? bj_rpc_result(call->id, result) : bj_rpc_failure(call->id, &error));
	bj_rpc_error_done(&error);
	bj_mcp_call_free(call);
}

static void *run_thread(void *ctx)
{
	struct bj_mcp_call *call = ctx;
	struct bj_mcp *mcp = call->mcp;

	bj_mcp_call_run(call);
	bj_mcp_thread_ends(mcp);
	return NULL;
}

void bj_mcp_call_start(struct bj_mcp_call *call)
{
	struct bj_rpc_error error = { 0 };

	if (bj_mcp_spawn(call->mcp, run_thread, call) == 0)
		return;
	leave(call);
	bj_rpc_fail(&error, BJ_RPC_BUSY, "too many calls at once; try again later");
	refuse(call, &error);
}

/* --- notifications and responses -------------------------------------------------------------- */

static void cancel(struct bj_mcp_session *s, const json_t *id)
{
	pthread_mutex_lock(&s->lock);
	for (struct bj_mcp_call *c = s->calls; id && c; c = c->next)
		/* An initialize cannot be cancelled; what is quick has no stop_fd. */
		if (json_equal(c->id, (json_t *)id) && !c->task && c->stop_fd >= 0) {
			c->cancelled = true;
			eventfd_write(c->stop_fd, 1);
		}
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

void bj_mcp_take(struct bj_mcp_session *session, const json_t *message)
{
	const char *method = bj_rpc_text(message, "method");

	if (!method)
		bj_mcp_client_answered(session, message);
	else if (strcmp(method, "notifications/cancelled") == 0)
		cancel(session, json_object_get(json_object_get(message, "params"), "requestId"));
}
