/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation: MCP over HTTP.
 *
 * Two eras share the path. A request that says its revision itself (2026-07-28) is answered by
 * what it brings along and forgotten; when its connection goes, so does its work. Older clients
 * open a session with `initialize` and name it in a header; a call of theirs goes on when the
 * connection breaks, and what they missed is replayed to those who come back.
 *
 * Quick requests are answered with an object. Calls of tools are answered with a stream of events,
 * fed by a thread of their own. */

#include "serve/mcp.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "serve/mcp_host.h"
#include "serve/mcp_rules.h"
#include "serve/mcp_sessions.h"
#include "serve/service.h"

#include <pthread.h>
#include <string.h>

enum { EARLY_MS = 2000, BATCH_MAX = 100, STATELESS_KEEP = 1 << 20 };

struct bj_mcp_door {
	struct bj_mcp *mcp;
	struct bj_mcp_sessions *sessions;
	struct bj_mcp_rules rules;
};

struct bj_mcp_door *bj_mcp_door_new(struct bj_service *service)
{
	struct bj_mcp_door *door = calloc(1, sizeof(*door));
	struct bj_mcp_host host;

	if (!door)
		return NULL;
	bj_mcp_rules_init(&door->rules);
	bj_mcp_host_fill(service, &host);
	door->mcp = bj_mcp_new(&host, bj_mcp_rules_fixtures());
	door->sessions = door->mcp ? bj_mcp_sessions_new(door->mcp) : NULL;
	if (!door->sessions) {
		bj_mcp_door_free(door);
		return NULL;
	}
	return door;
}

void bj_mcp_door_free(struct bj_mcp_door *door)
{
	if (!door)
		return;
	bj_mcp_sessions_free(door->sessions);
	bj_mcp_free(door->mcp);
	bj_mcp_rules_done(&door->rules);
	free(door);
}

void bj_mcp_door_configure(struct bj_mcp_door *door, const struct bj_mcp_settings *settings,
			   const char *listen)
{
	bj_mcp_sessions_configure(door->sessions, settings->sessions, settings->session_idle_ms,
				  settings->keep_events);
	bj_mcp_rules_set(&door->rules, settings->allowed_host, listen);
}

void bj_mcp_door_stop(struct bj_mcp_door *door)
{
	bj_mcp_sessions_end_all(door->sessions);
	bj_mcp_stop(door->mcp);
}

/* --- answers ---------------------------------------------------------------------------------- */

static void answer_object(struct bj_answer *answer, unsigned int status, json_t *message)
{
	bj_answer_take(answer, status, BJ_TYPE_JSON,
		       message ? json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(12))
			       : NULL);
}

static void answer_error(struct bj_answer *answer, unsigned int status, const json_t *id,
			 struct bj_rpc_error *error)
{
	json_t *message = bj_rpc_failure(id, error);

	answer_object(answer, status, message);
	json_decref(message);
}

static void refuse(struct bj_answer *answer, unsigned int status, enum bj_rpc_code code,
		   const char *text)
{
	struct bj_rpc_error error = { 0 };

	bj_rpc_fail(&error, code, "%s", text);
	answer_error(answer, status, NULL, &error);
}

static void answer_accepted(struct bj_answer *answer)
{
	bj_answer_take(answer, 202, "text/plain", strdup(""));
}

/* Collects the messages of a quick request: there is one. */
struct reply {
	json_t *message;
};

static void reply_send(void *ctx, const json_t *message)
{
	struct reply *reply = ctx;

	json_decref(reply->message);
	reply->message = json_incref((json_t *)message);
}

static void reply_release(void *ctx)
{
	(void)ctx;
}

/* The status that goes with a stateless answer. @early: nothing was done for it. */
static unsigned int status_of(const json_t *message, bool early)
{
	const json_t *error = json_object_get(message, "error");

	if (!error)
		return 200;
	switch (json_integer_value(json_object_get(error, "code"))) {
	case BJ_RPC_METHOD:
		return 404;
	case BJ_RPC_HEADERS:
	case BJ_RPC_CAPABILITY:
	case BJ_RPC_VERSION:
	case BJ_RPC_INVALID:
		return 400;
	case BJ_RPC_BUSY:
		return 503;
	default:
		return early ? 400 : 200;
	}
}

/* --- one request of the stateless era --------------------------------------------------------- */

static void answer_stateless_stream(struct bj_mcp_call *call, struct bj_mcp_stream *stream,
				    struct bj_answer *answer)
{
	json_t *early;

	bj_mcp_call_start(call);
	early = bj_mcp_stream_early(stream, EARLY_MS);
	if (early)
		answer_object(answer, status_of(early, false), early);
	else
		bj_mcp_stream_answer(stream, 0, NULL, NULL, answer);
	json_decref(early);
}

static void answer_stateless(struct bj_mcp_session *session, const struct bj_request *req,
			     const json_t *message, struct bj_answer *answer)
{
	struct bj_mcp_stream *stream = bj_mcp_stream_new(-1, STATELESS_KEEP);
	struct bj_mcp_sink sink;
	struct bj_mcp_call *call;

	if (!stream) {
		refuse(answer, 500, BJ_RPC_INTERNAL, "no memory");
		return;
	}
	sink = bj_mcp_stream_sink(stream, req->hangup);
	call = bj_mcp_call_new(session, message, &sink,
			       req->hangup ? bj_hangup_fd(req->hangup) : -1);
	if (call && bj_mcp_call_is_slow(call)) {
		answer_stateless_stream(call, stream, answer);
	} else {
		const bool early = !call;
		json_t *reply;

		if (call)
			bj_mcp_call_run(call);
		reply = bj_mcp_stream_early(stream, 0);
		answer_object(answer, status_of(reply, early), reply);
		json_decref(reply);
	}
	bj_mcp_stream_unref(stream);
}

/* Whether the headers fit the body; false with @error. */
static bool headers_fit(struct bj_mcp_door *door, const struct bj_request *req,
			const json_t *message, struct bj_rpc_error *error)
{
	const char *name = bj_rpc_text(json_object_get(message, "params"), "name");
	json_t *schema = NULL;
	bool fit = bj_mcp_rules_headers(req, message, error);

	if (fit && name && strcmp(bj_rpc_text(message, "method"), "tools/call") == 0)
		schema = bj_mcp_tool_schema(door->mcp, name);
	fit = fit && bj_mcp_rules_params(req, message, schema, error);
	json_decref(schema);
	return fit;
}

static void handle_stateless(struct bj_mcp_door *door, const struct bj_request *req,
			     const json_t *message, enum bj_rpc_kind kind, struct bj_answer *answer)
{
	struct bj_rpc_error error = { 0 };
	const json_t *id = json_object_get(message, "id");
	const char *tenant, *owner = bj_mcp_rules_owner(req, &tenant);
	struct bj_mcp_session *session;

	if (kind == BJ_RPC_NOTIFICATION) {
		answer_accepted(answer);
		return;
	}
	if (kind != BJ_RPC_REQUEST || !headers_fit(door, req, message, &error)) {
		if (!error.code)
			bj_rpc_fail(&error, BJ_RPC_INVALID, "send a request or a notification");
		answer_error(answer, 400, id, &error);
		return;
	}
	session = bj_mcp_session_new(door->mcp);
	if (!session) {
		refuse(answer, 500, BJ_RPC_INTERNAL, "no memory");
		return;
	}
	bj_mcp_session_stateless(session);
	bj_mcp_session_owner(session, tenant, owner);
	answer_stateless(session, req, message, answer);
	bj_mcp_session_unref(session);
}

/* --- sessions --------------------------------------------------------------------------------- */

/* The session that the request names; NULL, and the answer is made. */
static struct bj_mcp_client *find_client(struct bj_mcp_door *door, const struct bj_request *req,
					 struct bj_answer *answer)
{
	const char *id = req->header(req->ctx, "Mcp-Session-Id");
	const char *tenant, *owner = bj_mcp_rules_owner(req, &tenant);
	struct bj_mcp_client *client;

	if (!id) {
		refuse(answer, 400, BJ_RPC_INVALID,
		       "send initialize first, then the header Mcp-Session-Id");
		return NULL;
	}
	client = bj_mcp_sessions_find(door->sessions, id, owner, tenant);
	if (!client)
		refuse(answer, 404, BJ_RPC_SESSION, "Session not found");
	return client;
}

/* Run a quick request here and now. The caller decrefs the answer; NULL: there is none. */
static json_t *run_quick(struct bj_mcp_session *session, const json_t *message)
{
	struct reply reply = { 0 };
	const struct bj_mcp_sink sink = { .send = reply_send,
					  .release = reply_release,
					  .ctx = &reply };
	struct bj_mcp_call *call = bj_mcp_call_new(session, message, &sink, -1);

	if (call)
		bj_mcp_call_run(call);
	return reply.message;
}

static void handle_initialize(struct bj_mcp_door *door, const struct bj_request *req,
			      const json_t *message, struct bj_answer *answer)
{
	const char *tenant, *owner = bj_mcp_rules_owner(req, &tenant);
	struct bj_mcp_client *client = bj_mcp_sessions_add(door->sessions, owner, tenant);
	json_t *reply;

	if (!client) {
		refuse(answer, 503, BJ_RPC_BUSY, "too many sessions; try again later");
		return;
	}
	reply = run_quick(bj_mcp_client_session(client), message);
	answer_object(answer, 200, reply);
	if (json_object_get(reply, "result"))
		bj_answer_header(answer, "Mcp-Session-Id", "%s", bj_mcp_client_id(client));
	else
		bj_mcp_client_end(client);
	json_decref(reply);
	bj_mcp_client_leave(client);
}

/* Whether clients of the session know the event that says where a stream begins. */
static bool primes(struct bj_mcp_client *client)
{
	const char *version = bj_mcp_session_version(bj_mcp_client_session(client));

	return version && strcmp(version, "2025-11-25") >= 0;
}

/* Requests whose answers go through one stream. */
static void answer_stream(struct bj_mcp_client *client, struct bj_mcp_call *const *calls, size_t n,
			  struct bj_mcp_stream *stream, struct bj_answer *answer)
{
	for (size_t i = 0; i < n; i++)
		if (bj_mcp_call_is_slow(calls[i]))
			bj_mcp_call_start(calls[i]);
		else
			bj_mcp_call_run(calls[i]);
	bj_mcp_client_answer(client, stream, 0, answer);
}

static bool is_slow(const json_t *message)
{
	const char *method = bj_rpc_text(message, "method");

	return strcmp(method, "tools/call") == 0 || strcmp(method, "tasks/result") == 0;
}

static void handle_request(struct bj_mcp_client *client, const json_t *message,
			   struct bj_answer *answer)
{
	struct bj_mcp_session *session = bj_mcp_client_session(client);
	struct bj_mcp_stream *stream;
	struct bj_mcp_call *call;
	struct bj_mcp_sink sink;

	if (!is_slow(message)) {
		json_t *reply = run_quick(session, message);

		answer_object(answer, 200, reply);
		json_decref(reply);
		return;
	}
	stream = bj_mcp_client_stream(client);
	if (!stream) {
		refuse(answer, 500, BJ_RPC_INTERNAL, "no memory");
		return;
	}
	if (primes(client))
		bj_mcp_stream_prime(stream);
	sink = bj_mcp_stream_sink(stream, NULL);
	call = bj_mcp_call_new(session, message, &sink, -1);
	answer_stream(client, &call, call ? 1 : 0, stream, answer);
	bj_mcp_stream_unref(stream);
}

/* --- batches, which 2025-03-26 has ------------------------------------------------------------ */

static void run_batch(struct bj_mcp_client *client, const json_t *messages,
		      struct bj_answer *answer)
{
	struct bj_mcp_session *session = bj_mcp_client_session(client);
	struct bj_mcp_stream *stream = bj_mcp_client_stream(client);
	struct bj_mcp_call *calls[BATCH_MAX];
	size_t n = 0, i;
	json_t *message;

	if (!stream) {
		refuse(answer, 500, BJ_RPC_INTERNAL, "no memory");
		return;
	}

	/* Holds the stream open until all are in it. */
	const struct bj_mcp_sink hold = bj_mcp_stream_sink(stream, NULL);

	json_array_foreach((json_t *)messages, i, message)
	{
		struct bj_rpc_error error = { 0 };
		const enum bj_rpc_kind kind = bj_rpc_kind(message, &error);
		const struct bj_mcp_sink sink = bj_mcp_stream_sink(stream, NULL);

		calls[n] = kind == BJ_RPC_REQUEST ? bj_mcp_call_new(session, message, &sink, -1)
						  : NULL;
		n += calls[n] != NULL;
		if (kind == BJ_RPC_REQUEST)
			continue;
		if (kind != BJ_RPC_BROKEN)
			bj_mcp_take(session, message);
		sink.release(sink.ctx);
	}
	answer_stream(client, calls, n, stream, answer);
	hold.release(hold.ctx);
	bj_mcp_stream_unref(stream);
}

static void handle_batch(struct bj_mcp_door *door, const struct bj_request *req,
			 const json_t *messages, struct bj_answer *answer)
{
	struct bj_mcp_client *client = find_client(door, req, answer);
	const char *version;
	bool asks = false;
	size_t i;
	json_t *message;

	if (!client)
		return;
	version = bj_mcp_session_version(bj_mcp_client_session(client));
	json_array_foreach((json_t *)messages, i, message) asks |=
		json_object_get(message, "method") && json_object_get(message, "id");
	if (!version || strcmp(version, "2025-03-26") != 0 || json_array_size(messages) == 0 ||
	    json_array_size(messages) > BATCH_MAX) {
		refuse(answer, 400, BJ_RPC_INVALID,
		       "only revision 2025-03-26 has batches, of 1 to 100 messages");
	} else if (asks) {
		run_batch(client, messages, answer);
	} else {
		json_array_foreach((json_t *)messages, i, message)
			bj_mcp_take(bj_mcp_client_session(client), message);
		answer_accepted(answer);
	}
	bj_mcp_client_leave(client);
}

/* --- methods of HTTP -------------------------------------------------------------------------- */

static void handle_message(struct bj_mcp_door *door, const struct bj_request *req,
			   const json_t *message, struct bj_answer *answer)
{
	struct bj_rpc_error error = { 0 };
	const enum bj_rpc_kind kind = bj_rpc_kind(message, &error);
	const json_t *id = json_object_get(message, "id");
	const char *version = req->header(req->ctx, "MCP-Protocol-Version");
	struct bj_mcp_client *client;

	if (kind == BJ_RPC_BROKEN) {
		answer_error(answer, 400, json_is_string(id) || json_is_integer(id) ? id : NULL,
			     &error);
		return;
	}
	if (bj_mcp_is_modern(message) || (version && strcmp(version, BJ_MCP_MODERN) == 0)) {
		handle_stateless(door, req, message, kind, answer);
		return;
	}
	if (kind == BJ_RPC_REQUEST && strcmp(bj_rpc_text(message, "method"), "initialize") == 0) {
		handle_initialize(door, req, message, answer);
		return;
	}
	client = find_client(door, req, answer);
	if (!client)
		return;
	if (kind == BJ_RPC_REQUEST) {
		handle_request(client, message, answer);
	} else {
		bj_mcp_take(bj_mcp_client_session(client), message);
		answer_accepted(answer);
	}
	bj_mcp_client_leave(client);
}

static void handle_post(struct bj_mcp_door *door, const struct bj_request *req,
			struct bj_answer *answer)
{
	struct bj_rpc_error error = { 0 };
	json_t *message;

	if (!bj_mcp_rules_post(req, &error)) {
		answer_error(answer, error.code == BJ_RPC_INVALID ? 415 : 406, NULL, &error);
		return;
	}
	if (bj_request_is_heavy(req)) {
		refuse(answer, 400, BJ_RPC_PARSE, "the message holds too many values");
		return;
	}
	message = bj_rpc_parse(req->body, req->body_size, &error);
	if (!message) {
		answer_error(answer, 400, NULL, &error);
	} else if (!bj_mcp_rules_version(req, message, &error)) {
		answer_error(answer, 400, json_object_get(message, "id"), &error);
	} else if (json_is_array(message)) {
		handle_batch(door, req, message, answer);
	} else {
		handle_message(door, req, message, answer);
	}
	json_decref(message);
}

static void handle_get(struct bj_mcp_door *door, const struct bj_request *req,
		       struct bj_answer *answer)
{
	const char *last = req->header(req->ctx, "Last-Event-ID");
	unsigned long long seen = 0;
	struct bj_mcp_stream *stream;
	struct bj_mcp_client *client;

	if (!bj_mcp_rules_wants_events(req)) {
		refuse(answer, 406, BJ_RPC_BUSY, "accept text/event-stream");
		return;
	}
	client = find_client(door, req, answer);
	if (!client)
		return;
	stream =
		last ? bj_mcp_client_resume(client, last, &seen) : bj_mcp_client_own_stream(client);
	if (stream) {
		if (!last && primes(client))
			bj_mcp_stream_prime(stream);
		bj_mcp_client_answer(client, stream, seen, answer);
	} else if (last) {
		refuse(answer, 404, BJ_RPC_BUSY, "these events are not kept any more");
	} else {
		refuse(answer, 409, BJ_RPC_BUSY, "this session has such a stream already");
	}
	bj_mcp_stream_unref(stream);
	bj_mcp_client_leave(client);
}

static void handle_delete(struct bj_mcp_door *door, const struct bj_request *req,
			  struct bj_answer *answer)
{
	struct bj_mcp_client *client = find_client(door, req, answer);

	if (!client)
		return;
	bj_mcp_client_end(client);
	bj_mcp_client_leave(client);
	bj_answer_take(answer, 200, "text/plain", strdup(""));
}

void bj_mcp_handle(struct bj_mcp_door *door, const struct bj_request *req, struct bj_answer *answer)
{
	const char *version = req->header(req->ctx, "MCP-Protocol-Version");
	const bool post = strcmp(req->method, "POST") == 0;

	if (!bj_mcp_rules_host(&door->rules, req)) {
		refuse(answer, 403, BJ_RPC_BUSY, "this Host or Origin is not allowed here");
	} else if (post) {
		handle_post(door, req, answer);
	} else if (version && strcmp(version, BJ_MCP_MODERN) == 0) {
		refuse(answer, 405, BJ_RPC_BUSY, "this revision has POST only");
		bj_answer_header(answer, "Allow", "POST");
	} else if (strcmp(req->method, "GET") == 0) {
		handle_get(door, req, answer);
	} else {
		handle_delete(door, req, answer);
	}
}
