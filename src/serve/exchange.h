/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* One HTTP request and its answer, apart from the library that carries them: handlers see plain
 * values, so they can be fed with bytes in a fuzz target. */

struct bj_caller;
struct bj_hangup;
struct bj_hold;

struct bj_request {
	const char *method;
	const char *path; /* without the query */
	/* The value of a header or of a query argument; NULL: not there. */
	const char *(*header)(void *ctx, const char *name);
	const char *(*query)(void *ctx, const char *name);
	/* Show every value of a header, which may come in several lines; NULL: it comes in one. */
	void (*each)(void *ctx, const char *name, void (*see)(void *to, const char *value),
		     void *to);
	void *ctx;
	const char *body; /* NUL-terminated */
	size_t body_size;
	struct bj_hold *hold;           /* what counts it; NULL: nothing does */
	struct bj_hangup *hangup;       /* the client's presence; NULL: not watched */
	const struct bj_caller *caller; /* who asks; NULL: the service itself, which may all */
	bool own; /* over the Unix socket and without a key: root, or who started the service */
};

/* A body that comes bit by bit. next() waits for bytes: how many were written to @to, 0 at the
 * end. Both are called from the connection's own thread. */
struct bj_stream {
	ssize_t (*next)(void *ctx, char *to, size_t room);
	void (*done)(void *ctx);
	void *ctx;
};

enum { BJ_ANSWER_HEADERS = 8, BJ_ANSWER_HEADER_SIZE = 320 };

struct bj_answer {
	unsigned int status;
	unsigned int route; /* place in the table of routes, from 1; 0: none */
	const char *type;   /* media type; static; NULL: there is no body */
	char *body;         /* owned, unless @body_static */
	size_t size;
	bool body_static;
	struct bj_stream stream; /* used when next is set */
	struct {
		const char *name; /* static */
		char value[BJ_ANSWER_HEADER_SIZE];
	} headers[BJ_ANSWER_HEADERS];
	size_t n_headers;
};

/* Whether the comma-separated header @name holds the word @word. */
bool bj_request_has(const struct bj_request *request, const char *name, const char *word);

/* How much the client wants an answer of @type, by its header Accept: from 0, not at all, to 1000.
 * -1: nothing in it fits. @ret_named: whether it names this very type; NULL is fine. */
int bj_request_wants(const struct bj_request *request, const char *type, bool *ret_named);

/* What is read from a body takes memory by its values, eighty times its bytes at worst. No request
 * needs a fraction of this many. */
enum { BJ_BODY_VALUES = 20000 };

/* Whether there are more in it, were it JSON. */
bool bj_request_is_heavy(const struct bj_request *request);

/* Answer with @body (taken; NULL: no memory, which becomes a 500). */
void bj_answer_take(struct bj_answer *answer, unsigned int status, const char *type,
		    char *body_take);

/* Add a header; past BJ_ANSWER_HEADERS it is dropped. */
void bj_answer_header(struct bj_answer *answer, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Free the body and the stream. */
void bj_answer_done(struct bj_answer *answer);

#define BJ_TYPE_BYTES   "application/octet-stream"
#define BJ_TYPE_JSON    "application/json"
#define BJ_TYPE_PROBLEM "application/problem+json"
#define BJ_TYPE_EVENTS  "text/event-stream"
#define BJ_TYPE_METRICS "text/plain; version=0.0.4; charset=utf-8"
