/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "mcp/core.h"
#include "mcp/fixtures.h"
#include "spec/names.h"
#include "tool/tool.h"

#include <poll.h>
#include <sodium.h>
#include <string.h>

enum {
	LIVE_MAX = 256 << 10, /* bytes of live output that one call sends */
	MESSAGE_MAX = 400,    /* of those, in a progress notification */
	PROGRESS_NS = 50000000,
	AWAIT_MS = 50,
	PATIENCE = 100, /* looks at a run that was approved and has not begun */
};

static bool since_2025_06(const struct bj_mcp_call *call)
{
	return strcmp(call->version, "2025-06-18") >= 0;
}

/* --- the list --------------------------------------------------------------------------------- */

/* What a revision does not know is left out for its clients. */
static void trim_tool(const struct bj_mcp_call *call, const struct bj_tool *tool, json_t *object)
{
	if (!since_2025_06(call)) {
		json_object_del(object, "title");
		json_object_del(object, "outputSchema");
	}
	if (strcmp(call->version, "2024-11-05") == 0)
		json_object_del(object, "annotations");
	if (strcmp(call->version, "2025-11-25") == 0 && tool->runs)
		json_object_set_new(object, "execution",
				    json_pack("{s:s}", "taskSupport", "optional"));
}

json_t *bj_mcp_tools_list(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	json_t *list;

	if (json_object_get(call->params, "cursor"))
		return bj_rpc_fail(error, BJ_RPC_PARAMS, "there is one page; leave cursor out");
	list = bj_tools_as("mcp");
	for (size_t i = 0; i < bj_tools_size; i++)
		trim_tool(call, &bj_tools[i], json_array_get(list, i));
	bj_mcp_fixture_list(call, "tools", list);
	return list ? json_pack("{s:o}", "tools", list) : NULL;
}

json_t *bj_mcp_tool_schema(const struct bj_mcp *mcp, const char *name)
{
	const struct bj_tool *tool = bj_tool_find(name);

	if (tool)
		return bj_tool_schema(tool);
	return mcp->fixtures ? bj_mcp_fixture_schema(name) : NULL;
}

/* --- live output ------------------------------------------------------------------------------ */

/* A run that is being told about. */
struct run {
	struct bj_mcp_call *call;
	void *token;
	struct belljar *bj;
	const struct bj_spec *spec;
	struct bj_buf half[2]; /* bytes of a character that is not whole yet, by stream */
	size_t told;
	bool told_end;
	uint64_t last_ns;
};

/* How many bytes at the end of @text begin a character that is not complete. */
static size_t unfinished(const char *text, size_t size)
{
	for (size_t back = 1; back <= 3 && back <= size; back++) {
		const unsigned char byte = (unsigned char)text[size - back];

		if (byte >= 0xc0)
			return (byte >= 0xf0 ? 4u : byte >= 0xe0 ? 3u : 2u) > back ? back : 0;
		if (byte < 0x80)
			return 0;
	}
	return 0;
}

static void tell_progress(struct run *run, const char *text, size_t size)
{
	struct bj_mcp_call *call = run->call;
	const uint64_t now = bj_clock_now();
	size_t n = size < MESSAGE_MAX ? size : MESSAGE_MAX;
	AUTO_FREE char *message = NULL;

	if (!call->token || now - run->last_ns < PROGRESS_NS)
		return;
	run->last_ns = now;
	n -= n < size ? unfinished(text, n) : 0;
	message = strndup(text, n);
	bj_mcp_progress(call, ++call->progress, 0, message);
}

static void tell_output(struct run *run, const char *stream, const char *text, size_t size)
{
	size_t n = 0;
	AUTO_FREE char *good = bj_utf8_repair(text, size, &n);

	if (!good || n == 0)
		return;
	bj_mcp_log(run->call, BJ_MCP_INFO, stream,
		   json_pack("{s:s, s:s%}", "execution", run->spec->id, "text", good, n));
	tell_progress(run, good, n);
}

static void on_output(struct run *run, const struct bj_event *event)
{
	const bool is_out = event->kind == BJ_EV_STDOUT;
	const char *stream = is_out ? "stdout" : "stderr";
	struct bj_buf *half = &run->half[is_out ? 0 : 1];
	AUTO_BUF struct bj_buf text = { 0 };

	if (run->told >= LIVE_MAX) {
		if (!run->told_end)
			tell_output(run, stream,
				    "[live output ends here; the result has the rest]\n", 49);
		run->told_end = true;
		return;
	}
	run->told += event->size;
	bj_buf_add(&text, half->data, half->size);
	bj_buf_add(&text, event->data, event->size);
	if (text.failed)
		return;

	const size_t rest = unfinished(text.data, text.size);

	half->size = 0;
	bj_buf_add(half, text.data + text.size - rest, rest);
	tell_output(run, stream, text.data, text.size - rest);
}

static void on_event(void *ctx, const struct bj_event *event)
{
	struct run *run = ctx;

	if (event->kind != BJ_EV_STATE)
		on_output(run, event);
	else if (event->state == BJ_PENDING)
		bj_mcp_progress(run->call, ++run->call->progress, 0, "waiting for approval");
}

static int on_ask(void *ctx, const struct bj_question *question, bool *ret_approved, char **ret_by,
		  char **ret_reason)
{
	struct run *run = ctx;

	return bj_mcp_ask_person(run->call, run->bj, question, ret_approved, ret_by, ret_reason);
}

/* --- calls ------------------------------------------------------------------------------------ */

static int run_spec(void *ctx, struct bj_spec *spec, struct bj_result **ret, struct bj_err *err)
{
	struct run *run = ctx;
	struct bj_mcp *mcp = run->call->mcp;
	unsigned char bytes[16];
	int r;

	/* The host may give it another. */
	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(spec->id, sizeof(spec->id), bytes, sizeof(bytes));
	run->spec = spec;
	spec->cancel_fd = run->call->cancel_fd;
	spec->on_event = on_event;
	spec->event_ctx = run;
	spec->on_ask = on_ask;
	spec->ask_ctx = run;
	spec->tenant = bj_mcp_call_tenant(run->call);
	spec->actor = run->call->session->actor[0] ? run->call->session->actor : run->call->client;
	r = mcp->host.run(mcp->host.ctx, run->token, spec, ret, err);
	if (r == 0 && !spec->check_only) {
		char uri[64 + BJ_MCP_ID];

		snprintf(uri, sizeof(uri), "belljar://executions/%s", (*ret)->id);
		bj_mcp_changed(mcp, NULL, uri);
	}
	return r;
}

static int resume(void *ctx, const char *id, struct bj_result **ret, struct bj_err *err)
{
	struct run *run = ctx;
	struct bj_mcp_host *host = &run->call->mcp->host;
	struct bj_spec hooks = { .cancel_fd = run->call->cancel_fd,
				 .on_event = on_event,
				 .event_ctx = run };

	snprintf(hooks.id, sizeof(hooks.id), "%s", id);
	run->spec = &hooks;
	return host->resume(host->ctx, run->token, id, &hooks, ret, err);
}

/* What a state of ours is about: this tool with these arguments, for this tenant. */
static void about_call(const struct bj_mcp_call *call, const struct bj_tool *tool,
		       struct bj_buf *ret)
{
	const json_t *args = json_object_get(call->params, "arguments");
	AUTO_FREE char *dump = args ? json_dumps(args, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

	bj_buf_printf(ret, "%s\n%s\n", tool->name, call->session->tenant);
	bj_buf_puts(ret, dump ? dump : "");
}

/* The result of a run that was decided on just now: it begins by itself, or does not. */
static int await(const struct bj_tool_call *tool_call, struct bj_mcp_call *call, const char *id,
		 struct bj_tool_answer *ret, struct bj_err *err)
{
	struct pollfd p = { .fd = call->cancel_fd, .events = POLLIN };

	for (int i = 0;; i++) {
		const int r = bj_tool_recall(tool_call, id, ret, err);
		const char *state = bj_rpc_text(ret->data, "state");

		if (r < 0 || !state || strcmp(state, "finished") == 0 ||
		    strcmp(state, "interrupted") == 0 ||
		    (i >= PATIENCE && strcmp(state, "pending") == 0) || poll(&p, 1, AWAIT_MS) > 0)
			return r;
		bj_tool_answer_done(ret);
	}
}

/* Call the tool, or go on with the run that a decision came for. */
static int call_or_go_on(struct bj_mcp_call *call, const struct bj_tool_call *tool_call,
			 struct run *run, struct bj_tool_answer *ret, struct bj_rpc_error *error)
{
	AUTO_BUF struct bj_buf about = { 0 };
	struct bj_err err = { 0 };
	char id[BJ_MCP_WORD];
	int r;

	about_call(call, tool_call->tool, &about);
	r = bj_mcp_take_decision(call, run->bj, about.data ? about.data : "", id, error);
	if (r < 0)
		return r;
	r = r > 0 ? await(tool_call, call, id, ret, &err) : bj_tool_call(tool_call, ret, &err);
	if (r < 0) {
		bj_rpc_fail(error, BJ_RPC_INTERNAL, "%s", err.msg);
		return r;
	}
	/* It waits, and the client can ask its person: the question goes along. */
	if (call->wanted && bj_rpc_text(ret->data, "id"))
		bj_mcp_state_write(call, about.data ? about.data : "",
				   bj_rpc_text(ret->data, "id"));
	return 0;
}

static json_t *to_result(const struct bj_mcp_call *call, struct bj_tool_answer *answer)
{
	json_t *result = json_pack("{s:[{s:s, s:s}], s:b}", "content", "type", "text", "text",
				   answer->text ? answer->text : "", "isError", answer->failed);

	if (answer->data && since_2025_06(call))
		json_object_set(result, "structuredContent", answer->data);
	return result;
}

static json_t *call_tool(struct bj_mcp_call *call, const struct bj_tool *tool,
			 struct bj_rpc_error *error)
{
	struct bj_mcp_host *host = &call->mcp->host;
	struct run run = { .call = call };
	struct bj_tool_answer answer = { 0 };
	json_t *result = NULL;

	run.bj = host->enter(host->ctx, &run.token);
	if (!run.bj)
		return bj_rpc_fail(error, BJ_RPC_BUSY, "no runs are taken now; try again later");

	const struct bj_tool_call tool_call = { .tool = tool,
						.args = json_object_get(call->params, "arguments"),
						.bj = run.bj,
						.run = run_spec,
						.resume = host->resume ? resume : NULL,
						.ctx = &run,
						.tenant = bj_mcp_call_tenant(call) };

	if (call_or_go_on(call, &tool_call, &run, &answer, error) == 0 && !call->wanted)
		result = to_result(call, &answer);
	bj_tool_answer_done(&answer);
	bj_buf_done(&run.half[0]);
	bj_buf_done(&run.half[1]);
	host->leave(host->ctx, run.token);
	return result;
}

json_t *bj_mcp_tool_run(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const char *name = bj_rpc_text(call->params, "name");
	const struct bj_tool *tool = name ? bj_tool_find(name) : NULL;
	json_t *result = NULL;

	if (name && !tool && call->mcp->fixtures && bj_mcp_fixture_tool(call, name, &result, error))
		return result;
	if (!tool)
		return bj_rpc_fail(error, BJ_RPC_PARAMS, "there is no tool %.60s",
				   name ? name : "without a name");
	return call_tool(call, tool, error);
}

json_t *bj_mcp_tools_call(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const json_t *task = json_object_get(call->params, "task");
	const json_t *given = json_object_get(call->params, "inputResponses");
	json_t *result = NULL;

	if (given && !json_is_object(given))
		return bj_rpc_fail(error, BJ_RPC_PARAMS, "inputResponses must be an object");
	if (task && strcmp(call->version, "2025-11-25") == 0)
		return bj_mcp_task_start(call, error);
	if (!call->modern || !bj_mcp_task_offer(call, &result, error))
		result = bj_mcp_tool_run(call, error);
	if (!result && call->wanted)
		return bj_mcp_input_required(call);
	return result;
}
