/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

/* A client of the service, for the command line: HTTP over the Unix socket, no more of it than our
 * own service speaks. */
struct bj_client {
	int fd;
	char path[108];             /* where it is connected to */
	int wake_fd;                /* also waited for while reading; -1: none */
	void (*on_wake)(void *ctx); /* called once when it is readable */
	void *wake_ctx;
	struct bj_buf in; /* bytes read and not yet used, from @at on */
	size_t at;
	/* The answer under way. */
	unsigned int status;
	bool chunked, ended;
	uint64_t left;        /* bytes of the body, or of its chunk */
	char id[33];          /* X-Execution-Id; "": none */
	struct bj_buf stream; /* events that came and were not yet taken, from @stream_at on */
	size_t stream_at;
};

/* Connect to the service at @path (NULL: the usual places of this user, then of root). Only a
 * service of root or of the caller will do. -BJ_E_NOT_FOUND: there is none. The caller ends *@ret
 * with bj_client_done(). */
int bj_client_open(const char *path, struct bj_client *ret, struct bj_err *err);
void bj_client_done(struct bj_client *client);

/* Send a request and read the head of its answer into @client. @headers: whole lines, each ended
 * by CR LF; "" for none. */
int bj_client_ask(struct bj_client *client, const char *method, const char *target,
		  const char *headers, const char *body, size_t size, struct bj_err *err);

/* The whole body. @ret->max is the ceiling. */
int bj_client_body(struct bj_client *client, struct bj_buf *ret, struct bj_err *err);

/* The next event of a stream: 1, with its name in @event and its data in @data; 0 at the end. */
int bj_client_event(struct bj_client *client, struct bj_buf *event, struct bj_buf *data,
		    struct bj_err *err);

/* Ask and read the answer in one go; a status other than 2xx is a failure with the detail of the
 * problem as its message. */
int bj_client_call(struct bj_client *client, const char *method, const char *target,
		   struct bj_buf *ret, struct bj_err *err);
