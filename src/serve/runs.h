/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"
#include "serve/feed.h"
#include "serve/hangup.h"
#include "serve/problem.h"
#include "serve/sse.h"

#include <pthread.h>

/* The runs that the service knows: those under way, and the last ones that ended. In memory, and
 * bounded: ended runs go when there are too many or when they are old. Thread-safe. */

enum { BJ_RUN_TENANT = 33, BJ_RUN_ID = 33, BJ_RUN_HASH = 32, BJ_IDEMPOTENCY_KEY = 256 };

/* One run. The fields up to the lock never change; the others are guarded by it. Counted. */
struct bj_execution {
	char id[BJ_RUN_ID];
	enum bj_language language;
	bool async;
	uint64_t created_ms;
	char key[BJ_IDEMPOTENCY_KEY]; /* "": none */
	char tenant[BJ_RUN_TENANT];   /* "": none */
	uint64_t estimate_micros;     /* what it costs at most */
	unsigned char hash[BJ_RUN_HASH];

	pthread_mutex_t lock;
	pthread_cond_t changed; /* the state, the events or a reader moved */
	enum bj_state state;
	enum bj_cause cause;
	bool success;
	int exit_code;
	uint64_t started_ms, ended_ms, duration_us, cost_micros;
	uint64_t cpu_us, peak_memory; /* while it runs: as last sampled, with @sampled */
	bool sampled;
	unsigned int retry_after_s; /* with a problem: when to try again; 0: not said */
	char *result;               /* the result object; NULL: none, or not yet */
	struct bj_sample *samples;  /* what it used over time, so far */
	size_t n_samples;
	bool failed; /* belljar failed: @problem and @error say how */
	enum bj_problem problem;
	char error[256];
	struct bj_sse events;
	struct bj_hangup *hangup; /* NULL once it ended */
	bool cancelled;           /* somebody asked */
	bool gone;                /* whoever read all of it went away */
	bool left;                /* it was cancelled for that */
	bool abandoned;           /* it was cancelled because its client went away */
	bool kept;                /* it goes on whoever leaves */
	unsigned int joined;      /* readers that came later, for whom it goes on */

	/* For runs.c alone. */
	unsigned int refs;
	bool listed;
	struct bj_execution *newer, *older, *in_bucket;
};

struct bj_runs;

/* @feed (borrowed) hears of runs that come, begin and end. NULL: no memory. */
struct bj_runs *bj_runs_new(struct bj_feed *feed);
void bj_runs_free(struct bj_runs *runs);

/* What to remember from now on. */
void bj_runs_configure(struct bj_runs *runs, unsigned int keep, uint64_t keep_time_ms,
		       size_t keep_output);

struct bj_run_init {
	const char *id; /* of a run that waited; NULL: a new one */
	enum bj_language language;
	bool async;
	const char *key;           /* NULL: none */
	const unsigned char *hash; /* of the request; needed with a key */
	struct bj_hangup *hangup;  /* borrowed: the run takes a count of its own */
	const char *tenant;        /* NULL: none */
	uint64_t estimate_micros;
};

/* Enter a new run, state queued. 1 when the same key brought the same request before: then *@ret
 * is that run, unless it came to nothing by our fault or by its client's leaving. -BJ_E_DENIED when
 * the key belongs to another request. The caller unrefs *@ret. */
int bj_runs_add(struct bj_runs *runs, const struct bj_run_init *init, struct bj_execution **ret);

/* NULL: unknown, or forgotten. The caller unrefs it. */
struct bj_execution *bj_runs_find(struct bj_runs *runs, const char *id);
void bj_execution_unref(struct bj_runs *runs, struct bj_execution *x); /* NULL is fine */

/* The life of a run. bj_execution_end() copies what it needs of @result; NULL with @problem and
 * @error when there is none. */
void bj_execution_begin(struct bj_execution *x);
void bj_execution_output(struct bj_execution *x, const struct bj_event *event);
void bj_execution_sample(struct bj_execution *x, const struct bj_event *event);
void bj_execution_end(struct bj_execution *x, const struct bj_result *result,
		      enum bj_problem problem, const char *error);

/* Whether it has ended here: finished, or left to wait for a person. With the lock. */
static inline bool bj_execution_is_over(const struct bj_execution *x)
{
	return x->state == BJ_FINISHED || x->state == BJ_PENDING;
}

/* Tell the list that one of its runs has begun. */
void bj_runs_began(struct bj_runs *runs, struct bj_execution *x);

/* Tell the list that one of its runs has ended. What waits for a person is forgotten: the records
 * have it. */
void bj_runs_ended(struct bj_runs *runs, struct bj_execution *x);

/* Ask a run to stop. False: it has ended already. */
bool bj_execution_cancel(struct bj_execution *x);

/* Whoever was to read every byte of its events goes away: they are held no longer, and the run
 * stops unless it has ended, or others keep it. */
void bj_execution_leave(struct bj_execution *x);

/* Keep a run that somebody else brought, whoever that is and whether or not they stay: for good, or
 * until bj_execution_quit(). False: it stops already, since they left. */
bool bj_execution_join(struct bj_execution *x, bool for_good);
void bj_execution_quit(struct bj_execution *x);

/* Whether it was cancelled because its client went away: an answer to nobody. */
bool bj_execution_is_abandoned(struct bj_execution *x);

/* Wait until it has ended; false when @hangup asks to stop before. */
bool bj_execution_wait(struct bj_execution *x, struct bj_hangup *hangup);

/* The last event of a run that has ended, with its id: its result, or the problem. With the lock.
 */
void bj_execution_print_end(const struct bj_execution *x, struct bj_buf *buf);

/* The run as a JSON object, with its result or without. */
void bj_execution_print(struct bj_execution *x, bool with_result, struct bj_buf *buf);

/* Which runs to list, newest first. Negative: any. */
struct bj_runs_filter {
	int state, cause, language;
	unsigned int limit;
	const char *before; /* an id: only runs older than it; NULL: all */
	const char *tenant; /* NULL: any */
};

/* The list as a JSON object {"executions": [...], "next": id or null}. False: no such @before. */
bool bj_runs_print(struct bj_runs *runs, const struct bj_runs_filter *filter, struct bj_buf *buf);

/* Ask all to stop. */
void bj_runs_cancel_all(struct bj_runs *runs);

/* How many have not ended, and how many are remembered in all. */
void bj_runs_count(struct bj_runs *runs, unsigned int *ret_live, unsigned int *ret_known);
