/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/metrics.h"

#include "spec/names.h"

/* Upper bounds in microseconds: a warm run takes half a millisecond, a timeout a minute. */
static const uint64_t BOUNDS_US[BJ_METRICS_BUCKETS] = { 500,    1000,    2500,     5000,
							10000,  25000,   50000,    100000,
							500000, 1000000, 10000000, 60000000 };

void bj_metrics_run(struct bj_metrics *m, const struct bj_result *r)
{
	size_t i = 0;

	if ((size_t)r->cause < BJ_METRICS_CAUSES)
		m->runs[r->cause]++;
	while (i < BJ_METRICS_BUCKETS && r->duration_us > BOUNDS_US[i])
		i++;
	m->buckets[i]++;
	m->duration_us += r->duration_us;
	m->cpu_us += r->cpu_us;
}

void bj_metrics_answer(struct bj_metrics *m, unsigned int status)
{
	if (status >= 100 && status < 600)
		m->answers[status / 100]++;
}

static void head(struct bj_buf *buf, const char *name, const char *type, const char *help)
{
	bj_buf_printf(buf, "# HELP belljar_%s %s\n# TYPE belljar_%s %s\n", name, help, name, type);
}

static void single(struct bj_buf *buf, const char *name, const char *type, const char *help,
		   double value)
{
	head(buf, name, type, help);
	bj_buf_printf(buf, "belljar_%s %.15g\n", name, value);
}

static void print_durations(const struct bj_metrics *m, struct bj_buf *buf)
{
	unsigned long long sum = 0;

	head(buf, "run_duration_seconds", "histogram", "How long runs took by the clock.");
	for (size_t i = 0; i < BJ_METRICS_BUCKETS; i++) {
		sum += m->buckets[i];
		bj_buf_printf(buf, "belljar_run_duration_seconds_bucket{le=\"%g\"} %llu\n",
			      (double)BOUNDS_US[i] / 1e6, sum);
	}
	sum += m->buckets[BJ_METRICS_BUCKETS];
	bj_buf_printf(buf, "belljar_run_duration_seconds_bucket{le=\"+Inf\"} %llu\n", sum);
	bj_buf_printf(buf, "belljar_run_duration_seconds_sum %.6f\n", (double)m->duration_us / 1e6);
	bj_buf_printf(buf, "belljar_run_duration_seconds_count %llu\n", sum);
}

void bj_metrics_print(const struct bj_metrics *m, const struct bj_gauges *g, struct bj_buf *buf)
{
	head(buf, "build_info", "gauge", "The version that runs.");
	bj_buf_printf(buf, "belljar_build_info{version=\"%s\"} 1\n", bj_version());
	head(buf, "runs_total", "counter", "Runs that ended, by cause.");
	for (size_t i = BJ_CAUSE_EXITED; i < BJ_METRICS_CAUSES; i++)
		bj_buf_printf(buf, "belljar_runs_total{cause=\"%s\"} %llu\n",
			      bj_cause_name((enum bj_cause)i), (unsigned long long)m->runs[i]);
	print_durations(m, buf);
	single(buf, "run_cpu_seconds_total", "counter", "CPU time of all runs.",
	       (double)m->cpu_us / 1e6);
	head(buf, "http_answers_total", "counter", "Answers by class of status.");
	for (unsigned int i = 2; i < 6; i++)
		bj_buf_printf(buf, "belljar_http_answers_total{class=\"%uxx\"} %llu\n", i,
			      (unsigned long long)m->answers[i]);
	single(buf, "refused_total", "counter", "Runs refused since the queue was full.",
	       (double)m->refused);
	single(buf, "engines_total", "counter", "Launchers that were taken into use.",
	       (double)m->engines);
	single(buf, "runs_in_flight", "gauge", "Runs under way.", g->running);
	single(buf, "queue_length", "gauge", "Runs that wait for their turn.", g->waiting);
	single(buf, "runs_remembered", "gauge", "Runs that the service can tell about.", g->known);
	single(buf, "connections", "gauge", "Open connections.", m->connections);
	single(buf, "ready", "gauge", "1 when runs are taken.", g->ready);
	single(buf, "start_time_seconds", "gauge", "When the service started.",
	       (double)g->started_unix_ms / 1e3);
}
