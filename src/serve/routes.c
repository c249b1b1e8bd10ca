/* SPDX-License-Identifier: Apache-2.0 */

/* Every path of the service, as a table. */

#include "base/cleanup.h"
#include "base/size.h"
#include "serve/auth.h"
#include "serve/mcp.h"
#include "serve/mcp_host.h"
#include "serve/office.h"
#include "serve/openapi.h"
#include "serve/page.h"
#include "serve/problem.h"
#include "serve/query.h"
#include "serve/service.h"
#include "spec/names.h"

#include <string.h>

enum { DEFAULT_PAGE = 50, MAX_PAGE = 500 };

static void answer_static(struct bj_answer *answer, const char *type, const char *text, size_t size)
{
	*answer = (struct bj_answer){
		.status = 200, .type = type, .body = (char *)text, .size = size, .body_static = true
	};
}

static void get_health(struct bj_service *s, const struct bj_request *req, const char *id,
		       struct bj_answer *answer)
{
	static const char text[] = "{\"status\":\"ok\"}";

	(void)s, (void)req, (void)id;
	answer_static(answer, BJ_TYPE_JSON, text, sizeof(text) - 1);
}

static void get_ready(struct bj_service *s, const struct bj_request *req, const char *id,
		      struct bj_answer *answer)
{
	static const char text[] = "{\"status\":\"ready\"}";

	(void)req, (void)id;
	if (bj_service_ready(s))
		answer_static(answer, BJ_TYPE_JSON, text, sizeof(text) - 1);
	else
		bj_problem_answer(answer, BJ_PROBLEM_UNAVAILABLE, "no runs are taken now");
}

static void get_metrics(struct bj_service *s, const struct bj_request *req, const char *id,
			struct bj_answer *answer)
{
	struct bj_gauges g = { .ready = bj_service_ready(s),
			       .started_unix_ms = s->started_unix_ms,
			       .route = bj_service_route };
	struct bj_buf buf = { 0 };
	unsigned int live;

	(void)req, (void)id;
	bj_turns_count(s->turns, &g.running, &g.waiting);
	bj_runs_count(s->runs, &live, &g.known);
	bj_service_gauges(s, &g);
	bj_metrics_print(&s->metrics, &g, &buf);
	bj_answer_take(answer, 200, BJ_TYPE_METRICS, bj_buf_take(&buf));
}

static void get_openapi(struct bj_service *s, const struct bj_request *req, const char *id,
			struct bj_answer *answer)
{
	(void)s, (void)req, (void)id;
	answer_static(answer, BJ_TYPE_JSON, bj_openapi, bj_openapi_size);
}

static void get_page(struct bj_service *s, const struct bj_request *req, const char *id,
		     struct bj_answer *answer)
{
	(void)s, (void)id;
	bj_page_answer(req, answer);
}

static void get_session(struct bj_service *s, const struct bj_request *req, const char *id,
			struct bj_answer *answer)
{
	(void)id;
	bj_sessions_get(s->sessions, req, answer);
}

static void post_session(struct bj_service *s, const struct bj_request *req, const char *id,
			 struct bj_answer *answer)
{
	(void)id;
	bj_sessions_open(s->sessions, req, answer);
}

static void delete_session(struct bj_service *s, const struct bj_request *req, const char *id,
			   struct bj_answer *answer)
{
	(void)id;
	bj_sessions_close(s->sessions, req, answer);
}

/* --- executions ------------------------------------------------------------------------------- */

static void post_executions(struct bj_service *s, const struct bj_request *req, const char *id,
			    struct bj_answer *answer)
{
	(void)id;
	bj_execute_post(s, req, answer);
}

static void post_check(struct bj_service *s, const struct bj_request *req, const char *id,
		       struct bj_answer *answer)
{
	(void)id;
	bj_execute_check(s, req, answer);
}

/* The run with this id; NULL, and the answer is made, when there is none. */
static struct bj_execution *find(struct bj_service *s, const struct bj_request *req, const char *id,
				 struct bj_answer *answer)
{
	struct bj_execution *x = bj_runs_find(s->runs, id);

	/* Runs of others are not there. */
	if (x && !bj_auth_sees(req->caller, x->tenant)) {
		bj_execution_unref(s->runs, x);
		x = NULL;
	}
	if (!x)
		bj_problem_answer(answer, BJ_PROBLEM_NOT_FOUND,
				  "there is no run with this id, or it ended long ago");
	return x;
}

static void get_execution(struct bj_service *s, const struct bj_request *req, const char *id,
			  struct bj_answer *answer)
{
	struct bj_execution *x = bj_runs_find(s->runs, id);
	struct bj_buf buf = { 0 };

	if (x && !bj_auth_sees(req->caller, x->tenant)) {
		bj_execution_unref(s->runs, x);
		x = NULL;
	}
	/* What this process forgot, or never knew, the records may have. */
	if (!x && bj_records_execution(s, req, id, answer))
		return;
	if (!x) {
		bj_problem_answer(answer, BJ_PROBLEM_NOT_FOUND, "there is no run with this id");
		return;
	}
	bj_execution_print(x, true, &buf);
	bj_execution_unref(s->runs, x);
	bj_answer_take(answer, 200, BJ_TYPE_JSON, bj_buf_take(&buf));
}

static bool is_over(struct bj_execution *x)
{
	pthread_mutex_lock(&x->lock);

	const bool over = bj_execution_is_over(x);

	pthread_mutex_unlock(&x->lock);
	return over;
}

static void delete_execution(struct bj_service *s, const struct bj_request *req, const char *id,
			     struct bj_answer *answer)
{
	struct bj_execution *x = find(s, req, id, answer);
	struct bj_buf buf = { 0 };

	if (!x)
		return;
	/* Before its end is: who reads on knows why. */
	if (!is_over(x))
		bj_service_note_cancel(s, req->caller, x->id, x->tenant);
	if (!bj_execution_cancel(x)) {
		bj_problem_answer(answer, BJ_PROBLEM_CONFLICT, "this run has ended already");
	} else {
		bj_execution_wait(x, req->hangup);
		bj_execution_print(x, true, &buf);
		bj_answer_take(answer, 200, BJ_TYPE_JSON, bj_buf_take(&buf));
	}
	bj_execution_unref(s->runs, x);
}

static void get_events(struct bj_service *s, const struct bj_request *req, const char *id,
		       struct bj_answer *answer)
{
	struct bj_execution *x = find(s, req, id, answer);

	if (x)
		bj_execute_stream_on(s, req, x, answer);
}

static void get_changes(struct bj_service *s, const struct bj_request *req, const char *id,
			struct bj_answer *answer)
{
	(void)id;
	bj_service_watch(s, req, answer);
}

/* --- the list --------------------------------------------------------------------------------- */

static int end_from_name(const char *name)
{
	const int cause = bj_cause_from_name(name);

	return cause == BJ_CAUSE_NONE ? -1 : cause;
}

static void get_executions(struct bj_service *s, const struct bj_request *req, const char *id,
			   struct bj_answer *answer)
{
	struct bj_runs_filter f = { .state = -1, .cause = -1, .language = -1 };
	struct bj_buf buf = { 0 };
	uint64_t limit = DEFAULT_PAGE;

	(void)id;
	if (!bj_query_word(req, "state", bj_state_from_name, &f.state, answer) ||
	    !bj_query_word(req, "cause", end_from_name, &f.cause, answer) ||
	    !bj_query_word(req, "language", bj_language_from_name, &f.language, answer) ||
	    !bj_query_number(req, "limit", 1, MAX_PAGE, &limit, answer))
		return;
	f.limit = (unsigned int)limit;
	f.before = req->query(req->ctx, "before");
	f.tenant = bj_auth_tenant(req->caller);
	if (!bj_runs_print(s->runs, &f, &buf)) {
		bj_problem_answer(answer, BJ_PROBLEM_NOT_FOUND, "before: there is no such run");
		return;
	}
	bj_answer_take(answer, 200, BJ_TYPE_JSON, bj_buf_take(&buf));
}

/* --- tools ------------------------------------------------------------------------------------ */

static void get_tools(struct bj_service *s, const struct bj_request *req, const char *id,
		      struct bj_answer *answer)
{
	(void)id;
	bj_tools_get(s, req, answer);
}

static void post_tool(struct bj_service *s, const struct bj_request *req, const char *id,
		      struct bj_answer *answer)
{
	bj_tools_post(s, req, id, answer);
}

static void any_mcp(struct bj_service *s, const struct bj_request *req, const char *id,
		    struct bj_answer *answer)
{
	(void)id;
	bj_mcp_handle(s->mcp, req, answer);
}

/* --- the records ------------------------------------------------------------------------------ */

static void post_approve(struct bj_service *s, const struct bj_request *req, const char *id,
			 struct bj_answer *answer)
{
	bj_records_decide(s, req, id, true, answer);
}

static void post_deny(struct bj_service *s, const struct bj_request *req, const char *id,
		      struct bj_answer *answer)
{
	bj_records_decide(s, req, id, false, answer);
}

static void get_history(struct bj_service *s, const struct bj_request *req, const char *id,
			struct bj_answer *answer)
{
	(void)id;
	bj_records_list(s, req, answer);
}

static void get_record(struct bj_service *s, const struct bj_request *req, const char *id,
		       struct bj_answer *answer)
{
	bj_records_show(s, req, id, answer);
}

static void get_artifacts(struct bj_service *s, const struct bj_request *req, const char *id,
			  struct bj_answer *answer)
{
	bj_records_artifacts(s, req, id, answer);
}

static void get_artifact(struct bj_service *s, const struct bj_request *req, const char *id,
			 struct bj_answer *answer)
{
	static const char before[] = "/artifacts/";

	bj_records_artifact(s, req, id, strstr(req->path, before) + sizeof(before) - 1, answer);
}

/* --- the table -------------------------------------------------------------------------------- */

/* Who may look at runs. */
enum { SEE = BJ_ROLE_RUN | BJ_ROLE_READ | BJ_ROLE_APPROVE };

/* {id} stands for one part of a path. */
static const struct {
	const char *method;
	const char *path;
	void (*handle)(struct bj_service *s, const struct bj_request *req, const char *id,
		       struct bj_answer *answer);
	unsigned int roles; /* who may: see serve/auth.h */
} ROUTES[] = {
	{ "POST", "/v1/executions", post_executions, BJ_ROLE_RUN },
	{ "GET", "/v1/executions", get_executions, SEE },
	{ "GET", "/v1/executions/{id}", get_execution, SEE },
	{ "DELETE", "/v1/executions/{id}", delete_execution, BJ_ROLE_RUN },
	{ "GET", "/v1/executions/{id}/events", get_events, SEE },
	{ "POST", "/v1/executions/{id}/approve", post_approve, BJ_ROLE_APPROVE },
	{ "POST", "/v1/executions/{id}/deny", post_deny, BJ_ROLE_APPROVE },
	{ "GET", "/v1/executions/{id}/artifacts", get_artifacts, SEE },
	{ "GET", "/v1/executions/{id}/artifacts/{name}", get_artifact, SEE },
	{ "GET", "/v1/events", get_changes, SEE },
	{ "GET", "/v1/history", get_history, SEE },
	{ "GET", "/v1/history/{id}", get_record, SEE },
	{ "POST", "/v1/check", post_check, BJ_ROLE_RUN | BJ_ROLE_READ },
	{ "GET", "/v1/session", get_session, BJ_AUTH_ANY },
	{ "POST", "/v1/session", post_session, BJ_AUTH_ANY },
	{ "DELETE", "/v1/session", delete_session, BJ_AUTH_ANY },
	{ "GET", "/", get_page, BJ_AUTH_PUBLIC },
	{ "GET", "/page.js", get_page, BJ_AUTH_PUBLIC },
	{ "GET", "/page.css", get_page, BJ_AUTH_PUBLIC },
	{ "GET", "/icon.svg", get_page, BJ_AUTH_PUBLIC },
	{ "GET", "/v1/tools", get_tools, BJ_AUTH_ANY },
	{ "POST", "/v1/tools/{id}", post_tool, BJ_ROLE_RUN },
	{ "POST", "/mcp", any_mcp, BJ_ROLE_RUN },
	{ "GET", "/mcp", any_mcp, BJ_ROLE_RUN },
	{ "DELETE", "/mcp", any_mcp, BJ_ROLE_RUN },
	{ "GET", "/v1/usage", bj_office_usage, BJ_ROLE_READ },
	{ "GET", "/v1/audit", bj_office_audit, BJ_ROLE_READ | BJ_AUTH_OPERATORS },
	{ "GET", "/v1/tenants", bj_office_tenants, BJ_ROLE_ADMIN | BJ_AUTH_OPERATORS },
	{ "PUT", "/v1/tenants/{id}", bj_office_put_tenant, BJ_ROLE_ADMIN | BJ_AUTH_OPERATORS },
	{ "DELETE", "/v1/tenants/{id}", bj_office_delete_tenant,
	  BJ_ROLE_ADMIN | BJ_AUTH_OPERATORS },
	{ "GET", "/v1/keys", bj_office_keys, BJ_ROLE_ADMIN },
	{ "POST", "/v1/keys", bj_office_post_key, BJ_ROLE_ADMIN },
	{ "DELETE", "/v1/keys/{id}", bj_office_delete_key, BJ_ROLE_ADMIN },
	{ "GET", "/healthz", get_health, BJ_AUTH_PUBLIC },
	{ "GET", "/readyz", get_ready, BJ_AUTH_ANY },
	{ "GET", "/metrics", get_metrics, BJ_ROLE_READ | BJ_AUTH_OPERATORS },
	{ "GET", "/openapi.json", get_openapi, BJ_AUTH_ANY },
};

_Static_assert(BJ_ARRAY_SIZE(ROUTES) < BJ_METRICS_ROUTES, "raise BJ_METRICS_ROUTES");

bool bj_service_route(unsigned int i, const char **ret_method, const char **ret_path)
{
	if (i < 1 || i > BJ_ARRAY_SIZE(ROUTES))
		return false;
	*ret_method = ROUTES[i - 1].method;
	*ret_path = ROUTES[i - 1].path;
	return true;
}

/* A {name} at the end stands for all that is left. */
static bool rest_fits(const char *pattern, const char *path)
{
	const char *hole = strstr(pattern, "{name}");

	if (!hole)
		return strcmp(pattern, path) == 0;
	return strncmp(pattern, path, (size_t)(hole - pattern)) == 0 && path[hole - pattern];
}

/* Whether @path is of the form @pattern; what stands for {id} goes to @id. */
static bool path_fits(const char *pattern, const char *path, char id[BJ_RUN_ID])
{
	const char *hole = strstr(pattern, "{id}");
	const size_t before = hole ? (size_t)(hole - pattern) : strlen(pattern);

	if (!hole)
		return strcmp(pattern, path) == 0;
	if (strncmp(pattern, path, before) != 0)
		return false;

	const size_t n = strcspn(path + before, "/");

	if (n == 0 || n >= BJ_RUN_ID || !rest_fits(hole + 4, path + before + n))
		return false;
	memcpy(id, path + before, n);
	id[n] = '\0';
	return true;
}

static void forbid(unsigned int roles, struct bj_answer *answer)
{
	char text[BJ_ROLES_TEXT];

	bj_roles_format(roles | BJ_ROLE_ADMIN, text);
	bj_problem_answer(answer, BJ_PROBLEM_FORBIDDEN,
			  "this needs a key with one of the roles %s%s", text,
			  roles & BJ_AUTH_OPERATORS ? ", and one that belongs to no tenant" : "");
}

void bj_service_handle(struct bj_service *s, const struct bj_request *req, struct bj_answer *answer)
{
	char id[BJ_RUN_ID] = "";
	AUTO_BUF struct bj_buf allowed = { 0 };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(ROUTES); i++) {
		if (!path_fits(ROUTES[i].path, req->path, id))
			continue;
		if (strcmp(ROUTES[i].method, req->method) == 0) {
			if (!bj_auth_may(req->caller, ROUTES[i].roles))
				forbid(ROUTES[i].roles, answer);
			else if (ROUTES[i].handle != any_mcp && bj_request_is_heavy(req))
				bj_problem_answer(answer, BJ_PROBLEM_TOO_LARGE,
						  "the body holds more than %d values",
						  BJ_BODY_VALUES);
			else
				ROUTES[i].handle(s, req, id, answer);
			if (answer->status == 403)
				bj_service_note_refusal(s, req->caller, ROUTES[i].method,
							ROUTES[i].path);
			answer->route = (unsigned int)i + 1;
			return;
		}
		bj_buf_printf(&allowed, "%s%s", allowed.size ? ", " : "", ROUTES[i].method);
	}
	if (allowed.size == 0) {
		bj_problem_answer(answer, BJ_PROBLEM_NOT_FOUND,
				  "there is nothing here; /openapi.json lists what there is");
		return;
	}
	bj_problem_answer(answer, BJ_PROBLEM_METHOD, "only %s here", allowed.data);
	bj_answer_header(answer, "Allow", "%s", allowed.data);
}
