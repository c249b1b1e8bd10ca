/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/metrics.h"

#include "base/cleanup.h"
#include "spec/names.h"

#include <string.h>

enum { MAX_RULES = 1024, RULE_NAME = 64 };

struct bj_rule_count {
	char name[RULE_NAME];
	unsigned long long n;
};

/* A warm run takes half a millisecond, a timeout a minute. */
static const uint64_t DURATIONS_US[BJ_METRICS_BUCKETS] = { 500,    1000,    2500,     5000,
							   10000,  25000,   50000,    100000,
							   500000, 1000000, 10000000, 60000000 };
static const uint64_t PEAKS_KIB[BJ_METRICS_BUCKETS] = {
	1 << 10,  2 << 10,   4 << 10,   8 << 10,   16 << 10,   32 << 10,
	64 << 10, 128 << 10, 256 << 10, 512 << 10, 1024 << 10, 4096 << 10
};

static const unsigned int CODES[BJ_METRICS_CODES - 1] = { 200, 201, 202, 204, 400, 401, 403,
							  404, 405, 406, 408, 409, 413, 415,
							  422, 429, 500, 501, 503 };

static const char *const DENIALS[BJ_DENIALS] = {
	[BJ_DENIAL_REJECTED] = "rejected",     [BJ_DENIAL_DENIED] = "denied",
	[BJ_DENIAL_EXPIRED] = "expired",       [BJ_DENIAL_QUOTA] = "quota",
	[BJ_DENIAL_QUEUE_FULL] = "queue_full", [BJ_DENIAL_UNAUTHORIZED] = "unauthorized",
	[BJ_DENIAL_FORBIDDEN] = "forbidden",
};

/* Causes that are denials too. */
static const struct {
	enum bj_cause cause;
	enum bj_denial denial;
} DENYING[] = {
	{ BJ_CAUSE_REJECTED, BJ_DENIAL_REJECTED },
	{ BJ_CAUSE_DENIED, BJ_DENIAL_DENIED },
	{ BJ_CAUSE_EXPIRED, BJ_DENIAL_EXPIRED },
	{ BJ_CAUSE_QUOTA, BJ_DENIAL_QUOTA },
};

void bj_metrics_init(struct bj_metrics *m)
{
	memset(m, 0, sizeof(*m));
	pthread_mutex_init(&m->lock, NULL);
	bj_metrics_know_rule(m, "other");
}

void bj_metrics_done(struct bj_metrics *m)
{
	free(m->rules);
	pthread_mutex_destroy(&m->lock);
}

/* --- counting --------------------------------------------------------------------------------- */

static void observe(struct bj_histogram *h, const uint64_t *bounds, uint64_t value)
{
	size_t i = 0;

	while (i < BJ_METRICS_BUCKETS && value > bounds[i])
		i++;
	h->buckets[i]++;
	h->sum += value;
}

static struct bj_rule_count *find_rule(struct bj_metrics *m, const char *name)
{
	for (size_t i = 0; i < m->n_rules; i++)
		if (strcmp(m->rules[i].name, name) == 0)
			return &m->rules[i];
	return NULL;
}

void bj_metrics_know_rule(struct bj_metrics *m, const char *rule)
{
	pthread_mutex_lock(&m->lock);
	if (m->n_rules < MAX_RULES && strlen(rule) < RULE_NAME && !find_rule(m, rule)) {
		struct bj_rule_count *list =
			realloc(m->rules, (m->n_rules + 1) * sizeof(*m->rules));

		if (list) {
			m->rules = list;
			list[m->n_rules] = (struct bj_rule_count){ .n = 0 };
			snprintf(list[m->n_rules++].name, RULE_NAME, "%s", rule);
		}
	}
	pthread_mutex_unlock(&m->lock);
}

static void count_findings(struct bj_metrics *m, const struct bj_result *r)
{
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < r->n_findings; i++) {
		struct bj_rule_count *rule = find_rule(m, r->findings[i].rule);

		if (!rule)
			rule = find_rule(m, "other");
		if (rule)
			rule->n++;
	}
	pthread_mutex_unlock(&m->lock);
}

void bj_metrics_run(struct bj_metrics *m, const struct bj_result *r)
{
	if ((size_t)r->cause < BJ_METRICS_CAUSES && (size_t)r->runtime < BJ_METRICS_BACKENDS)
		m->runs[r->runtime][r->cause]++;
	observe(&m->duration, DURATIONS_US, r->duration_us);
	if (r->peak_memory)
		observe(&m->peak, PEAKS_KIB, r->peak_memory >> 10);
	m->cpu_us += r->cpu_us;
	m->memory_mib_ms += (r->peak_memory >> 20) * (r->duration_us / 1000);
	m->warm += r->warm;
	m->fallbacks += r->fallback_reason != NULL;
	m->trusted += r->trusted;
	m->cleanup_failed += !r->cleanup_success;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(DENYING); i++)
		if (DENYING[i].cause == r->cause)
			m->denials[DENYING[i].denial]++;
	if (r->n_findings)
		count_findings(m, r);
}

void bj_metrics_wait(struct bj_metrics *m, uint64_t wait_ns)
{
	observe(&m->wait, DURATIONS_US, wait_ns / 1000);
}

void bj_metrics_answer(struct bj_metrics *m, unsigned int route, unsigned int status)
{
	size_t code = 0;

	while (code < BJ_ARRAY_SIZE(CODES) && CODES[code] != status)
		code++;
	if (route == 0 || route >= BJ_METRICS_ROUTES)
		route = BJ_METRICS_ROUTES;
	m->answers[route - 1][code]++;
	if (status == 401)
		m->denials[BJ_DENIAL_UNAUTHORIZED]++;
	if (status == 403)
		m->denials[BJ_DENIAL_FORBIDDEN]++;
}

/* --- printing --------------------------------------------------------------------------------- */

static void head(struct bj_buf *buf, const char *name, const char *type, const char *help)
{
	bj_buf_printf(buf, "# HELP belljar_%s %s\n# TYPE belljar_%s %s\n", name, help, name, type);
}

static void print_histogram(struct bj_buf *buf, const char *name, const char *help,
			    const struct bj_histogram *h, const uint64_t *bounds, double unit)
{
	unsigned long long sum = 0;

	head(buf, name, "histogram", help);
	for (size_t i = 0; i < BJ_METRICS_BUCKETS; i++) {
		sum += h->buckets[i];
		bj_buf_printf(buf, "belljar_%s_bucket{le=\"%.15g\"} %llu\n", name,
			      (double)bounds[i] * unit, sum);
	}
	sum += h->buckets[BJ_METRICS_BUCKETS];
	bj_buf_printf(buf, "belljar_%s_bucket{le=\"+Inf\"} %llu\n", name, sum);
	bj_buf_printf(buf, "belljar_%s_sum %.15g\n", name, (double)h->sum * unit);
	bj_buf_printf(buf, "belljar_%s_count %llu\n", name, sum);
}

static void print_runs(const struct bj_metrics *m, struct bj_buf *buf)
{
	head(buf, "runs_total", "counter", "Runs that ended, by backend and cause.");
	for (size_t b = 0; b < BJ_METRICS_BACKENDS; b++)
		for (size_t c = BJ_CAUSE_EXITED; c < BJ_METRICS_CAUSES; c++)
			bj_buf_printf(buf, "belljar_runs_total{backend=\"%s\",cause=\"%s\"} %llu\n",
				      bj_backend_name((enum bj_backend_id)b),
				      bj_cause_name((enum bj_cause)c),
				      (unsigned long long)m->runs[b][c]);
	head(buf, "denials_total", "counter", "What was not done, by reason.");
	for (size_t i = 0; i < BJ_DENIALS; i++)
		bj_buf_printf(buf, "belljar_denials_total{reason=\"%s\"} %llu\n", DENIALS[i],
			      (unsigned long long)m->denials[i]);
}

static void print_findings(struct bj_metrics *m, struct bj_buf *buf)
{
	head(buf, "findings_total", "counter", "Findings of the check, by rule.");
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->n_rules; i++)
		if (m->rules[i].n || i == 0)
			bj_buf_printf(buf, "belljar_findings_total{rule=\"%s\"} %llu\n",
				      m->rules[i].name, m->rules[i].n);
	pthread_mutex_unlock(&m->lock);
}

static void print_route(const struct bj_metrics *m, unsigned int route, const char *method,
			const char *path, struct bj_buf *buf)
{
	for (size_t c = 0; c < BJ_METRICS_CODES; c++) {
		const unsigned long long n = m->answers[route - 1][c];
		char code[16] = "other";

		if (n == 0)
			continue;
		if (c < BJ_ARRAY_SIZE(CODES))
			snprintf(code, sizeof(code), "%u", CODES[c]);
		bj_buf_printf(buf,
			      "belljar_http_requests_total{code=\"%s\",method=\"%s\","
			      "route=\"%s\"} %llu\n",
			      code, method, path, n);
	}
}

static void print_answers(const struct bj_metrics *m, const struct bj_gauges *g, struct bj_buf *buf)
{
	const char *method, *path;

	head(buf, "http_requests_total", "counter", "Requests answered, by route and status.");
	for (unsigned int i = 1; i < BJ_METRICS_ROUTES && g->route && g->route(i, &method, &path);
	     i++)
		print_route(m, i, method, path, buf);
	print_route(m, BJ_METRICS_ROUTES, "other", "other", buf);
}

static void print_kind(struct bj_buf *buf, const char *name, const char *kind, uint32_t n)
{
	bj_buf_printf(buf, "belljar_%s{kind=\"%s\"} %u\n", name, kind, n);
}

/* What the launcher keeps ready, and what became of it. */
static void print_slots(const struct bj_wire_census *c, struct bj_buf *buf)
{
	static const char *const kinds[BJ_WIRE_KINDS] = { "python", "heavy", "bash", "empty" };
	static const char *const ends[BJ_WIRE_ENDS] = { "dead", "wrong", "slow", "old", "unused" };
	static const char slot[] = "belljar_slots{kind=\"%s\",state=\"%s\"} %u\n";
	enum { PYTHONS = 2 };

	head(buf, "slots", "gauge", "Jars by kind, and whether they wait, come or are busy.");
	for (int k = 0; k < BJ_WIRE_KINDS; k++) {
		bj_buf_printf(buf, slot, kinds[k], "ready", c->kinds[k].ready);
		bj_buf_printf(buf, slot, kinds[k], "coming", c->kinds[k].coming);
		bj_buf_printf(buf, slot, kinds[k], "busy", c->kinds[k].busy);
	}
	bj_buf_printf(buf, slot, "cold", "busy", c->cold);
	head(buf, "slots_target", "gauge", "Jars that should wait at present demand.");
	for (int k = 0; k < BJ_WIRE_KINDS; k++)
		print_kind(buf, "slots_target", kinds[k], c->kinds[k].target);
	head(buf, "slot_failures_total", "counter", "Jars that failed before a script came.");
	for (int k = 0; k < BJ_WIRE_KINDS; k++)
		print_kind(buf, "slot_failures_total", kinds[k], c->kinds[k].failures);
	head(buf, "zygotes", "gauge", "Zygotes that are up.");
	for (int k = 0; k < PYTHONS; k++)
		print_kind(buf, "zygotes", kinds[k], c->kinds[k].zygotes);
	head(buf, "zygote_starts_total", "counter", "Zygotes that this launcher started.");
	for (int k = 0; k < PYTHONS; k++)
		print_kind(buf, "zygote_starts_total", kinds[k], c->kinds[k].zygote_starts);
	head(buf, "zygotes_replaced_total", "counter", "Zygotes of this launcher that ended.");
	for (int i = 0; i < BJ_WIRE_ENDS; i++)
		bj_buf_printf(buf, "belljar_zygotes_replaced_total{reason=\"%s\"} %u\n", ends[i],
			      c->ends[i]);
}

static void print_image_slots(const struct bj_gauges *g, int place, struct bj_buf *buf)
{
	static const char slot[] = "belljar_image_slots{image=\"%s\",state=\"%s\"} %u\n";
	const struct bj_wire_shelf *shelf = &g->census.images[place];

	bj_buf_printf(buf, slot, g->images[place], "ready", shelf->ready);
	bj_buf_printf(buf, slot, g->images[place], "coming", shelf->coming);
	bj_buf_printf(buf, slot, g->images[place], "busy", shelf->busy);
}

/* The same by image: how much waits in all, and how many zygotes there are. */
static void print_images(const struct bj_gauges *g, struct bj_buf *buf)
{
	head(buf, "image_slots", "gauge",
	     "Jars by image, and whether they wait, come or are busy.");
	for (int i = 0; i < BJ_WIRE_IMAGES; i++)
		if (g->images[i][0])
			print_image_slots(g, i, buf);
	head(buf, "image_slots_target", "gauge", "Jars that should wait at present demand.");
	for (int i = 0; i < BJ_WIRE_IMAGES; i++)
		if (g->images[i][0])
			bj_buf_printf(buf, "belljar_image_slots_target{image=\"%s\"} %u\n",
				      g->images[i], g->census.images[i].target);
	head(buf, "image_zygotes", "gauge", "Zygotes that are up.");
	for (int i = 0; i < BJ_WIRE_IMAGES; i++)
		if (g->images[i][0])
			bj_buf_printf(buf, "belljar_image_zygotes{image=\"%s\"} %u\n", g->images[i],
				      g->census.images[i].zygotes);
}

static void print_restarts(const struct bj_gauges *g, struct bj_buf *buf)
{
	head(buf, "restarts_total", "counter", "Processes of the service that died, by part.");
	bj_buf_printf(buf, "belljar_restarts_total{part=\"front\"} %u\n", g->fronts);
	bj_buf_printf(buf, "belljar_restarts_total{part=\"launcher\"} %u\n", g->launchers);
}

/* Metrics of one value. */
static void print_singles(const struct bj_metrics *m, const struct bj_gauges *g, struct bj_buf *buf)
{
	const struct {
		const char *name, *type, *help;
		double value;
	} singles[] = {
		{ "run_cpu_seconds_total", "counter", "CPU time of all runs.",
		  (double)m->cpu_us / 1e6 },
		{ "run_memory_byte_seconds_total", "counter",
		  "Peak memory of all runs times how long they took.",
		  (double)m->memory_mib_ms * 1048576.0 / 1e3 },
		{ "runs_warm_total", "counter", "Runs that an interpreter waited for.",
		  (double)m->warm },
		{ "fallbacks_total", "counter", "Runs in another backend than the chosen one.",
		  (double)m->fallbacks },
		{ "runs_trusted_total", "counter", "Runs whose check was bypassed.",
		  (double)m->trusted },
		{ "cleanup_failures_total", "counter", "Runs that left something behind.",
		  (double)m->cleanup_failed },
		{ "orphans_swept_total", "counter", "Leftovers of dead belljars removed.",
		  (double)m->orphans },
		{ "engines_total", "counter", "Launchers that were taken into use.",
		  (double)m->engines },
		{ "store_errors_total", "counter", "Records that could not be written.",
		  (double)g->store_errors },
		{ "audit_errors_total", "counter", "Lines of the audit log that failed.",
		  (double)g->audit_errors },
		{ "trace_spans_sent_total", "counter", "Spans that the collector took.",
		  (double)m->spans_sent },
		{ "trace_spans_dropped_total", "counter", "Spans that were given up.",
		  (double)m->spans_dropped },
		{ "runs_in_flight", "gauge", "Runs under way.", g->running },
		{ "runs_in_flight_limit", "gauge", "Runs that may be under way at once.",
		  g->max_running },
		{ "queue_length", "gauge", "Runs that wait for their turn.", g->waiting },
		{ "queue_limit", "gauge", "Runs that may wait for their turn.", g->max_waiting },
		{ "runs_pending", "gauge", "Runs that wait for a person.", g->pending },
		{ "jars", "gauge", "Jars that are open, with a script or without.",
		  g->census.jars },
		{ "jars_limit", "gauge", "Jars that can be open at once.", g->census.max_jars },
		{ "runs_remembered", "gauge", "Runs that the service can tell about.", g->known },
		{ "connections", "gauge", "Open connections.", m->connections },
		{ "ready", "gauge", "1 when runs are taken.", g->ready },
		{ "start_time_seconds", "gauge", "When the service started.",
		  (double)g->started_unix_ms / 1e3 },
	};

	for (size_t i = 0; i < BJ_ARRAY_SIZE(singles); i++) {
		head(buf, singles[i].name, singles[i].type, singles[i].help);
		bj_buf_printf(buf, "belljar_%s %.15g\n", singles[i].name, singles[i].value);
	}
}

void bj_metrics_print(struct bj_metrics *m, const struct bj_gauges *g, struct bj_buf *buf)
{
	head(buf, "build_info", "gauge", "The version that runs.");
	bj_buf_printf(buf, "belljar_build_info{version=\"%s\"} 1\n", bj_version());
	print_runs(m, buf);
	print_histogram(buf, "run_duration_seconds", "How long runs took by the clock.",
			&m->duration, DURATIONS_US, 1e-6);
	print_histogram(buf, "queue_wait_seconds", "How long runs waited for their turn.", &m->wait,
			DURATIONS_US, 1e-6);
	print_histogram(buf, "run_peak_memory_bytes", "The most memory that runs used.", &m->peak,
			PEAKS_KIB, 1024);
	print_findings(m, buf);
	print_answers(m, g, buf);
	print_slots(&g->census, buf);
	print_images(g, buf);
	print_restarts(g, buf);
	print_singles(m, g, buf);
}
