/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mcp/core.h"

/* Tasks: tool calls that go on by themselves while the client asks now and then. In 2025-11-25 the
 * client asks for one, and it lives in the client's session (tasks.c). In 2026-07-28 they are an
 * extension: the server makes one when a call takes long, and since there are no sessions it lives
 * in the server's own, for whoever asked (tasks_ext.c). The ids are random. */

enum bj_mcp_task_status {
	BJ_TASK_WORKING,
	BJ_TASK_INPUT, /* the client must answer something first; 2026-07-28 only */
	BJ_TASK_COMPLETED,
	BJ_TASK_FAILED,
	BJ_TASK_CANCELLED
};

/* All of it is guarded by the lock of the session that it lives in. */
struct bj_mcp_task {
	char id[BJ_MCP_ID];
	char tenant[BJ_MCP_OWNER], actor[BJ_MCP_OWNER]; /* who asked for it */
	enum bj_mcp_task_status status;
	uint64_t created_ms, updated_ms, ttl_ms;
	struct bj_mcp *mcp;
	size_t bytes;   /* what it holds: the request until it has ended, then its result */
	json_t *result; /* NULL: none, or not yet */
	struct bj_rpc_error error;
	struct bj_mcp_call *call;   /* under way; NULL: it ended, or waits for input */
	struct bj_mcp_call *parked; /* what goes on when the input came; NULL: nothing waits */
	json_t *answers;            /* the input so far; NULL: none */
	struct bj_mcp_task *next;
};

/* The session in which the tasks of @call live. Borrowed. */
struct bj_mcp_session *bj_mcp_tasks_home(const struct bj_mcp_call *call);

/* Let the tool call go on by itself, in a thread of its own; *@ret_told is the task as it begins.
 * NULL: there are too many. What is returned lives until its time is over, but no longer. */
struct bj_mcp_task *bj_mcp_task_begin(struct bj_mcp_call *call, uint64_t ttl_ms, json_t **ret_told);

/* Go on with a task whose call was put back into it. Without the lock. */
void bj_mcp_task_go_on(struct bj_mcp_call *call);

/* Enter @call as what the task does. With the lock. */
void bj_mcp_task_enter(struct bj_mcp_session *home, struct bj_mcp_task *task,
		       struct bj_mcp_call *call);

/* The task that the request names, if it is the caller's. NULL with @error. With the lock. */
struct bj_mcp_task *bj_mcp_task_find(struct bj_mcp_call *call, struct bj_rpc_error *error);

/* Tell its work to stop. With the lock. */
void bj_mcp_task_stop(struct bj_mcp_task *task);

/* Take it out of the list. With the lock; free it without. */
void bj_mcp_task_unlink(struct bj_mcp_session *home, struct bj_mcp_task *task);
void bj_mcp_task_free(struct bj_mcp_task *task);

/* Forget what has outlived its time. Without the lock. */
void bj_mcp_tasks_sweep(struct bj_mcp_session *home);

/* The members that both revisions have, with the names of the newer one where @modern. */
json_t *bj_mcp_task_json(const struct bj_mcp_task *task, bool modern);
/* And with what came of it, or what it waits for, as the newer one has it. */
json_t *bj_mcp_task_details(const struct bj_mcp_task *task);
