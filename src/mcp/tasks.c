/* SPDX-License-Identifier: Apache-2.0 */

/* Tasks, as revision 2025-11-25 has them: a tool call that goes on by itself while the client asks
 * now and then. A task lives as long as its session and its time allow; the ids are random, and
 * only the session that started one finds it. */

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/core.h"

#include <sodium.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

enum {
	MAX_TASKS = 64,
	DEFAULT_TTL_MS = 600000,
	MAX_TTL_MS = 86400000,
	POLL_MS = 500,
};

enum status { WORKING, COMPLETED, FAILED, CANCELLED };
static const char *const STATUS_NAMES[] = { "working", "completed", "failed", "cancelled" };

/* All of it is guarded by the session's lock. */
struct bj_mcp_task {
	char id[BJ_MCP_ID];
	enum status status;
	uint64_t created_ms, updated_ms, ttl_ms;
	json_t *result; /* NULL: none, or not yet */
	struct bj_rpc_error error;
	struct bj_mcp_call *call; /* under way; NULL: it ended */
	struct bj_mcp_task *next;
};

static void drop(struct bj_mcp_task *task)
{
	json_decref(task->result);
	bj_rpc_error_done(&task->error);
	free(task);
}

void bj_mcp_tasks_end(struct bj_mcp_session *s)
{
	while (s->tasks) {
		struct bj_mcp_task *task = s->tasks;

		s->tasks = task->next;
		drop(task);
	}
}

static bool is_over(const struct bj_mcp_task *task)
{
	return !task->call && task->created_ms + task->ttl_ms < bj_clock_unix_ms();
}

/* Forget what has outlived its time. With the lock. */
static void sweep(struct bj_mcp_session *s)
{
	struct bj_mcp_task **at = &s->tasks;

	while (*at) {
		struct bj_mcp_task *task = *at;

		if (!is_over(task)) {
			at = &task->next;
			continue;
		}
		*at = task->next;
		s->n_tasks--;
		drop(task);
	}
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static json_t *when(uint64_t unix_ms)
{
	const time_t seconds = (time_t)(unix_ms / 1000);
	struct tm tm;
	char text[40], whole[48];

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(whole, sizeof(whole), "%s.%03uZ", text, (unsigned int)(unix_ms % 1000));
	return json_string(whole);
}

static json_t *to_json(const struct bj_mcp_task *t)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:I, s:i}", "taskId", t->id, "status",
			 STATUS_NAMES[t->status], "createdAt", when(t->created_ms), "lastUpdatedAt",
			 when(t->updated_ms), "ttl", (json_int_t)t->ttl_ms, "pollInterval",
			 POLL_MS);
}

/* With the session's lock. */
static void tell(struct bj_mcp_session *s, const struct bj_mcp_task *task)
{
	json_t *message;

	if (!s->sink.send)
		return;
	message = bj_rpc_notice("notifications/tasks/status", to_json(task));
	s->sink.send(s->sink.ctx, message);
	json_decref(message);
}

/* --- the work --------------------------------------------------------------------------------- */

static void finish(struct bj_mcp_call *call, json_t *result, struct bj_rpc_error *error)
{
	struct bj_mcp_session *s = call->session;
	struct bj_mcp_task *task = call->task;

	pthread_mutex_lock(&s->lock);
	task->call = NULL;
	task->updated_ms = bj_clock_unix_ms();
	task->result = result;
	task->error = *error;
	if (task->status == WORKING)
		task->status = !result || json_is_true(json_object_get(result, "isError"))
				       ? FAILED
				       : COMPLETED;
	tell(s, task);
	*(call->prev ? &call->prev->next : &s->calls) = call->next;
	if (call->next)
		call->next->prev = call->prev;
	s->n_calls--;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static void *work(void *ctx)
{
	struct bj_mcp_call *call = ctx;
	struct bj_mcp *mcp = call->mcp;
	struct bj_rpc_error error = { .code = BJ_RPC_INTERNAL, .message = "no memory" };

	finish(call, bj_mcp_tool_run(call, &error), &error);
	bj_mcp_call_free(call);
	bj_mcp_thread_ends(mcp);
	return NULL;
}

/* Progress of a task goes where unasked messages go. */
static void send_aside(void *ctx, const json_t *message)
{
	struct bj_mcp_session *s = ctx;

	pthread_mutex_lock(&s->lock);
	if (s->sink.send)
		s->sink.send(s->sink.ctx, message);
	pthread_mutex_unlock(&s->lock);
}

static struct bj_mcp_task *new_task(const struct bj_mcp_call *call)
{
	const json_t *ttl = json_object_get(json_object_get(call->params, "task"), "ttl");
	const json_int_t asked = json_is_integer(ttl) ? json_integer_value(ttl) : DEFAULT_TTL_MS;
	struct bj_mcp_task *task = calloc(1, sizeof(*task));
	unsigned char bytes[16];

	if (!task)
		return NULL;
	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(task->id, sizeof(task->id), bytes, sizeof(bytes));
	task->created_ms = task->updated_ms = bj_clock_unix_ms();
	task->ttl_ms = (uint64_t)(asked < 0 ? 0 : asked > MAX_TTL_MS ? MAX_TTL_MS : asked);
	return task;
}

/* Enter task and call into the session; false when there are too many. */
static bool enter(struct bj_mcp_session *s, struct bj_mcp_task *task, struct bj_mcp_call *own)
{
	bool good;

	pthread_mutex_lock(&s->lock);
	sweep(s);
	good = s->n_tasks < MAX_TASKS && s->n_calls < BJ_MCP_CALLS && !s->ended;
	if (good) {
		own->task = task;
		own->sink = (struct bj_mcp_sink){ .send = send_aside, .ctx = s };
		task->call = own;
		task->next = s->tasks;
		s->tasks = task;
		s->n_tasks++;
		own->next = s->calls;
		if (own->next)
			own->next->prev = own;
		s->calls = own;
		s->n_calls++;
	}
	pthread_mutex_unlock(&s->lock);
	return good;
}

json_t *bj_mcp_task_start(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	struct bj_mcp_call *own = bj_mcp_call_again(call);
	struct bj_mcp_task *task = own ? new_task(call) : NULL;
	json_t *told;

	if (!json_is_object(json_object_get(call->params, "task")) || !task ||
	    !enter(call->session, task, own)) {
		if (own)
			bj_mcp_call_free(own);
		free(task);
		return bj_rpc_fail(error, BJ_RPC_BUSY, "no more tasks are taken; try again later");
	}
	told = json_pack("{s:o}", "task", to_json(task));
	if (bj_mcp_spawn(call->mcp, work, own) < 0) {
		struct bj_rpc_error why = { .code = BJ_RPC_BUSY, .message = "too many threads" };

		finish(own, NULL, &why);
		bj_mcp_call_free(own);
	}
	return told;
}

/* --- questions -------------------------------------------------------------------------------- */

/* With the lock. NULL with @error. */
static struct bj_mcp_task *find(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const char *id = bj_rpc_text(call->params, "taskId");
	struct bj_mcp_task *task;

	sweep(call->session);
	task = call->session->tasks;
	while (task && (!id || strcmp(task->id, id) != 0))
		task = task->next;
	if (!task)
		bj_rpc_fail(error, BJ_RPC_PARAMS, "taskId: there is no such task");
	return task;
}

json_t *bj_mcp_tasks_get(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	json_t *result = NULL;

	pthread_mutex_lock(&call->session->lock);

	const struct bj_mcp_task *task = find(call, error);

	if (task)
		result = to_json(task);
	pthread_mutex_unlock(&call->session->lock);
	return result;
}

json_t *bj_mcp_tasks_list(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	json_t *list = json_array();

	if (json_object_get(call->params, "cursor")) {
		json_decref(list);
		return bj_rpc_fail(error, BJ_RPC_PARAMS, "there is one page; leave cursor out");
	}
	pthread_mutex_lock(&call->session->lock);
	sweep(call->session);
	for (struct bj_mcp_task *t = call->session->tasks; t; t = t->next)
		json_array_append_new(list, to_json(t));
	pthread_mutex_unlock(&call->session->lock);
	return json_pack("{s:o}", "tasks", list);
}

json_t *bj_mcp_tasks_cancel(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	json_t *result = NULL;

	pthread_mutex_lock(&call->session->lock);

	struct bj_mcp_task *task = find(call, error);

	if (task && task->status != WORKING) {
		bj_rpc_fail(error, BJ_RPC_PARAMS, "the task has ended already: %s",
			    STATUS_NAMES[task->status]);
	} else if (task) {
		task->status = CANCELLED;
		task->updated_ms = bj_clock_unix_ms();
		if (task->call)
			eventfd_write(task->call->stop_fd, 1);
		result = to_json(task);
	}
	pthread_mutex_unlock(&call->session->lock);
	return result;
}

static json_t *related(const struct bj_mcp_task *task)
{
	json_t *result = json_deep_copy(task->result);

	json_object_set_new(
		result, "_meta",
		json_pack("{s:{s:s}}", "io.modelcontextprotocol/related-task", "taskId", task->id));
	return result;
}

/* Waits for the end of the task. */
json_t *bj_mcp_tasks_result(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	struct bj_mcp_session *s = call->session;
	struct bj_mcp_task *task;
	json_t *result = NULL;

	pthread_mutex_lock(&s->lock);
	while ((task = find(call, error)) && task->call && !call->cancelled && !s->ended)
		pthread_cond_wait(&s->changed, &s->lock);
	if (task && task->result)
		result = related(task);
	else if (task)
		bj_rpc_fail(error, task->error.code ? task->error.code : BJ_RPC_INTERNAL, "%s",
			    task->error.message);
	pthread_mutex_unlock(&s->lock);
	return result;
}
