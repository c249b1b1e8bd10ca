/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/mcp_stream.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { HEARTBEAT_MS = 15000, RETRY_MS = 500 };

struct event {
	unsigned long long number;
	char *text;
	size_t size;
	struct event *next;
};

struct bj_mcp_stream {
	long long number;
	size_t keep;
	pthread_mutex_t lock; /* over what follows */
	pthread_cond_t changed;
	unsigned int refs, sinks, readers;
	struct event *first, *last;
	unsigned long long count; /* events that there ever were */
	size_t bytes;
	json_t *early; /* the first message, while it is the only one */
	bool closed, hang_up, read_all;
};

struct bj_mcp_stream *bj_mcp_stream_new(long long number, size_t keep)
{
	struct bj_mcp_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct bj_mcp_stream){ .number = number, .keep = keep, .refs = 1 };
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	return s;
}

struct bj_mcp_stream *bj_mcp_stream_ref(struct bj_mcp_stream *s)
{
	pthread_mutex_lock(&s->lock);
	s->refs++;
	pthread_mutex_unlock(&s->lock);
	return s;
}

static void drop_first(struct bj_mcp_stream *s)
{
	struct event *e = s->first;

	s->first = e->next;
	if (!s->first)
		s->last = NULL;
	s->bytes -= e->size;
	free(e->text);
	free(e);
}

void bj_mcp_stream_unref(struct bj_mcp_stream *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);

	const bool last = --s->refs == 0;

	pthread_mutex_unlock(&s->lock);
	if (!last)
		return;
	while (s->first)
		drop_first(s);
	json_decref(s->early);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s);
}

/* --- in --------------------------------------------------------------------------------------- */

/* With the lock. The oldest events go when there are too many bytes; the newest always stays. */
static void add(struct bj_mcp_stream *s, struct bj_buf *text)
{
	struct event *e = calloc(1, sizeof(*e));
	const size_t size = text->size;

	if (!e || !(e->text = bj_buf_take(text))) {
		free(e);
		return;
	}
	e->size = size;
	e->number = s->count++;
	*(s->last ? &s->last->next : &s->first) = e;
	s->last = e;
	s->bytes += size;
	while (s->bytes > s->keep && s->first != s->last)
		drop_first(s);
	s->read_all = false;
	pthread_cond_broadcast(&s->changed);
}

static void add_id(struct bj_mcp_stream *s, struct bj_buf *text)
{
	if (s->number >= 0)
		bj_buf_printf(text, "id: %lld-%llu\n", s->number, s->count);
}

void bj_mcp_stream_prime(struct bj_mcp_stream *s)
{
	struct bj_buf text = { 0 };

	pthread_mutex_lock(&s->lock);
	add_id(s, &text);
	bj_buf_printf(&text, "retry: %d\ndata: \n\n", RETRY_MS);
	add(s, &text);
	pthread_mutex_unlock(&s->lock);
}

void bj_mcp_stream_send(void *ctx, const json_t *message)
{
	struct bj_mcp_stream *s = ctx;
	AUTO_FREE char *object = json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(12));
	struct bj_buf text = { 0 };

	if (!object)
		return;
	pthread_mutex_lock(&s->lock);
	add_id(s, &text);
	bj_buf_puts(&text, "event: message\ndata: ");
	bj_buf_puts(&text, object);
	bj_buf_puts(&text, "\n\n");
	json_decref(s->early);
	s->early = s->count == 0 ? json_incref((json_t *)message) : NULL;
	add(s, &text);
	pthread_mutex_unlock(&s->lock);
}

void bj_mcp_stream_close(struct bj_mcp_stream *s)
{
	pthread_mutex_lock(&s->lock);
	s->closed = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

/* One request's way in. */
struct inlet {
	struct bj_mcp_stream *stream;
	struct bj_hangup *watch;
};

static void inlet_send(void *ctx, const json_t *message)
{
	bj_mcp_stream_send(((struct inlet *)ctx)->stream, message);
}

static void inlet_hang_up(void *ctx)
{
	struct bj_mcp_stream *s = ((struct inlet *)ctx)->stream;

	pthread_mutex_lock(&s->lock);
	s->hang_up = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static void inlet_release(void *ctx)
{
	struct inlet *inlet = ctx;
	struct bj_mcp_stream *s = inlet->stream;

	pthread_mutex_lock(&s->lock);
	s->closed |= --s->sinks == 0;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	bj_mcp_stream_unref(s);
	bj_hangup_unref(inlet->watch);
	free(inlet);
}

struct bj_mcp_sink bj_mcp_stream_sink(struct bj_mcp_stream *s, struct bj_hangup *watch)
{
	struct inlet *inlet = malloc(sizeof(*inlet));

	if (!inlet)
		abort(); /* a few bytes */
	*inlet = (struct inlet){ .stream = bj_mcp_stream_ref(s),
				 .watch = watch ? bj_hangup_ref(watch) : NULL };
	pthread_mutex_lock(&s->lock);
	s->sinks++;
	pthread_mutex_unlock(&s->lock);
	return (struct bj_mcp_sink){
		.send = inlet_send, .hang_up = inlet_hang_up, .release = inlet_release, .ctx = inlet
	};
}

/* --- out -------------------------------------------------------------------------------------- */

bool bj_mcp_stream_is_read(struct bj_mcp_stream *s)
{
	pthread_mutex_lock(&s->lock);

	const bool read = s->readers > 0;

	pthread_mutex_unlock(&s->lock);
	return read;
}

bool bj_mcp_stream_is_done(struct bj_mcp_stream *s)
{
	pthread_mutex_lock(&s->lock);

	const bool done = s->closed && s->read_all && s->readers == 0;

	pthread_mutex_unlock(&s->lock);
	return done;
}

long long bj_mcp_stream_number(const struct bj_mcp_stream *s)
{
	return s->number;
}

static struct timespec in_ms(unsigned int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	return until;
}

json_t *bj_mcp_stream_early(struct bj_mcp_stream *s, unsigned int wait_ms)
{
	const struct timespec until = in_ms(wait_ms);
	json_t *early = NULL;
	int r = 0;

	pthread_mutex_lock(&s->lock);
	/* Until something comes, and if that is an answer, until nothing can follow it. */
	while (r == 0 &&
	       (s->count == 0 ? !s->closed
			      : !s->closed && s->early && !json_object_get(s->early, "method")))
		r = pthread_cond_timedwait(&s->changed, &s->lock, &until);
	if (s->closed && s->early && !json_object_get(s->early, "method"))
		early = json_incref(s->early);
	pthread_mutex_unlock(&s->lock);
	return early;
}

struct reader {
	struct bj_mcp_stream *stream;
	unsigned long long next;
	struct bj_buf text;
	size_t at;
	bool over;
	void (*done)(void *ctx);
	void *ctx;
};

/* With the lock: everything that has not been read yet. */
static void collect(struct reader *r)
{
	for (const struct event *e = r->stream->first; e; e = e->next)
		if (e->number >= r->next)
			bj_buf_add(&r->text, e->text, e->size);
	r->next = r->stream->count;
}

static void wait_events(struct reader *r)
{
	struct bj_mcp_stream *s = r->stream;
	const struct timespec until = in_ms(HEARTBEAT_MS);
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	while (s->count <= r->next && !s->closed && !s->hang_up && rc == 0)
		rc = pthread_cond_timedwait(&s->changed, &s->lock, &until);
	collect(r);
	if (s->closed || s->hang_up) {
		r->over = true;
		s->hang_up = false;
		s->read_all = s->closed;
	}
	pthread_mutex_unlock(&s->lock);
	/* A comment shows whether the client is still there. */
	if (r->text.size == 0 && !r->over)
		bj_buf_puts(&r->text, ": keepalive\n\n");
}

static ssize_t next_bytes(void *ctx, char *to, size_t room)
{
	struct reader *r = ctx;

	if (r->at == r->text.size) {
		r->at = r->text.size = 0;
		if (!r->over)
			wait_events(r);
	}

	const size_t left = r->text.failed ? 0 : r->text.size - r->at;
	const size_t n = left < room ? left : room;

	if (n > 0)
		memcpy(to, r->text.data + r->at, n);
	r->at += n;
	return (ssize_t)n;
}

static void end_reader(void *ctx)
{
	struct reader *r = ctx;
	struct bj_mcp_stream *s = r->stream;

	pthread_mutex_lock(&s->lock);
	s->readers--;
	/* The connection broke before all went out. */
	if (!r->over || r->at < r->text.size)
		s->read_all = false;
	pthread_mutex_unlock(&s->lock);
	if (r->done)
		r->done(r->ctx);
	bj_mcp_stream_unref(s);
	bj_buf_done(&r->text);
	free(r);
}

void bj_mcp_stream_answer(struct bj_mcp_stream *s, unsigned long long after,
			  void (*done)(void *ctx), void *ctx, struct bj_answer *answer)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (!r)
		abort(); /* a few bytes */
	*r = (struct reader){
		.stream = bj_mcp_stream_ref(s), .next = after, .done = done, .ctx = ctx
	};
	pthread_mutex_lock(&s->lock);
	s->readers++;
	pthread_mutex_unlock(&s->lock);
	answer->status = 200;
	answer->type = BJ_TYPE_EVENTS;
	answer->stream = (struct bj_stream){ .next = next_bytes, .done = end_reader, .ctx = r };
	bj_answer_header(answer, "Cache-Control", "no-cache, no-transform");
	bj_answer_header(answer, "X-Accel-Buffering", "no");
}
