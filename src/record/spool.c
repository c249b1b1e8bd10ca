/* SPDX-License-Identifier: Apache-2.0 */
#include "record/spool.h"

#include "base/cleanup.h"
#include "base/fd.h"

#include <fcntl.h>
#include <string.h>

void bj_spool_init(struct bj_spool *s, int dir, const struct bj_spec *spec, uint64_t max)
{
	*s = (struct bj_spool){ .dir = dir,
				.max = max,
				.head = spec->limits.max_output,
				.streams = { { .file = -1 }, { .file = -1 } },
				.next = spec };
}

void bj_spool_done(struct bj_spool *s)
{
	for (int i = 0; i < 2; i++) {
		free(s->streams[i].data);
		if (s->streams[i].file >= 0)
			close(s->streams[i].file);
	}
	*s = (struct bj_spool){ .streams = { { .file = -1 }, { .file = -1 } } };
}

/* More than the result holds: from here on it goes to a file. */
static int spill(struct bj_spool *s, struct bj_spool_stream *st)
{
	st->file = openat(s->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (st->file < 0)
		return -1;
	return bj_fd_write_all(st->file, st->data, st->size);
}

static int add(struct bj_spool *s, struct bj_spool_stream *st, const char *data, size_t size)
{
	if (st->file < 0 && st->size + size <= s->head) {
		char *more = realloc(st->data, st->size + size);

		if (!more)
			return -1;
		st->data = more;
		memcpy(st->data + st->size, data, size);
		st->size += size;
		return 0;
	}
	if (st->file < 0 && spill(s, st) < 0)
		return -1;
	return bj_fd_write_all(st->file, data, size);
}

void bj_spool_event(void *ctx, const struct bj_event *event)
{
	struct bj_spool *s = ctx;

	if (event->kind == BJ_EV_STDOUT || event->kind == BJ_EV_STDERR) {
		struct bj_spool_stream *st = &s->streams[event->kind == BJ_EV_STDERR];
		const uint64_t room = s->max > st->total ? s->max - st->total : 0;
		const size_t n = event->size < room ? event->size : (size_t)room;

		/* A disk that is full costs the artifact, not the run. */
		if (n > 0 && !st->failed && add(s, st, event->data, n) < 0)
			st->failed = true;
		st->total += event->size;
	}
	if (s->next->on_event)
		s->next->on_event(s->next->event_ctx, event);
}

int bj_spool_rewind(struct bj_spool *s, int i)
{
	const struct bj_spool_stream *st = &s->streams[i];

	if (st->failed || st->file < 0 || lseek(st->file, 0, SEEK_SET) < 0)
		return -1;
	return st->file;
}
