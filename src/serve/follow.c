/* SPDX-License-Identifier: Apache-2.0 */

/* The events of a run, for whoever follows it. */

#include "serve/auth.h"
#include "serve/service.h"

#include <poll.h>
#include <string.h>

enum { HEARTBEAT_SECONDS = 15, LOOK_SECONDS = 1, TAKE_ABOUT = 64 << 10 };

struct subscriber {
	struct bj_service *service;
	struct bj_execution *x;
	struct bj_buf text; /* whole events, handed out up to @at */
	size_t at;
	uint64_t pos;
	enum bj_follow as;
	struct bj_auth_trust trust;
	struct bj_hangup *hangup; /* of who joined; NULL: not watched */
	bool told;                /* the last event was taken, or no more may be */
};

/* With the lock: wait for events, for @seconds at most. */
static void wait_events(struct subscriber *sub, unsigned int seconds)
{
	struct bj_execution *x = sub->x;
	struct timespec until;
	int r = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds;
	while (bj_sse_end(&x->events) == sub->pos && !bj_execution_is_over(x) && r == 0)
		r = pthread_cond_timedwait(&x->changed, &x->lock, &until);
}

/* Take what there is, or comes within @seconds. */
static void take_events(struct subscriber *sub, unsigned int seconds)
{
	struct bj_execution *x = sub->x;

	pthread_mutex_lock(&x->lock);
	wait_events(sub, seconds);
	bj_sse_take(&x->events, &sub->pos, TAKE_ABOUT, &sub->text);
	if (bj_execution_is_over(x) && bj_sse_end(&x->events) == sub->pos) {
		bj_execution_print_end(x, &sub->text);
		sub->told = true;
	}
	if (sub->as == BJ_FOLLOW_OWNER) {
		x->events.hold = sub->pos;
		pthread_cond_broadcast(&x->changed);
	}
	pthread_mutex_unlock(&x->lock);
}

/* Nobody writes to who joined a quiet run: only this shows that they left. */
static bool is_gone(const struct subscriber *sub)
{
	struct pollfd p = { .fd = sub->hangup ? bj_hangup_fd(sub->hangup) : -1, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* Wait for events and take them. Nothing is taken only after the last one, and by a client whose
 * key has lost its right. */
static void next_text(struct subscriber *sub)
{
	/* Nobody is woken who has nothing to look at. */
	const unsigned int step =
		sub->trust.key[0] || sub->hangup ? LOOK_SECONDS : HEARTBEAT_SECONDS;

	for (unsigned int t = 0; t < HEARTBEAT_SECONDS && sub->text.size == 0 && !sub->told;
	     t += step) {
		take_events(sub, step);
		if (bj_auth_trust_lost(&sub->trust) || is_gone(sub)) {
			sub->text.size = 0;
			sub->told = true;
		}
	}
	/* A comment now and then shows whether the client is still there. */
	if (sub->text.size == 0 && !sub->told)
		bj_buf_puts(&sub->text, ":\n\n");
}

static ssize_t next_events(void *ctx, char *to, size_t room)
{
	struct subscriber *sub = ctx;

	if (sub->at == sub->text.size) {
		sub->at = sub->text.size = 0;
		if (!sub->told)
			next_text(sub);
	}

	const size_t left = sub->text.failed ? 0 : sub->text.size - sub->at;
	const size_t n = left < room ? left : room;

	if (n > 0)
		memcpy(to, sub->text.data + sub->at, n);
	sub->at += n;
	return (ssize_t)n;
}

static void go_away(struct bj_execution *x, enum bj_follow as)
{
	if (as == BJ_FOLLOW_OWNER)
		bj_execution_leave(x);
	else if (as == BJ_FOLLOW_JOINED)
		bj_execution_quit(x);
}

static void end_stream(void *ctx)
{
	struct subscriber *sub = ctx;
	struct bj_execution *x = sub->x;

	go_away(x, sub->as);
	bj_execution_unref(sub->service->runs, x);
	bj_hangup_unref(sub->hangup);
	bj_buf_done(&sub->text);
	free(sub);
}

static void follow(struct bj_service *service, const struct bj_request *req,
		   struct bj_execution *x_take, enum bj_follow as, uint64_t pos,
		   struct bj_answer *answer)
{
	struct subscriber *sub = calloc(1, sizeof(*sub));

	if (!sub) {
		go_away(x_take, as);
		bj_execution_unref(service->runs, x_take);
		bj_problem_answer(answer, BJ_PROBLEM_FAILED, "no memory for the events");
		return;
	}
	*sub = (struct subscriber){ .service = service,
				    .x = x_take,
				    .as = as,
				    .pos = pos,
				    .trust = bj_auth_trust(service->archive, req->caller) };
	if (as == BJ_FOLLOW_JOINED && req->hangup)
		sub->hangup = bj_hangup_ref(req->hangup);
	answer->status = 200;
	answer->type = BJ_TYPE_EVENTS;
	answer->stream = (struct bj_stream){ .next = next_events, .done = end_stream, .ctx = sub };
	bj_answer_header(answer, "Cache-Control", "no-store");
	bj_answer_header(answer, "X-Execution-Id", "%s", x_take->id);
}

static enum bj_sse_find find_last(struct bj_execution *x, const char *last_id, uint64_t *ret_pos)
{
	pthread_mutex_lock(&x->lock);

	enum bj_sse_find found = bj_sse_find(&x->events, last_id, ret_pos);

	if (found == BJ_SSE_ENDED && !bj_execution_is_over(x))
		found = BJ_SSE_UNKNOWN;
	pthread_mutex_unlock(&x->lock);
	return found;
}

void bj_execute_stream_on(struct bj_service *service, const struct bj_request *req,
			  struct bj_execution *x_take, struct bj_answer *answer)
{
	const char *last_id = req->header(req->ctx, "Last-Event-ID");
	uint64_t pos = 0;
	const enum bj_sse_find found =
		last_id && last_id[0] ? find_last(x_take, last_id, &pos) : BJ_SSE_FOUND;

	if (found == BJ_SSE_FOUND) {
		follow(service, req, x_take, BJ_FOLLOW_WATCH, pos, answer);
		return;
	}
	bj_execution_unref(service->runs, x_take);
	if (found == BJ_SSE_ENDED)
		answer->status = 204; /* browsers ask no more then */
	else
		bj_problem_answer(answer, BJ_PROBLEM_BAD_REQUEST,
				  "Last-Event-ID: no event of this run has this id; leave it out");
}

void bj_execute_stream(struct bj_service *service, const struct bj_request *req,
		       struct bj_execution *x_take, enum bj_follow as, struct bj_answer *answer)
{
	follow(service, req, x_take, as, 0, answer);
}
