/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/sse.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { GAP_ROOM = 96 };

/* How much of @size bytes to hand out: whole events where there is the end of one. */
static size_t whole_events(const char *text, size_t size, bool all)
{
	if (all)
		return size;
	for (size_t n = size; n >= 2; n--)
		if (text[n - 1] == '\n' && text[n - 2] == '\n')
			return n;
	return size;
}

void bj_sse_done(struct bj_sse *sse)
{
	bj_buf_done(&sse->text);
}

uint64_t bj_sse_end(const struct bj_sse *sse)
{
	return sse->dropped + sse->text.size;
}

/* Drop the oldest events once there is twice what is kept, so that bytes move seldom. The event
 * that begins at @last stays whatever its size. */
static void trim(struct bj_sse *sse, size_t last)
{
	struct bj_buf *t = &sse->text;

	if (t->size < 2 * sse->keep)
		return;

	const char *end = memmem(t->data + t->size - sse->keep, sse->keep, "\n\n", 2);
	const size_t found = (size_t)(end - t->data) + 2;
	const size_t cut = found < last ? found : last;

	if (sse->held && sse->dropped + cut > sse->hold)
		return;
	memmove(t->data, t->data + cut, t->size - cut);
	t->size -= cut;
	sse->dropped += cut;
}

void bj_sse_json(struct bj_sse *sse, const char *event, const char *object)
{
	const size_t last = sse->text.size;

	bj_buf_printf(&sse->text, "event: %s\ndata: ", event);
	bj_buf_puts(&sse->text, object);
	bj_buf_add(&sse->text, "\n\n", 2);
	if (!sse->text.failed)
		trim(sse, last);
}

void bj_sse_state(struct bj_sse *sse, const char *state)
{
	char object[64];

	snprintf(object, sizeof(object), "{\"state\":\"%s\"}", state);
	bj_sse_json(sse, "state", object);
}

static char *base64(const char *data, size_t size)
{
	const size_t room = sodium_base64_encoded_len(size, sodium_base64_VARIANT_ORIGINAL);
	char *text = malloc(room);

	if (text)
		sodium_bin2base64(text, room, (const unsigned char *)data, size,
				  sodium_base64_VARIANT_ORIGINAL);
	return text;
}

void bj_sse_output(struct bj_sse *sse, enum bj_event_kind kind, const char *data, size_t size)
{
	const bool plain = bj_utf8_valid(data, size);
	AUTO_FREE char *coded = plain ? NULL : base64(data, size);
	json_t *object = plain ? json_pack("{s:s%}", "text", data, size)
			       : json_pack("{s:s}", "base64", coded ? coded : "");
	AUTO_FREE char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	bj_sse_json(sse, kind == BJ_EV_STDOUT ? "stdout" : "stderr",
		    text ? text : "{\"text\":\"\"}");
}

size_t bj_sse_copy(const struct bj_sse *sse, uint64_t *pos, char *to, size_t room)
{
	size_t n = 0;

	if (*pos < sse->dropped) {
		if (room < GAP_ROOM)
			return 0;
		/* The empty line ends an event that was cut in the middle. */
		n = (size_t)snprintf(to, room, "\n\nevent: gap\ndata: {\"bytes\":%" PRIu64 "}\n\n",
				     sse->dropped - *pos);
		*pos = sse->dropped;
	}

	const size_t from = (size_t)(*pos - sse->dropped);
	const size_t left = sse->text.size - from;
	size_t take = left < room - n ? left : room - n;

	if (take > 0) {
		take = whole_events(sse->text.data + from, take, take == left);
		memcpy(to + n, sse->text.data + from, take);
	}
	*pos += take;
	return n + take;
}
