/* SPDX-License-Identifier: Apache-2.0 */

/* Jars that wait for scripts. Each kind has a number that it should have, which follows demand;
 * refilling happens between events, a few jars at a time, so that a run that arrives meanwhile does
 * not wait for it, and stands back while young runs need the machine: most end within milliseconds,
 * and a burst that fits into the pool is over sooner than its jars can be replaced. Only who comes
 * in vain makes it go on at once. A run that finds none of its kind takes an empty jar, and with it
 * the longest part of its way. */

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/pack.h"
#include "launch/launcher.h"
#include "warm/embed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define REST_NS     UINT64_C(1000000000) /* after a failure */
#define BREATH_NS   UINT64_C(4000000)    /* while a young run is under way */
#define YOUNG_NS    UINT64_C(150000000)  /* since its start */
#define PRESSURE_NS UINT64_C(1000000000) /* between two looks at the machine's memory */
#define SLOW_NS     UINT64_C(3000000000) /* from empty to waiting: then its zygote is sick */
#define STUCK_NS    UINT64_C(5000000000) /* asked for, and none came: it never will answer */

enum {
	BUILD_AT_ONCE = 2, /* jars of one kind on their way */
	MAX_LOST = 3,      /* scripts that were not begun: their zygote is sick */
};

static bool is_python(enum pool_kind kind)
{
	return kind == POOL_PYTHON || kind == POOL_HEAVY;
}

static enum pool_kind kind_of(const struct bj_jar *jar)
{
	return jar->stock ? (enum pool_kind)(jar->stock - 1) : POOL_KINDS;
}

/* --- starting --------------------------------------------------------------------------------- */

static int empty_spec(void)
{
	AUTO_BUF struct bj_buf pack = { .max = 4096 };

	bj_pack_add(&pack, BJ_PACK_END, "", "", 0);
	return pack.failed ? -ENOMEM : bj_fd_memfile("spec", pack.data, pack.size);
}

int pools_init(struct launcher *l, const struct bj_launch_settings *settings, struct bj_err *err)
{
	const struct bj_launch_pools *p = &settings->pools;
	const uint32_t min[] = { [POOL_PYTHON] = p->python,
				 [POOL_HEAVY] = p->heavy,
				 [POOL_BASH] = p->bash,
				 [POOL_EMPTY] = p->empty };

	l->shape = settings->shape;
	l->pools[POOL_PYTHON].modules = p->modules;
	l->pools[POOL_HEAVY].modules = p->heavy_modules;
	for (int k = 0; k < POOL_KINDS; k++) {
		bj_demand_init(&l->pools[k].demand, min[k], min[k] ? p->max : 0);
		l->pools[k].zygote = (struct bj_zygote){ .pidfd = -1, .sock = -1 };
	}
	l->meminfo = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	l->wait_library = l->wait_spec = -1;
	if (p->bash == 0)
		return 0;
	l->wait_library = bj_fd_memfile("wait", bj_embed_wait, bj_embed_wait_size);
	l->wait_spec = empty_spec();
	if (l->wait_library < 0 || l->wait_spec < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -l->wait_library, "cannot prepare a Bash");
	return 0;
}

void pools_done(struct launcher *l)
{
	for (uint32_t k = 0; k < POOL_KINDS; k++) {
		bj_demand_init(&l->pools[k].demand, 0, 0);
		if (l->pools[k].zygote.pid > 0)
			zygote_dead(l, k);
	}
}

/* --- taking ----------------------------------------------------------------------------------- */

/* Whether a jar that was built for nobody in particular does for @run. */
static bool fits(const struct launcher *l, const struct bj_wire_launch *run)
{
	return !(run->flags & BJ_WIRE_HAS_INPUTS) && run->tmp_size == l->shape.tmp_size &&
	       run->pids <= l->shape.limits.pids;
}

static bool has_zygote(const struct launcher *l, enum pool_kind kind)
{
	return l->pools[kind].zygote.pid > 0 && l->pools[kind].zygote.ready;
}

enum pool_kind pool_kind_of(const struct launcher *l, const struct bj_wire_launch *run)
{
	if (!fits(l, run) || (run->flags & (BJ_WIRE_HAS_SECCOMP | BJ_WIRE_AGAIN)))
		return POOL_KINDS;
	if (run->language == BJ_LANG_BASH)
		return (run->flags & BJ_WIRE_PLAIN) && l->pools[POOL_BASH].demand.min > 0
			       ? POOL_BASH
			       : POOL_KINDS;
	if ((run->flags & BJ_WIRE_HEAVY) && has_zygote(l, POOL_HEAVY))
		return POOL_HEAVY;
	return has_zygote(l, POOL_PYTHON) ? POOL_PYTHON : POOL_KINDS;
}

/* A jar of a pool that no run has yet. */
static bool is_free(const struct bj_jar *jar)
{
	return jar && jar->stock && !jar->has_run && !jar->dying;
}

/* What waits of each kind, what is on its way, and the furthest of each. */
struct stock {
	uint32_t young;             /* runs */
	uint64_t asked[POOL_KINDS]; /* when its zygote was asked for the oldest that has not come */
	uint32_t ready[POOL_KINDS], coming[POOL_KINDS];
	struct bj_jar *best[POOL_KINDS];
};

static bool is_ready(const struct bj_jar *jar)
{
	return jar->phase == (kind_of(jar) == POOL_EMPTY ? BJ_JAR_EMPTY : BJ_JAR_WAITING);
}

static bool is_young(const struct bj_jar *jar, uint64_t now)
{
	return jar && jar->started > 0 && !jar->replied && now - jar->started < YOUNG_NS;
}

static void note_asked(struct stock *s, const struct bj_jar *jar)
{
	uint64_t *asked = jar && jar->stock ? &s->asked[kind_of(jar)] : NULL;

	if (asked && jar->warm && jar->phase == BJ_JAR_FILLING && !jar->dying &&
	    (*asked == 0 || jar->filling < *asked))
		*asked = jar->filling;
}

/* Without @now no run counts as young. */
static struct stock take_stock(const struct launcher *l, uint64_t now)
{
	struct stock s = { 0 };

	for (uint32_t i = 0, seen = 0; seen < l->n_live && i < l->n_slots; i++) {
		struct bj_jar *jar = l->jars[i];

		seen += jar != NULL;
		s.young += is_young(jar, now);
		note_asked(&s, jar);
		if (!is_free(jar))
			continue;

		const enum pool_kind k = kind_of(jar);

		(*(is_ready(jar) ? &s.ready[k] : &s.coming[k]))++;
		if (!s.best[k] || jar->phase > s.best[k]->phase)
			s.best[k] = jar;
	}
	return s;
}

/* A run asks for a jar of @kind. */
static void ask_for(struct launcher *l, const struct stock *s, enum pool_kind kind)
{
	struct pool *p = &l->pools[kind];

	bj_demand_use(&p->demand, s->ready[kind]);
	if (s->ready[kind] == 0)
		p->owed = BUILD_AT_ONCE;
}

struct bj_jar *pool_take(struct launcher *l, const struct bj_wire_launch *run)
{
	const enum pool_kind kind = pool_kind_of(l, run);
	const struct stock s = take_stock(l, 0);

	if (kind < POOL_KINDS) {
		ask_for(l, &s, kind);
		if (s.ready[kind] > 0)
			return s.best[kind];
	}
	if (!fits(l, run))
		return NULL;
	ask_for(l, &s, POOL_EMPTY);
	/* One that is being filled is nearer than an empty one, but for Bash a start from nothing
	 * in an empty jar is as near. */
	if (kind < POOL_KINDS && is_python(kind) && s.best[kind] &&
	    s.best[kind]->phase == BJ_JAR_FILLING)
		return s.best[kind];
	return s.best[POOL_EMPTY];
}

_Static_assert((int)POOL_KINDS == (int)BJ_WIRE_KINDS, "one census of all kinds");

void pool_count(const struct launcher *l, struct bj_wire_census *ret)
{
	const struct stock s = take_stock(l, 0);

	*ret = (struct bj_wire_census){ .magic = BJ_WIRE_MAGIC,
					.jars = l->n_live,
					.max_jars = l->n_slots };
	memcpy(ret->ends, l->ends, sizeof(ret->ends));
	for (int k = 0; k < POOL_KINDS; k++)
		ret->kinds[k] = (struct bj_wire_kind){
			.ready = s.ready[k],
			.coming = s.coming[k],
			.target = l->pools[k].demand.target,
			.zygotes = has_zygote(l, (enum pool_kind)k),
			.zygote_starts = l->pools[k].starts,
			.failures = l->pools[k].failed,
		};
	for (uint32_t i = 0; i < l->n_slots; i++)
		if (l->jars[i] && l->jars[i]->has_run && !l->jars[i]->dying) {
			const enum pool_kind k = kind_of(l->jars[i]);

			(*(k < POOL_KINDS ? &ret->kinds[k].busy : &ret->cold))++;
		}
}

/* --- filling ---------------------------------------------------------------------------------- */

static int fill_python(struct launcher *l, struct bj_jar *jar, enum pool_kind kind,
		       struct bj_err *err)
{
	struct pool *p = &l->pools[kind];
	const struct bj_spawn ask = { .limits = { .tmp_size = jar->tmp_size,
						  .pids = l->shape.limits.pids,
						  .pids_cgroup = jar->cgroup != NULL },
				      .hurry = jar->has_run,
				      .sick = zygote_sick(p),
				      .nonce = jar->nonce = jar->serial };
	struct bj_zygote_slot slot;
	const int r = bj_zygote_spawn(&p->zygote, jar->watch[BJ_JAR_EV_INIT], jar->cgroup, &ask,
				      &slot, err);

	if (r == 0)
		bj_jar_fill_warm(jar, slot.pid_fd, slot.report_fd, slot.slot_fd);
	return r;
}

static int fill_for_run(struct launcher *l, struct bj_jar *jar, struct bj_err *err)
{
	const enum pool_kind kind = jar->cold_only ? POOL_KINDS : pool_kind_of(l, &jar->run);

	if (kind < POOL_KINDS && is_python(kind) && fill_python(l, jar, kind, err) == 0) {
		jar->stock = kind + 1;
		return 0;
	}
	/* Also when the zygote has just died. */
	return bj_jar_fill_cold(jar, &l->ground, err);
}

int pool_fill(struct launcher *l, struct bj_jar *jar, struct bj_err *err)
{
	const enum pool_kind kind = kind_of(jar);

	if (jar->has_run)
		return fill_for_run(l, jar, err);
	if (kind == POOL_BASH)
		return bj_jar_fill_bash(jar, &l->ground, l->wait_library, l->wait_spec, err);
	if (is_python(kind))
		return fill_python(l, jar, kind, err);
	jar->deadline = 0; /* it stays as it is until a run comes */
	return 0;
}

/* Whether @jar is of the zygote that is there now, and not of one that has ended since. */
static bool is_of_present(const struct pool *p, const struct bj_jar *jar)
{
	return jar->filling >= p->zygote_since;
}

void pool_over(struct launcher *l, const struct bj_jar *jar)
{
	struct pool *p = &l->pools[kind_of(jar)];

	if (jar->has_run && !jar->failed && jar->reply.wait_status == 0) {
		p->lost = 0;
	} else if (jar->failed && !jar->has_run) {
		p->rest_until = bj_clock_now() + REST_NS;
		p->complaint = BJ_END_WRONG;
		p->complaints += is_of_present(p, jar);
		p->failed++;
	}
}

/* What is sick ends with all that it made and nobody has used yet. */
static void replace_all(struct launcher *l, enum pool_kind kind)
{
	zygote_replace(l, kind, BJ_END_WRONG);
	for (uint32_t i = 0; i < l->n_slots; i++) {
		struct bj_jar *slot = l->jars[i];

		if (!is_free(slot) || kind_of(slot) != kind || !slot->warm)
			continue;
		bj_jar_kill(slot, BJ_CAUSE_CANCELLED);
		launcher_advance(l, slot);
	}
}

void pool_found_wrong(struct launcher *l, const struct bj_jar *jar)
{
	const enum pool_kind kind = kind_of(jar);

	if (kind < POOL_KINDS && is_of_present(&l->pools[kind], jar))
		replace_all(l, kind);
}

void pool_lost(struct launcher *l, const struct bj_wire_launch *run)
{
	struct bj_wire_launch first = *run;

	first.flags &= ~(uint32_t)BJ_WIRE_AGAIN;

	const enum pool_kind kind = pool_kind_of(l, &first);

	if (kind == POOL_KINDS)
		return;
	l->pools[kind].failed++;
	if (is_python(kind) && ++l->pools[kind].lost >= MAX_LOST)
		replace_all(l, kind);
}

void pool_filled(struct launcher *l, const struct bj_jar *jar)
{
	struct pool *p = &l->pools[kind_of(jar)];
	const uint64_t took = bj_clock_now() - jar->filling;

	if (took > SLOW_NS)
		p->complaint = BJ_END_SLOW;
	p->complaints = took > SLOW_NS ? p->complaints + 1 : 0;
	p->filled_at = bj_clock_now();
	p->failures = 0;
}

/* --- refilling -------------------------------------------------------------------------------- */

static void build(struct launcher *l, enum pool_kind kind)
{
	struct bj_jar *jar = launcher_new_jar(l);
	struct bj_err err = { 0 };

	if (!jar)
		return;
	jar->stock = kind + 1;
	if (bj_jar_build(jar, &l->ground, &l->shape, &err) < 0)
		bj_jar_fail(jar, &err);
	launcher_advance(l, jar);
}

void pool_build_ahead(struct launcher *l)
{
	build(l, POOL_EMPTY);
}

static void look_at_memory(struct launcher *l, uint64_t now)
{
	char text[512];

	if (now - l->pressure_at < PRESSURE_NS || l->meminfo < 0)
		return;
	l->pressure_at = now;

	const ssize_t n = pread(l->meminfo, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	l->short_of_memory = bj_demand_memory_short(text);
}

/* End one of @kind that is too much. */
static void shrink(struct launcher *l, const struct stock *s, enum pool_kind kind)
{
	struct bj_jar *jar = s->best[kind];

	if (s->ready[kind] <= l->pools[kind].demand.target || !jar || !is_ready(jar))
		return;
	bj_jar_kill(jar, BJ_CAUSE_CANCELLED);
	launcher_advance(l, jar);
}

/* A zygote that hangs says nothing, and whoever waits for it would for long. Under load many wait,
 * but some come. When to look again, or 0. */
static uint64_t mind_zygote(struct launcher *l, const struct stock *s, enum pool_kind kind,
			    uint64_t now)
{
	const uint64_t filled = l->pools[kind].filled_at;
	const uint64_t since = s->asked[kind] > filled ? s->asked[kind] : filled;

	if (!is_python(kind) || s->asked[kind] == 0)
		return 0;
	if (now < since + STUCK_NS)
		return since + STUCK_NS;
	zygote_replace(l, kind, BJ_END_SLOW);
	return now;
}

/* Build one of @kind if one is missing. When to come back, or 0. */
static uint64_t refill(struct launcher *l, const struct stock *s, enum pool_kind kind, uint64_t now)
{
	struct pool *p = &l->pools[kind];
	const uint32_t target = p->demand.target, have = s->ready[kind] + s->coming[kind];

	if (target == 0 || (is_python(kind) && !zygote_keep(l, kind)))
		return 0;
	/* The last places are for runs. */
	if (have >= target || s->coming[kind] >= BUILD_AT_ONCE ||
	    l->n_live >= l->n_slots - l->n_slots / 8)
		return 0;
	if (now < p->rest_until)
		return p->rest_until;
	if (now < l->resume && p->owed == 0)
		return l->resume;
	p->owed -= p->owed > 0;
	build(l, kind);
	return now;
}

/* The earlier of two points in time, of which 0 is never. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

uint64_t pool_refill(struct launcher *l)
{
	const uint64_t now = bj_clock_now();
	bool grown = false;
	uint64_t next = 0;

	if (l->strays_at && now >= l->strays_at)
		zygote_reap_strays(l);
	look_at_memory(l, now);

	const struct stock s = take_stock(l, now);

	if (s.young > 0)
		l->resume = now + BREATH_NS;
	for (int k = 0; k < POOL_KINDS; k++) {
		struct bj_demand *d = &l->pools[k].demand;

		if (d->min == 0)
			continue;
		bj_demand_look(d, now, l->short_of_memory);
		shrink(l, &s, (enum pool_kind)k);
		next = earlier(next, mind_zygote(l, &s, (enum pool_kind)k, now));
		next = earlier(next, refill(l, &s, (enum pool_kind)k, now));
		grown |= d->target != d->min;
	}
	next = earlier(next, l->strays_at);
	/* What has grown shrinks again without a run to remind us. */
	return grown ? earlier(next, now + BJ_DEMAND_PERIOD_NS) : next;
}
