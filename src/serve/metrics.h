/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"
#include "jar/wire.h"

#include <pthread.h>
#include <stdatomic.h>

/* Counters of the service. Any thread may count. Labels are bounded: causes, backends, routes,
 * status codes and rules that exist, never a word of a request. */

enum {
	BJ_METRICS_CAUSES = BJ_CAUSE_INFRASTRUCTURE + 1,
	BJ_METRICS_BACKENDS = BJ_BACKEND_DIRECT + 1,
	BJ_METRICS_BUCKETS = 12,
	BJ_METRICS_ROUTES = 64, /* the last one: no route */
	BJ_METRICS_CODES = 20,  /* the last one: any other */
};

struct bj_histogram {
	atomic_ullong buckets[BJ_METRICS_BUCKETS + 1]; /* the last: more than all bounds */
	atomic_ullong sum;                             /* in the unit of the bounds */
};

/* Why something was not done. */
enum bj_denial {
	BJ_DENIAL_REJECTED,     /* the check */
	BJ_DENIAL_DENIED,       /* a person */
	BJ_DENIAL_EXPIRED,      /* no person in time */
	BJ_DENIAL_QUOTA,        /* the tenant's share is used up */
	BJ_DENIAL_QUEUE_FULL,   /* nobody may wait any more */
	BJ_DENIAL_UNAUTHORIZED, /* no key, or a wrong one */
	BJ_DENIAL_FORBIDDEN,    /* the key may not do this */
	BJ_DENIALS,
};

struct bj_rule_count;

struct bj_metrics {
	atomic_ullong runs[BJ_METRICS_BACKENDS][BJ_METRICS_CAUSES];
	struct bj_histogram duration, wait; /* microseconds */
	struct bj_histogram peak;           /* KiB */
	atomic_ullong cpu_us, memory_mib_ms;
	atomic_ullong warm, fallbacks, trusted, cleanup_failed, orphans;
	atomic_ullong answers[BJ_METRICS_ROUTES][BJ_METRICS_CODES];
	atomic_ullong denials[BJ_DENIALS];
	atomic_ullong engines; /* launchers that were taken into use */
	atomic_ullong spans_sent, spans_dropped;
	atomic_uint connections;
	pthread_mutex_t lock; /* over the rules */
	struct bj_rule_count *rules;
	size_t n_rules;
};

void bj_metrics_init(struct bj_metrics *metrics);
void bj_metrics_done(struct bj_metrics *metrics);

/* The ids of rules that exist, which findings are counted by from now on. */
void bj_metrics_know_rule(struct bj_metrics *metrics, const char *rule);

void bj_metrics_run(struct bj_metrics *metrics, const struct bj_result *result);
void bj_metrics_wait(struct bj_metrics *metrics, uint64_t wait_ns);

/* @route: its place in the table of routes, from 1; 0: none. */
void bj_metrics_answer(struct bj_metrics *metrics, unsigned int route, unsigned int status);

/* What is not a counter but a state. */
struct bj_gauges {
	unsigned int running, waiting, known;
	unsigned int max_running, max_waiting, pending;
	unsigned int fronts, launchers;   /* that were replaced since they died */
	struct bj_wire_census census;     /* of the launcher; all zero: there is none */
	char images[BJ_WIRE_IMAGES][128]; /* labels of its images; "": none of its own */
	bool ready;
	uint64_t started_unix_ms;
	uint64_t store_errors, audit_errors;
	/* The route @i (from 1) of the table; false past its end. */
	bool (*route)(unsigned int i, const char **ret_method, const char **ret_path);
};

/* All of it as Prometheus reads it. */
void bj_metrics_print(struct bj_metrics *metrics, const struct bj_gauges *gauges,
		      struct bj_buf *buf);
