/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/sse.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

void bj_sse_done(struct bj_sse *sse)
{
	bj_buf_done(&sse->text);
}

uint64_t bj_sse_end(const struct bj_sse *sse)
{
	return sse->dropped + sse->text.size;
}

/* Drop the oldest events once there is twice what is kept, so that bytes move seldom. */
static void trim(struct bj_sse *sse)
{
	struct bj_buf *t = &sse->text;

	if (t->failed || t->size < 2 * sse->keep)
		return;

	const char *end = memmem(t->data + t->size - sse->keep, sse->keep, "\n\n", 2);
	const size_t cut = (size_t)(end - t->data) + 2;

	if (sse->held && sse->dropped + cut > sse->hold)
		return;
	memmove(t->data, t->data + cut, t->size - cut);
	t->size -= cut;
	sse->dropped += cut;
}

void bj_sse_print(struct bj_buf *buf, const char *event, const char *object)
{
	bj_buf_printf(buf, "event: %s\ndata: ", event);
	bj_buf_puts(buf, object);
	bj_buf_add(buf, "\n\n", 2);
}

static void add(struct bj_sse *sse, const char *event, const char *object)
{
	bj_sse_print(&sse->text, event, object);
	trim(sse);
}

void bj_sse_state(struct bj_sse *sse, const char *state)
{
	char object[64];

	snprintf(object, sizeof(object), "{\"state\":\"%s\"}", state);
	add(sse, "state", object);
}

void bj_sse_sample_object(const struct bj_sample *sample, struct bj_buf *buf)
{
	bj_buf_printf(buf, "{\"elapsed_ms\":%.3f,\"cpu_ms\":%.3f,\"memory_bytes\":%" PRIu64 "}",
		      (double)sample->elapsed_us / 1e3, (double)sample->cpu_us / 1e3,
		      sample->memory);
}

void bj_sse_sample(struct bj_sse *sse, const struct bj_event *event)
{
	const struct bj_sample sample = { .elapsed_us = event->elapsed_us,
					  .cpu_us = event->cpu_us,
					  .memory = event->memory };
	AUTO_BUF struct bj_buf object = { 0 };

	bj_sse_sample_object(&sample, &object);
	if (!object.failed)
		add(sse, "sample", object.data);
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

/* One event holds no more than this, so that dropping one loses little. */
enum { OUTPUT_MAX = 4 << 10 };

/* How much of the text goes into one event: no character is torn apart by us. */
static size_t piece_of(const char *data, size_t size)
{
	size_t n = size < OUTPUT_MAX ? size : OUTPUT_MAX;

	while (n < size && n > OUTPUT_MAX - 4 && ((unsigned char)data[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static void add_output(struct bj_sse *sse, const char *event, const char *data, size_t size)
{
	const bool plain = bj_utf8_valid(data, size);
	AUTO_FREE char *coded = plain ? NULL : base64(data, size);
	json_t *object = plain ? json_pack("{s:s%}", "text", data, size)
			       : json_pack("{s:s}", "base64", coded ? coded : "");
	AUTO_FREE char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	add(sse, event, text ? text : "{\"text\":\"\"}");
}

void bj_sse_output(struct bj_sse *sse, enum bj_event_kind kind, const char *data, size_t size)
{
	while (size > 0) {
		const size_t n = piece_of(data, size);

		add_output(sse, kind == BJ_EV_STDOUT ? "stdout" : "stderr", data, n);
		data += n;
		size -= n;
	}
}

/* --- ids -------------------------------------------------------------------------------------- */

/* An event is known by where it ends. */
static void write_id(const struct bj_sse *sse, uint64_t end, char id[BJ_SSE_ID])
{
	snprintf(id, BJ_SSE_ID, "%08" PRIx32 "-%" PRIu64, sse->life, end);
}

void bj_sse_id_of_end(const struct bj_sse *sse, char id[BJ_SSE_ID])
{
	write_id(sse, bj_sse_end(sse) + 1, id);
}

/* Whether an event ends at @pos, as far as that is known. */
static bool ends_at(const struct bj_sse *sse, uint64_t pos)
{
	if (pos <= sse->dropped)
		return true;
	return pos <= bj_sse_end(sse) && pos - sse->dropped >= 2 &&
	       memcmp(sse->text.data + (pos - sse->dropped) - 2, "\n\n", 2) == 0;
}

enum bj_sse_find bj_sse_find(const struct bj_sse *sse, const char *id, uint64_t *ret_pos)
{
	char again[BJ_SSE_ID], *end;
	const struct bj_sse its = { .life = (uint32_t)strtoul(id, &end, 16) };
	const uint64_t pos = *end == '-' ? strtoull(end + 1, NULL, 10) : 0;

	/* Nothing but what we wrote reads the same when it is written again. */
	write_id(&its, pos, again);
	if (strcmp(id, again) != 0 || (its.life == sse->life && pos == 0))
		return BJ_SSE_UNKNOWN;
	if (its.life != sse->life) {
		*ret_pos = 0;
		return BJ_SSE_FOUND;
	}
	if (pos == bj_sse_end(sse) + 1)
		return BJ_SSE_ENDED;
	if (!ends_at(sse, pos))
		return BJ_SSE_UNKNOWN;
	*ret_pos = pos;
	return BJ_SSE_FOUND;
}

static void add_id(const struct bj_sse *sse, uint64_t end, struct bj_buf *to)
{
	char id[BJ_SSE_ID];

	write_id(sse, end, id);
	bj_buf_printf(to, "id: %s\n", id);
}

void bj_sse_take(const struct bj_sse *sse, uint64_t *pos, size_t about, struct bj_buf *to)
{
	const uint64_t end = bj_sse_end(sse);

	if (*pos < sse->dropped) {
		char gap[64];

		snprintf(gap, sizeof(gap), "{\"bytes\":%" PRIu64 "}", sse->dropped - *pos);
		add_id(sse, sse->dropped, to);
		bj_sse_print(to, "gap", gap);
		*pos = sse->dropped;
	}
	while (*pos < end && to->size < about) {
		const char *from = sse->text.data + (*pos - sse->dropped);
		const char *stop = memmem(from, (size_t)(end - *pos), "\n\n", 2);
		const size_t n = stop ? (size_t)(stop - from) + 2 : (size_t)(end - *pos);

		*pos += n;
		add_id(sse, *pos, to);
		bj_buf_add(to, from, n);
	}
}
