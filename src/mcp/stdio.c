/* SPDX-License-Identifier: Apache-2.0 */

/* One client on two descriptors: a message a line. Quick requests are answered by the thread that
 * reads; calls of tools have threads of their own, and all share the way out. */

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "mcp/core.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

enum { MESSAGE_MAX = 32 << 20, BLOCK = 64 << 10, BATCH_MAX = 100 };

/* Counted: calls may end after the reading did. */
struct pipe {
	int out;
	pthread_mutex_t lock;
	bool broken;
};

static void send_line(void *ctx, const json_t *message)
{
	struct pipe *pipe = ctx;
	char *text = json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(12));
	const size_t size = text ? strlen(text) : 0;

	if (!text)
		return;
	text[size] = '\n'; /* in place of the NUL: one write for one message */
	pthread_mutex_lock(&pipe->lock);
	if (!pipe->broken && bj_fd_write_all(pipe->out, text, size + 1) < 0)
		pipe->broken = true;
	pthread_mutex_unlock(&pipe->lock);
	free(text);
}

static void release(void *ctx)
{
	(void)ctx; /* the pipe outlives every call */
}

static void refuse(struct pipe *pipe, const json_t *id, struct bj_rpc_error *error)
{
	json_t *message = bj_rpc_failure(id, error);

	if (message)
		send_line(pipe, message);
	json_decref(message);
}

/* --- batches, which 2025-03-26 has ------------------------------------------------------------ */

/* Answers are collected and sent together when the last one is there. */
struct batch {
	struct pipe *pipe;
	pthread_mutex_t lock;
	json_t *answers;
	unsigned int refs;
};

static void batch_release(void *ctx)
{
	struct batch *batch = ctx;

	pthread_mutex_lock(&batch->lock);

	const bool last = --batch->refs == 0;

	pthread_mutex_unlock(&batch->lock);
	if (!last)
		return;
	if (json_array_size(batch->answers) > 0)
		send_line(batch->pipe, batch->answers);
	json_decref(batch->answers);
	pthread_mutex_destroy(&batch->lock);
	free(batch);
}

/* What is no answer goes out by itself, at once. */
static void batch_send(void *ctx, const json_t *message)
{
	struct batch *batch = ctx;

	if (json_object_get(message, "method")) {
		send_line(batch->pipe, message);
		return;
	}
	pthread_mutex_lock(&batch->lock);
	json_array_append(batch->answers, (json_t *)message);
	pthread_mutex_unlock(&batch->lock);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void take_message(struct bj_mcp_session *s, struct pipe *pipe, const json_t *message,
			 const struct bj_mcp_sink *sink)
{
	struct bj_rpc_error error = { 0 };
	const enum bj_rpc_kind kind = bj_rpc_kind(message, &error);
	const json_t *id = json_object_get(message, "id");

	if (kind == BJ_RPC_REQUEST) {
		struct bj_mcp_call *call = bj_mcp_call_new(s, message, sink, -1);

		if (call && bj_mcp_call_is_slow(call))
			bj_mcp_call_start(call);
		else if (call)
			bj_mcp_call_run(call);
		return;
	}
	if (kind == BJ_RPC_BROKEN)
		refuse(pipe, json_is_string(id) || json_is_integer(id) ? id : NULL, &error);
	else
		bj_mcp_take(s, message);
	sink->release(sink->ctx);
}

static void take_batch(struct bj_mcp_session *s, struct pipe *pipe, const json_t *messages)
{
	const size_t n = json_array_size(messages);
	struct bj_rpc_error error = { 0 };
	const char *version = bj_mcp_session_version(s);
	struct batch *batch;

	if (n == 0 || n > BATCH_MAX || !version || strcmp(version, "2025-03-26") != 0) {
		bj_rpc_fail(&error, BJ_RPC_INVALID,
			    "only revision 2025-03-26 has batches, of 1 to %d messages", BATCH_MAX);
		refuse(pipe, NULL, &error);
		return;
	}
	batch = calloc(1, sizeof(*batch));
	if (!batch)
		return;
	*batch = (struct batch){ .pipe = pipe, .answers = json_array(), .refs = (unsigned int)n };
	pthread_mutex_init(&batch->lock, NULL);

	const struct bj_mcp_sink sink = { .send = batch_send,
					  .release = batch_release,
					  .ctx = batch };

	for (size_t i = 0; i < n; i++)
		take_message(s, pipe, json_array_get(messages, i), &sink);
}

static void take_line(struct bj_mcp_session *s, struct pipe *pipe, const char *line, size_t size)
{
	const struct bj_mcp_sink sink = { .send = send_line, .release = release, .ctx = pipe };
	struct bj_rpc_error error = { 0 };
	json_t *message;

	if (size > 0 && line[size - 1] == '\r')
		size--;
	if (size == 0)
		return;
	message = bj_rpc_parse(line, size, &error);
	if (!message)
		refuse(pipe, NULL, &error);
	else if (json_is_array(message))
		take_batch(s, pipe, message);
	else
		take_message(s, pipe, message, &sink);
	json_decref(message);
}

/* Hand on the whole lines of @in and keep the rest. @from: where new bytes begin. */
static void take_lines(struct bj_mcp_session *s, struct pipe *pipe, struct bj_buf *in, size_t from)
{
	size_t start = 0;
	char *end;

	while ((end = memchr(in->data + from, '\n', in->size - from))) {
		const size_t at = (size_t)(end - in->data);

		take_line(s, pipe, in->data + start, at - start);
		start = from = at + 1;
	}
	if (start == 0)
		return;
	memmove(in->data, in->data + start, in->size - start);
	in->size -= start;
}

static int read_messages(struct bj_mcp_session *s, struct pipe *pipe, int in, int stop_fd,
			 struct bj_err *err)
{
	AUTO_BUF struct bj_buf text = { .max = MESSAGE_MAX };
	struct pollfd p[] = { { .fd = in, .events = POLLIN }, { .fd = stop_fd, .events = POLLIN } };

	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot wait for messages");
		if (p[1].revents)
			return 0;
		if (!p[0].revents)
			continue;

		char *to = bj_buf_reserve(&text, BLOCK);
		const size_t before = text.size;

		if (!to)
			return bj_err_set(err, BJ_E_LIMIT, 0, "a message is larger than %d MiB",
					  MESSAGE_MAX >> 20);

		const ssize_t n = read(in, to, BLOCK);

		if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
			return 0;
		if (n > 0) {
			text.size += (size_t)n;
			take_lines(s, pipe, &text, before);
		}
	}
}

int bj_mcp_stdio(struct bj_mcp *mcp, int in, int out, int stop_fd, struct bj_err *err)
{
	struct pipe pipe = { .out = out };
	const struct bj_mcp_sink sink = { .send = send_line, .release = release, .ctx = &pipe };
	struct bj_mcp_session *s = bj_mcp_session_new(mcp);
	int r;

	if (!s)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for a session");
	pthread_mutex_init(&pipe.lock, NULL);
	bj_mcp_session_listen(s, &sink);
	r = read_messages(s, &pipe, in, stop_fd, err);
	bj_mcp_session_end(s);
	bj_mcp_stop(mcp);
	bj_mcp_session_unref(s);
	pthread_mutex_destroy(&pipe.lock);
	return r;
}
