/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mcp/mcp.h"
#include "serve/exchange.h"
#include "serve/hangup.h"

/* Messages on their way to a client as server-sent events. Calls put them in from their threads,
 * the connection takes them out. A stream outlives its connection, so that a client that lost it
 * can come back for the rest. Counted. */
struct bj_mcp_stream;

/* @number: its place in the session, part of the ids of its events; negative: events have no ids
 * and are not kept. @keep: bytes that are held at most. NULL: no memory. */
struct bj_mcp_stream *bj_mcp_stream_new(long long number, size_t keep);
struct bj_mcp_stream *bj_mcp_stream_ref(struct bj_mcp_stream *stream);
void bj_mcp_stream_unref(struct bj_mcp_stream *stream); /* NULL is fine */

/* A way in for one request: when the last is released, the stream ends. @watch (a count is taken;
 * NULL: none) lives as long as it. */
struct bj_mcp_sink bj_mcp_stream_sink(struct bj_mcp_stream *stream, struct bj_hangup *watch);

/* An event that only says where the stream begins, for clients that come back. */
void bj_mcp_stream_prime(struct bj_mcp_stream *stream);

/* A message from elsewhere than a sink. */
void bj_mcp_stream_send(void *stream, const json_t *message);

/* No more comes; who reads it is told. */
void bj_mcp_stream_close(struct bj_mcp_stream *stream);

bool bj_mcp_stream_is_read(struct bj_mcp_stream *stream);
long long bj_mcp_stream_number(const struct bj_mcp_stream *stream);

/* Whether there is nothing that a client could come back for: all was read to the end. */
bool bj_mcp_stream_is_done(struct bj_mcp_stream *stream);

/* The first message when it is an answer and comes within @wait_ms; NULL: something else came
 * first, or nothing. The caller decrefs it. */
json_t *bj_mcp_stream_early(struct bj_mcp_stream *stream, unsigned int wait_ms);

/* Answer with the events after number @after of @stream (a count is taken). @done is called when
 * the connection is through with it. */
void bj_mcp_stream_answer(struct bj_mcp_stream *stream, unsigned long long after,
			  void (*done)(void *ctx), void *ctx, struct bj_answer *answer);
