/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

#include <stdatomic.h>

/* Counters of the service. Any thread may count; nobody waits. */

enum { BJ_METRICS_CAUSES = BJ_CAUSE_INFRASTRUCTURE + 1, BJ_METRICS_BUCKETS = 12 };

struct bj_metrics {
	atomic_ullong runs[BJ_METRICS_CAUSES];
	atomic_ullong buckets[BJ_METRICS_BUCKETS + 1]; /* by duration; the last: longer */
	atomic_ullong duration_us, cpu_us;
	atomic_ullong answers[6]; /* by hundreds of the status */
	atomic_ullong refused;    /* the queue was full */
	atomic_ullong engines;    /* launchers that were taken into use */
	atomic_uint connections;
};

void bj_metrics_run(struct bj_metrics *metrics, const struct bj_result *result);
void bj_metrics_answer(struct bj_metrics *metrics, unsigned int status);

/* What is not a counter but a state. */
struct bj_gauges {
	unsigned int running, waiting, known;
	bool ready;
	uint64_t started_unix_ms;
};

/* All of it as Prometheus reads it. */
void bj_metrics_print(const struct bj_metrics *metrics, const struct bj_gauges *gauges,
		      struct bj_buf *buf);
