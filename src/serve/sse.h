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

/* One event as it stands in a stream. */
void bj_sse_print(struct bj_buf *buf, const char *event, const char *object);
