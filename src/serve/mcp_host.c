/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/mcp_host.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "serve/auth.h"
#include "serve/problem.h"
#include "tool/tool.h"

#include <string.h>

static struct belljar *enter(void *ctx, void **ret_token)
{
	struct bj_generation *g = bj_service_enter(ctx);

	*ret_token = g;
	return g ? g->bj : NULL;
}

static void leave(void *ctx, void *token)
{
	bj_service_leave(ctx, token);
}

static int run(void *ctx, void *token, struct bj_spec *spec, struct bj_result **ret,
	       struct bj_err *err)
{
	return bj_execute_spec(ctx, token, spec, ret, err);
}

static json_t *list(void *ctx, const char *tenant, const char *before, unsigned int limit)
{
	struct bj_service *s = ctx;
	const struct bj_runs_filter filter = { .state = -1,
					       .cause = -1,
					       .language = -1,
					       .limit = limit,
					       .before = before,
					       .tenant = tenant };
	AUTO_BUF struct bj_buf text = { 0 };

	if (!bj_runs_print(s->runs, &filter, &text) || text.failed)
		return NULL;
	return json_loadb(text.data, text.size, JSON_ALLOW_NUL, NULL);
}

static json_t *find(void *ctx, const char *tenant, const char *id)
{
	struct bj_service *s = ctx;
	struct bj_execution *x = bj_runs_find(s->runs, id);
	AUTO_BUF struct bj_buf text = { 0 };

	/* Runs of others are not there. */
	if (x && tenant && strcmp(x->tenant, tenant) != 0) {
		bj_execution_unref(s->runs, x);
		return NULL;
	}
	if (!x)
		return NULL;
	bj_execution_print(x, true, &text);
	bj_execution_unref(s->runs, x);
	return text.failed ? NULL : json_loadb(text.data, text.size, JSON_ALLOW_NUL, NULL);
}

void bj_mcp_host_fill(struct bj_service *service, struct bj_mcp_host *ret)
{
	*ret = (struct bj_mcp_host){ .ctx = service,
				     .enter = enter,
				     .leave = leave,
				     .run = run,
				     .list = list,
				     .find = find };
}

/* --- tools over plain HTTP -------------------------------------------------------------------- */

void bj_tools_get(struct bj_service *service, const struct bj_request *req,
		  struct bj_answer *answer)
{
	const char *format = req->query(req->ctx, "format");
	json_t *tools = bj_tools_as(format ? format : "json-schema");
	json_t *object = tools ? json_pack("{s:o}", "tools", tools) : NULL;

	(void)service;
	if (!tools)
		bj_problem_answer(answer, BJ_PROBLEM_BAD_REQUEST,
				  "format: say mcp, openai, openai-responses, anthropic or "
				  "json-schema");
	else
		bj_answer_take(answer, 200, BJ_TYPE_JSON, json_dumps(object, JSON_COMPACT));
	json_decref(object);
}

/* What runs for one request over HTTP. */
struct call {
	struct bj_service *service;
	struct bj_generation *generation;
	struct bj_hangup *hangup;
	const struct bj_caller *caller;
};

static int run_call(void *ctx, struct bj_spec *spec, struct bj_result **ret, struct bj_err *err)
{
	struct call *call = ctx;

	spec->tenant = bj_auth_tenant(call->caller);
	if (call->caller && !spec->actor)
		spec->actor = call->caller->name;
	if (call->hangup)
		spec->cancel_fd = bj_hangup_fd(call->hangup);
	return bj_execute_spec(call->service, call->generation, spec, ret, err);
}

static void answer_call(int r, const struct bj_tool_answer *a, const struct bj_err *err,
			struct bj_answer *answer)
{
	json_t *object;

	if (r < 0) {
		bj_problem_answer(answer,
				  err->code == BJ_E_LIMIT ? BJ_PROBLEM_QUEUE_FULL
							  : bj_problem_of(err),
				  "%s", err->msg);
		return;
	}
	if (!a->data) {
		bj_problem_answer(answer, BJ_PROBLEM_BAD_REQUEST, "%s", a->text ? a->text : "?");
		return;
	}
	object = json_pack("{s:b, s:s, s:O}", "failed", a->failed, "text", a->text ? a->text : "",
			   "result", a->data);
	bj_answer_take(answer, 200, BJ_TYPE_JSON,
		       object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL);
	json_decref(object);
}

void bj_tools_post(struct bj_service *service, const struct bj_request *req, const char *name,
		   struct bj_answer *answer)
{
	struct call ctx = { .service = service, .hangup = req->hangup, .caller = req->caller };
	struct bj_tool_call call = { .tool = bj_tool_find(name), .run = run_call, .ctx = &ctx };
	struct bj_tool_answer a = { 0 };
	struct bj_err err = { 0 };
	json_error_t why;
	json_t *args;

	if (!call.tool) {
		bj_problem_answer(answer, BJ_PROBLEM_NOT_FOUND, "there is no tool %.40s", name);
		return;
	}
	args = json_loadb(req->body, req->body_size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (!args) {
		bj_problem_answer(answer, BJ_PROBLEM_BAD_REQUEST,
				  "the body is not JSON: line %d: %.100s", why.line, why.text);
		return;
	}
	ctx.generation = bj_service_enter(service);
	if (ctx.generation) {
		call.args = args;
		call.bj = ctx.generation->bj;
		call.tenant = bj_auth_tenant(req->caller);
		answer_call(bj_tool_call(&call, &a, &err), &a, &err, answer);
		bj_service_leave(service, ctx.generation);
	} else {
		bj_problem_answer(answer, BJ_PROBLEM_UNAVAILABLE,
				  "no runs are taken now; try again later");
	}
	bj_tool_answer_done(&a);
	json_decref(args);
}
