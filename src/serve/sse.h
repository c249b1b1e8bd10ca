/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

#include <stdint.h>
#include <sys/types.h>

/* The events of one run as the text of a server-sent event stream, kept so that late subscribers
 * get what went before: the newest @keep bytes, cut between events. Positions count all bytes that
 * were ever added. Not thread-safe: the run's lock guards it. */
struct bj_sse {
	uint32_t life; /* tells ids of this list from those of others about the same run */
	struct bj_buf text;
	uint64_t dropped; /* bytes before text */
	size_t keep;
	bool held; /* nothing past @hold is dropped: somebody needs every byte */
	uint64_t hold;
};

void bj_sse_done(struct bj_sse *sse);

/* Add one event: a state, a sample, or output. Output that is UTF-8 stands in `text`, any other in
 * `base64`: no byte is lost. */
void bj_sse_state(struct bj_sse *sse, const char *state);
void bj_sse_sample(struct bj_sse *sse, const struct bj_event *event);
void bj_sse_output(struct bj_sse *sse, enum bj_event_kind kind, const char *data, size_t size);

/* A sample as an event and a list of them hold it. */
void bj_sse_sample_object(const struct bj_sample *sample, struct bj_buf *buf);

/* Where the next event will begin. */
uint64_t bj_sse_end(const struct bj_sse *sse);

/* Add events from *@pos on to @to until it holds about @about bytes, and move *@pos. What was
 * dropped meanwhile is told by an event `gap`. */
void bj_sse_take(const struct bj_sse *sse, uint64_t *pos, size_t about, struct bj_buf *to);

/* Every event has an id: Last-Event-ID says which one came last. */
enum { BJ_SSE_ID = 32 };

enum bj_sse_find {
	BJ_SSE_UNKNOWN, /* no event has this id */
	BJ_SSE_FOUND,
	BJ_SSE_ENDED, /* it is that of the end: nothing comes after it */
};

/* Where to go on after the event @id: no event comes twice, and none is left out but those that a
 * `gap` tells of. An id of an earlier list about the same run leads to the beginning. */
enum bj_sse_find bj_sse_find(const struct bj_sse *sse, const char *id, uint64_t *ret_pos);

/* The id of what ends the stream, which is not in the list. */
void bj_sse_id_of_end(const struct bj_sse *sse, char id[BJ_SSE_ID]);

/* One event as it stands in a stream. */
void bj_sse_print(struct bj_buf *buf, const char *event, const char *object);
