/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <stdbool.h>
#include <stdint.h>

/* What happened to the runs of the service, for those who watch its list: the newest changes, each
 * a few words. Who falls behind is told so and looks at the list again. Thread-safe. */

enum {
	BJ_FEED_ID = 33,
	BJ_FEED_TENANT = 33,
	BJ_FEED_KEPT = 512,
	BJ_FEED_WATCHERS = 64, /* in all */
	BJ_FEED_SHARE = 16     /* of one tenant: no tenant takes the places of others */
};

struct bj_feed;

struct bj_feed *bj_feed_new(void); /* NULL: no memory */
void bj_feed_free(struct bj_feed *feed);

/* The run @id is in @state now. @tenant: whose it is; NULL or "": nobody's. */
void bj_feed_tell(struct bj_feed *feed, const char *id, const char *tenant, enum bj_state state);

/* Let all who watch go, and take no more. */
void bj_feed_close(struct bj_feed *feed);

struct bj_feed_watcher;
struct bj_buf;

/* Begin to watch. @tenant: only changes of theirs; NULL: all. NULL: there are too many already. */
struct bj_feed_watcher *bj_feed_watch(struct bj_feed *feed, const char *tenant);
void bj_feed_leave(struct bj_feed_watcher *watcher);

/* Wait for changes, at most @ms, and add them to @to as server-sent events. False: it is over. */
bool bj_feed_next(struct bj_feed_watcher *watcher, unsigned int ms, struct bj_buf *to);
