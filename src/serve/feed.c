/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/feed.h"

#include "base/buf.h"
#include "serve/sse.h"
#include "spec/names.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct change {
	char id[BJ_FEED_ID];
	char tenant[BJ_FEED_TENANT];
	enum bj_state state;
};

struct bj_feed {
	pthread_mutex_t lock;
	pthread_cond_t news;
	struct change kept[BJ_FEED_KEPT]; /* a ring */
	uint64_t told;                    /* how many there ever were */
	struct bj_feed_watcher *watchers;
	bool closed;
};

struct bj_feed_watcher {
	struct bj_feed *feed;
	char tenant[BJ_FEED_TENANT];
	bool all;
	uint64_t pos;
	struct bj_feed_watcher *next;
};

struct bj_feed *bj_feed_new(void)
{
	struct bj_feed *feed = calloc(1, sizeof(*feed));

	if (!feed)
		return NULL;
	pthread_mutex_init(&feed->lock, NULL);
	pthread_cond_init(&feed->news, NULL);
	return feed;
}

void bj_feed_free(struct bj_feed *feed)
{
	if (!feed)
		return;
	pthread_mutex_destroy(&feed->lock);
	pthread_cond_destroy(&feed->news);
	free(feed);
}

void bj_feed_tell(struct bj_feed *feed, const char *id, const char *tenant, enum bj_state state)
{
	pthread_mutex_lock(&feed->lock);

	struct change *change = &feed->kept[feed->told++ % BJ_FEED_KEPT];

	snprintf(change->id, sizeof(change->id), "%s", id);
	snprintf(change->tenant, sizeof(change->tenant), "%s", tenant ? tenant : "");
	change->state = state;
	if (feed->watchers)
		pthread_cond_broadcast(&feed->news);
	pthread_mutex_unlock(&feed->lock);
}

void bj_feed_close(struct bj_feed *feed)
{
	pthread_mutex_lock(&feed->lock);
	feed->closed = true;
	pthread_cond_broadcast(&feed->news);
	pthread_mutex_unlock(&feed->lock);
}

/* With the lock. */
static bool has_room(const struct bj_feed *feed, const struct bj_feed_watcher *watcher)
{
	unsigned int n = 0, theirs = 0;

	for (const struct bj_feed_watcher *w = feed->watchers; w; w = w->next) {
		n++;
		theirs += !watcher->all && !w->all && strcmp(w->tenant, watcher->tenant) == 0;
	}
	return !feed->closed && n < BJ_FEED_WATCHERS && theirs < BJ_FEED_SHARE;
}

struct bj_feed_watcher *bj_feed_watch(struct bj_feed *feed, const char *tenant)
{
	struct bj_feed_watcher *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	snprintf(w->tenant, sizeof(w->tenant), "%s", tenant ? tenant : "");
	pthread_mutex_lock(&feed->lock);
	w->feed = feed;
	w->all = !tenant;
	w->pos = feed->told;

	const bool room = has_room(feed, w);

	if (room) {
		w->next = feed->watchers;
		feed->watchers = w;
	}
	pthread_mutex_unlock(&feed->lock);
	if (!room) {
		free(w);
		return NULL;
	}
	return w;
}

void bj_feed_leave(struct bj_feed_watcher *w)
{
	struct bj_feed_watcher **at = &w->feed->watchers;

	pthread_mutex_lock(&w->feed->lock);
	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	pthread_mutex_unlock(&w->feed->lock);
	free(w);
}

/* With the lock. */
static void take(struct bj_feed_watcher *w, struct bj_buf *to)
{
	struct bj_feed *feed = w->feed;

	if (feed->told - w->pos > BJ_FEED_KEPT) {
		bj_sse_print(to, "behind", "{}");
		w->pos = feed->told;
	}
	for (; w->pos < feed->told; w->pos++) {
		const struct change *c = &feed->kept[w->pos % BJ_FEED_KEPT];
		char object[128];

		if (!w->all && strcmp(c->tenant, w->tenant) != 0)
			continue;
		snprintf(object, sizeof(object), "{\"id\":\"%s\",\"state\":\"%s\"}", c->id,
			 bj_state_name(c->state));
		bj_sse_print(to, "execution", object);
	}
}

bool bj_feed_next(struct bj_feed_watcher *w, unsigned int ms, struct bj_buf *to)
{
	struct bj_feed *feed = w->feed;
	struct timespec until;
	int r = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&feed->lock);
	while (feed->told == w->pos && !feed->closed && r == 0)
		r = pthread_cond_timedwait(&feed->news, &feed->lock, &until);
	take(w, to);

	const bool over = feed->closed;

	pthread_mutex_unlock(&feed->lock);
	return !over;
}
