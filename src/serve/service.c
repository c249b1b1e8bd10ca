/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/service.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "check/layer.h"
#include "check/rules.h"
#include "engine/pin.h"
#include "launch/launch.h"
#include "record/approval.h"
#include "record/tenant.h"
#include "serve/mcp.h"

#include <errno.h>
#include <stdlib.h>

#define NOTE_NS    UINT64_C(1000000000)
#define NOTE_BURST 20

int bj_service_init(struct bj_service *s, struct bj_err *err)
{
	struct bj_feed *feed = bj_feed_new();

	*s = (struct bj_service){ .feed = feed,
				  .runs = feed ? bj_runs_new(feed) : NULL,
				  .turns = bj_turns_new(0, 0),
				  .sessions = bj_sessions_new(),
				  .started_unix_ms = bj_clock_unix_ms() };
	bj_metrics_init(&s->metrics);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->idle, NULL);
	s->mcp = bj_mcp_door_new(s);
	if (!s->runs || !s->turns || !s->sessions || !s->mcp) {
		bj_service_done(s);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot start the service");
	}
	return 0;
}

static void drop(struct bj_generation *g)
{
	if (!g)
		return;
	bj_close(g->bj);
	free(g);
}

void bj_service_done(struct bj_service *s)
{
	bj_mcp_door_free(s->mcp);
	drop(s->current);
	bj_runs_free(s->runs);
	bj_feed_free(s->feed);
	bj_turns_free(s->turns);
	bj_tracer_free(s->tracer);
	bj_metrics_done(&s->metrics);
	bj_sessions_free(s->sessions);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->idle);
}

/* Findings are counted by the rules that this engine can find. */
static void know_rules(struct bj_service *s, const struct belljar *bj)
{
	AUTO_FREE const struct bj_rule **rules = NULL;
	size_t n = 0;

	if (bj_rules_list(bj->checker, &rules, &n, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		bj_metrics_know_rule(&s->metrics, rules[i]->id);
}

void bj_service_use(struct bj_service *s, struct belljar *bj_take)
{
	const struct bj_serve_settings *set = &bj_take->settings->serve;
	const unsigned int places = bj_take->places ? bj_take->places : set->concurrency;
	const unsigned int runs = places < set->concurrency ? places : set->concurrency;
	struct bj_generation *g = calloc(1, sizeof(*g));

	if (!g) {
		bj_close(bj_take);
		return;
	}
	if (runs < set->concurrency)
		bj_log(BJ_LOG_WARN,
		       "there are places for %u runs at once, not for %u: allow more open files "
		       "(ulimit -n) or user ids (native.uid_count)",
		       runs, set->concurrency);
	*g = (struct bj_generation){ .bj = bj_take, .runs = runs, .refs = 1 };
	bj_runs_configure(s->runs, set->keep, set->keep_time_ms, set->keep_output);
	bj_turns_resize(s->turns, runs, set->queue);
	bj_mcp_door_configure(s->mcp, &bj_take->settings->mcp, set->listen);
	s->metrics.engines++;
	s->metrics.orphans += bj_take->swept;
	know_rules(s, bj_take);
	pthread_mutex_lock(&s->lock);

	struct bj_generation *old = s->current;

	s->current = g;
	pthread_mutex_unlock(&s->lock);
	if (old)
		bj_service_leave(s, old);
}

struct bj_generation *bj_service_enter(struct bj_service *s)
{
	pthread_mutex_lock(&s->lock);

	struct bj_generation *g = s->stopping ? NULL : s->current;

	if (g)
		g->refs++;
	pthread_mutex_unlock(&s->lock);
	return g;
}

void bj_service_leave(struct bj_service *s, struct bj_generation *g)
{
	pthread_mutex_lock(&s->lock);

	const bool last = --g->refs == 0;

	pthread_mutex_unlock(&s->lock);
	if (last)
		drop(g);
}

bool bj_service_ready(struct bj_service *s)
{
	pthread_mutex_lock(&s->lock);

	const bool ready = s->current && !s->stopping;

	pthread_mutex_unlock(&s->lock);
	return ready;
}

static bool all_ended(struct bj_service *s)
{
	unsigned int live, known;

	bj_runs_count(s->runs, &live, &known);
	return live == 0 && s->busy == 0;
}

/* Wait for the last run, at most until @deadline (0: as long as it takes). */
static bool wait_idle(struct bj_service *s, uint64_t deadline)
{
	bool ended;

	pthread_mutex_lock(&s->lock);
	while (!(ended = all_ended(s)) && (!deadline || bj_clock_now() < deadline)) {
		struct timespec until;

		/* Runs on connections end without a signal: look now and then. */
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 20000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&s->idle, &s->lock, &until);
	}
	pthread_mutex_unlock(&s->lock);
	return ended;
}

void bj_service_stop(struct bj_service *s, uint64_t grace_ms)
{
	pthread_mutex_lock(&s->lock);
	s->stopping = true;
	pthread_mutex_unlock(&s->lock);
	bj_feed_close(s->feed);
	if (!wait_idle(s, bj_clock_now() + grace_ms * 1000000u))
		bj_runs_cancel_all(s->runs);
	bj_mcp_door_stop(s->mcp);
	wait_idle(s, bj_clock_now() + UINT64_C(5000000000));
}

/* Whoever asks waits for the launcher, nobody else does. */
static void ask_launcher(struct bj_service *s, struct bj_wire_census *ret)
{
	struct bj_generation *g = bj_service_enter(s);
	struct bj_err err = { 0 };

	if (!g)
		return;
	if (g->bj->process[BJ_BACKEND_NATIVE] &&
	    bj_launcher_census(g->bj->process[BJ_BACKEND_NATIVE], ret, &err) < 0)
		bj_log(BJ_LOG_DEBUG, "%s", err.msg);
	bj_service_leave(s, g);
}

/* Give the image at @place @text for a label. No two have the same. */
static void label_image(struct bj_gauges *gauges, size_t place, const char *text, size_t size)
{
	char label[sizeof(gauges->images[0])];

	snprintf(label, sizeof(label), "%.*s", (int)size, text);
	for (size_t i = 0; i < place; i++)
		if (strcmp(gauges->images[i], label) == 0)
			return;
	memcpy(gauges->images[place], label, strlen(label) + 1);
}

/* An image is called by its name. One whose name another place has, too, is called by its digest,
 * and one that is there twice is never used by its second place. */
static void label_images(const struct bj_settings *set, struct bj_gauges *gauges)
{
	for (size_t i = 0; i <= set->images_allow.n && i < BJ_WIRE_IMAGES; i++) {
		const char *image = bj_pin_at(set, i), *text = image ? image : BJ_PIN_HOST;
		const size_t n = strcspn(text, "@");

		label_image(gauges, i, text, n);
		if (!gauges->images[i][0] && text[n])
			label_image(gauges, i, text + n + 1, strlen(text + n + 1));
	}
}

void bj_service_gauges(struct bj_service *s, struct bj_gauges *gauges)
{
	ask_launcher(s, &gauges->census);
	if (s->archive)
		gauges->pending = bj_approval_waiting(s->archive);
	pthread_mutex_lock(&s->lock);
	if (s->current) {
		const struct bj_settings *set = s->current->bj->settings;

		gauges->max_running = s->current->runs;
		gauges->max_waiting = set->serve.queue;
		label_images(set, gauges);
	}
	gauges->fronts = s->fronts;
	gauges->launchers = s->launchers;
	if (s->archive) {
		gauges->store_errors = s->archive->errors + s->archive->store.skipped;
		gauges->audit_errors = bj_audit_errors(s->archive->audit);
	}
	pthread_mutex_unlock(&s->lock);
}

bool bj_service_may_note(struct bj_service *s, enum bj_refusal kind)
{
	const uint64_t now = bj_clock_now();

	pthread_mutex_lock(&s->lock);

	uint64_t *full = &s->refusals[kind].full_ns;
	const uint64_t next = (*full > now ? *full : now) + NOTE_NS;
	const bool may = next <= now + NOTE_BURST * NOTE_NS;

	if (may)
		*full = next;
	else
		s->refusals[kind].unwritten++;
	pthread_mutex_unlock(&s->lock);
	return may;
}

void bj_service_note_unwritten(struct bj_service *s)
{
	static const char *const kinds[] = { [BJ_REFUSED_KEY] = "key.refuse",
					     [BJ_REFUSED_ACCESS] = "access.refuse",
					     [BJ_REFUSED_QUOTA] = "run.refuse" };

	for (int i = 0; s->archive && i < BJ_REFUSALS; i++) {
		pthread_mutex_lock(&s->lock);

		const uint64_t n = s->refusals[i].unwritten;

		s->refusals[i].unwritten = 0;
		pthread_mutex_unlock(&s->lock);
		if (n == 0 ||
		    bj_audit_append(s->archive->audit, kinds[i],
				    json_pack("{s:I}", "unwritten", (json_int_t)n), NULL) == 0)
			continue;
		pthread_mutex_lock(&s->lock);
		s->refusals[i].unwritten += n; /* the next time, then */
		pthread_mutex_unlock(&s->lock);
	}
}

void bj_service_note_key(struct bj_service *s, const struct bj_caller *caller,
			 const struct bj_err *err)
{
	struct bj_audit *audit = s->archive ? s->archive->audit : NULL;
	struct bj_err failed = { 0 };
	int r = 0;

	if (caller && caller->noted)
		r = bj_audit_append(audit, "key.use",
				    json_pack("{s:s, s:s*, s:o*}", "key", caller->key, "tenant",
					      caller->tenant[0] ? caller->tenant : NULL, "actor",
					      bj_audit_text(caller->name[0] ? caller->name : NULL)),
				    &failed);
	else if (!caller && bj_service_may_note(s, BJ_REFUSED_KEY))
		r = bj_audit_append(audit, "key.refuse",
				    json_pack("{s:o}", "why", bj_audit_text(err->msg)), &failed);
	if (r < 0)
		bj_log(BJ_LOG_ERROR, "%s", failed.msg);
}

void bj_service_note_refusal(struct bj_service *s, const struct bj_caller *caller,
			     const char *method, const char *route)
{
	struct bj_err err = { 0 };

	if (!s->archive || !caller || !bj_service_may_note(s, BJ_REFUSED_ACCESS))
		return;
	if (bj_audit_append(s->archive->audit, "access.refuse",
			    json_pack("{s:s, s:s, s:s*, s:s*, s:o*}", "method", method, "route",
				      route, "key", caller->key[0] ? caller->key : NULL, "tenant",
				      caller->tenant[0] ? caller->tenant : NULL, "actor",
				      bj_audit_text(caller->name[0] ? caller->name : NULL)),
			    &err) < 0)
		bj_log(BJ_LOG_ERROR, "%s", err.msg);
}

void bj_service_note_cancel(struct bj_service *s, const struct bj_caller *caller, const char *id,
			    const char *tenant)
{
	const char *who = !caller ? "?" : caller->name[0] ? caller->name : caller->key;
	struct bj_err err = { 0 };

	if (!s->archive)
		return;
	if (bj_audit_append(s->archive->audit, "run.cancel",
			    json_pack("{s:s, s:s*, s:o*}", "run", id, "tenant",
				      tenant[0] ? tenant : NULL, "actor", bj_audit_text(who)),
			    &err) < 0)
		bj_log(BJ_LOG_ERROR, "%s", err.msg);
}
