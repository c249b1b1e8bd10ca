/* SPDX-License-Identifier: Apache-2.0 */

/* What the service answers from its records: runs that memory has forgotten, history, decisions. */

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/size.h"
#include "record/approval.h"
#include "record/artifact.h"
#include "record/history.h"
#include "record/quota.h"
#include "record/retention.h"
#include "serve/auth.h"
#include "serve/query.h"
#include "serve/service.h"
#include "spec/names.h"

#include <string.h>

enum { DEFAULT_PAGE = 50, MAX_PAGE = 500, REASON_MAX = 500 };
enum { TEND_NS = 1000000000, RETENTION_NS = 200000000 };

/* Folders are many; what a crash leaves of them can wait. */
#define SWEEP_NS UINT64_C(600000000000)

static void answer_json(struct bj_answer *answer, unsigned int status, json_t *object_take)
{
	char *text = object_take ? json_dumps(object_take, JSON_COMPACT | JSON_REAL_PRECISION(15))
				 : NULL;

	json_decref(object_take);
	bj_answer_take(answer, status, BJ_TYPE_JSON, text);
}

/* The engine in use, when it records; NULL, and the answer is made, when it does not. */
static struct bj_generation *enter(struct bj_service *s, struct bj_answer *answer)
{
	struct bj_generation *g = bj_service_enter(s);

	if (!g) {
		bj_problem_answer(answer, BJ_PROBLEM_UNAVAILABLE, "not now; try again later");
	} else if (!g->bj->record.archive) {
		bj_service_leave(s, g);
		g = NULL;
		bj_problem_answer(answer, BJ_PROBLEM_NOT_FOUND,
				  "this service keeps no records; record.enabled is false");
	}
	return g;
}

static void answer_failure(struct bj_answer *answer, const struct bj_err *err)
{
	bj_problem_answer(answer,
			  err->code == BJ_E_NOT_FOUND ? BJ_PROBLEM_NOT_FOUND
			  : err->code == BJ_E_DENIED  ? BJ_PROBLEM_CONFLICT
			  : err->code == BJ_E_INVALID ? BJ_PROBLEM_BAD_REQUEST
						      : bj_problem_of(err),
			  "%s", err->msg);
}

/* All that is kept of the run @id, if @req may see it. NULL: @err is filled. */
static json_t *find(struct bj_generation *g, const struct bj_request *req, const char *id,
		    struct bj_err *err)
{
	json_t *record = bj_history_show(&g->bj->record, id, err);

	if (record &&
	    !bj_auth_sees(req->caller, json_string_value(json_object_get(record, "tenant")))) {
		json_decref(record);
		bj_err_set(err, BJ_E_NOT_FOUND, 0, "there is no run with this id");
		return NULL;
	}
	return record;
}

/* --- one run ---------------------------------------------------------------------------------- */

/* The record in the shape of GET /v1/executions/{id}. */
static json_t *as_execution(json_t *record)
{
	static const char *const names[] = { "id",          "state",    "cause",
					     "language",    "success",  "created_ms",
					     "started_ms",  "ended_ms", "exit_code",
					     "duration_ms", "cpu_ms",   "peak_memory_bytes",
					     "result" };
	json_t *samples = json_object_get(
		json_object_get(json_object_get(record, "result"), "usage"), "samples");
	json_t *object = json_object(), *none = json_array();

	for (size_t i = 0; i < BJ_ARRAY_SIZE(names); i++)
		json_object_set(object, names[i], json_object_get(record, names[i]));
	json_object_set_new(object, "async", json_true());
	json_object_set(object, "samples", samples ? samples : none);
	json_decref(none);
	return object;
}

/* False: there is no such run, and no answer. */
static bool print_execution(struct bj_generation *g, const struct bj_request *req, const char *id,
			    struct bj_answer *answer)
{
	struct bj_err err = { 0 };
	json_t *record = find(g, req, id, &err);

	if (record)
		answer_json(answer, 200, as_execution(record));
	else if (err.code != BJ_E_NOT_FOUND)
		answer_failure(answer, &err);
	json_decref(record);
	return record || err.code != BJ_E_NOT_FOUND;
}

bool bj_records_execution(struct bj_service *s, const struct bj_request *req, const char *id,
			  struct bj_answer *answer)
{
	struct bj_answer ignored = { 0 };
	struct bj_generation *g = enter(s, &ignored);

	bj_answer_done(&ignored);
	if (!g)
		return false;

	const bool found = print_execution(g, req, id, answer);

	bj_service_leave(s, g);
	return found;
}

/* Whoever decides wants to know what changed: add the script that was approved last. */
static void add_last_approved(const struct bj_generation *g, json_t *record)
{
	json_t *question = json_object_get(record, "question");
	const char *language = json_string_value(json_object_get(record, "language"));

	if (!json_is_object(question) || !language)
		return;

	const struct bj_spec like = {
		.name = json_string_value(json_object_get(record, "name")),
		.tenant = json_string_value(json_object_get(record, "tenant")),
		.tool = json_string_value(json_object_get(record, "tool")),
		.language = (enum bj_language)bj_language_from_name(language),
	};
	AUTO_FREE char *last = bj_approval_last(&g->bj->record, &like);

	json_object_set_new(question, "last_approved", last ? json_string(last) : json_null());
}

void bj_records_show(struct bj_service *s, const struct bj_request *req, const char *id,
		     struct bj_answer *answer)
{
	struct bj_generation *g = enter(s, answer);
	struct bj_err err = { 0 };

	if (!g)
		return;

	json_t *record = find(g, req, id, &err);

	add_last_approved(g, record);
	bj_service_leave(s, g);
	if (record)
		answer_json(answer, 200, record);
	else
		answer_failure(answer, &err);
}

/* --- decisions -------------------------------------------------------------------------------- */

/* The reason in the body, which may be empty. False, and the answer is made, when it is none. */
static bool read_reason(const struct bj_request *req, char **ret, struct bj_answer *answer)
{
	json_t *body =
		req->body_size ? json_loadb(req->body, req->body_size, 0, NULL) : json_object();
	const json_t *reason = json_object_get(body, "reason");
	const bool good = json_is_object(body) && json_object_size(body) == (reason ? 1u : 0u) &&
			  (!reason || json_is_null(reason) ||
			   (json_is_string(reason) && json_string_length(reason) <= REASON_MAX));

	if (good && json_is_string(reason) && json_string_length(reason) > 0)
		*ret = strdup(json_string_value(reason));
	if (!good)
		bj_problem_answer(answer, BJ_PROBLEM_BAD_REQUEST,
				  "send nothing, or {\"reason\": a text of at most %d bytes}",
				  REASON_MAX);
	json_decref(body);
	return good;
}

static void answer_decided(struct bj_service *s, struct bj_generation *g,
			   const struct bj_request *req, const char *id, struct bj_answer *answer)
{
	struct bj_execution *x = bj_runs_find(s->runs, id);
	struct bj_buf buf = { 0 };

	if (!x) {
		if (!print_execution(g, req, id, answer))
			bj_problem_answer(answer, BJ_PROBLEM_NOT_FOUND, "the record is gone");
		return;
	}
	bj_execution_print(x, true, &buf);
	bj_execution_unref(s->runs, x);
	bj_answer_take(answer, 200, BJ_TYPE_JSON, bj_buf_take(&buf));
}

/* Begin what was approved. What cannot begin now does so when the service next looks. */
static void resume(struct bj_service *s, struct bj_generation *g, const char *id)
{
	struct bj_err err = { 0 };
	json_t *record = bj_history_show(&g->bj->record, id, &err);
	const char *state = json_string_value(json_object_get(record, "state"));
	const int language =
		bj_language_from_name(json_string_value(json_object_get(record, "language")));

	/* A question about a run that did not wait for it has nothing to begin. */
	if (state && strcmp(state, "pending") == 0 && language >= 0)
		bj_execute_resume(s, id, (enum bj_language)language,
				  json_string_value(json_object_get(record, "tenant")), &err);
	json_decref(record);
}

/* A key without a name has its public part. */
static const char *name_of(const struct bj_caller *caller)
{
	return !caller ? "local" : caller->name[0] ? caller->name : caller->key;
}

void bj_records_decide(struct bj_service *s, const struct bj_request *req, const char *id,
		       bool approve, struct bj_answer *answer)
{
	struct bj_generation *g = enter(s, answer);
	AUTO_FREE char *reason = NULL;
	struct bj_err err = { 0 };

	if (!g)
		return;

	json_t *record = find(g, req, id, &err);

	if (!record) {
		answer_failure(answer, &err);
	} else if (read_reason(req, &reason, answer)) {
		if (bj_decide(g->bj, id, approve, name_of(req->caller), reason, &err) < 0) {
			answer_failure(answer, &err);
		} else {
			/* Who watches what waits looks again. */
			bj_feed_tell(s->feed, id,
				     json_string_value(json_object_get(record, "tenant")),
				     approve ? BJ_QUEUED : BJ_FINISHED);
			if (approve)
				resume(s, g, id);
			else
				s->metrics.denials[BJ_DENIAL_DENIED]++;
			answer_decided(s, g, req, id, answer);
		}
	}
	json_decref(record);
	bj_service_leave(s, g);
}

/* --- artifacts -------------------------------------------------------------------------------- */

void bj_records_artifacts(struct bj_service *s, const struct bj_request *req, const char *id,
			  struct bj_answer *answer)
{
	struct bj_generation *g = enter(s, answer);
	struct bj_err err = { 0 };

	if (!g)
		return;

	json_t *record = find(g, req, id, &err);

	if (record)
		answer_json(answer, 200,
			    json_pack("{s:o}", "artifacts",
				      bj_artifact_list(g->bj->record.archive, id)));
	else
		answer_failure(answer, &err);
	json_decref(record);
	bj_service_leave(s, g);
}

static ssize_t next_bytes(void *ctx, char *to, size_t room)
{
	const ssize_t n = read((int)(intptr_t)ctx, to, room);

	return n < 0 ? 0 : n;
}

static void close_bytes(void *ctx)
{
	close((int)(intptr_t)ctx);
}

void bj_records_artifact(struct bj_service *s, const struct bj_request *req, const char *id,
			 const char *name, struct bj_answer *answer)
{
	struct bj_generation *g = enter(s, answer);
	struct bj_err err = { 0 };

	if (!g)
		return;

	json_t *record = find(g, req, id, &err);
	const int fd = record ? bj_artifact_open(g->bj->record.archive, id, name, &err) : -err.code;

	json_decref(record);

	bj_service_leave(s, g);
	if (fd < 0) {
		answer_failure(answer, &err);
		return;
	}
	answer->status = 200;
	answer->type = BJ_TYPE_BYTES;
	answer->stream = (struct bj_stream){ .next = next_bytes,
					     .done = close_bytes,
					     .ctx = (void *)(intptr_t)fd };
	/* Whatever the script made of it, no browser shows it as a page of ours. */
	bj_answer_header(answer, "Content-Disposition", "attachment");
	bj_answer_header(answer, "X-Content-Type-Options", "nosniff");
}

/* --- the list --------------------------------------------------------------------------------- */

void bj_records_list(struct bj_service *s, const struct bj_request *req, struct bj_answer *answer)
{
	struct bj_history_filter f = BJ_HISTORY_ALL;
	uint64_t limit = DEFAULT_PAGE;
	struct bj_err err = { 0 };

	if (!bj_query_word(req, "state", bj_state_from_name, &f.state, answer) ||
	    !bj_query_word(req, "cause", bj_cause_from_name, &f.cause, answer) ||
	    !bj_query_word(req, "language", bj_language_from_name, &f.language, answer) ||
	    !bj_query_number(req, "since", 0, INT64_MAX / 1000, &f.since_ms, answer) ||
	    !bj_query_number(req, "until", 0, INT64_MAX / 1000, &f.until_ms, answer) ||
	    !bj_query_number(req, "limit", 1, MAX_PAGE, &limit, answer))
		return;
	f.limit = (unsigned int)limit;
	f.tool = req->query(req->ctx, "tool");
	f.tenant = req->query(req->ctx, "tenant");
	f.name = req->query(req->ctx, "name");
	f.before = req->query(req->ctx, "before");
	/* A tenant sees its own, whatever it asks for. */
	if (bj_auth_tenant(req->caller))
		f.tenant = bj_auth_tenant(req->caller);

	struct bj_generation *g = enter(s, answer);

	if (!g)
		return;

	json_t *page = bj_history_list(g->bj->record.archive, &f, &err);

	bj_service_leave(s, g);
	if (page)
		answer_json(answer, 200, page);
	else
		answer_failure(answer, &err);
}

/* --- looking after them ----------------------------------------------------------------------- */

/* Whether the run @id still holds what it reserved. */
static bool is_under_way(void *ctx, const char *id)
{
	struct bj_service *s = ctx;
	struct bj_execution *x = bj_runs_find(s->runs, id);
	bool over = true;

	if (x) {
		pthread_mutex_lock(&x->lock);
		over = bj_execution_is_over(x);
		pthread_mutex_unlock(&x->lock);
		bj_execution_unref(s->runs, x);
	}
	return !over;
}

/* What runs that died, here or elsewhere, left in the records and beside them. */
static void sweep(struct bj_service *s, const struct bj_generation *g, uint64_t now)
{
	struct bj_archive *ar = g->bj->record.archive;
	struct bj_err err = { 0 };

	bj_archive_sweep(ar, &err);
	bj_quota_sweep(&ar->store, &ar->owner, &g->bj->settings->price, is_under_way, s, &err);
	if (!s->swept || now - s->swept > SWEEP_NS) {
		s->swept = now;
		s->metrics.orphans += bj_artifact_sweep(ar);
	}
}

static void count_expired(struct bj_service *s, int n)
{
	if (n > 0)
		s->metrics.denials[BJ_DENIAL_EXPIRED] += (unsigned int)n;
}

void bj_service_tend(struct bj_service *s)
{
	const uint64_t now = bj_clock_now();
	struct bj_generation *g = now - s->tended < TEND_NS ? NULL : bj_service_enter(s);
	struct bj_err err = { 0 };
	char id[33];

	if (!g)
		return;
	s->tended = now;
	bj_service_note_unwritten(s);
	if (g->bj->record.archive) {
		sweep(s, g, now);
		count_expired(s, bj_approval_expire(&g->bj->record, &err));
		/* Approved while nobody was there to begin it. */
		if (bj_approval_next(g->bj->record.archive, id) && !s->stopping)
			resume(s, g, id);
		/* Each step is short, and so are all of them together. */
		while (bj_retention_step(&g->bj->record, &err) > 0 &&
		       bj_clock_now() - now < RETENTION_NS)
			;
		bj_store_checkpoint(&g->bj->record.archive->store);
	}
	bj_service_leave(s, g);
}
