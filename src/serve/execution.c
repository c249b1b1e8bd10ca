/* SPDX-License-Identifier: Apache-2.0 */

/* The life of one run as the service sees it: queued, running, ended, with its events. */

#include "base/cleanup.h"
#include "base/clock.h"
#include "serve/runs.h"
#include "spec/names.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>

/* How far a script may run ahead of the reader who wants every byte. */
enum { OWNER_LEAD = 256 << 10, HANGUP_CHECK_MS = 200, SAMPLES_MAX = 200 };

void bj_execution_begin(struct bj_execution *x)
{
	pthread_mutex_lock(&x->lock);
	x->state = BJ_RUNNING;
	x->started_ms = bj_clock_unix_ms();
	bj_sse_state(&x->events, bj_state_name(BJ_RUNNING));
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
}

void bj_execution_output(struct bj_execution *x, const struct bj_event *event)
{
	pthread_mutex_lock(&x->lock);
	/* The script waits, as it would for a slow pipe. */
	while (x->events.held && bj_sse_end(&x->events) - x->events.hold > OWNER_LEAD &&
	       !x->cancelled)
		pthread_cond_wait(&x->changed, &x->lock);
	bj_sse_output(&x->events, event->kind, event->data, event->size);
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
}

static void keep_sample(struct bj_execution *x, const struct bj_event *event)
{
	struct bj_sample *list = x->n_samples < SAMPLES_MAX
					 ? realloc(x->samples, (x->n_samples + 1) * sizeof(*list))
					 : NULL;

	if (!list)
		return;
	x->samples = list;
	list[x->n_samples++] = (struct bj_sample){ .elapsed_us = event->elapsed_us,
						   .cpu_us = event->cpu_us,
						   .memory = event->memory };
}

void bj_execution_sample(struct bj_execution *x, const struct bj_event *event)
{
	pthread_mutex_lock(&x->lock);
	keep_sample(x, event);
	x->sampled = true;
	x->cpu_us = event->cpu_us;
	x->peak_memory = event->memory > x->peak_memory ? event->memory : x->peak_memory;
	bj_sse_sample(&x->events, event);
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
}

static void copy_result(struct bj_execution *x, const struct bj_result *r)
{
	x->cause = r->cause;
	x->success = r->success;
	x->exit_code = r->exit_code;
	x->duration_us = r->duration_us;
	x->cpu_us = r->cpu_us;
	x->peak_memory = r->peak_memory;
	x->cost_micros = r->cost_micros;
	x->result = bj_result_to_json(r);
	if (r->cause != BJ_CAUSE_INFRASTRUCTURE && r->cause != BJ_CAUSE_QUOTA)
		return;
	x->failed = true;
	/* The problem of a want of descriptors brings a time of its own. */
	x->retry_after_s = r->cause == BJ_CAUSE_QUOTA ? r->retry_after_s : 0;
	x->problem = bj_problem_of_result(r);
	snprintf(x->error, sizeof(x->error), "%s", r->error ? r->error : "the run failed");
}

void bj_execution_print_end(const struct bj_execution *x, struct bj_buf *buf)
{
	char id[BJ_SSE_ID];

	bj_sse_id_of_end(&x->events, id);
	bj_buf_printf(buf, "id: %s\n", id);
	if (!x->failed) {
		bj_sse_print(buf, "result", x->result ? x->result : "null");
		return;
	}

	AUTO_FREE char *text = bj_problem_text(x->problem, x->error, x->result);

	bj_sse_print(buf, "problem", text ? text : "null");
}

void bj_execution_end(struct bj_execution *x, const struct bj_result *result,
		      enum bj_problem problem, const char *error)
{
	pthread_mutex_lock(&x->lock);
	if (result) {
		copy_result(x, result);
	} else {
		x->failed = true;
		x->problem = problem;
		x->cause = problem == BJ_PROBLEM_CANCELLED ? BJ_CAUSE_CANCELLED
							   : BJ_CAUSE_INFRASTRUCTURE;
		snprintf(x->error, sizeof(x->error), "%s", error);
	}
	x->abandoned = x->cause == BJ_CAUSE_CANCELLED && (x->left || !x->cancelled);
	x->state = result ? result->state : BJ_FINISHED;
	x->ended_ms = bj_clock_unix_ms();
	bj_sse_state(&x->events, bj_state_name(x->state));
	bj_hangup_clear(x->hangup);
	bj_hangup_unref(BJ_TAKE_PTR(x->hangup));
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
}

/* With the lock. */
static bool cancel(struct bj_execution *x)
{
	if (!x->hangup)
		return false;
	x->cancelled = true;
	bj_hangup_raise(x->hangup);
	pthread_cond_broadcast(&x->changed);
	return true;
}

static void cancel_left(struct bj_execution *x)
{
	/* One that somebody ended on purpose stays that. */
	x->left = !x->cancelled;
	cancel(x);
}

bool bj_execution_cancel(struct bj_execution *x)
{
	pthread_mutex_lock(&x->lock);

	const bool live = cancel(x);

	pthread_mutex_unlock(&x->lock);
	return live;
}

void bj_execution_leave(struct bj_execution *x)
{
	pthread_mutex_lock(&x->lock);
	x->gone = true;
	x->events.held = false;
	if (!x->kept && x->joined == 0)
		cancel_left(x);
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
}

bool bj_execution_join(struct bj_execution *x, bool for_good)
{
	pthread_mutex_lock(&x->lock);

	const bool ends = x->hangup && !x->kept && x->joined == 0 &&
			  (x->left || !bj_hangup_loosen(x->hangup));

	if (!ends) {
		x->kept |= for_good;
		x->joined += !for_good;
	}
	pthread_mutex_unlock(&x->lock);
	return !ends;
}

void bj_execution_quit(struct bj_execution *x)
{
	pthread_mutex_lock(&x->lock);
	x->joined--;
	if (x->hangup && !x->kept && x->joined == 0) {
		/* While the run goes on, the connection of a client that has not left is open. */
		if (x->gone)
			cancel_left(x);
		else
			bj_hangup_tighten(x->hangup);
	}
	pthread_mutex_unlock(&x->lock);
}

bool bj_execution_is_abandoned(struct bj_execution *x)
{
	pthread_mutex_lock(&x->lock);

	const bool abandoned = x->abandoned;

	pthread_mutex_unlock(&x->lock);
	return abandoned;
}

static bool raised(struct bj_hangup *hangup)
{
	struct pollfd p = { .fd = hangup ? bj_hangup_fd(hangup) : -1, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

bool bj_execution_wait(struct bj_execution *x, struct bj_hangup *hangup)
{
	bool gone = false;

	pthread_mutex_lock(&x->lock);
	while (!bj_execution_is_over(x) && !gone) {
		struct timespec until;

		/* A condition and a descriptor cannot be waited for in one call. */
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += HANGUP_CHECK_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&x->changed, &x->lock, &until);
		gone = raised(hangup);
	}

	const bool ended = bj_execution_is_over(x);

	pthread_mutex_unlock(&x->lock);
	return ended;
}

static void print_number(struct bj_buf *buf, const char *name, bool known, double value,
			 int decimals)
{
	if (known)
		bj_buf_printf(buf, ",\"%s\":%.*f", name, decimals, value);
	else
		bj_buf_printf(buf, ",\"%s\":null", name);
}

static void print_samples(const struct bj_execution *x, struct bj_buf *buf)
{
	bj_buf_puts(buf, ",\"samples\":[");
	for (size_t i = 0; i < x->n_samples; i++) {
		bj_buf_puts(buf, i ? "," : "");
		bj_sse_sample_object(&x->samples[i], buf);
	}
	bj_buf_puts(buf, "]");
}

static void print(const struct bj_execution *x, bool with_result, struct bj_buf *buf)
{
	const bool ended = x->state == BJ_FINISHED;

	bj_buf_printf(buf,
		      "{\"id\":\"%s\",\"state\":\"%s\",\"cause\":%s%s%s,\"language\":\"%s\","
		      "\"async\":%s,\"success\":%s,\"created_ms\":%" PRIu64,
		      x->id, bj_state_name(x->state), ended ? "\"" : "",
		      ended ? bj_cause_name(x->cause) : "null", ended ? "\"" : "",
		      bj_language_name(x->language), x->kept ? "true" : "false",
		      !ended       ? "null"
		      : x->success ? "true"
				   : "false",
		      x->created_ms);
	print_number(buf, "started_ms", x->started_ms, (double)x->started_ms, 0);
	print_number(buf, "ended_ms", ended, (double)x->ended_ms, 0);
	print_number(buf, "exit_code", x->exit_code >= 0, x->exit_code, 0);
	print_number(buf, "duration_ms", ended, (double)x->duration_us / 1e3, 3);
	print_number(buf, "cpu_ms", ended || x->sampled, (double)x->cpu_us / 1e3, 3);
	print_number(buf, "peak_memory_bytes", ended || x->sampled, (double)x->peak_memory, 0);
	print_number(buf, "cost_estimate", true, (double)x->estimate_micros / 1e6, 6);
	print_number(buf, "cost", ended, (double)x->cost_micros / 1e6, 6);
	bj_buf_printf(buf, ",\"tenant\":%s%s%s", x->tenant[0] ? "\"" : "",
		      x->tenant[0] ? x->tenant : "null", x->tenant[0] ? "\"" : "");
	if (with_result) {
		print_samples(x, buf);
		bj_buf_puts(buf, ",\"result\":");
		bj_buf_puts(buf, x->result ? x->result : "null");
	}
	bj_buf_puts(buf, "}");
}

void bj_execution_print(struct bj_execution *x, bool with_result, struct bj_buf *buf)
{
	pthread_mutex_lock(&x->lock);
	print(x, with_result, buf);
	pthread_mutex_unlock(&x->lock);
}
