/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/settings.h"
#include "serve/mcp_stream.h"

/* The sessions of MCP clients over HTTP, by id. Thread-safe. */
struct bj_mcp_sessions;
struct bj_mcp_client;

struct bj_mcp_sessions *bj_mcp_sessions_new(struct bj_mcp *mcp); /* NULL: no memory */
void bj_mcp_sessions_free(struct bj_mcp_sessions *sessions);
void bj_mcp_sessions_configure(struct bj_mcp_sessions *sessions, uint32_t max, uint64_t idle_ms,
			       uint64_t keep);

/* A new one; the session that was idle longest makes room for it. NULL: all are busy. The caller
 * leaves it. @owner of @tenant (NULL: none) alone may use it. */
struct bj_mcp_client *bj_mcp_sessions_add(struct bj_mcp_sessions *sessions, const char *owner,
					  const char *tenant);

/* NULL: there is none, or it belongs to somebody else. The caller leaves it. */
struct bj_mcp_client *bj_mcp_sessions_find(struct bj_mcp_sessions *sessions, const char *id,
					   const char *owner, const char *tenant);
void bj_mcp_client_leave(struct bj_mcp_client *client);

/* Forget it and end what it does. */
void bj_mcp_client_end(struct bj_mcp_client *client);
void bj_mcp_sessions_end_all(struct bj_mcp_sessions *sessions);

const char *bj_mcp_client_id(const struct bj_mcp_client *client);
struct bj_mcp_session *bj_mcp_client_session(struct bj_mcp_client *client); /* borrowed */

/* A stream for one request; the client holds it until it was read to the end. A count for the
 * caller. NULL: no memory. */
struct bj_mcp_stream *bj_mcp_client_stream(struct bj_mcp_client *client);

/* The stream for what belongs to no request. NULL: somebody reads it already. */
struct bj_mcp_stream *bj_mcp_client_own_stream(struct bj_mcp_client *client);

/* The stream that the event @id belongs to, and how many of its events were seen. A count for the
 * caller. NULL: it is not there any more. */
struct bj_mcp_stream *bj_mcp_client_resume(struct bj_mcp_client *client, const char *id,
					   unsigned long long *ret_seen);

/* Answer with @stream (a count is taken); the client stays alive as long as it is read. */
void bj_mcp_client_answer(struct bj_mcp_client *client, struct bj_mcp_stream *stream,
			  unsigned long long seen, struct bj_answer *answer);
