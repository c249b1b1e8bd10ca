/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/capture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void bj_capture_init(struct bj_capture *c, size_t max)
{
	*c = (struct bj_capture){ .max = max };
}

void bj_capture_done(struct bj_capture *c)
{
	bj_buf_done(&c->head);
	free(c->tail);
	c->tail = NULL;
}

static size_t ring_room(const struct bj_capture *c)
{
	return c->max - c->max / 2;
}

static bool ring_add(struct bj_capture *c, const char *data, size_t size)
{
	const size_t room = ring_room(c);

	if (room == 0)
		return true;
	if (!c->tail)
		c->tail = malloc(room);
	if (!c->tail)
		return false;
	if (size > room) {
		data += size - room;
		size = room;
	}

	const size_t first = size < room - c->tail_at ? size : room - c->tail_at;

	memcpy(c->tail + c->tail_at, data, first);
	memcpy(c->tail, data + first, size - first);
	c->tail_at = (c->tail_at + size) % room;
	c->tail_size = c->tail_size + size < room ? c->tail_size + size : room;
	return true;
}

bool bj_capture_add(struct bj_capture *c, const char *data, size_t size)
{
	const size_t room = c->max / 2 - c->head.size;
	const size_t first = size < room ? size : room;

	c->total += size;
	bj_buf_add(&c->head, data, first);
	return !c->head.failed && (first == size || ring_add(c, data + first, size - first));
}

/* How many bytes at the end of @text belong to a character that is cut off. */
static size_t cut_at_end(const char *text, size_t size)
{
	for (size_t back = 1; back <= 3 && back <= size; back++) {
		const unsigned char byte = (unsigned char)text[size - back];

		if (byte < 0x80)
			return 0;
		if (byte >= 0xc0) {
			const size_t need = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;

			return need > back ? back : 0;
		}
	}
	return 0;
}

/* How many bytes at the start of @text belong to a character that began earlier. */
static size_t cut_at_start(const char *text, size_t size)
{
	size_t n = 0;

	while (n < 3 && n < size && ((unsigned char)text[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* The ring in the order in which it was filled. */
static void unroll(const struct bj_capture *c, struct bj_buf *to)
{
	const size_t start = c->tail_size < ring_room(c) ? 0 : c->tail_at;

	if (c->tail_size == 0)
		return;
	bj_buf_add(to, c->tail + start, c->tail_size - start);
	bj_buf_add(to, c->tail, start);
}

bool bj_capture_take(struct bj_capture *c, struct bj_output *ret)
{
	const bool truncated = c->total > c->head.size + c->tail_size;
	const size_t cut = truncated ? cut_at_end(c->head.data, c->head.size) : 0;
	struct bj_buf text = { 0 };
	AUTO_BUF struct bj_buf tail = { 0 };

	unroll(c, &tail);

	const size_t skip = truncated ? cut_at_start(tail.data, tail.size) : 0;

	bj_buf_add(&text, c->head.data, c->head.size - cut);
	if (truncated)
		bj_buf_printf(&text, "\n[... %" PRIu64 " bytes left out ...]\n",
			      c->total - c->head.size - c->tail_size + cut + skip);
	if (tail.size > 0)
		bj_buf_add(&text, tail.data + skip, tail.size - skip);
	text.failed |= tail.failed;

	const size_t size = text.size;
	char *data = bj_buf_take(&text);

	if (!data)
		return false;
	*ret = (struct bj_output){
		.data = data, .size = size, .total = c->total, .truncated = truncated
	};
	return true;
}
