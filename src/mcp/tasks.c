/* SPDX-License-Identifier: Apache-2.0 */

/* The life of a task, and the methods of revision 2025-11-25. */

#include "mcp/tasks.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <sodium.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

enum {
	MAX_TASKS = 64,       /* of one session, or of one client where there are no sessions */
	MAX_ALL = 1024,       /* of all of those together */
	MAX_BYTES = 64 << 20, /* that the tasks of one of those hold: requests and results */
	MAX_ALL_BYTES = 512 << 20, /* that all tasks of the service hold */
	DEFAULT_TTL_MS = 600000,
	MAX_TTL_MS = 86400000,
	POLL_MS = 500,
};

static const char *const STATUS_NAMES[] = { "working", "input_required", "completed", "failed",
					    "cancelled" };

/* --- the list --------------------------------------------------------------------------------- */

struct bj_mcp_session *bj_mcp_tasks_home(const struct bj_mcp_call *call)
{
	return call->modern ? call->mcp->shared : call->session;
}

/* What @value takes in a message; in memory it is of that order. */
static size_t size_of(const json_t *value)
{
	return value ? json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) : 0;
}

static void hold(struct bj_mcp_task *task, size_t bytes)
{
	task->mcp->task_bytes += bytes;
	task->mcp->task_bytes -= task->bytes;
	task->bytes = bytes;
}

void bj_mcp_task_free(struct bj_mcp_task *task)
{
	if (!task)
		return;
	hold(task, 0);
	if (task->parked)
		bj_mcp_call_free(task->parked);
	json_decref(task->result);
	json_decref(task->answers);
	bj_rpc_error_done(&task->error);
	free(task);
}

void bj_mcp_tasks_end(struct bj_mcp_session *s)
{
	while (s->tasks) {
		struct bj_mcp_task *task = s->tasks;

		s->tasks = task->next;
		bj_mcp_task_free(task);
	}
}

void bj_mcp_task_unlink(struct bj_mcp_session *home, struct bj_mcp_task *task)
{
	struct bj_mcp_task **at = &home->tasks;

	while (*at && *at != task)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = task->next;
	home->n_tasks--;
}

static bool is_over(const struct bj_mcp_task *task)
{
	return !task->call && task->created_ms + task->ttl_ms < bj_clock_unix_ms();
}

/* A call that is freed lets go of its session, which takes the server's lock: so not with ours. */
void bj_mcp_tasks_sweep(struct bj_mcp_session *home)
{
	struct bj_mcp_task *over = NULL;

	pthread_mutex_lock(&home->lock);
	for (struct bj_mcp_task **at = &home->tasks; *at;) {
		struct bj_mcp_task *task = *at;

		if (!is_over(task)) {
			at = &task->next;
			continue;
		}
		*at = task->next;
		home->n_tasks--;
		task->next = over;
		over = task;
	}
	pthread_mutex_unlock(&home->lock);
	while (over) {
		struct bj_mcp_task *task = over;

		over = task->next;
		bj_mcp_task_free(task);
	}
}

static bool is_theirs(const struct bj_mcp_task *task, const struct bj_mcp_session *s)
{
	return strcmp(task->tenant, s->tenant) == 0 && strcmp(task->actor, s->actor) == 0;
}

struct bj_mcp_task *bj_mcp_task_find(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const char *id = bj_rpc_text(call->params, "taskId");
	struct bj_mcp_task *task = bj_mcp_tasks_home(call)->tasks;

	while (task && (!id || strcmp(task->id, id) != 0 || !is_theirs(task, call->session)))
		task = task->next;
	if (!task)
		bj_rpc_fail(error, BJ_RPC_PARAMS, "taskId: there is no such task");
	return task;
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

json_t *bj_mcp_task_json(const struct bj_mcp_task *t, bool modern)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:I, s:i}", "taskId", t->id, "status",
			 STATUS_NAMES[t->status], "createdAt", when(t->created_ms), "lastUpdatedAt",
			 when(t->updated_ms), modern ? "ttlMs" : "ttl", (json_int_t)t->ttl_ms,
			 modern ? "pollIntervalMs" : "pollInterval", POLL_MS);
}

json_t *bj_mcp_task_details(const struct bj_mcp_task *t)
{
	json_t *object = bj_mcp_task_json(t, true);

	if (t->status == BJ_TASK_COMPLETED)
		json_object_set_new(object, "result", json_deep_copy(t->result));
	if (t->status == BJ_TASK_INPUT && t->parked)
		json_object_set_new(object, "inputRequests", json_deep_copy(t->parked->wanted));
	if (t->status == BJ_TASK_FAILED) {
		json_object_set_new(object, "statusMessage", json_string(t->error.message));
		json_object_set_new(object, "error",
				    json_pack("{s:i, s:s}", "code", (int)t->error.code, "message",
					      t->error.message));
	}
	return object;
}

/* With the session's lock. */
static void tell(struct bj_mcp_session *s, const struct bj_mcp_task *task)
{
	json_t *message;

	if (!s->sink.send)
		return;
	message = bj_rpc_notice("notifications/tasks/status", bj_mcp_task_json(task, false));
	s->sink.send(s->sink.ctx, message);
	json_decref(message);
}

/* --- the work --------------------------------------------------------------------------------- */

/* What the revision calls the end of it: to the older one a failed script is a failed task. */
static enum bj_mcp_task_status status_of(const struct bj_mcp_call *call, const json_t *result)
{
	if (!result)
		return call->modern && call->wanted ? BJ_TASK_INPUT : BJ_TASK_FAILED;
	return !call->modern && json_is_true(json_object_get(result, "isError"))
		       ? BJ_TASK_FAILED
		       : BJ_TASK_COMPLETED;
}

static void unlink_call(struct bj_mcp_session *home, struct bj_mcp_call *call)
{
	*(call->prev ? &call->prev->next : &home->calls) = call->next;
	if (call->next)
		call->next->prev = call->prev;
	call->prev = call->next = NULL;
	home->n_calls--;
}

/* Uses up the call, unless it waits for input. */
static void finish(struct bj_mcp_call *call, json_t *result, struct bj_rpc_error *error)
{
	struct bj_mcp_session *home = bj_mcp_tasks_home(call);
	struct bj_mcp *mcp = call->mcp;
	struct bj_mcp_task *task = call->task;
	const size_t bytes = size_of(result);
	json_t *told = NULL;

	pthread_mutex_lock(&home->lock);
	task->call = NULL;
	task->updated_ms = bj_clock_unix_ms();
	task->result = result;
	task->error = *error;
	if (task->status == BJ_TASK_WORKING)
		task->status = status_of(call, result);
	unlink_call(home, call);
	if (task->status == BJ_TASK_INPUT)
		task->parked = BJ_TAKE_PTR(call);
	else
		hold(task, bytes);
	if (home == mcp->shared)
		told = bj_mcp_task_details(task);
	else
		tell(home, task);
	pthread_cond_broadcast(&home->changed);
	pthread_mutex_unlock(&home->lock);
	if (call)
		bj_mcp_call_free(call);
	if (told)
		bj_mcp_task_changed(mcp, told);
	json_decref(told);
}

static void *work(void *ctx)
{
	struct bj_mcp_call *call = ctx;
	struct bj_mcp *mcp = call->mcp;
	struct bj_rpc_error error = { .code = BJ_RPC_INTERNAL, .message = "no memory" };

	finish(call, bj_mcp_tool_run(call, &error), &error);
	bj_mcp_thread_ends(mcp);
	return NULL;
}

void bj_mcp_task_go_on(struct bj_mcp_call *call)
{
	struct bj_rpc_error why = { .code = BJ_RPC_BUSY, .message = "too many threads" };

	if (bj_mcp_spawn(call->mcp, work, call) < 0)
		finish(call, NULL, &why);
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

static struct bj_mcp_task *new_task(const struct bj_mcp_call *call, uint64_t ttl_ms)
{
	const struct bj_mcp_session *owner = call->session;
	struct bj_mcp_task *task = calloc(1, sizeof(*task));
	unsigned char bytes[16];

	if (!task)
		return NULL;
	task->mcp = call->mcp;
	hold(task, size_of(call->message));
	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(task->id, sizeof(task->id), bytes, sizeof(bytes));
	memcpy(task->tenant, owner->tenant, sizeof(task->tenant));
	memcpy(task->actor, owner->actor, sizeof(task->actor));
	task->created_ms = task->updated_ms = bj_clock_unix_ms();
	task->ttl_ms = ttl_ms;
	return task;
}

void bj_mcp_task_enter(struct bj_mcp_session *home, struct bj_mcp_task *task,
		       struct bj_mcp_call *call)
{
	call->task = task;
	task->call = call;
	call->next = home->calls;
	if (call->next)
		call->next->prev = call;
	home->calls = call;
	home->n_calls++;
}

/* Whether @task is taken as one more. With the lock. */
static bool has_room(const struct bj_mcp_call *call, const struct bj_mcp_session *home,
		     const struct bj_mcp_task *task)
{
	unsigned int theirs = 0;
	size_t bytes = task->bytes;

	for (const struct bj_mcp_task *t = home->tasks; t; t = t->next)
		if (is_theirs(t, call->session)) {
			theirs++;
			bytes += t->bytes;
		}
	return !home->ended && theirs < MAX_TASKS && bytes <= MAX_BYTES &&
	       call->mcp->task_bytes <= MAX_ALL_BYTES &&
	       (call->modern ? home->n_tasks < MAX_ALL : home->n_calls < BJ_MCP_CALLS);
}

struct bj_mcp_task *bj_mcp_task_begin(struct bj_mcp_call *call, uint64_t ttl_ms, json_t **ret_told)
{
	struct bj_mcp_session *home = bj_mcp_tasks_home(call);
	struct bj_mcp_call *own = bj_mcp_call_again(call);
	struct bj_mcp_task *task = own ? new_task(call, ttl_ms) : NULL;
	bool good;

	bj_mcp_tasks_sweep(home);
	pthread_mutex_lock(&home->lock);
	good = task && has_room(call, home, task);
	if (good) {
		bj_mcp_task_enter(home, task, own);
		task->next = home->tasks;
		home->tasks = task;
		home->n_tasks++;
		*ret_told = bj_mcp_task_json(task, call->modern);
		/* The newer revision has nothing like it. */
		if (!call->modern)
			own->sink = (struct bj_mcp_sink){ .send = send_aside, .ctx = home };
	}
	pthread_mutex_unlock(&home->lock);
	if (good) {
		bj_mcp_task_go_on(own);
		return task;
	}
	if (own)
		bj_mcp_call_free(own);
	bj_mcp_task_free(task);
	return NULL;
}

void bj_mcp_task_stop(struct bj_mcp_task *task)
{
	task->status = BJ_TASK_CANCELLED;
	task->updated_ms = bj_clock_unix_ms();
	if (task->call)
		eventfd_write(task->call->stop_fd, 1);
}

/* --- 2025-11-25 ------------------------------------------------------------------------------- */

json_t *bj_mcp_task_start(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const json_t *asked = json_object_get(call->params, "task");
	const json_t *ttl = json_object_get(asked, "ttl");
	json_int_t ms = json_is_integer(ttl) ? json_integer_value(ttl) : DEFAULT_TTL_MS;
	json_t *told = NULL;

	ms = ms < 0 ? 0 : ms > MAX_TTL_MS ? MAX_TTL_MS : ms;
	if (!json_is_object(asked) || !bj_mcp_task_begin(call, (uint64_t)ms, &told))
		return bj_rpc_fail(error, BJ_RPC_BUSY, "no more tasks are taken; try again later");
	return json_pack("{s:o}", "task", told);
}

json_t *bj_mcp_tasks_get(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	json_t *result = NULL;

	bj_mcp_tasks_sweep(call->session);
	pthread_mutex_lock(&call->session->lock);

	const struct bj_mcp_task *task = bj_mcp_task_find(call, error);

	if (task)
		result = bj_mcp_task_json(task, false);
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
	bj_mcp_tasks_sweep(call->session);
	pthread_mutex_lock(&call->session->lock);
	for (struct bj_mcp_task *t = call->session->tasks; t; t = t->next)
		json_array_append_new(list, bj_mcp_task_json(t, false));
	pthread_mutex_unlock(&call->session->lock);
	return json_pack("{s:o}", "tasks", list);
}

json_t *bj_mcp_tasks_cancel(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	json_t *result = NULL;

	bj_mcp_tasks_sweep(call->session);
	pthread_mutex_lock(&call->session->lock);

	struct bj_mcp_task *task = bj_mcp_task_find(call, error);

	if (task && task->status != BJ_TASK_WORKING) {
		bj_rpc_fail(error, BJ_RPC_PARAMS, "the task has ended already: %s",
			    STATUS_NAMES[task->status]);
	} else if (task) {
		bj_mcp_task_stop(task);
		result = bj_mcp_task_json(task, false);
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

	bj_mcp_tasks_sweep(s);
	pthread_mutex_lock(&s->lock);
	while ((task = bj_mcp_task_find(call, error)) && task->call && !call->cancelled &&
	       !s->ended)
		pthread_cond_wait(&s->changed, &s->lock);
	if (task && task->result)
		result = related(task);
	else if (task)
		bj_rpc_fail(error, task->error.code ? task->error.code : BJ_RPC_INTERNAL, "%s",
			    task->error.message);
	pthread_mutex_unlock(&s->lock);
	return result;
}
