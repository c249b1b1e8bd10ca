/* SPDX-License-Identifier: Apache-2.0 */

/* Slots that wait for scripts. Refilling happens between events, a few jars at a time, so that a
 * run that arrives meanwhile does not wait for it. */

#include "base/clock.h"
#include "base/err.h"
#include "launch/launcher.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#define REST_NS   UINT64_C(1000000000) /* after a failure */
#define BREATH_NS UINT64_C(4000000)    /* after a run was started */

enum {
	BUILD_AT_ONCE = 2,       /* slots on their way */
	ZYGOTE_RUNS = 5000,      /* then a new one: its slots share one address layout */
	ZYGOTE_MAX_FAILURES = 3, /* then every run is cold */
};

bool pool_fits(const struct launcher *l, const struct bj_wire_launch *run)
{
	return l->pool.target > 0 && l->pool.zygote.pid > 0 && run->language == BJ_LANG_PYTHON &&
	       !(run->flags & (BJ_WIRE_HAS_SECCOMP | BJ_WIRE_HAS_INPUTS)) &&
	       run->tmp_size == l->pool.shape.tmp_size && run->pids <= l->pool.shape.limits.pids;
}

/* A jar of the pool that no run has yet. */
static bool is_free(const struct bj_jar *jar)
{
	return jar && !jar->has_run && !jar->dying;
}

struct bj_jar *pool_take(struct launcher *l)
{
	struct bj_jar *best = NULL;

	for (uint32_t i = 0, seen = 0; seen < l->n_live && i < l->n_slots; i++) {
		struct bj_jar *jar = l->jars[i];

		seen += jar != NULL;
		if (!is_free(jar))
			continue;
		if (jar->phase == BJ_JAR_WAITING)
			return jar;
		if (!best || jar->phase > best->phase)
			best = jar;
	}
	return best;
}

int pool_fill(struct launcher *l, struct bj_jar *jar, struct bj_err *err)
{
	const struct bj_seal_limits limits = { .tmp_size = jar->tmp_size,
					       .pids = l->pool.shape.limits.pids,
					       .pids_cgroup = jar->cgroup != NULL };
	struct bj_zygote_slot slot;
	const int r = bj_zygote_spawn(&l->pool.zygote, jar->watch[BJ_JAR_EV_INIT], jar->cgroup,
				      &limits, &slot, err);

	if (r == 0)
		bj_jar_fill_warm(jar, slot.pid_fd, slot.report_fd, slot.slot_fd);
	return r;
}

static void watch(struct launcher *l, int fd, uint32_t what)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = (uint64_t)what << 32 };

	epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev);
}

static void start_zygote(struct launcher *l)
{
	struct bj_err err;

	if (bj_zygote_start(&l->pool.zygote, l->ground.python, l->pool.modules, &err) < 0) {
		l->pool.zygote_failures++;
		return;
	}
	l->pool.zygote_since = bj_clock_now();
	watch(l, l->pool.zygote.sock, BJ_EVENT_ZYGOTE);
	watch(l, l->pool.zygote.pidfd, BJ_EVENT_ZYGOTE_DEAD);
}

void pool_zygote_ready(struct launcher *l)
{
	struct bj_zygote *z = &l->pool.zygote;
	char word = 0;

	/* It says one thing; after that, and when it is dead, the pidfd speaks. */
	if (z->pid <= 0 || recv(z->sock, &word, 1, MSG_DONTWAIT) < 0)
		return;
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, z->sock, NULL);
	z->ready = word == 'r';
	if (z->ready)
		l->pool.zygote_failures = 0;
}

void pool_zygote_dead(struct launcher *l)
{
	if (!l->pool.zygote.ready)
		l->pool.zygote_failures++;
	/* To close them is not enough: a child on its way to exec may hold copies, and then the
	 * next zygote would die of the events of this one. */
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->pool.zygote.sock, NULL);
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->pool.zygote.pidfd, NULL);
	bj_zygote_stop(&l->pool.zygote);
}

static uint32_t count_free(const struct launcher *l, uint32_t *ret_coming)
{
	uint32_t n = 0, coming = 0;

	for (uint32_t i = 0, seen = 0; seen < l->n_live && i < l->n_slots; i++) {
		seen += l->jars[i] != NULL;
		if (is_free(l->jars[i])) {
			n++;
			coming += l->jars[i]->phase != BJ_JAR_WAITING;
		}
	}
	*ret_coming = coming;
	return n;
}

static void refill_zygote(struct launcher *l)
{
	struct bj_zygote *z = &l->pool.zygote;
	const bool stuck = z->pid > 0 && !z->ready &&
			   bj_clock_now() - l->pool.zygote_since > 6 * BJ_JAR_BUILD_NS;

	if (stuck || z->spawned > ZYGOTE_RUNS)
		pool_zygote_dead(l);
	if (z->pid <= 0 && l->pool.zygote_failures < ZYGOTE_MAX_FAILURES)
		start_zygote(l);
}

void pool_failed(struct launcher *l)
{
	l->pool.rest_until = bj_clock_now() + REST_NS;
}

void pool_used(struct launcher *l)
{
	l->pool.resume = bj_clock_now() + BREATH_NS;
}

static void build_slot(struct launcher *l)
{
	struct bj_jar *jar = launcher_new_jar(l);
	struct bj_err err = { 0 };

	if (!jar)
		return;
	if (bj_jar_build(jar, &l->ground, &l->pool.shape, &err) < 0)
		bj_jar_fail(jar, &err);
	launcher_advance(l, jar);
}

uint64_t pool_refill(struct launcher *l)
{
	uint32_t coming = 0;

	if (l->pool.target == 0)
		return 0;
	refill_zygote(l);
	if (!l->pool.zygote.ready)
		return 0;

	const uint32_t n = count_free(l, &coming);

	if (n >= l->pool.target || coming >= BUILD_AT_ONCE)
		return 0;
	if (bj_clock_now() < l->pool.rest_until)
		return l->pool.rest_until;
	/* With half of the slots gone there is no time to lose. */
	if (bj_clock_now() < l->pool.resume && 2 * n > l->pool.target)
		return l->pool.resume;
	build_slot(l);
	return bj_clock_now();
}
