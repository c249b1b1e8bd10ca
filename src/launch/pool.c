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

#define REST_NS     UINT64_C(1000000000)   /* after a failure */
#define BREATH_NS   UINT64_C(4000000)      /* while a young run is under way */
#define YOUNG_NS    UINT64_C(150000000)    /* since its start */
#define IDLE_NS     UINT64_C(300000000000) /* without a run: nothing is kept for an image */
#define PRESSURE_NS UINT64_C(1000000000)   /* between two looks at the machine's memory */
#define SLOW_NS     UINT64_C(3000000000) /* for one, from empty to waiting: then its zygote is sick */
#define STUCK_NS    UINT64_C(5000000000) /* asked for, and none came: it never will answer */

enum {
	BUILD_AT_ONCE = 2, /* jars of one kind on their way */
	MAX_LOST = 3,      /* scripts that were not begun: their zygote is sick */
};

static bool is_python(uint32_t pool)
{
	return pool_kind(pool) == POOL_PYTHON || pool_kind(pool) == POOL_HEAVY;
}

static uint32_t made_by(const struct bj_jar *jar)
{
	return jar->stock ? jar->stock - 1 : NO_POOL;
}

/* --- starting --------------------------------------------------------------------------------- */

static int empty_spec(void)
{
	AUTO_BUF struct bj_buf pack = { .max = 4096 };

	bj_pack_add(&pack, BJ_PACK_END, "", "", 0);
	return pack.failed ? -ENOMEM : bj_fd_memfile("spec", pack.data, pack.size);
}

/* Keep what the settings plan for @image; nobody has used the others yet, so they begin with one of
 * each. */
static void plan_shelf(struct launcher *l, uint32_t image)
{
	const struct bj_launch_pools *p = &l->plan;
	const uint32_t min[] = { [POOL_PYTHON] = p->python,
				 [POOL_HEAVY] = p->heavy,
				 [POOL_BASH] = p->bash,
				 [POOL_EMPTY] = p->empty };

	l->shelves[image].kept = true;
	for (uint32_t k = 0; k < POOL_KINDS; k++) {
		struct pool *pool = &l->pools[image * POOL_KINDS + k];
		const uint32_t least = image == 0 ? min[k] : min[k] > 0;

		bj_demand_init(&pool->demand, least, least ? p->max : 0);
		pool->modules = k == POOL_HEAVY ? p->heavy_modules : p->modules;
		pool->failures = 0;
	}
}

int pools_init(struct launcher *l, const struct bj_launch_settings *settings, struct bj_err *err)
{
	l->plan = settings->pools;
	l->shape = settings->shape;
	for (int i = 0; i < MAX_POOLS; i++)
		l->pools[i].zygote = (struct bj_zygote){ .pidfd = -1, .sock = -1 };
	plan_shelf(l, 0);
	if (l->meminfo < 0 && !l->once)
		l->meminfo = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	l->wait_library = l->wait_spec = -1;
	if (l->plan.bash == 0)
		return 0;
	l->wait_library = bj_fd_memfile("wait", bj_embed_wait, bj_embed_wait_size);
	l->wait_spec = empty_spec();
	if (l->wait_library < 0 || l->wait_spec < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -l->wait_library, "cannot prepare a Bash");
	return 0;
}

void pools_done(struct launcher *l)
{
	for (uint32_t i = 0; i < MAX_POOLS; i++) {
		bj_demand_init(&l->pools[i].demand, 0, 0);
		zygote_end(l, i);
	}
}

/* --- ending ----------------------------------------------------------------------------------- */

/* A jar of a pool that no run has yet. */
static bool is_free(const struct bj_jar *jar)
{
	return jar && jar->stock && !jar->has_run && !jar->dying;
}

/* End what was made for @pool and nobody has used. */
static void end_unused(struct launcher *l, uint32_t pool)
{
	for (uint32_t i = 0; i < l->n_slots; i++) {
		struct bj_jar *jar = l->jars[i];

		if (!is_free(jar) || made_by(jar) != pool)
			continue;
		bj_jar_kill(jar, BJ_CAUSE_CANCELLED);
		launcher_advance(l, jar);
	}
}

void pool_make_room(struct launcher *l)
{
	for (uint32_t i = 0; i < l->n_slots; i++) {
		if (!is_free(l->jars[i]))
			continue;
		bj_jar_kill(l->jars[i], BJ_CAUSE_CANCELLED);
		launcher_advance(l, l->jars[i]);
		return;
	}
}

/* --- images ----------------------------------------------------------------------------------- */

/* Keep nothing of @image. Runs in it go on; those that come start from nothing. */
static void clear_shelf(struct launcher *l, uint32_t image)
{
	l->shelves[image].kept = false;
	for (uint32_t pool = image * POOL_KINDS; pool < (image + 1) * POOL_KINDS; pool++) {
		bj_demand_init(&l->pools[pool].demand, 0, 0);
		zygote_end(l, pool);
		end_unused(l, pool);
	}
}

/* The image beside the first one that was asked for longest ago; 0: none is kept. */
static uint32_t oldest_shelf(const struct launcher *l)
{
	uint32_t oldest = 0;

	for (uint32_t i = 1; i < BJ_WIRE_IMAGES; i++)
		if (l->shelves[i].kept &&
		    (oldest == 0 || l->shelves[i].used_at < l->shelves[oldest].used_at))
			oldest = i;
	return oldest;
}

static uint32_t count_shelves(const struct launcher *l)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < BJ_WIRE_IMAGES; i++)
		n += l->shelves[i].kept;
	return n;
}

/* A run names @image: from now on something waits for the next one. */
static void shelf_use(struct launcher *l, uint32_t image)
{
	l->shelves[image].used_at = bj_clock_now();
	if (image == 0 || l->shelves[image].kept || l->plan.images == 0 || l->short_of_memory)
		return;
	if (count_shelves(l) >= l->plan.images)
		clear_shelf(l, oldest_shelf(l));
	plan_shelf(l, image);
}

/* End what nobody asks for any more, and when memory is short one image after the other. When to
 * come back; 0: there is none. */
static uint64_t shelves_look(struct launcher *l, uint64_t now)
{
	const uint32_t oldest = oldest_shelf(l);

	if (oldest == 0)
		return 0;
	if ((l->short_of_memory && l->pressure_at == now) ||
	    now - l->shelves[oldest].used_at > IDLE_NS)
		clear_shelf(l, oldest);
	return now + PRESSURE_NS;
}

/* --- taking ----------------------------------------------------------------------------------- */

/* Whether a jar that was built for nobody in particular does for @run. */
static bool fits(const struct launcher *l, const struct bj_wire_launch *run)
{
	return !(run->flags & BJ_WIRE_HAS_INPUTS) && run->tmp_size == l->shape.tmp_size &&
	       run->pids <= l->shape.limits.pids;
}

static bool has_zygote(const struct launcher *l, uint32_t pool)
{
	return l->pools[pool].zygote.pid > 0 && l->pools[pool].zygote.ready;
}

uint32_t pool_of(const struct launcher *l, const struct bj_wire_launch *run)
{
	const uint32_t first = run->image * POOL_KINDS, bash = first + POOL_BASH;

	if (!fits(l, run) || (run->flags & (BJ_WIRE_HAS_SECCOMP | BJ_WIRE_AGAIN)))
		return NO_POOL;
	if (run->language == BJ_LANG_BASH)
		return (run->flags & BJ_WIRE_PLAIN) && l->pools[bash].demand.min > 0 ? bash
										     : NO_POOL;
	if ((run->flags & BJ_WIRE_HEAVY) && has_zygote(l, first + POOL_HEAVY))
		return first + POOL_HEAVY;
	return has_zygote(l, first + POOL_PYTHON) ? first + POOL_PYTHON : NO_POOL;
}

/* What waits in each pool, what is on its way, and the furthest of each. */
struct stock {
	uint32_t young;            /* runs */
	uint64_t asked[MAX_POOLS]; /* when its zygote was asked for the oldest that has not come */
	uint32_t ready[MAX_POOLS], coming[MAX_POOLS];
	struct bj_jar *best[MAX_POOLS];
};

static bool is_ready(const struct bj_jar *jar)
{
	return jar->phase ==
	       (pool_kind(made_by(jar)) == POOL_EMPTY ? BJ_JAR_EMPTY : BJ_JAR_WAITING);
}

static bool is_young(const struct bj_jar *jar, uint64_t now)
{
	return jar && jar->started > 0 && !jar->replied && now - jar->started < YOUNG_NS;
}

static void note_asked(struct stock *s, const struct bj_jar *jar)
{
	uint64_t *asked = jar && jar->stock ? &s->asked[made_by(jar)] : NULL;

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

		const uint32_t pool = made_by(jar);

		(*(is_ready(jar) ? &s.ready[pool] : &s.coming[pool]))++;
		if (!s.best[pool] || jar->phase > s.best[pool]->phase)
			s.best[pool] = jar;
	}
	return s;
}

/* A run asks for a jar of @pool. */
static void ask_for(struct launcher *l, const struct stock *s, uint32_t pool)
{
	struct pool *p = &l->pools[pool];

	bj_demand_use(&p->demand, s->ready[pool]);
	if (s->ready[pool] == 0)
		p->owed = BUILD_AT_ONCE;
}

struct bj_jar *pool_take(struct launcher *l, const struct bj_wire_launch *run)
{
	const uint32_t pool = pool_of(l, run), empty = run->image * POOL_KINDS + POOL_EMPTY;
	const struct stock s = take_stock(l, 0);

	shelf_use(l, run->image);
	if (pool != NO_POOL) {
		ask_for(l, &s, pool);
		if (s.ready[pool] > 0)
			return s.best[pool];
	}
	if (!fits(l, run))
		return NULL;
	ask_for(l, &s, empty);
	/* One that is being filled is nearer than an empty one, but for Bash a start from nothing
	 * in an empty jar is as near. */
	if (pool != NO_POOL && is_python(pool) && s.best[pool] &&
	    s.best[pool]->phase == BJ_JAR_FILLING)
		return s.best[pool];
	return s.best[empty];
}

_Static_assert((int)POOL_KINDS == (int)BJ_WIRE_KINDS, "one census of all kinds");

/* Add what @pool has to the sums by kind and by image. */
static void count_pool(const struct launcher *l, const struct stock *s, uint32_t pool,
		       struct bj_wire_census *ret)
{
	const struct pool *p = &l->pools[pool];
	struct bj_wire_kind *kind = &ret->kinds[pool_kind(pool)];
	struct bj_wire_shelf *shelf = &ret->images[pool_image(pool)];

	kind->ready += s->ready[pool];
	kind->coming += s->coming[pool];
	kind->target += p->demand.target;
	kind->zygotes += has_zygote(l, pool);
	kind->zygote_starts += p->starts;
	kind->failures += p->failed;
	shelf->ready += s->ready[pool];
	shelf->coming += s->coming[pool];
	shelf->target += p->demand.target;
	shelf->zygotes += has_zygote(l, pool);
}

void pool_count(const struct launcher *l, struct bj_wire_census *ret)
{
	const struct stock s = take_stock(l, 0);

	*ret = (struct bj_wire_census){ .magic = BJ_WIRE_MAGIC,
					.jars = l->n_live,
					.max_jars = l->n_slots };
	memcpy(ret->ends, l->ends, sizeof(ret->ends));
	for (uint32_t pool = 0; pool < MAX_POOLS; pool++)
		count_pool(l, &s, pool, ret);
	for (uint32_t i = 0; i < l->n_slots; i++)
		if (l->jars[i] && l->jars[i]->has_run && !l->jars[i]->dying) {
			const uint32_t pool = made_by(l->jars[i]);

			(*(pool != NO_POOL ? &ret->kinds[pool_kind(pool)].busy : &ret->cold))++;
			ret->images[l->jars[i]->image].busy++;
		}
}

/* --- filling ---------------------------------------------------------------------------------- */

/* Whether the next one of @pool will be taken at once: then it need not warm up first, which others
 * would pay for. */
static bool is_awaited(const struct launcher *l, uint32_t pool)
{
	return bj_demand_is_short(&l->pools[pool].demand) && take_stock(l, 0).ready[pool] == 0;
}

static int fill_python(struct launcher *l, struct bj_jar *jar, uint32_t pool, struct bj_err *err)
{
	struct pool *p = &l->pools[pool];
	const struct bj_spawn ask = { .limits = { .tmp_size = jar->tmp_size,
						  .pids = l->shape.limits.pids,
						  .pids_cgroup = jar->cgroup != NULL },
				      .hurry = jar->has_run || is_awaited(l, pool),
				      .sick = zygote_sick(p),
				      .nonce = jar->nonce = jar->serial };
	struct bj_zygote_slot slot;
	const int r = bj_zygote_spawn(&p->zygote, jar->watch[BJ_JAR_EV_INIT], jar->cgroup, &ask,
				      &slot, err);

	if (r == 0)
		bj_jar_fill_warm(jar, slot.pid_fd, slot.slot_fd);
	return r;
}

static int fill_for_run(struct launcher *l, struct bj_jar *jar, struct bj_err *err)
{
	const uint32_t pool = jar->cold_only ? NO_POOL : pool_of(l, &jar->run);

	if (pool != NO_POOL && is_python(pool) && fill_python(l, jar, pool, err) == 0) {
		jar->stock = pool + 1;
		return 0;
	}
	/* Also when the zygote has just died. */
	return bj_jar_fill_cold(jar, &l->ground, err);
}

int pool_fill(struct launcher *l, struct bj_jar *jar, struct bj_err *err)
{
	const uint32_t pool = made_by(jar);

	if (jar->has_run)
		return fill_for_run(l, jar, err);
	if (pool_kind(pool) == POOL_BASH)
		return bj_jar_fill_bash(jar, &l->ground, l->wait_library, l->wait_spec, err);
	if (is_python(pool))
		return fill_python(l, jar, pool, err);
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
	struct pool *p = &l->pools[made_by(jar)];

	if (jar->has_run && !jar->failed && jar->reply.wait_status == 0) {
		p->lost = 0;
	} else if (jar->failed && !jar->has_run) {
		p->rest_until = bj_clock_now() + REST_NS;
		p->complaint = BJ_END_WRONG;
		p->complaints += is_of_present(p, jar);
		p->failed++;
	}
}

static void replace_all(struct launcher *l, uint32_t pool)
{
	zygote_replace(l, pool, BJ_END_WRONG);
	end_unused(l, pool);
}

void pool_found_wrong(struct launcher *l, const struct bj_jar *jar)
{
	const uint32_t pool = made_by(jar);

	if (pool != NO_POOL && is_of_present(&l->pools[pool], jar))
		replace_all(l, pool);
}

void pool_lost(struct launcher *l, const struct bj_wire_launch *run)
{
	struct bj_wire_launch first = *run;

	first.flags &= ~(uint32_t)BJ_WIRE_AGAIN;

	const uint32_t pool = pool_of(l, &first);

	if (pool == NO_POOL)
		return;
	l->pools[pool].failed++;
	if (is_python(pool) && ++l->pools[pool].lost >= MAX_LOST)
		replace_all(l, pool);
}

void pool_filled(struct launcher *l, const struct bj_jar *jar)
{
	struct pool *p = &l->pools[made_by(jar)];
	/* When many wait for a zygote, the last of them waits long: what counts is the time for
	 * one. */
	const uint64_t since = jar->filling > p->filled_at ? jar->filling : p->filled_at;
	const uint64_t took = bj_clock_now() - since;

	if (took > SLOW_NS)
		p->complaint = BJ_END_SLOW;
	p->complaints = took > SLOW_NS ? p->complaints + 1 : 0;
	p->filled_at = bj_clock_now();
	p->failures = 0;
}

/* --- refilling -------------------------------------------------------------------------------- */

static void build(struct launcher *l, uint32_t pool)
{
	struct bj_jar *jar = launcher_new_jar(l, pool_image(pool));
	struct bj_err err = { 0 };

	if (!jar)
		return;
	jar->stock = pool + 1;
	jar->cold_only = l->once; /* who has one run has no zygotes */
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

/* End one of @pool that is too much. */
static void shrink(struct launcher *l, const struct stock *s, uint32_t pool)
{
	struct bj_jar *jar = s->best[pool];

	if (s->ready[pool] <= l->pools[pool].demand.target || !jar || !is_ready(jar))
		return;
	bj_jar_kill(jar, BJ_CAUSE_CANCELLED);
	launcher_advance(l, jar);
}

/* A zygote that hangs says nothing, and whoever waits for it would for long. Under load many wait,
 * but some come. When to look again, or 0. */
static uint64_t mind_zygote(struct launcher *l, const struct stock *s, uint32_t pool, uint64_t now)
{
	const uint64_t filled = l->pools[pool].filled_at;
	const uint64_t since = s->asked[pool] > filled ? s->asked[pool] : filled;

	if (!is_python(pool) || s->asked[pool] == 0)
		return 0;
	if (now < since + STUCK_NS)
		return since + STUCK_NS;
	zygote_replace(l, pool, BJ_END_SLOW);
	return now;
}

/* Build one of @pool if one is missing. When to come back, or 0. */
static uint64_t refill(struct launcher *l, const struct stock *s, uint32_t pool, uint64_t now)
{
	struct pool *p = &l->pools[pool];
	const uint32_t target = p->demand.target, have = s->ready[pool] + s->coming[pool];

	if (target == 0 || (is_python(pool) && !zygote_keep(l, pool)))
		return 0;
	/* The last places are for runs. */
	if (have >= target || s->coming[pool] >= BUILD_AT_ONCE ||
	    l->n_live >= l->n_slots - l->n_slots / 8)
		return 0;
	if (now < p->rest_until)
		return p->rest_until;
	if (now < l->resume && p->owed == 0)
		return l->resume;
	p->owed -= p->owed > 0;
	build(l, pool);
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

	/* Who has one run has neither pools nor zygotes. */
	if (l->once)
		return 0;
	if (l->strays_at && now >= l->strays_at)
		zygote_reap_strays(l);
	look_at_memory(l, now);
	nursery_keep(l, now);

	const uint64_t idle = shelves_look(l, now);

	const struct stock s = take_stock(l, now);

	if (s.young > 0)
		l->resume = now + BREATH_NS;
	for (uint32_t pool = 0; pool < MAX_POOLS; pool++) {
		struct bj_demand *d = &l->pools[pool].demand;

		if (d->min == 0)
			continue;
		bj_demand_look(d, now, l->short_of_memory);
		shrink(l, &s, pool);
		next = earlier(next, mind_zygote(l, &s, pool, now));
		next = earlier(next, refill(l, &s, pool, now));
		grown |= d->target != d->min;
	}
	next = earlier(earlier(next, l->strays_at), idle);
	/* What has grown shrinks again without a run to remind us. */
	return grown ? earlier(next, now + BJ_DEMAND_PERIOD_NS) : next;
}
