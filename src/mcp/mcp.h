/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/engine.h"
#include "mcp/rpc.h"

/* The Model Context Protocol apart from what carries it. A transport makes sessions, hands in
 * messages one by one, and brings a sink for what goes back. */

/* What the door that offers MCP can do: it owns the engine, the queue and the list of runs. All
 * are called from any thread. */
struct bj_mcp_host {
	void *ctx;
	/* The engine for one call; NULL: none is taken now. leave() ends its use. */
	struct belljar *(*enter)(void *ctx, void **ret_token);
	void (*leave)(void *ctx, void *token);
	/* Run @spec with the engine of @token. As bj_run(). */
	int (*run)(void *ctx, void *token, struct bj_spec *spec, struct bj_result **ret,
		   struct bj_err *err);
	/* Begin the run @id, which waited, if it was approved; as bj_resume(). NULL: the host does
	 * so by itself. */
	int (*resume)(void *ctx, void *token, const char *id, const struct bj_spec *hooks,
		      struct bj_result **ret, struct bj_err *err);
	/* The runs there are, newest first: {"executions": [{"id": ...}], "next": id or null}.
	 * NULL: there is no run @before. @tenant: only runs of theirs; NULL: all. */
	json_t *(*list)(void *ctx, const char *tenant, const char *before, unsigned int limit);
	/* One run with its result; NULL: there is none. */
	json_t *(*find)(void *ctx, const char *tenant, const char *id);
};

struct bj_mcp;
struct bj_mcp_session;
struct bj_mcp_call;

/* @fixtures: also offer what the conformance suite looks for; test builds only. NULL: no memory. */
struct bj_mcp *bj_mcp_new(const struct bj_mcp_host *host, bool fixtures);

/* End every session and wait for the last call. stop() alone leaves the memory. */
void bj_mcp_stop(struct bj_mcp *mcp);
void bj_mcp_free(struct bj_mcp *mcp); /* NULL is fine */

/* Where the messages of one request go. send() borrows the message; release() is called once,
 * after the last send(). hang_up() closes the connection while the call goes on; NULL: cannot. */
struct bj_mcp_sink {
	void (*send)(void *ctx, const json_t *message);
	void (*hang_up)(void *ctx);
	void (*release)(void *ctx);
	void *ctx;
};

/* A session: one client, from its first message to its last. Counted. Ending it cancels what it
 * started. */
struct bj_mcp_session *bj_mcp_session_new(struct bj_mcp *mcp);
void bj_mcp_session_ref(struct bj_mcp_session *session);
void bj_mcp_session_unref(struct bj_mcp_session *session);
void bj_mcp_session_end(struct bj_mcp_session *session);

/* Whether it is in the middle of something: a call, a task. */
bool bj_mcp_session_busy(struct bj_mcp_session *session);

/* The revision that was agreed on, such as "2025-11-25"; NULL: none yet. */
const char *bj_mcp_session_version(struct bj_mcp_session *session);

/* Whose it is: runs are theirs, and they see no others. NULL: nobody's; an actor that is not known
 * is what the client calls itself. Call it before the first request. */
void bj_mcp_session_owner(struct bj_mcp_session *session, const char *tenant, const char *actor);

/* Every request of it must say its revision itself: for transports that know that it means to. */
void bj_mcp_session_stateless(struct bj_mcp_session *session);

/* Where messages go that belong to no request. @sink->ctx must outlive the session. */
void bj_mcp_session_listen(struct bj_mcp_session *session, const struct bj_mcp_sink *sink);

/* Take a notification or a response. */
void bj_mcp_take(struct bj_mcp_session *session, const json_t *message);

/* Take a request: it is known from now on, so that a later message can cancel it. The sink is
 * released when the call ends. @gone_fd: readable when nobody waits for the answer any more, and
 * that means to cancel; -1: none. NULL: refused, the answer was sent and the sink released. */
struct bj_mcp_call *bj_mcp_call_new(struct bj_mcp_session *session, const json_t *message,
				    const struct bj_mcp_sink *sink, int gone_fd);

/* Whether it may take long: give it a thread. */
bool bj_mcp_call_is_slow(const struct bj_mcp_call *call);

/* Do it, send the answer, free the call. */
void bj_mcp_call_run(struct bj_mcp_call *call);

/* The same in a thread of its own. */
void bj_mcp_call_start(struct bj_mcp_call *call);

/* The schema of what the tool @name takes, for headers that repeat arguments. The caller decrefs
 * it; NULL: there is no such tool. */
json_t *bj_mcp_tool_schema(const struct bj_mcp *mcp, const char *name);

/* Revisions. The newest comes first. */
extern const char *const bj_mcp_versions[]; /* NULL-terminated */
bool bj_mcp_version_known(const char *version);
#define BJ_MCP_MODERN "2026-07-28"

/* Whether @message says by itself which revision it speaks, as requests do from 2026-07-28 on. */
bool bj_mcp_is_modern(const json_t *message);

/* Serve one client on standard input and output until it hangs up or @stop_fd is readable. */
int bj_mcp_stdio(struct bj_mcp *mcp, int in, int out, int stop_fd, struct bj_err *err);
