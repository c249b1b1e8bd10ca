/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/mcp_sessions.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { ID = 33, OWNER = 128, STREAMS = 8, BUCKETS = 1024 };

/* What one tenant has. */
struct group {
	char tenant[OWNER];
	unsigned int n;
	struct group *next;
};

struct bj_mcp_client {
	struct bj_mcp_sessions *all;
	char id[ID];
	char owner[OWNER], tenant[OWNER];
	struct bj_mcp_session *session;

	/* Guarded by the lock of all. */
	unsigned int refs;
	bool ended;
	uint64_t used_ns;
	struct group *group;
	struct bj_mcp_client *newer, *older; /* by last use */
	struct bj_mcp_client *in_bucket;
	struct bj_mcp_stream *streams[STREAMS]; /* oldest first; NULL: no more */
	struct bj_mcp_stream *own;
	long long last_stream;
};

struct bj_mcp_sessions {
	struct bj_mcp *mcp;
	pthread_mutex_t lock;
	uint32_t max;
	uint64_t idle_ns, keep;
	unsigned int n;
	struct group *groups;
	struct bj_mcp_client *newest, *oldest;
	struct bj_mcp_client *buckets[BUCKETS];
};

struct bj_mcp_sessions *bj_mcp_sessions_new(struct bj_mcp *mcp)
{
	struct bj_mcp_sessions *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->mcp = mcp;
	all->max = 1;
	pthread_mutex_init(&all->lock, NULL);
	return all;
}

void bj_mcp_sessions_free(struct bj_mcp_sessions *all)
{
	if (!all)
		return;
	bj_mcp_sessions_end_all(all);
	pthread_mutex_destroy(&all->lock);
	free(all);
}

void bj_mcp_sessions_configure(struct bj_mcp_sessions *all, uint32_t max, uint64_t idle_ms,
			       uint64_t keep)
{
	pthread_mutex_lock(&all->lock);
	all->max = max;
	all->idle_ns = idle_ms * 1000000u;
	all->keep = keep;
	pthread_mutex_unlock(&all->lock);
}

/* --- the list, with the lock ------------------------------------------------------------------ */

static struct bj_mcp_client **bucket(struct bj_mcp_sessions *all, const char *id)
{
	unsigned int hash = 5381;

	while (*id)
		hash = hash * 33 + (unsigned char)*id++;
	return &all->buckets[hash % BUCKETS];
}

static struct group *join_group(struct bj_mcp_sessions *all, const char *tenant)
{
	struct group *g = all->groups;

	while (g && strcmp(g->tenant, tenant) != 0)
		g = g->next;
	if (!g) {
		g = calloc(1, sizeof(*g));
		if (!g)
			return NULL;
		snprintf(g->tenant, sizeof(g->tenant), "%s", tenant);
		g->next = all->groups;
		all->groups = g;
	}
	g->n++;
	return g;
}

static void leave_group(struct bj_mcp_sessions *all, struct group *g)
{
	struct group **at = &all->groups;

	if (!g || --g->n > 0)
		return;
	while (*at != g)
		at = &(*at)->next;
	*at = g->next;
	free(g);
}

static void unlink_age(struct bj_mcp_client *c)
{
	*(c->newer ? &c->newer->older : &c->all->newest) = c->older;
	*(c->older ? &c->older->newer : &c->all->oldest) = c->newer;
	c->newer = c->older = NULL;
}

static void link_newest(struct bj_mcp_client *c)
{
	c->older = c->all->newest;
	c->newer = NULL;
	if (c->older)
		c->older->newer = c;
	c->all->newest = c;
	if (!c->all->oldest)
		c->all->oldest = c;
	c->used_ns = bj_clock_now();
}

static void free_client(struct bj_mcp_client *c)
{
	for (size_t i = 0; i < STREAMS; i++)
		bj_mcp_stream_unref(c->streams[i]);
	bj_mcp_stream_unref(c->own);
	bj_mcp_session_unref(c->session);
	free(c);
}

/* Take it out of the list. The caller frees it when nobody uses it. */
static void forget(struct bj_mcp_client *c)
{
	struct bj_mcp_client **at = bucket(c->all, c->id);

	while (*at != c)
		at = &(*at)->in_bucket;
	*at = c->in_bucket;
	unlink_age(c);
	leave_group(c->all, BJ_TAKE_PTR(c->group));
	c->all->n--;
	c->ended = true;
	bj_mcp_session_end(c->session);
	for (size_t i = 0; i < STREAMS && c->streams[i]; i++)
		bj_mcp_stream_close(c->streams[i]);
	if (c->own)
		bj_mcp_stream_close(c->own);
}

static bool is_idle(const struct bj_mcp_client *c)
{
	return c->refs == 0 && !bj_mcp_session_busy(c->session);
}

/* Forget those that were idle too long. */
static void forget_old(struct bj_mcp_sessions *all)
{
	const uint64_t now = bj_clock_now();
	struct bj_mcp_client *c = all->oldest;

	while (c && c->used_ns + all->idle_ns < now) {
		struct bj_mcp_client *next = c->newer;

		if (is_idle(c)) {
			forget(c);
			free_client(c);
		}
		c = next;
	}
}

/* If the list is full, forget one that is idle, the oldest of the tenant that has most: nobody ends
 * the sessions of others by beginning many. */
static void make_room(struct bj_mcp_sessions *all)
{
	struct bj_mcp_client *best = NULL;

	forget_old(all);
	for (struct bj_mcp_client *c = all->oldest; all->n >= all->max && c; c = c->newer)
		if ((!best || c->group->n > best->group->n) && is_idle(c))
			best = c;
	if (!best)
		return;
	forget(best);
	free_client(best);
}

/* --- clients ---------------------------------------------------------------------------------- */

static struct bj_mcp_client *make(struct bj_mcp_sessions *all, const char *owner,
				  const char *tenant)
{
	struct bj_mcp_client *c = calloc(1, sizeof(*c));
	unsigned char bytes[16];

	if (!c)
		return NULL;
	c->all = all;
	c->session = bj_mcp_session_new(all->mcp);
	if (!c->session) {
		free(c);
		return NULL;
	}
	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(c->id, sizeof(c->id), bytes, sizeof(bytes));
	snprintf(c->owner, sizeof(c->owner), "%s", owner);
	snprintf(c->tenant, sizeof(c->tenant), "%s", tenant ? tenant : "");
	bj_mcp_session_owner(c->session, tenant, owner);
	c->refs = 1;
	return c;
}

struct bj_mcp_client *bj_mcp_sessions_add(struct bj_mcp_sessions *all, const char *owner,
					  const char *tenant)
{
	struct bj_mcp_client *c = make(all, owner, tenant);

	if (!c)
		return NULL;
	pthread_mutex_lock(&all->lock);
	/* Who comes counts already. */
	c->group = join_group(all, c->tenant);
	make_room(all);

	const bool full = all->n >= all->max || !c->group;

	if (!full) {
		struct bj_mcp_client **at = bucket(all, c->id);

		c->in_bucket = *at;
		*at = c;
		link_newest(c);
		all->n++;
	} else {
		leave_group(all, BJ_TAKE_PTR(c->group));
	}
	pthread_mutex_unlock(&all->lock);
	if (full) {
		free_client(c);
		return NULL;
	}
	return c;
}

struct bj_mcp_client *bj_mcp_sessions_find(struct bj_mcp_sessions *all, const char *id,
					   const char *owner, const char *tenant)
{
	pthread_mutex_lock(&all->lock);
	forget_old(all);

	struct bj_mcp_client *c = *bucket(all, id);

	while (c && strcmp(c->id, id) != 0)
		c = c->in_bucket;
	if (c && (strcmp(c->owner, owner) != 0 || strcmp(c->tenant, tenant ? tenant : "") != 0))
		c = NULL;
	if (c) {
		c->refs++;
		unlink_age(c);
		link_newest(c);
	}
	pthread_mutex_unlock(&all->lock);
	return c;
}

void bj_mcp_client_leave(struct bj_mcp_client *c)
{
	pthread_mutex_lock(&c->all->lock);

	const bool last = --c->refs == 0 && c->ended;

	c->used_ns = bj_clock_now();
	pthread_mutex_unlock(&c->all->lock);
	if (last)
		free_client(c);
}

void bj_mcp_client_end(struct bj_mcp_client *c)
{
	pthread_mutex_lock(&c->all->lock);
	if (!c->ended)
		forget(c);
	pthread_mutex_unlock(&c->all->lock);
}

void bj_mcp_sessions_end_all(struct bj_mcp_sessions *all)
{
	pthread_mutex_lock(&all->lock);
	while (all->oldest) {
		struct bj_mcp_client *c = all->oldest;

		forget(c);
		if (c->refs == 0)
			free_client(c);
	}
	pthread_mutex_unlock(&all->lock);
}

const char *bj_mcp_client_id(const struct bj_mcp_client *c)
{
	return c->id;
}

struct bj_mcp_session *bj_mcp_client_session(struct bj_mcp_client *c)
{
	return c->session;
}

/* --- streams ---------------------------------------------------------------------------------- */

static void remove_stream(struct bj_mcp_client *c, size_t at)
{
	bj_mcp_stream_unref(c->streams[at]);
	memmove(&c->streams[at], &c->streams[at + 1], (STREAMS - at - 1) * sizeof(c->streams[0]));
	c->streams[STREAMS - 1] = NULL;
}

/* With the lock: forget streams that nobody can want any more. */
static void tidy(struct bj_mcp_client *c)
{
	for (size_t i = 0; i < STREAMS && c->streams[i];)
		if (bj_mcp_stream_is_done(c->streams[i]))
			remove_stream(c, i);
		else
			i++;
}

struct bj_mcp_stream *bj_mcp_client_stream(struct bj_mcp_client *c)
{
	struct bj_mcp_stream *s = NULL;
	size_t n = 0;

	pthread_mutex_lock(&c->all->lock);
	tidy(c);
	if (c->streams[STREAMS - 1])
		remove_stream(c, 0);
	while (c->streams[n])
		n++;
	s = bj_mcp_stream_new(++c->last_stream, c->all->keep / STREAMS);
	if (s)
		c->streams[n] = bj_mcp_stream_ref(s);
	pthread_mutex_unlock(&c->all->lock);
	return s;
}

struct bj_mcp_stream *bj_mcp_client_own_stream(struct bj_mcp_client *c)
{
	struct bj_mcp_stream *s = NULL;

	pthread_mutex_lock(&c->all->lock);
	if (!c->own && !c->ended) {
		c->own = bj_mcp_stream_new(0, c->all->keep / STREAMS);
		if (c->own) {
			const struct bj_mcp_sink sink = { .send = bj_mcp_stream_send,
							  .ctx = c->own };

			bj_mcp_session_listen(c->session, &sink);
		}
	}
	if (c->own && !bj_mcp_stream_is_read(c->own))
		s = bj_mcp_stream_ref(c->own);
	pthread_mutex_unlock(&c->all->lock);
	return s;
}

struct bj_mcp_stream *bj_mcp_client_resume(struct bj_mcp_client *c, const char *id,
					   unsigned long long *ret_seen)
{
	struct bj_mcp_stream *s = NULL;
	long long number;
	char rest;

	if (sscanf(id, "%lld-%llu%c", &number, ret_seen, &rest) != 2 || number < 0)
		return NULL;
	++*ret_seen; /* ids count from 0 */
	pthread_mutex_lock(&c->all->lock);
	if (c->own && number == 0)
		s = c->own;
	for (size_t i = 0; !s && i < STREAMS && c->streams[i]; i++)
		if (bj_mcp_stream_number(c->streams[i]) == number)
			s = c->streams[i];
	if (s)
		bj_mcp_stream_ref(s);
	pthread_mutex_unlock(&c->all->lock);
	return s;
}

static void answered(void *ctx)
{
	struct bj_mcp_client *c = ctx;

	pthread_mutex_lock(&c->all->lock);
	tidy(c);
	pthread_mutex_unlock(&c->all->lock);
	bj_mcp_client_leave(c);
}

void bj_mcp_client_answer(struct bj_mcp_client *c, struct bj_mcp_stream *s, unsigned long long seen,
			  struct bj_answer *answer)
{
	pthread_mutex_lock(&c->all->lock);
	c->refs++;
	pthread_mutex_unlock(&c->all->lock);
	bj_mcp_stream_answer(s, seen, answered, c, answer);
}
