/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation: one run, from request to answer.
 *
 * A plain request runs in the thread of its connection: no other thread wakes for it, and its
 * client is watched by the very poll that watches the script. A request that asks for an answer
 * at once (Prefer: respond-async) or for a stream of events gets a thread of its own, since the
 * connection's thread goes on to answer. */

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "engine/ledger.h"
#include "record/approval.h"
#include "serve/again.h"
#include "serve/auth.h"
#include "serve/order.h"
#include "serve/reply.h"
#include "serve/service.h"
#include "spec/names.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

enum { STACK = 512 << 10, SOON_S = 60 };

/* One run on its way. */
struct job {
	struct bj_service *service;
	struct bj_generation *generation;
	struct bj_execution *x;
	struct bj_order order;
	struct bj_hangup *hangup;
	struct bj_hold *hold;       /* of the request that the order is; NULL: of none */
	const struct bj_spec *also; /* who else hears the events; NULL: nobody */
	struct bj_result **ret;     /* who gets the result; NULL: nobody */
	struct bj_caller caller;
	bool resumed;      /* it waited for a person, and the records hold its order */
	bool queued;       /* the records say so already */
	const char *route; /* for the trace; NULL: no request brought it */
	struct bj_trace trace;
};

static void job_done(struct job *job)
{
	bj_order_done(&job->order);
	bj_execution_unref(job->service->runs, job->x);
	bj_hangup_unref(job->hangup);
	bj_hold_unref(job->hold);
	if (job->generation)
		bj_service_leave(job->service, job->generation);
}

/* --- running ---------------------------------------------------------------------------------- */

static void on_event(void *ctx, const struct bj_event *event)
{
	struct job *job = ctx;

	if (event->kind == BJ_EV_SAMPLE) {
		bj_execution_sample(job->x, event);
		return;
	}
	if (event->kind != BJ_EV_STATE)
		bj_execution_output(job->x, event);
	if (job->also && job->also->on_event)
		job->also->on_event(job->also->event_ctx, event);
}

struct no_turn {
	int code;
	enum bj_problem problem;
	const char *text;
};

/* Why there was no turn. */
static const struct no_turn *problem_of_turn(int code)
{
	static const struct no_turn reasons[] = {
		{ -BJ_E_LIMIT, BJ_PROBLEM_QUEUE_FULL, "the queue is full; try again later" },
		{ -BJ_E_CANCELLED, BJ_PROBLEM_CANCELLED, "cancelled while it waited for its turn" },
		{ 0, BJ_PROBLEM_UNAVAILABLE, "too many files are open; try again later" },
	};
	const struct no_turn *reason = reasons;

	while (reason->code && reason->code != code)
		reason++;
	return reason;
}

static void end_without_turn(struct job *job, int code)
{
	const struct no_turn *reason = problem_of_turn(code);

	if (code == -BJ_E_LIMIT)
		job->service->metrics.denials[BJ_DENIAL_QUEUE_FULL]++;
	if (job->queued)
		bj_engine_unqueue(job->generation->bj, &job->order.spec,
				  code == -BJ_E_CANCELLED ? BJ_CAUSE_CANCELLED
							  : BJ_CAUSE_INFRASTRUCTURE,
				  reason->text);
	bj_execution_end(job->x, NULL, reason->problem, reason->text);
	if (job->ret && code == -BJ_E_CANCELLED)
		*job->ret = bj_engine_unbegun(job->generation->bj, &job->order.spec,
					      BJ_CAUSE_CANCELLED, reason->text);
}

static void on_step(void *ctx, const char *name)
{
	struct job *job = ctx;

	bj_trace_step(&job->trace, name);
}

/* The status that a result is answered with. */
static unsigned int status_of(const struct bj_result *result)
{
	if (result->state == BJ_PENDING)
		return 202;
	return result->cause == BJ_CAUSE_QUOTA || result->cause == BJ_CAUSE_INFRASTRUCTURE
		       ? bj_problem_status(bj_problem_of_result(result))
		       : 200;
}

/* Where the time of this request went. @status: for a request without a result. */
static void send_trace(struct job *job, const struct bj_result *result, unsigned int status)
{
	struct bj_trace *t = &job->trace;
	const struct bj_spec *spec = &job->order.spec;

	if (!job->service->tracer || !t->begin_ns)
		return;
	snprintf(t->run, sizeof(t->run), "%s", spec->id);
	snprintf(t->tenant, sizeof(t->tenant), "%s", spec->tenant ? spec->tenant : "");
	snprintf(t->route, sizeof(t->route), "%s", job->route ? job->route : "");
	snprintf(t->tool, sizeof(t->tool), "%s", spec->tool ? spec->tool : "");
	t->language = bj_language_name(spec->language);
	t->backend = result ? bj_backend_name(result->runtime) : NULL;
	t->cause = result && result->cause ? bj_cause_name(result->cause) : NULL;
	t->status = result ? status_of(result) : status;
	bj_tracer_send(job->service->tracer, t);
}

/* Who asks goes with the run. The job owns the names: it may have moved to another thread. */
static void name_caller(struct job *job)
{
	struct bj_spec *spec = &job->order.spec;

	if (job->caller.tenant[0])
		spec->tenant = job->caller.tenant;
	if (job->caller.name[0])
		spec->actor = job->caller.name;
	else if (job->caller.key[0])
		spec->actor = job->caller.key;
}

/* Hold the run against the quota of its tenant before it gets in line. False: it has ended. */
static bool within_quota(struct job *job)
{
	struct bj_service *s = job->service;
	struct belljar *bj = job->generation->bj;
	struct bj_spec *spec = &job->order.spec;
	struct bj_err err = { 0 };
	unsigned int retry_s = 0;
	const int r = bj_ledger_reserve(bj, spec, &retry_s, &err);

	if (r == 0)
		return true;

	struct bj_result *result = r == -BJ_E_LIMIT && retry_s
					   ? bj_engine_unbegun(bj, spec, BJ_CAUSE_QUOTA, err.msg)
					   : NULL;

	if (result) {
		result->retry_after_s = retry_s;
		bj_metrics_run(&s->metrics, result);
		/* A flood of refusals is no flood of lines. */
		if (bj_service_may_note(s, BJ_REFUSED_QUOTA))
			bj_ledger_end(bj, spec, result, &err);
	}
	bj_execution_end(job->x, result, bj_problem_of(&err), err.msg);
	if (job->ret)
		*job->ret = result;
	else
		bj_result_free(result);
	return false;
}

/* Wait for the turn, run, and tell the execution how it ended. */
static void run(struct job *job)
{
	struct bj_service *s = job->service;
	struct bj_spec *spec = &job->order.spec;
	struct bj_result *result = NULL;
	struct bj_err err = { 0 };
	const uint64_t came = bj_clock_now();
	struct bj_turn place;

	memcpy(spec->id, job->x->id, sizeof(spec->id));
	name_caller(job);
	if (s->tracer && !job->trace.begin_ns)
		bj_trace_begin(&job->trace, NULL);
	bj_trace_step(&job->trace, "quota");
	/* What waited has its place already, or is refused on record when it begins. */
	if (!job->resumed && !within_quota(job)) {
		if (job->queued)
			bj_engine_unqueue(job->generation->bj, spec, BJ_CAUSE_QUOTA, job->x->error);
		bj_runs_ended(s->runs, job->x);
		send_trace(job, NULL, 429);
		return;
	}

	bj_trace_step(&job->trace, "queue");

	const int turn = bj_turns_enter(s->turns, spec->tenant, bj_hangup_fd(job->hangup), &place);

	if (turn < 0) {
		bj_ledger_release(job->generation->bj, spec);
		end_without_turn(job, turn);
		bj_runs_ended(s->runs, job->x);
		send_trace(job, NULL, 503);
		return;
	}
	bj_metrics_wait(&s->metrics, place.began - came);
	spec->cancel_fd = bj_hangup_fd(job->hangup);
	spec->on_event = on_event;
	spec->on_step = on_step;
	spec->step_ctx = job;
	spec->event_ctx = job;
	spec->samples = true;
	bj_execution_begin(job->x);
	bj_runs_began(s->runs, job->x);
	if (job->resumed)
		bj_resume(job->generation->bj, spec->id, spec, &result, &err);
	else
		bj_run(job->generation->bj, spec, &result, &err);
	bj_turns_leave(s->turns, &place);
	if (result && result->state == BJ_FINISHED)
		bj_metrics_run(&s->metrics, result);
	else if (result && job->x->key[0])
		bj_again_keep(job->generation, job->x);
	bj_execution_end(job->x, result, bj_problem_of(&err), err.msg);
	bj_runs_ended(s->runs, job->x);
	send_trace(job, result, 500);
	if (job->ret)
		*job->ret = result;
	else
		bj_result_free(result);
}

static void *run_aside(void *ctx)
{
	struct job *job = ctx;
	struct bj_service *s = job->service;

	run(job);
	job_done(job);
	free(job);
	pthread_mutex_lock(&s->lock);
	s->busy--;
	pthread_cond_broadcast(&s->idle);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Move *@job to a thread of its own. */
static int start_aside(struct job *job)
{
	struct job *own = malloc(sizeof(*own));
	pthread_attr_t attr;
	pthread_t thread;

	if (!own)
		return -1;
	*own = *job;
	pthread_mutex_lock(&job->service->lock);
	job->service->busy++;
	pthread_mutex_unlock(&job->service->lock);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);

	const int r = pthread_create(&thread, &attr, run_aside, own);

	pthread_attr_destroy(&attr);
	if (r != 0) {
		pthread_mutex_lock(&job->service->lock);
		job->service->busy--;
		pthread_mutex_unlock(&job->service->lock);
		free(own);
		return -1;
	}
	*job = (struct job){ .service = job->service, .order.stdin_fd = -1 };
	return 0;
}

/* --- the request ------------------------------------------------------------------------------ */

static bool is_json(const struct bj_request *req)
{
	const char *type = req->header(req->ctx, "Content-Type");

	return !type || bj_request_has(req, "Content-Type", BJ_TYPE_JSON);
}

/* Through which door it came. An agent that shares the owner's socket says so by its name, and is
 * held to the rules for agents. Whoever brings a key is who the key says: the records and the audit
 * log take nobody's word for it. */
static void say_who(const struct bj_request *req, struct job *job)
{
	const char *agent = req->header(req->ctx, "Belljar-Agent");

	job->order.spec.through = req->own && !agent ? BJ_THROUGH_OWN : BJ_THROUGH_API;
	if (!agent || !agent[0] || !req->own)
		return;
	snprintf(job->caller.name, sizeof(job->caller.name), "agent %s", agent);
	/* It goes into records and onto terminals. */
	for (char *p = job->caller.name; *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
			*p = '?';
}

/* Read the order; on failure the answer is made. */
static int read_order(struct bj_service *s, const struct bj_request *req, struct job *job,
		      struct bj_answer *answer)
{
	enum bj_problem problem;
	struct bj_err err = { 0 };

	if (!is_json(req)) {
		bj_problem_answer(answer, BJ_PROBLEM_MEDIA_TYPE, "send application/json");
		return -1;
	}
	job->generation = bj_service_enter(s);
	if (!job->generation) {
		bj_problem_answer(answer, BJ_PROBLEM_UNAVAILABLE,
				  "no runs are taken now; try again later");
		return -1;
	}
	if (bj_order_read(job->generation->bj, req->body, req->body_size, &job->order, &problem,
			  &err) < 0) {
		bj_problem_answer(answer, problem, "%s", err.msg);
		return -1;
	}
	job->hold = bj_hold_ref(req->hold);
	if (req->caller)
		job->caller = *req->caller;
	say_who(req, job);
	name_caller(job);
	return 0;
}

/* The connection's own watch, or a fresh one for a run that nobody waits for. */
static int take_hangup(struct job *job, const struct bj_request *req, enum bj_reply_mode mode,
		       struct bj_answer *answer)
{
	job->hangup = mode != BJ_REPLY_ASYNC && req->hangup ? bj_hangup_ref(req->hangup)
							    : bj_hangup_new(-1);
	if (!job->hangup)
		bj_problem_answer(answer, BJ_PROBLEM_UNAVAILABLE,
				  "too many files are open; try again later");
	return job->hangup ? 0 : -1;
}

/* Enter the run into the list. 1: the same request came before. Negative: it is answered. */
static int enter(struct job *job, const struct bj_request *req, enum bj_reply_mode mode,
		 struct bj_answer *answer)
{
	const char *key = req->header(req->ctx, "Idempotency-Key");
	unsigned char hash[BJ_RUN_HASH];

	if (key && (key[0] == '\0' || strlen(key) >= BJ_IDEMPOTENCY_KEY)) {
		bj_problem_answer(answer, BJ_PROBLEM_BAD_REQUEST,
				  "Idempotency-Key: 1 to %d characters are needed",
				  BJ_IDEMPOTENCY_KEY - 1);
		return -1;
	}
	if (key)
		crypto_generichash(hash, sizeof(hash), (const unsigned char *)req->body,
				   req->body_size, NULL, 0);

	const struct bj_run_init init = { .language = job->order.spec.language,
					  .async = mode == BJ_REPLY_ASYNC,
					  .key = key,
					  .hash = hash,
					  .hangup = job->hangup,
					  .tenant = job->order.spec.tenant,
					  .estimate_micros = bj_ledger_estimate(job->generation->bj,
										&job->order.spec) };
	const int again = bj_again_answer(job->service, job->generation, req, &init,
					  mode == BJ_REPLY_SYNC, &job->x, answer);

	if (again)
		return again == 2 ? 1 : -1;

	const int r = bj_runs_add(job->service->runs, &init, &job->x);

	if (r == -BJ_E_DENIED)
		bj_problem_answer(answer, BJ_PROBLEM_KEY_REUSED,
				  "this key came with another request; use a fresh one");
	else if (r < 0)
		bj_problem_answer(answer, BJ_PROBLEM_FAILED, "no memory for the run");
	return r;
}

/* Who is answered before the run begins finds it in the records from then on. */
static int enqueue(struct job *job, struct bj_answer *answer)
{
	struct bj_spec *spec = &job->order.spec;
	struct bj_err err = { 0 };

	memcpy(spec->id, job->x->id, sizeof(spec->id));
	if (job->resumed)
		return 0;
	if (bj_engine_enqueue(job->generation->bj, spec, &err) < 0) {
		bj_problem_answer(answer, bj_problem_of(&err), "%s", err.msg);
		return -1;
	}
	job->queued = true;
	return 0;
}

static void start(struct job *job, const struct bj_request *req, enum bj_reply_mode mode,
		  struct bj_answer *answer)
{
	struct bj_execution *x = job->x;

	if (mode == BJ_REPLY_SYNC) {
		run(job);
		bj_reply_ended(x, answer);
		return;
	}
	if (enqueue(job, answer) < 0) {
		bj_execution_end(x, NULL, BJ_PROBLEM_UNAVAILABLE, "it cannot be recorded");
		bj_runs_ended(job->service->runs, x);
		return;
	}
	x->events.held = mode == BJ_REPLY_STREAM;
	/* For the answer, below: the thread has its own. */
	struct bj_execution *seen = bj_runs_find(job->service->runs, x->id);

	if (start_aside(job) < 0) {
		bj_execution_end(x, NULL, BJ_PROBLEM_UNAVAILABLE,
				 "cannot start a thread; try again later");
		bj_runs_ended(job->service->runs, x);
		bj_reply_ended(x, answer);
		bj_execution_unref(job->service->runs, seen);
	} else if (mode == BJ_REPLY_STREAM) {
		bj_execute_stream(job->service, req, seen, BJ_FOLLOW_OWNER, answer);
	} else {
		bj_reply_accepted(seen, answer);
		bj_execution_unref(job->service->runs, seen);
	}
}

static void begin_trace(struct job *job, const struct bj_request *req, const char *route)
{
	job->route = route;
	if (job->service->tracer)
		bj_trace_begin(&job->trace, req->header(req->ctx, "traceparent"));
}

void bj_execute_post(struct bj_service *service, const struct bj_request *request,
		     struct bj_answer *answer)
{
	__attribute__((cleanup(job_done))) struct job job = { .service = service,
							      .order.stdin_fd = -1 };
	const enum bj_reply_mode mode = bj_reply_mode(request);

	begin_trace(&job, request, "/v1/executions");
	if (read_order(service, request, &job, answer) < 0 ||
	    take_hangup(&job, request, mode, answer) < 0)
		return;

	/* Nobody waits for these: say no now, not in their records. */
	if (mode != BJ_REPLY_SYNC && bj_turns_full(service->turns, job.order.spec.tenant)) {
		service->metrics.denials[BJ_DENIAL_QUEUE_FULL]++;
		bj_problem_answer(answer, BJ_PROBLEM_QUEUE_FULL,
				  "the queue is full; try again later");
		return;
	}

	int r;

	do
		r = enter(&job, request, mode, answer);
	while (r > 0 && !bj_reply_again(service, &job.x, request, mode, answer));
	if (r == 0)
		start(&job, request, mode, answer);
}

void bj_execute_check(struct bj_service *service, const struct bj_request *request,
		      struct bj_answer *answer)
{
	__attribute__((cleanup(job_done))) struct job job = { .service = service,
							      .order.stdin_fd = -1 };
	struct bj_result *result = NULL;
	struct bj_err err = { 0 };

	begin_trace(&job, request, "/v1/check");
	if (read_order(service, request, &job, answer) < 0 ||
	    take_hangup(&job, request, BJ_REPLY_SYNC, answer) < 0)
		return;
	bj_trace_step(&job.trace, "queue");
	job.order.spec.check_only = true;
	job.order.spec.cancel_fd = bj_hangup_fd(job.hangup);

	struct bj_turn place;
	const int turn = bj_turns_enter(service->turns, job.order.spec.tenant,
					bj_hangup_fd(job.hangup), &place);

	if (turn < 0) {
		bj_problem_answer(answer, problem_of_turn(turn)->problem,
				  "no turn for this check; try again later");
		return;
	}
	job.order.spec.on_step = on_step;
	job.order.spec.step_ctx = &job;
	bj_run(job.generation->bj, &job.order.spec, &result, &err);
	bj_turns_leave(service->turns, &place);
	send_trace(&job, result, 500);
	if (!result || result->cause == BJ_CAUSE_INFRASTRUCTURE)
		bj_problem_answer(answer,
				  result ? bj_problem_of_result(result) : bj_problem_of(&err), "%s",
				  result && result->error ? result->error : err.msg);
	else
		bj_answer_take(answer, 200, BJ_TYPE_JSON, bj_result_to_json(result));
	bj_result_free(result);
}

/* --- for tools -------------------------------------------------------------------------------- */

static int check_spec(struct bj_service *s, struct bj_generation *g, const struct bj_spec *spec,
		      struct bj_result **ret, struct bj_err *err)
{
	struct bj_turn place;
	const int turn = bj_turns_enter(s->turns, spec->tenant, spec->cancel_fd, &place);
	int r;

	if (turn < 0)
		return bj_err_set(err, turn == -BJ_E_LIMIT ? BJ_E_LIMIT : BJ_E_CANCELLED, 0,
				  "no turn for this check; try again later");
	r = bj_run(g->bj, spec, ret, err);
	bj_turns_leave(s->turns, &place);
	return r;
}

/* Why there is no result. */
static int tell_failure(struct bj_execution *x, struct bj_err *err)
{
	pthread_mutex_lock(&x->lock);

	const int r =
		bj_err_set(err, x->problem == BJ_PROBLEM_QUEUE_FULL ? BJ_E_LIMIT : BJ_E_SYSTEM, 0,
			   "%.200s", x->error);

	pthread_mutex_unlock(&x->lock);
	return r;
}

int bj_execute_spec(struct bj_service *s, struct bj_generation *g, struct bj_spec *spec,
		    struct bj_result **ret, struct bj_err *err)
{
	struct bj_result *result = NULL;
	struct job job = { .service = s, .generation = g, .also = spec, .ret = &result };
	int r = 0;

	if (spec->check_only)
		return check_spec(s, g, spec, ret, err);
	job.order = (struct bj_order){ .spec = *spec, .stdin_fd = -1 };
	job.hangup = bj_hangup_new(-1);
	if (!job.hangup || bj_hangup_add(job.hangup, spec->cancel_fd) < 0)
		r = bj_err_set(err, BJ_E_SYSTEM, EMFILE,
			       "nobody could stop this run; try again later");

	const struct bj_run_init init = { .language = spec->language,
					  .hangup = job.hangup,
					  .tenant = spec->tenant,
					  .estimate_micros = bj_ledger_estimate(g->bj, spec) };

	if (r == 0 && bj_runs_add(s->runs, &init, &job.x) < 0)
		r = bj_err_set(err, BJ_E_SYSTEM, 0, "no memory for the run");
	if (r == 0) {
		memcpy(spec->id, job.x->id, sizeof(spec->id));
		run(&job);
		if (result)
			*ret = result;
		else
			r = tell_failure(job.x, err);
	}
	job.generation = NULL; /* the caller's */
	job_done(&job);
	return r;
}

/* --- what waited ------------------------------------------------------------------------------ */

int bj_execute_resume(struct bj_service *s, const char *id, enum bj_language language,
		      const char *tenant, struct bj_err *err)
{
	__attribute__((cleanup(job_done))) struct job job = { .service = s,
							      .order.stdin_fd = -1,
							      .resumed = true };
	unsigned int retry_s = 0;
	int r;

	job.generation = bj_service_enter(s);
	job.hangup = job.generation ? bj_hangup_new(-1) : NULL;
	if (!job.hangup)
		return bj_err_set(err, BJ_E_LIMIT, 0, "no runs are taken now; it begins later");

	snprintf(job.caller.tenant, sizeof(job.caller.tenant), "%s", tenant ? tenant : "");
	snprintf(job.order.spec.id, sizeof(job.order.spec.id), "%s", id);
	name_caller(&job);
	r = bj_approval_limits(job.generation->bj->record.archive, id, &job.order.spec.limits, err);
	if (r == 0)
		r = bj_ledger_reserve(job.generation->bj, &job.order.spec, &retry_s, err);
	if (r < 0 && retry_s <= SOON_S)
		return r;

	const struct bj_run_init init = { .id = id,
					  .language = language,
					  .async = true,
					  .tenant = tenant,
					  .hangup = job.hangup,
					  .estimate_micros = bj_ledger_estimate(job.generation->bj,
										&job.order.spec) };

	if (bj_runs_add(s->runs, &init, &job.x) < 0) {
		bj_ledger_release(job.generation->bj, &job.order.spec);
		return bj_err_set(err, BJ_E_SYSTEM, 0, "no memory for the run");
	}

	if (start_aside(&job) < 0) {
		bj_ledger_release(job.generation->bj, &job.order.spec);
		bj_execution_end(job.x, NULL, BJ_PROBLEM_UNAVAILABLE,
				 "cannot start a thread; try again later");
		bj_runs_ended(s->runs, job.x);
		return bj_err_set(err, BJ_E_LIMIT, 0, "cannot start a thread; it begins later");
	}
	return 0;
}
