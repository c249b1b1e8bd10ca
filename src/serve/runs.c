/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/runs.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "spec/names.h"

#include <poll.h>
#include <sodium.h>
#include <string.h>

enum { BUCKETS = 4096 };

struct bj_runs {
	struct bj_feed *feed;
	pthread_mutex_t lock; /* taken before the lock of a run */
	struct bj_execution *newest, *oldest;
	struct bj_execution *buckets[BUCKETS];
	unsigned int n, live;
	unsigned int keep;
	uint64_t keep_time_ms;
	size_t keep_output;
};

struct bj_runs *bj_runs_new(struct bj_feed *feed)
{
	struct bj_runs *runs = calloc(1, sizeof(*runs));

	if (!runs)
		return NULL;
	runs->feed = feed;
	pthread_mutex_init(&runs->lock, NULL);
	return runs;
}

void bj_runs_configure(struct bj_runs *runs, unsigned int keep, uint64_t keep_time_ms,
		       size_t keep_output)
{
	pthread_mutex_lock(&runs->lock);
	runs->keep = keep;
	runs->keep_time_ms = keep_time_ms;
	runs->keep_output = keep_output;
	pthread_mutex_unlock(&runs->lock);
}

/* --- identity --------------------------------------------------------------------------------- */

static void new_id(char id[BJ_RUN_ID])
{
	unsigned char bytes[(BJ_RUN_ID - 1) / 2];

	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(id, BJ_RUN_ID, bytes, sizeof(bytes));
}

static struct bj_execution **bucket_of(struct bj_runs *runs, const char *id)
{
	unsigned int h = 0;

	for (int i = 0; i < 8 && id[i]; i++)
		h = h * 31 + (unsigned char)id[i];
	return &runs->buckets[h % BUCKETS];
}

/* --- keeping and forgetting ------------------------------------------------------------------- */

static void execution_free(struct bj_execution *x)
{
	pthread_mutex_destroy(&x->lock);
	pthread_cond_destroy(&x->changed);
	bj_sse_done(&x->events);
	bj_hangup_unref(x->hangup);
	free(x->result);
	free(x->samples);
	free(x);
}

/* With the lock of the list. */
static void drop_ref(struct bj_execution *x)
{
	if (--x->refs == 0)
		execution_free(x);
}

/* What has ended may be forgotten by whoever looks at the list before it is said to have ended. */
static void forget(struct bj_runs *runs, struct bj_execution *x)
{
	struct bj_execution **p = bucket_of(runs, x->id);

	if (!x->listed)
		return;
	x->listed = false;
	while (*p != x)
		p = &(*p)->in_bucket;
	*p = x->in_bucket;
	*(x->newer ? &x->newer->older : &runs->newest) = x->older;
	*(x->older ? &x->older->newer : &runs->oldest) = x->newer;
	runs->n--;
	drop_ref(x);
}

static bool has_ended(struct bj_execution *x, uint64_t *ret_ended_ms)
{
	pthread_mutex_lock(&x->lock);

	const bool ended = bj_execution_is_over(x);

	*ret_ended_ms = x->ended_ms;
	pthread_mutex_unlock(&x->lock);
	return ended;
}

/* Forget what is too old or too much, oldest first. Runs under way are few and stay. */
static void expire(struct bj_runs *runs)
{
	const uint64_t now = bj_clock_unix_ms();
	struct bj_execution *x = runs->oldest;

	while (x) {
		struct bj_execution *newer = x->newer;
		const bool too_many = runs->n - runs->live > runs->keep;
		uint64_t ended_ms;

		if (has_ended(x, &ended_ms)) {
			if (!too_many && now - ended_ms < runs->keep_time_ms)
				break;
			forget(runs, x);
		}
		x = newer;
	}
}

void bj_runs_free(struct bj_runs *runs)
{
	if (!runs)
		return;
	while (runs->oldest)
		forget(runs, runs->oldest);
	pthread_mutex_destroy(&runs->lock);
	free(runs);
}

/* --- entering and finding --------------------------------------------------------------------- */

/* A run that belljar failed to make, or whose client did not stay for its end, does not hold its
 * key: the client may try again. */
static bool holds_key(struct bj_execution *x)
{
	pthread_mutex_lock(&x->lock);

	const bool holds = !x->failed && !x->abandoned;

	pthread_mutex_unlock(&x->lock);
	return holds;
}

static struct bj_execution *find_key(struct bj_runs *runs, const char *key, const char *tenant)
{
	for (struct bj_execution *x = runs->newest; x; x = x->older)
		if (strcmp(x->key, key) == 0 && strcmp(x->tenant, tenant ? tenant : "") == 0 &&
		    holds_key(x))
			return x;
	return NULL;
}

static struct bj_execution *execution_new(const struct bj_runs *runs,
					  const struct bj_run_init *init)
{
	struct bj_execution *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	if (init->id)
		snprintf(x->id, sizeof(x->id), "%s", init->id);
	else
		new_id(x->id);
	x->language = init->language;
	x->async = x->kept = init->async;
	x->created_ms = bj_clock_unix_ms();
	if (init->key) {
		snprintf(x->key, sizeof(x->key), "%s", init->key);
		memcpy(x->hash, init->hash, sizeof(x->hash));
	}
	snprintf(x->tenant, sizeof(x->tenant), "%s", init->tenant ? init->tenant : "");
	x->estimate_micros = init->estimate_micros;
	pthread_mutex_init(&x->lock, NULL);
	pthread_cond_init(&x->changed, NULL);
	x->state = BJ_QUEUED;
	x->exit_code = -1;
	x->events.keep = runs->keep_output;
	x->events.life = randombytes_random();
	x->hangup = bj_hangup_ref(init->hangup);
	x->refs = 2; /* the list's and the caller's */
	return x;
}

static void link_in(struct bj_runs *runs, struct bj_execution *x)
{
	struct bj_execution **bucket = bucket_of(runs, x->id);

	x->in_bucket = *bucket;
	*bucket = x;
	x->older = runs->newest;
	*(runs->newest ? &runs->newest->newer : &runs->oldest) = x;
	runs->newest = x;
	x->listed = true;
	runs->n++;
	runs->live++;
	bj_feed_tell(runs->feed, x->id, x->tenant, BJ_QUEUED);
}

static int add(struct bj_runs *runs, const struct bj_run_init *init, struct bj_execution **ret)
{
	struct bj_execution *same = init->key ? find_key(runs, init->key, init->tenant) : NULL;

	if (same) {
		if (memcmp(same->hash, init->hash, sizeof(same->hash)) != 0)
			return -BJ_E_DENIED;
		same->refs++;
		*ret = same;
		return 1;
	}

	struct bj_execution *x = execution_new(runs, init);

	if (!x)
		return -BJ_E_SYSTEM;
	link_in(runs, x);
	*ret = x;
	return 0;
}

int bj_runs_add(struct bj_runs *runs, const struct bj_run_init *init, struct bj_execution **ret)
{
	pthread_mutex_lock(&runs->lock);
	expire(runs);

	const int r = add(runs, init, ret);

	pthread_mutex_unlock(&runs->lock);
	return r;
}

static struct bj_execution *find(struct bj_runs *runs, const char *id)
{
	struct bj_execution *x = *bucket_of(runs, id);

	while (x && strcmp(x->id, id) != 0)
		x = x->in_bucket;
	return x;
}

struct bj_execution *bj_runs_find(struct bj_runs *runs, const char *id)
{
	pthread_mutex_lock(&runs->lock);
	expire(runs);

	struct bj_execution *x = find(runs, id);

	if (x)
		x->refs++;
	pthread_mutex_unlock(&runs->lock);
	return x;
}

void bj_execution_unref(struct bj_runs *runs, struct bj_execution *x)
{
	if (!x)
		return;
	pthread_mutex_lock(&runs->lock);
	drop_ref(x);
	pthread_mutex_unlock(&runs->lock);
}

static enum bj_state state_of(struct bj_execution *x)
{
	pthread_mutex_lock(&x->lock);

	const enum bj_state state = x->state;

	pthread_mutex_unlock(&x->lock);
	return state;
}

void bj_runs_began(struct bj_runs *runs, struct bj_execution *x)
{
	bj_feed_tell(runs->feed, x->id, x->tenant, BJ_RUNNING);
}

void bj_runs_ended(struct bj_runs *runs, struct bj_execution *x)
{
	pthread_mutex_lock(&runs->lock);
	runs->live--;

	const enum bj_state state = state_of(x);

	bj_feed_tell(runs->feed, x->id, x->tenant, state);
	if (state == BJ_PENDING)
		forget(runs, x);
	pthread_mutex_unlock(&runs->lock);
}

void bj_runs_cancel_all(struct bj_runs *runs)
{
	pthread_mutex_lock(&runs->lock);
	for (struct bj_execution *x = runs->newest; x; x = x->older)
		bj_execution_cancel(x);
	pthread_mutex_unlock(&runs->lock);
}

void bj_runs_count(struct bj_runs *runs, unsigned int *ret_live, unsigned int *ret_known)
{
	pthread_mutex_lock(&runs->lock);
	*ret_live = runs->live;
	*ret_known = runs->n;
	pthread_mutex_unlock(&runs->lock);
}

/* --- listing ---------------------------------------------------------------------------------- */

static bool matches(struct bj_execution *x, const struct bj_runs_filter *f)
{
	if (f->tenant && strcmp(x->tenant, f->tenant) != 0)
		return false;
	pthread_mutex_lock(&x->lock);

	const bool yes = (f->state < 0 || (int)x->state == f->state) &&
			 (f->cause < 0 || (int)x->cause == f->cause) &&
			 (f->language < 0 || (int)x->language == f->language);

	pthread_mutex_unlock(&x->lock);
	return yes;
}

static void print_list(struct bj_execution *x, const struct bj_runs_filter *f, struct bj_buf *buf)
{
	const struct bj_execution *last = NULL;
	unsigned int n = 0;

	bj_buf_puts(buf, "{\"executions\":[");
	for (; x; x = x->older) {
		if (!matches(x, f))
			continue;
		if (n == f->limit)
			break;
		bj_buf_puts(buf, n++ ? "," : "");
		bj_execution_print(x, false, buf);
		last = x;
	}
	if (x && last)
		bj_buf_printf(buf, "],\"next\":\"%s\"}", last->id);
	else
		bj_buf_puts(buf, "],\"next\":null}");
}

bool bj_runs_print(struct bj_runs *runs, const struct bj_runs_filter *filter, struct bj_buf *buf)
{
	pthread_mutex_lock(&runs->lock);
	expire(runs);

	struct bj_execution *before = filter->before ? find(runs, filter->before) : NULL;
	const bool ok = !filter->before || before;

	if (ok)
		print_list(before ? before->older : runs->newest, filter, buf);
	pthread_mutex_unlock(&runs->lock);
	return ok;
}
