/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/engine.h"
#include "record/trace.h"
#include "serve/exchange.h"
#include "serve/hold.h"
#include "serve/metrics.h"
#include "serve/runs.h"
#include "serve/session.h"
#include "serve/turns.h"

#include <pthread.h>

/* The service inside its front: what handlers share. */

/* An engine in use. A reload puts another in its place; the old one ends with its last run. */
struct bj_generation {
	struct belljar *bj;
	unsigned int runs; /* that may be under way at once */
	unsigned int refs; /* guarded by the service's lock */
};

/* What somebody was refused, as far as it has lines of its own in the audit log. */
enum bj_refusal { BJ_REFUSED_KEY, BJ_REFUSED_ACCESS, BJ_REFUSED_QUOTA, BJ_REFUSALS };

struct bj_service {
	struct bj_feed *feed;
	struct bj_runs *runs;
	struct bj_turns *turns;
	struct bj_sessions *sessions;
	struct bj_holds holds;
	struct bj_metrics metrics;
	struct bj_mcp_door *mcp;
	uint64_t started_unix_ms;
	struct bj_tracer *tracer;   /* NULL: nobody collects traces */
	struct bj_archive *archive; /* borrowed; NULL: runs are not recorded */
	uint64_t tended; /* when the records were last looked after; for that thread alone */
	uint64_t swept;  /* and their folders; 0: not yet */

	pthread_mutex_t lock;
	unsigned int fronts, launchers; /* that the keeper replaced since they died */
	struct bj_generation *current;  /* NULL: none yet */
	struct {
		uint64_t full_ns; /* monotonic: when a whole burst may be written again */
		uint64_t unwritten;
	} refusals[BJ_REFUSALS];
	bool stopping;
	unsigned int busy; /* threads that run scripts aside of connections */
	pthread_cond_t idle;
};

int bj_service_init(struct bj_service *service, struct bj_err *err);
void bj_service_done(struct bj_service *service);

/* Use @bj_take from now on. Settings of the service itself that can change do. */
void bj_service_use(struct bj_service *service, struct belljar *bj_take);

/* The engine for one run; NULL when there is none or the service stops. */
struct bj_generation *bj_service_enter(struct bj_service *service);
void bj_service_leave(struct bj_service *service, struct bj_generation *generation);

bool bj_service_ready(struct bj_service *service);

/* Take no more runs. Those under way go on for @grace_ms, then they are cancelled. Returns when
 * the last one has ended. */
void bj_service_stop(struct bj_service *service, uint64_t grace_ms);

/* Answer @request: look its path up in the table of routes. */
void bj_service_handle(struct bj_service *service, const struct bj_request *request,
		       struct bj_answer *answer);

/* The route @i (from 1) of the table, for labels and tests; false past its end. */
bool bj_service_route(unsigned int i, const char **ret_method, const char **ret_path);

/* Whether another line about a refusal of this kind may be written now: a few at once, then one a
 * second. One that may not is counted. */
bool bj_service_may_note(struct bj_service *service, enum bj_refusal kind);

/* Write down how many had no line of their own. */
void bj_service_note_unwritten(struct bj_service *service);

/* Write down that @caller's key is used, or, with NULL, that a key was refused for the reason in
 * @err. Not every time: a flood must not fill the disk. */
void bj_service_note_key(struct bj_service *service, const struct bj_caller *caller,
			 const struct bj_err *err);

/* @caller was refused on @route (of the table): it may not, or asked for more than the settings
 * allow. Not more than one line in a while. */
void bj_service_note_refusal(struct bj_service *service, const struct bj_caller *caller,
			     const char *method, const char *route);

/* @caller cancels the run @id of @tenant. To end a run takes no free space: where the line cannot
 * be written, only the log of the service tells. */
void bj_service_note_cancel(struct bj_service *service, const struct bj_caller *caller,
			    const char *id, const char *tenant);

/* What the engine in use says about limits and errors. */
void bj_service_gauges(struct bj_service *service, struct bj_gauges *gauges);

/* POST /v1/executions, POST /v1/check. */
void bj_execute_post(struct bj_service *service, const struct bj_request *request,
		     struct bj_answer *answer);
void bj_execute_check(struct bj_service *service, const struct bj_request *request,
		      struct bj_answer *answer);

/* The list of runs, live, to whoever asked for it (watch.c). */
void bj_service_watch(struct bj_service *s, const struct bj_request *req, struct bj_answer *answer);

/* Answer with the events of @x (taken), from the first one that is kept or, to who has some of them
 * already, from the one after Last-Event-ID. It ends when the key of whoever asks loses its
 * right. */
enum bj_follow {
	BJ_FOLLOW_WATCH,  /* its going changes nothing */
	BJ_FOLLOW_OWNER,  /* reads every byte: the script waits for it, and stops when it goes away
			   */
	BJ_FOLLOW_JOINED, /* has joined the run, and quits it when it goes away */
};

void bj_execute_stream(struct bj_service *service, const struct bj_request *request,
		       struct bj_execution *x_take, enum bj_follow as, struct bj_answer *answer);
void bj_execute_stream_on(struct bj_service *service, const struct bj_request *request,
			  struct bj_execution *x_take, struct bj_answer *answer);

/* Run what a tool asks for: in turn, and in the list of runs. As bj_run(); spec->id is set, and
 * spec->on_event and spec->cancel_fd are heeded. */
int bj_execute_spec(struct bj_service *service, struct bj_generation *generation,
		    struct bj_spec *spec, struct bj_result **ret, struct bj_err *err);

/* Begin the run @id, which waited and was approved, aside of this thread. @tenant: whose it is;
 * NULL: nobody's. One that is over its tenant's quota only for a moment begins later. */
int bj_execute_resume(struct bj_service *service, const char *id, enum bj_language language,
		      const char *tenant, struct bj_err *err);

/* Look after the records: end what expired, begin what was approved, forget what is old. Call it
 * now and then; it takes small steps. */
void bj_service_tend(struct bj_service *service);

/* Routes over the records. What belongs to another tenant is not there. The first one makes no
 * answer when there is no such run, and is false. */
bool bj_records_execution(struct bj_service *service, const struct bj_request *request,
			  const char *id, struct bj_answer *answer);
void bj_records_decide(struct bj_service *service, const struct bj_request *request, const char *id,
		       bool approve, struct bj_answer *answer);
void bj_records_list(struct bj_service *service, const struct bj_request *request,
		     struct bj_answer *answer);
void bj_records_show(struct bj_service *service, const struct bj_request *request, const char *id,
		     struct bj_answer *answer);
void bj_records_artifacts(struct bj_service *service, const struct bj_request *request,
			  const char *id, struct bj_answer *answer);
void bj_records_artifact(struct bj_service *service, const struct bj_request *request,
			 const char *id, const char *name, struct bj_answer *answer);
