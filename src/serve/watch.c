/* SPDX-License-Identifier: Apache-2.0 */

/* The list of runs, live: GET /v1/events. */

#include "base/clock.h"
#include "record/tenant.h"
#include "serve/auth.h"
#include "serve/feed.h"
#include "serve/service.h"

#include <poll.h>
#include <string.h>

/* A stream ends soon after its key was revoked, and now and then anyway, so that nobody goes on for
 * ever: browsers come back by themselves. */
enum { LOOK_MS = 250, HEARTBEAT_LOOKS = 60 };
#define LIFE_NS UINT64_C(600000000000)

struct watching {
	struct bj_feed_watcher *watcher;
	struct bj_hangup *hangup; /* NULL: not watched */
	struct bj_buf text;
	size_t at;
	struct bj_auth_trust trust;
	uint64_t deadline;
	bool over;
};

static bool is_gone(const struct watching *w)
{
	struct pollfd p = { .fd = w->hangup ? bj_hangup_fd(w->hangup) : -1, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static void take(struct watching *w)
{
	w->at = w->text.size = 0;
	for (int i = 0; i < HEARTBEAT_LOOKS && w->text.size == 0 && !w->over; i++) {
		w->over = !bj_feed_next(w->watcher, LOOK_MS, &w->text) || is_gone(w) ||
			  bj_clock_now() > w->deadline;
		if (bj_auth_trust_lost(&w->trust)) {
			w->over = true;
			w->text.size = 0;
		}
	}
	/* A comment now and then shows whether the client is still there. */
	if (w->text.size == 0 && !w->over)
		bj_buf_puts(&w->text, ":\n\n");
}

static ssize_t next_changes(void *ctx, char *to, size_t room)
{
	struct watching *w = ctx;

	if (w->at == w->text.size)
		take(w);

	const size_t left = w->text.failed ? 0 : w->text.size - w->at;
	const size_t n = left < room ? left : room;

	if (n > 0)
		memcpy(to, w->text.data + w->at, n);
	w->at += n;
	return (ssize_t)n;
}

static void end_watching(void *ctx)
{
	struct watching *w = ctx;

	bj_feed_leave(w->watcher);
	bj_hangup_unref(w->hangup);
	bj_buf_done(&w->text);
	free(w);
}

void bj_service_watch(struct bj_service *s, const struct bj_request *req, struct bj_answer *answer)
{
	struct bj_feed_watcher *watcher = bj_feed_watch(s->feed, bj_auth_tenant(req->caller));
	struct watching *w = watcher ? calloc(1, sizeof(*w)) : NULL;

	if (!w) {
		if (watcher)
			bj_feed_leave(watcher);
		bj_problem_answer(answer, BJ_PROBLEM_UNAVAILABLE,
				  "%d watch the list already, or %d of this tenant; ask for it now "
				  "and then instead",
				  BJ_FEED_WATCHERS, BJ_FEED_SHARE);
		return;
	}
	*w = (struct watching){ .watcher = watcher,
				.hangup = req->hangup ? bj_hangup_ref(req->hangup) : NULL,
				.trust = bj_auth_trust(s->archive, req->caller),
				.deadline = bj_clock_now() + LIFE_NS };
	/* What comes from now on is told: the list that is asked for next misses nothing. */
	bj_sse_print(&w->text, "ready", "{}");
	answer->status = 200;
	answer->type = BJ_TYPE_EVENTS;
	answer->stream = (struct bj_stream){ .next = next_changes, .done = end_watching, .ctx = w };
	bj_answer_header(answer, "Cache-Control", "no-store");
}
