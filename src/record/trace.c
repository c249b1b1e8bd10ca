/* SPDX-License-Identifier: Apache-2.0 */
#include "record/trace.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/log.h"
#include "docker/curl.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <string.h>
#include <time.h>

enum { QUEUE = 1024, BATCH = 64, TIMEOUT_MS = 2000, URL = 512 };

struct bj_tracer {
	struct bj_curl curl;
	CURL *handle;
	struct curl_slist *headers;
	char url[URL];
	atomic_ullong *sent, *dropped;
	pthread_t thread;
	pthread_mutex_t lock; /* over what follows */
	pthread_cond_t wake;
	struct bj_trace *queue; /* a ring */
	size_t first, n;
	bool stopping;
};

/* --- making traces ---------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool read_hex(const char *text, unsigned char *bytes, size_t size)
{
	size_t n = 0;

	return sodium_hex2bin(bytes, size, text, size * 2, NULL, &n, NULL) == 0 && n == size &&
	       !sodium_is_zero(bytes, size);
}

/* 00-<32 hex>-<16 hex>-<2 hex>, of which the last bit says whether anybody records it. */
static bool read_parent(const char *text, struct bj_trace *t)
{
	static const char digits[] = "0123456789abcdef";
	const char *flags = text + 53;

	if (strlen(text) != 55 || memcmp(text, "00-", 3) != 0 || text[35] != '-' ||
	    text[52] != '-' || strspn(flags, digits) != 2 ||
	    !read_hex(text + 3, t->id, sizeof(t->id)) ||
	    !read_hex(text + 36, t->parent, sizeof(t->parent)))
		return false;
	t->unwanted = !((strchr(digits, flags[1]) - digits) & 1);
	return true;
}

void bj_trace_begin(struct bj_trace *t, const char *traceparent)
{
	*t = (struct bj_trace){ .begin_ns = now_ns() };
	t->has_parent = traceparent && read_parent(traceparent, t);
	if (!t->has_parent)
		randombytes_buf(t->id, sizeof(t->id));
	randombytes_buf(t->root, sizeof(t->root));
}

static void end_step(struct bj_trace *t, uint64_t now)
{
	if (t->n_spans > 0 && !t->spans[t->n_spans - 1].end_ns)
		t->spans[t->n_spans - 1].end_ns = now;
}

void bj_trace_step(struct bj_trace *t, const char *name)
{
	const uint64_t now = now_ns();

	end_step(t, now);
	if (t->n_spans < BJ_TRACE_SPANS)
		t->spans[t->n_spans++] = (struct bj_span){ .name = name, .begin_ns = now };
}

/* --- printing --------------------------------------------------------------------------------- */

static void add_hex(struct bj_buf *buf, const char *name, const unsigned char *bytes, size_t size)
{
	char hex[33];

	sodium_bin2hex(hex, sizeof(hex), bytes, size);
	bj_buf_printf(buf, "\"%s\":\"%s\",", name, hex);
}

/* Values come from our own tables, or are names without quotes. */
static void add_attribute(struct bj_buf *buf, const char *key, const char *value)
{
	if (value && value[0])
		bj_buf_printf(buf, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":\"%s\"}}",
			      buf->data[buf->size - 1] == '[' ? "" : ",", key, value);
}

static void add_times(struct bj_buf *buf, uint64_t begin_ns, uint64_t end_ns)
{
	bj_buf_printf(buf,
		      "\"startTimeUnixNano\":\"%" PRIu64 "\",\"endTimeUnixNano\":\"%" PRIu64 "\"",
		      begin_ns, end_ns);
}

static void add_root(struct bj_buf *buf, const struct bj_trace *t)
{
	char status[16] = "";

	if (t->status)
		snprintf(status, sizeof(status), "%u", t->status);
	bj_buf_puts(buf, "{");
	add_hex(buf, "traceId", t->id, sizeof(t->id));
	add_hex(buf, "spanId", t->root, sizeof(t->root));
	if (t->has_parent)
		add_hex(buf, "parentSpanId", t->parent, sizeof(t->parent));
	bj_buf_puts(buf, "\"name\":\"request\",\"kind\":2,");
	add_times(buf, t->begin_ns, t->end_ns);
	bj_buf_puts(buf, ",\"attributes\":[");
	add_attribute(buf, "belljar.run.id", t->run);
	add_attribute(buf, "belljar.tenant", t->tenant);
	add_attribute(buf, "belljar.tool", t->tool);
	add_attribute(buf, "belljar.language", t->language);
	add_attribute(buf, "belljar.backend", t->backend);
	add_attribute(buf, "belljar.cause", t->cause);
	add_attribute(buf, "http.route", t->route);
	add_attribute(buf, "http.response.status_code", status);
	bj_buf_printf(buf, "],\"status\":{\"code\":%d}}", t->status >= 500 ? 2 : 1);
}

static void add_span(struct bj_buf *buf, const struct bj_trace *t, size_t i)
{
	unsigned char id[8];

	randombytes_buf(id, sizeof(id));
	bj_buf_puts(buf, ",{");
	add_hex(buf, "traceId", t->id, sizeof(t->id));
	add_hex(buf, "spanId", id, sizeof(id));
	add_hex(buf, "parentSpanId", t->root, sizeof(t->root));
	bj_buf_printf(buf, "\"name\":\"%s\",\"kind\":1,", t->spans[i].name);
	add_times(buf, t->spans[i].begin_ns, t->spans[i].end_ns);
	bj_buf_puts(buf, ",\"status\":{}}");
}

static void print(struct bj_buf *buf, const struct bj_trace *traces, size_t n)
{
	bj_buf_printf(
		buf,
		"{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
		"\"value\":{\"stringValue\":\"belljar\"}},{\"key\":\"service.version\","
		"\"value\":{\"stringValue\":\"%s\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":"
		"\"belljar\"},\"spans\":[",
		bj_version());
	for (size_t i = 0; i < n; i++) {
		bj_buf_puts(buf, i ? "," : "");
		add_root(buf, &traces[i]);
		for (size_t j = 0; j < traces[i].n_spans; j++)
			add_span(buf, &traces[i], j);
	}
	bj_buf_puts(buf, "]}]}]}");
}

/* --- sending ---------------------------------------------------------------------------------- */

static size_t ignore_body(char *data, size_t one, size_t n, void *ctx)
{
	(void)data, (void)ctx;
	return one * n;
}

static bool post(struct bj_tracer *t, const struct bj_buf *body)
{
	const struct bj_curl *c = &t->curl;
	long status = 0;

	c->easy_reset(t->handle);
	c->easy_setopt(t->handle, CURLOPT_URL, t->url);
	c->easy_setopt(t->handle, CURLOPT_HTTPHEADER, t->headers);
	c->easy_setopt(t->handle, CURLOPT_POSTFIELDS, body->data);
	c->easy_setopt(t->handle, CURLOPT_POSTFIELDSIZE, (long)body->size);
	c->easy_setopt(t->handle, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
	c->easy_setopt(t->handle, CURLOPT_NOSIGNAL, 1L);
	c->easy_setopt(t->handle, CURLOPT_PROXY, "");
	c->easy_setopt(t->handle, CURLOPT_WRITEFUNCTION, ignore_body);

	const CURLcode code = c->easy_perform(t->handle);

	if (code != CURLE_OK) {
		bj_log(BJ_LOG_DEBUG, "the trace collector: %s", c->easy_strerror(code));
		return false;
	}
	c->easy_getinfo(t->handle, CURLINFO_RESPONSE_CODE, &status);
	return status >= 200 && status < 300;
}

static void send_batch(struct bj_tracer *t, const struct bj_trace *batch, size_t n)
{
	AUTO_BUF struct bj_buf body = { 0 };
	size_t spans = n;

	for (size_t i = 0; i < n; i++)
		spans += batch[i].n_spans;
	print(&body, batch, n);
	if (!body.failed && post(t, &body))
		*t->sent += spans;
	else
		*t->dropped += spans;
}

/* Take up to BATCH traces out of the queue; 0 when it is time to end. */
static size_t take_batch(struct bj_tracer *t, struct bj_trace *batch)
{
	size_t n = 0;

	pthread_mutex_lock(&t->lock);
	while (t->n == 0 && !t->stopping)
		pthread_cond_wait(&t->wake, &t->lock);
	while (t->n > 0 && n < BATCH) {
		batch[n++] = t->queue[t->first];
		t->first = (t->first + 1) % QUEUE;
		t->n--;
	}
	pthread_mutex_unlock(&t->lock);
	return n;
}

static void *send_all(void *ctx)
{
	struct bj_tracer *t = ctx;
	struct bj_trace *batch = calloc(BATCH, sizeof(*batch));
	size_t n;

	while (batch && (n = take_batch(t, batch)) > 0)
		send_batch(t, batch, n);
	free(batch);
	return NULL;
}

void bj_tracer_send(struct bj_tracer *t, struct bj_trace *trace)
{
	if (!t || trace->unwanted)
		return;
	trace->end_ns = now_ns();
	end_step(trace, trace->end_ns);
	pthread_mutex_lock(&t->lock);
	if (t->n < QUEUE) {
		t->queue[(t->first + t->n++) % QUEUE] = *trace;
		pthread_cond_signal(&t->wake);
	} else {
		*t->dropped += trace->n_spans + 1;
	}
	pthread_mutex_unlock(&t->lock);
}

/* --- opening and closing ---------------------------------------------------------------------- */

static int set_up(struct bj_tracer *t, const char *endpoint, struct bj_err *err)
{
	const size_t n = strlen(endpoint);
	int r;

	if (strncmp(endpoint, "http://", 7) != 0 && strncmp(endpoint, "https://", 8) != 0)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "trace.endpoint: an address such as http://127.0.0.1:4318 is "
				  "needed");
	if (n + 16 > sizeof(t->url))
		return bj_err_set(err, BJ_E_INVALID, 0, "trace.endpoint: this is too long");
	snprintf(t->url, sizeof(t->url), "%s%sv1/traces", endpoint,
		 endpoint[n - 1] == '/' ? "" : "/");
	r = bj_curl_load(&t->curl, err);
	if (r < 0)
		return bj_err_wrap(err, "traces cannot be sent");
	t->handle = t->curl.easy_init();
	t->headers = t->curl.slist_append(NULL, "Content-Type: application/json");
	t->queue = calloc(QUEUE, sizeof(*t->queue));
	if (!t->handle || !t->headers || !t->queue)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for traces");
	return 0;
}

static void release(struct bj_tracer *t)
{
	if (t->handle)
		t->curl.easy_cleanup(t->handle);
	if (t->headers)
		t->curl.slist_free_all(t->headers);
	pthread_mutex_destroy(&t->lock);
	pthread_cond_destroy(&t->wake);
	free(t->queue);
	free(t);
}

int bj_tracer_new(const char *endpoint, atomic_ullong *sent, atomic_ullong *dropped,
		  struct bj_tracer **ret, struct bj_err *err)
{
	struct bj_tracer *t = endpoint ? calloc(1, sizeof(*t)) : NULL;

	if (!endpoint) {
		*ret = NULL;
		return 0;
	}
	if (!t)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for traces");
	t->sent = sent;
	t->dropped = dropped;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->wake, NULL);

	int r = set_up(t, endpoint, err);

	if (r == 0) {
		r = pthread_create(&t->thread, NULL, send_all, t);
		if (r != 0)
			r = bj_err_set(err, BJ_E_SYSTEM, r, "cannot start a thread for traces");
	}
	if (r < 0) {
		release(t);
		return r;
	}
	*ret = t;
	return 0;
}

void bj_tracer_free(struct bj_tracer *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->stopping = true;
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	release(t);
}
