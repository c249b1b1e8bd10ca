/* SPDX-License-Identifier: Apache-2.0 */

/* Tasks as revision 2026-07-28 has them, the extension io.modelcontextprotocol/tasks: a call that
 * does not end soon is answered with a task, if the client says that it knows them. What a task
 * needs of the person at the client stands in it until tasks/update brings the answers; then the
 * call is made again with them, as a client without tasks would make it. */

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/fixtures.h"
#include "mcp/tasks.h"
#include "tool/tool.h"

#include <string.h>
#include <time.h>

enum {
	SOON_MS = 1000, /* what ends within this needs no task */
	LOOK_MS = 20,
	TTL_MS = 3600000,
	ANSWERS_MAX = 1 << 20, /* bytes of answers */
};

static bool has_tasks(const struct bj_mcp_call *call)
{
	const json_t *extensions = json_object_get(call->capabilities, "extensions");

	return call->modern && json_is_object(json_object_get(extensions, BJ_MCP_TASKS));
}

bool bj_mcp_tasks_known(const struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	if (has_tasks(call))
		return true;
	bj_rpc_fail(error, BJ_RPC_CAPABILITY, "Missing required client capability");
	error->data =
		json_pack("{s:{s:{s:{}}}}", "requiredCapabilities", "extensions", BJ_MCP_TASKS);
	return false;
}

/* --- calls that become tasks ------------------------------------------------------------------ */

/* How long to wait for the end of the call before it becomes a task; negative: it never does. Who
 * wants to hear on the way gets the answer there: tasks tell nothing. */
static int patience(const struct bj_mcp_call *call)
{
	const char *name = bj_rpc_text(call->params, "name");
	const struct bj_tool *tool = name ? bj_tool_find(name) : NULL;

	if (!has_tasks(call) || !name)
		return -1;
	if (!tool)
		return call->mcp->fixtures ? bj_mcp_fixture_patience(name) : -1;
	return tool->runs && !call->token && call->level == BJ_MCP_SILENT ? SOON_MS : -1;
}

/* Wait until the task has ended, or for @ms. With the lock. */
static void wait_soon(struct bj_mcp_call *call, struct bj_mcp_session *home,
		      const struct bj_mcp_task *task, int ms)
{
	const uint64_t deadline = bj_clock_now() + (uint64_t)ms * 1000000u;

	while (task->call && !home->ended && bj_clock_now() < deadline &&
	       !bj_mcp_should_stop(call)) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&home->changed, &home->lock, &until);
	}
}

/* The task ended before the client heard of it: its end is that of the call. */
static json_t *take_end(struct bj_mcp_call *call, struct bj_mcp_task *task,
			struct bj_rpc_error *error)
{
	json_t *result = BJ_TAKE_PTR(task->result);

	if (task->parked) {
		call->wanted = json_incref(task->parked->wanted);
		json_decref(call->state);
		call->state = json_incref(task->parked->state);
	} else if (!result) {
		bj_rpc_error_done(error);
		*error = task->error;
		task->error.data = NULL;
	}
	return result;
}

bool bj_mcp_task_offer(struct bj_mcp_call *call, json_t **ret, struct bj_rpc_error *error)
{
	const int ms = patience(call);
	json_t *told = NULL;
	struct bj_mcp_session *home = bj_mcp_tasks_home(call);
	struct bj_mcp_task *task = ms >= 0 ? bj_mcp_task_begin(call, TTL_MS, &told) : NULL;
	struct bj_mcp_task *over = NULL;

	/* Too many tasks: then the client waits. */
	if (!task)
		return false;
	pthread_mutex_lock(&home->lock);
	wait_soon(call, home, task, ms);
	if (!task->call && ms > 0) {
		bj_mcp_task_unlink(home, task);
		over = task;
	} else if (bj_mcp_should_stop(call)) {
		bj_mcp_task_stop(task);
		task->ttl_ms = 0; /* nobody will ask for it */
		bj_rpc_fail(error, BJ_RPC_BUSY, "cancelled");
	} else {
		json_object_set_new(told, "resultType", json_string("task"));
		*ret = BJ_TAKE_PTR(told);
	}
	pthread_mutex_unlock(&home->lock);
	if (over)
		*ret = take_end(call, over, error);
	bj_mcp_task_free(over);
	json_decref(told);
	return true;
}

/* --- methods ---------------------------------------------------------------------------------- */

json_t *bj_mcp_task_get(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	struct bj_mcp_session *home = bj_mcp_tasks_home(call);
	json_t *result = NULL;

	if (!bj_mcp_tasks_known(call, error))
		return NULL;
	bj_mcp_tasks_sweep(home);
	pthread_mutex_lock(&home->lock);

	const struct bj_mcp_task *task = bj_mcp_task_find(call, error);

	if (task)
		result = bj_mcp_task_details(task);
	pthread_mutex_unlock(&home->lock);
	return result;
}

json_t *bj_mcp_task_cancel(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	struct bj_mcp_session *home = bj_mcp_tasks_home(call);
	struct bj_mcp_call *parked = NULL;
	json_t *told = NULL;

	if (!bj_mcp_tasks_known(call, error))
		return NULL;
	pthread_mutex_lock(&home->lock);

	struct bj_mcp_task *task = bj_mcp_task_find(call, error);
	const bool found = task != NULL;

	if (task && (task->status == BJ_TASK_WORKING || task->status == BJ_TASK_INPUT)) {
		parked = BJ_TAKE_PTR(task->parked);
		bj_mcp_task_stop(task);
		/* One that is under way tells so when it has ended. */
		told = parked ? bj_mcp_task_details(task) : NULL;
	}
	pthread_mutex_unlock(&home->lock);
	if (parked)
		bj_mcp_call_free(parked);
	if (told)
		bj_mcp_task_changed(call->mcp, told);
	json_decref(told);
	return found ? json_object() : NULL;
}

/* Keep the answers that were asked for; true when none is missing any more. With the lock. */
static bool take_answers(struct bj_mcp_task *task, json_t *given)
{
	json_t *wanted = task->parked->wanted, *answer;
	const char *key;

	if (!task->answers)
		task->answers = json_object();
	json_object_foreach(given, key, answer)
	{
		if (!json_object_get(wanted, key) || !json_is_object(answer))
			continue;
		json_object_set(task->answers, key, answer);
		json_object_del(wanted, key);
	}
	task->updated_ms = bj_clock_unix_ms();
	return json_object_size(wanted) == 0;
}

json_t *bj_mcp_task_update(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	json_t *given = json_object_get(call->params, "inputResponses");
	struct bj_mcp_session *home = bj_mcp_tasks_home(call);
	struct bj_mcp_call *again = NULL;

	if (!bj_mcp_tasks_known(call, error))
		return NULL;
	if (!json_is_object(given))
		return bj_rpc_fail(error, BJ_RPC_PARAMS, "inputResponses must be an object");
	if (json_dumpb(given, NULL, 0, JSON_COMPACT) > ANSWERS_MAX)
		return bj_rpc_fail(error, BJ_RPC_PARAMS, "inputResponses is too long");
	pthread_mutex_lock(&home->lock);

	struct bj_mcp_task *task = bj_mcp_task_find(call, error);
	const bool found = task != NULL;

	if (task && task->status == BJ_TASK_INPUT && take_answers(task, given)) {
		again = BJ_TAKE_PTR(task->parked);
		task->status = BJ_TASK_WORKING;
		bj_mcp_call_answer(again, task->answers);
		bj_mcp_task_enter(home, task, again);
	}
	pthread_mutex_unlock(&home->lock);
	if (again)
		bj_mcp_task_go_on(again);
	return found ? json_object() : NULL;
}

/* --- who listens ------------------------------------------------------------------------------ */

json_t *bj_mcp_tasks_mine(struct bj_mcp_call *call, const json_t *ids)
{
	struct bj_mcp_session *home = bj_mcp_tasks_home(call);
	json_t *mine = json_array();

	pthread_mutex_lock(&home->lock);
	for (size_t i = 0; i < json_array_size(ids) && i < BJ_MCP_SUBSCRIPTIONS; i++)
		for (const struct bj_mcp_task *t = home->tasks; t; t = t->next)
			if (json_is_string(json_array_get(ids, i)) &&
			    strcmp(t->id, json_string_value(json_array_get(ids, i))) == 0 &&
			    strcmp(t->tenant, call->session->tenant) == 0 &&
			    strcmp(t->actor, call->session->actor) == 0)
				json_array_append(mine, json_array_get(ids, i));
	pthread_mutex_unlock(&home->lock);
	return mine;
}
