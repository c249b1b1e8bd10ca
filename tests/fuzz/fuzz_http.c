/* SPDX-License-Identifier: Apache-2.0 */

/* What handlers see of a request is all foreign: method, path, query, headers, body. The service
 * here is stopped before it would run anything, so a request goes through all of its reading and
 * ends with an answer, which must be whole. The input:
 *
 *	METHOD PATH
 *	header: value        any number of lines; ?name=value is an argument of the query
 *
 *	body                 after the first empty line */

#include "fuzz.h"

#include "base/cleanup.h"
#include "serve/frame.h"
#include "serve/order.h"
#include "serve/service.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>

enum { MAX_FIELDS = 16 };

struct fields {
	char *names[MAX_FIELDS], *values[MAX_FIELDS];
	size_t n;
};

static const char *find(void *ctx, const char *prefix, const char *name)
{
	const struct fields *f = ctx;
	const size_t skip = strlen(prefix);

	for (size_t i = 0; i < f->n; i++)
		if (strncmp(f->names[i], prefix, skip) == 0 &&
		    strcasecmp(f->names[i] + skip, name) == 0)
			return f->values[i];
	return NULL;
}

static const char *find_header(void *ctx, const char *name)
{
	return find(ctx, "", name);
}

static const char *find_query(void *ctx, const char *name)
{
	return find(ctx, "?", name);
}

/* One line, ended by a NUL; *@text moves behind it. NULL at the empty line or the end. */
static char *next_line(char **text)
{
	char *line = *text;
	char *end = strchr(line, '\n');

	if (line[0] == '\0' || line[0] == '\n')
		return NULL;
	if (end)
		*end = '\0';
	*text = end ? end + 1 : line + strlen(line);
	return line;
}

static void split(struct fields *f, char *line, char sign)
{
	char *value = strchr(line, sign);

	if (!value || f->n == MAX_FIELDS)
		return;
	*value = '\0';
	f->names[f->n] = line;
	f->values[f->n++] = value + 1 + strspn(value + 1, " ");
}

static void check_answer(const struct bj_answer *a)
{
	if (a->status < 200 || a->status > 599 || !a->type)
		abort();
	if (a->stream.next || strstr(a->type, "json") == NULL)
		return;

	json_t *object = json_loadb(a->body, a->size, 0, NULL);

	if (!json_is_object(object))
		abort();
	json_decref(object);
}

/* What a run would be made of, also when the service takes none. */
static void read_order(struct belljar *bj, const char *body, size_t size)
{
	struct bj_order order;
	enum bj_problem problem;
	struct bj_err err = { 0 };

	if (bj_order_read(bj, body, size, &order, &problem, &err) < 0) {
		if (err.msg[0] == '\0' || bj_problem_status(problem) < 400)
			abort();
	} else {
		const struct bj_limits *have = &bj->settings->limits;
		const struct bj_limits *got = &order.spec.limits;

		if (!order.spec.script || order.spec.trust || order.spec.policy == BJ_POLICY_OFF ||
		    order.spec.backend != bj->settings->backend)
			abort();
		if (!order.profile && (got->memory > have->memory || got->pids > have->pids ||
				       got->cpu_milli > have->cpu_milli))
			abort();
	}
	bj_order_done(&order);
}

/* A path is decoded in its place, and ends where it ended. */
static void read_path(const char *path)
{
	AUTO_FREE char *text = strdup(path);

	if (text &&
	    (bj_frame_unescape(NULL, NULL, text) != strlen(text) || strlen(text) > strlen(path)))
		abort();
}

/* Wherever an id leads, there is an event, or the end. */
static void read_event_id(const char *id)
{
	struct bj_sse sse = { .keep = 4096, .life = 0xc0ffee };
	AUTO_BUF struct bj_buf text = { 0 };
	uint64_t pos = UINT64_MAX;

	bj_sse_state(&sse, "running");
	bj_sse_output(&sse, BJ_EV_STDOUT, "x\n", 2);
	if (bj_sse_find(&sse, id, &pos) == BJ_SSE_FOUND) {
		if (pos > bj_sse_end(&sse))
			abort();
		bj_sse_take(&sse, &pos, SIZE_MAX, &text);
		if (text.size > 0 && memcmp(text.data, "id: ", 4) != 0)
			abort();
	}
	bj_sse_done(&sse);
}

static void handle(struct bj_service *service, struct belljar *bj, char *text, size_t size)
{
	char *at = text, *line = next_line(&at);
	char *path = line ? strchr(line, ' ') : NULL;
	struct fields fields = { 0 };
	struct bj_answer answer = { 0 };

	if (!path)
		return;
	*path++ = '\0';
	while ((line = next_line(&at)))
		split(&fields, line, line[0] == '?' ? '=' : ':');
	at += *at == '\n';

	const struct bj_request request = { .method = text,
					    .path = path,
					    .header = find_header,
					    .query = find_query,
					    .ctx = &fields,
					    .body = at,
					    .body_size = size - (size_t)(at - text) };

	read_path(path);
	if (find_header(&fields, "Last-Event-ID"))
		read_event_id(find_header(&fields, "Last-Event-ID"));
	read_order(bj, request.body, request.body_size);
	bj_service_handle(service, &request, &answer);
	check_answer(&answer);
	bj_answer_done(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bj_service service;
	static struct belljar bj;
	AUTO_FREE char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (!bj.settings) {
		clearenv();
		if (bj_settings_load("/dev/null", NULL, 0, &bj.settings, NULL) < 0 ||
		    bj_service_init(&service, NULL) < 0)
			abort();
		bj_service_stop(&service, 1);
	}
	memcpy(text, data, size);
	text[size] = '\0';
	handle(&service, &bj, text, size);
	return 0;
}
