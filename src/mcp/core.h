/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mcp/mcp.h"

#include <pthread.h>
#include <stdatomic.h>

/* What the files of src/mcp share. */

enum {
	BJ_MCP_ID = 33,
	BJ_MCP_CLIENT = 64,
	BJ_MCP_OWNER = 128,
	BJ_MCP_WORD = 64,
	BJ_MCP_CALLS = 64,         /* under way at once in one session */
	BJ_MCP_THREADS = 1024,     /* in all */
	BJ_MCP_SUBSCRIPTIONS = 256 /* of one session */
};

enum bj_mcp_level { BJ_MCP_DEBUG, BJ_MCP_INFO, BJ_MCP_NOTICE, BJ_MCP_WARNING, BJ_MCP_ERROR };
enum { BJ_MCP_SILENT = 100 };

struct bj_mcp {
	struct bj_mcp_host host;
	bool fixtures;
	unsigned char key[32]; /* signs what a client keeps for us */
	pthread_mutex_t lock;  /* over what follows */
	pthread_cond_t idle;
	struct bj_mcp_session *sessions;
	struct bj_mcp_session *shared; /* where tasks live that belong to no session */
	struct bj_mcp_listener *listeners;
	atomic_size_t task_bytes; /* what all tasks hold together; without the lock */
	unsigned int threads;
	bool stopping;
};

/* A question to the client that waits for its answer. */
struct bj_mcp_ask {
	json_int_t id;
	json_t *answer; /* the whole response; NULL: not yet */
	struct bj_mcp_ask *next;
};

struct bj_mcp_session {
	struct bj_mcp *mcp;
	struct bj_mcp_session *prev, *next; /* guarded by the server's lock */
	atomic_uint refs;
	/* Set before the first request. */
	bool stateless;
	char tenant[BJ_MCP_OWNER], actor[BJ_MCP_OWNER]; /* "": none */

	pthread_mutex_t lock; /* over what follows */
	pthread_cond_t changed;
	const char *version; /* NULL: not initialized */
	json_t *capabilities;
	char client[BJ_MCP_CLIENT]; /* what it calls itself */
	int level;
	struct bj_mcp_call *calls;
	unsigned int n_calls;
	struct bj_mcp_ask *asks;
	json_int_t last_ask;
	json_t *subscribed; /* {uri: true} */
	struct bj_mcp_task *tasks;
	unsigned int n_tasks;
	struct bj_mcp_sink sink; /* send NULL: nobody listens */
	bool ended;
};

/* One request on its way. What the client can do stands here, since from 2026-07-28 on every
 * request says it anew. */
struct bj_mcp_call {
	struct bj_mcp *mcp;
	struct bj_mcp_session *session;
	struct bj_mcp_call *prev, *next; /* guarded by the session's lock */
	const struct bj_mcp_method *method;
	json_t *message, *params; /* params: borrowed from it; NULL: none */
	const json_t *id, *token; /* token: for progress; NULL: none */
	bool modern;
	const char *version;
	json_t *capabilities; /* owned; NULL: none */
	char client[BJ_MCP_CLIENT];
	int level; /* the least that is logged */
	struct bj_mcp_sink sink;
	int stop_fd, cancel_fd; /* cancel_fd: readable when to stop */
	atomic_bool cancelled;  /* no answer is wanted */
	json_t *wanted;         /* input requests that were collected; NULL: none */
	json_t *state;          /* what the client keeps for us with them; NULL: nothing */
	struct bj_mcp_task *task;
	double progress;
};

struct bj_mcp_method {
	const char *name;
	json_t *(*handle)(struct bj_mcp_call *call, struct bj_rpc_error *error);
	enum { BJ_MCP_LEGACY = 1, BJ_MCP_STATELESS = 2, BJ_MCP_BOTH = 3 } eras;
	bool slow;
	enum { BJ_MCP_NO_CACHE, BJ_MCP_PUBLIC, BJ_MCP_PRIVATE } cache;
};

/* What @info (NULL: nothing) says a client is called, fit to be shown. */
void bj_mcp_client_name(const json_t *info, char name[BJ_MCP_CLIENT]);

/* --- threads and sessions (server.c) --- */
/* NULL: it belongs to nobody. */
const char *bj_mcp_call_tenant(const struct bj_mcp_call *call);
int bj_mcp_spawn(struct bj_mcp *mcp, void *(*run)(void *), void *ctx);
void bj_mcp_thread_ends(struct bj_mcp *mcp);

/* --- the client's side (client.c) --- */
bool bj_mcp_client_has(const struct bj_mcp_call *call, const char *capability);
/* Ask the client and wait. NULL: it did not answer with a result, with @error; or, where requests
 * carry the answers, the question was put down in call->wanted under @key. */
json_t *bj_mcp_client_ask(struct bj_mcp_call *call, const char *key, const char *method,
			  json_t *params_take, struct bj_rpc_error *error);
void bj_mcp_client_answered(struct bj_mcp_session *session, const json_t *message);

/* --- approval (approve.c) --- */
/* As spec->on_ask. */
int bj_mcp_ask_person(struct bj_mcp_call *call, const struct belljar *bj,
		      const struct bj_question *question, bool *ret_approved, char **ret_by,
		      char **ret_reason);

/* What the person at a stateless client decided about the run that the request names: 1 with the
 * run's id, 0 when it names none, negative with @error. */
int bj_mcp_take_decision(struct bj_mcp_call *call, struct belljar *bj, const char *about,
			 char ret_id[BJ_MCP_WORD], struct bj_rpc_error *error);

/* --- between two requests (state.c) --- */
/* @word: letters, digits, dashes and underscores. */
void bj_mcp_state_write(struct bj_mcp_call *call, const char *about, const char *word);
/* False with @error: it is not ours, about something else, or too old. */
bool bj_mcp_state_read(struct bj_mcp_call *call, const char *about, const char *text,
		       char ret_word[BJ_MCP_WORD], struct bj_rpc_error *error);
/* The result that asks for call->wanted. */
json_t *bj_mcp_input_required(struct bj_mcp_call *call);

/* --- what is told on the way (notify.c) --- */
void bj_mcp_send(struct bj_mcp_call *call, json_t *message_take);
void bj_mcp_progress(struct bj_mcp_call *call, double progress, double total, const char *text);
void bj_mcp_log(struct bj_mcp_call *call, enum bj_mcp_level level, const char *logger,
		json_t *data_take);
int bj_mcp_level_from_name(const char *name);
/* Tell those who asked for it: @list is "tools", "prompts", "resources", or NULL with the @uri of
 * a resource that changed. */
void bj_mcp_changed(struct bj_mcp *mcp, const char *list, const char *uri);
/* Tell those who listen for the task @details, which is borrowed. */
void bj_mcp_task_changed(struct bj_mcp *mcp, const json_t *details);
json_t *bj_mcp_listen(struct bj_mcp_call *call, struct bj_rpc_error *error);

/* --- methods --- */
json_t *bj_mcp_initialize(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_discover(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_ping(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_set_level(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_server_info(void);
json_t *bj_mcp_tools_list(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_tools_call(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_resources_list(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_templates_list(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_resources_read(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_subscribe(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_unsubscribe(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_prompts_list(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_prompts_get(struct bj_mcp_call *call, struct bj_rpc_error *error);
/* @text with every {name} replaced by the argument of that name. */
void bj_mcp_fill(const char *text, const json_t *args, struct bj_buf *to);
json_t *bj_mcp_complete(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_tasks_get(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_tasks_result(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_tasks_list(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_tasks_cancel(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_task_get(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_task_update(struct bj_mcp_call *call, struct bj_rpc_error *error);
json_t *bj_mcp_task_cancel(struct bj_mcp_call *call, struct bj_rpc_error *error);

/* --- what runs left (artifacts.c) --- */
#define BJ_MCP_EXECUTIONS "belljar://executions/"

/* The record of the run @id; NULL: there is none for this caller. The caller decrefs it. */
json_t *bj_mcp_recorded(const struct bj_mcp_call *call, const struct belljar *bj, const char *id);
/* Add the artifacts of the run @id to a list of resources. The caller may see that run. */
void bj_mcp_artifacts_add(const struct belljar *bj, const char *id, json_t *list);
/* Call @offer with the name of each artifact of the run @id, if the caller may see it. */
void bj_mcp_artifacts_offer(struct bj_mcp_call *call, const char *id,
			    void (*offer)(json_t *values, const char *value, const char *typed),
			    json_t *values, const char *typed);
/* The result of resources/read for the list of them, and for the one named @coded. NULL: there is
 * none, or with @error. */
json_t *bj_mcp_artifacts_read(const struct bj_mcp_call *call, const struct belljar *bj,
			      const char *uri, const char *id);
json_t *bj_mcp_artifact_read(const struct bj_mcp_call *call, const struct belljar *bj,
			     const char *uri, const char *id, const char *coded,
			     struct bj_rpc_error *error);

/* --- tasks (tasks.c, tasks_ext.c) --- */
#define BJ_MCP_TASKS "io.modelcontextprotocol/tasks"

/* Whether a stateless request says that its client knows tasks; false with @error. */
bool bj_mcp_tasks_known(const struct bj_mcp_call *call, struct bj_rpc_error *error);
/* Make the tool call, and answer with a task when it takes long. False: it was not made, since
 * it cannot become one. True: *@ret is the answer; NULL: call->wanted, or @error. */
bool bj_mcp_task_offer(struct bj_mcp_call *call, json_t **ret, struct bj_rpc_error *error);
/* Those of @ids that are tasks of the caller. */
json_t *bj_mcp_tasks_mine(struct bj_mcp_call *call, const json_t *ids);
/* Let the tool call go on by itself; the answer tells of the task. */
json_t *bj_mcp_task_start(struct bj_mcp_call *call, struct bj_rpc_error *error);
void bj_mcp_tasks_end(struct bj_mcp_session *session);

/* The call of a tool, without what surrounds it. */
json_t *bj_mcp_tool_run(struct bj_mcp_call *call, struct bj_rpc_error *error);

/* A call that another one goes on as: for tasks. Its sink is the session's. */
struct bj_mcp_call *bj_mcp_call_again(const struct bj_mcp_call *call);
void bj_mcp_call_free(struct bj_mcp_call *call);
/* Put @answers to what it wanted into it, so that it can be run again. */
void bj_mcp_call_answer(struct bj_mcp_call *call, json_t *answers);
/* Whether nobody wants its answer any more. */
bool bj_mcp_should_stop(const struct bj_mcp_call *call);
