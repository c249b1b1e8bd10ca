/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <stdatomic.h>

/* Traces: how long each step of a request took, sent to a collector as OTLP over HTTP with JSON.
 *
 * A thread of the tracer sends what is queued. The queue is bounded: when the collector is slow or
 * gone, traces are dropped and counted, and no run waits for it. */

enum { BJ_TRACE_SPANS = 8, BJ_TRACE_TEXT = 40 };

/* One step. */
struct bj_span {
	const char *name;          /* static */
	uint64_t begin_ns, end_ns; /* since 1970 */
};

/* One request with its steps. A plain value; the steps follow each other. */
struct bj_trace {
	unsigned char id[16], root[8], parent[8];
	bool has_parent;
	bool unwanted; /* the caller's own trace is not recorded: nor is this part of it */
	uint64_t begin_ns, end_ns;
	struct bj_span spans[BJ_TRACE_SPANS];
	size_t n_spans;
	char run[33], tenant[BJ_TRACE_TEXT], route[BJ_TRACE_TEXT], tool[BJ_TRACE_TEXT];
	const char *language, *backend, *cause; /* static; NULL: not known */
	unsigned int status;                    /* of the answer */
};

/* Begin a trace now. @traceparent: as the caller sent it (W3C), or NULL; one that is not
 * well-formed is ignored. */
void bj_trace_begin(struct bj_trace *trace, const char *traceparent);

/* The step @name (static) begins, and the one before it ends. */
void bj_trace_step(struct bj_trace *trace, const char *name);

struct bj_tracer;

/* Send to @endpoint, such as http://127.0.0.1:4318. *@ret is NULL when @endpoint is. The counters
 * outlive the tracer. Starts a thread: call it once rights are given up. The caller frees *@ret. */
int bj_tracer_new(const char *endpoint, atomic_ullong *sent, atomic_ullong *dropped,
		  struct bj_tracer **ret, struct bj_err *err);
void bj_tracer_free(struct bj_tracer *tracer); /* NULL is fine; sends what is queued first */

/* End @trace now and queue it. Never waits. @tracer NULL does nothing. */
void bj_tracer_send(struct bj_tracer *tracer, struct bj_trace *trace);
