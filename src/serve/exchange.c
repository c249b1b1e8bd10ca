/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/exchange.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool holds(const char *list, const char *word)
{
	const char *p = list;
	const size_t len = strlen(word);

	while (p && *p) {
		p += strspn(p, " \t,");
		if (strncasecmp(p, word, len) == 0 && strchr(" \t,;", p[len]))
			return true;
		p += strcspn(p, ",");
	}
	return false;
}

struct search {
	const char *word;
	bool found;
};

static void look(void *to, const char *value)
{
	struct search *search = to;

	search->found |= holds(value, search->word);
}

bool bj_request_has(const struct bj_request *req, const char *name, const char *word)
{
	struct search search = { .word = word };

	if (req->each)
		req->each(req->ctx, name, look, &search);
	else
		look(&search, req->header(req->ctx, name));
	return search.found;
}

/* --- what is wanted --------------------------------------------------------------------------- */

/* How exactly a range of media types says what is looked for. */
enum fit { NO_FIT, ANY, ANY_OF_KIND, NAMED };

struct wanting {
	const char *type;
	enum fit fit;
	int weight; /* of the closest fit; -1: none */
};

/* Up to the next @mark outside of quotes, or to the end. */
static size_t span_to(const char *p, char mark)
{
	bool quoted = false;
	size_t n = 0;

	for (; p[n] && (quoted || p[n] != mark); n++) {
		if (quoted && p[n] == '\\' && p[n + 1])
			n++;
		else if (p[n] == '"')
			quoted = !quoted;
	}
	return n;
}

static enum fit fit_of(const char *range, size_t size, const char *type)
{
	const size_t kind = strcspn(type, "/") + 1;

	if (size == strlen(type) && strncasecmp(range, type, size) == 0)
		return NAMED;
	if (size == kind + 1 && strncasecmp(range, type, kind) == 0 && range[kind] == '*')
		return ANY_OF_KIND;
	return size == 3 && strncmp(range, "*/*", 3) == 0 ? ANY : NO_FIT;
}

/* "0.5" is 500. What is no weight says nothing. */
static int read_weight(const char *p)
{
	int weight = *p == '0' ? 0 : 1000;

	if (p[0] != '0' || p[1] != '.')
		return weight;
	p += 2;
	for (int place = 100; place > 0 && *p >= '0' && *p <= '9'; place /= 10)
		weight += (*p++ - '0') * place;
	return weight;
}

/* The weight among the parameters of one range, which end at @end. */
static int weight_of(const char *p, const char *end)
{
	int weight = 1000;

	for (p += span_to(p, ';'); p < end; p += span_to(p, ';')) {
		p += 1 + strspn(p + 1, " \t");
		if ((p[0] == 'q' || p[0] == 'Q') && p[1] == '=')
			weight = read_weight(p + 2);
	}
	return weight;
}

static void weigh(void *to, const char *value)
{
	struct wanting *w = to;
	const char *p = value;

	while (p && *p) {
		p += strspn(p, " \t,");

		const char *end = p + span_to(p, ',');
		const enum fit fit = fit_of(p, strcspn(p, " \t,;"), w->type);
		const int weight = fit ? weight_of(p, end) : -1;

		if (fit > w->fit || (fit == w->fit && weight > w->weight)) {
			w->fit = fit;
			w->weight = weight;
		}
		p = end;
	}
}

int bj_request_wants(const struct bj_request *req, const char *type, bool *ret_named)
{
	struct wanting w = { .type = type, .weight = -1 };

	if (req->each)
		req->each(req->ctx, "Accept", weigh, &w);
	else
		weigh(&w, req->header(req->ctx, "Accept"));
	if (ret_named)
		*ret_named = w.fit == NAMED;
	return w.weight;
}

/* --- bodies and answers ----------------------------------------------------------------------- */

bool bj_request_is_heavy(const struct bj_request *req)
{
	bool quoted = false;
	size_t values = 0;

	/* A reader of JSON sees the same words, up to the first that is none. */
	for (size_t i = 0; i < req->body_size && values <= BJ_BODY_VALUES; i++) {
		const char c = req->body[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted)
			values += c == '{' || c == '[' || c == ',';
	}
	return values > BJ_BODY_VALUES;
}

void bj_answer_take(struct bj_answer *answer, unsigned int status, const char *type,
		    char *body_take)
{
	static const char no_memory[] =
		"{\"type\":\"about:blank\",\"title\":\"Internal Server Error\",\"status\":500,"
		"\"detail\":\"no memory for the answer; try again later\"}";

	if (!answer->body_static)
		free(answer->body);
	answer->status = body_take ? status : 500;
	answer->type = body_take ? type : BJ_TYPE_PROBLEM;
	answer->body = body_take ? body_take : (char *)no_memory;
	answer->body_static = !body_take;
	answer->size = strlen(answer->body);
}

void bj_answer_header(struct bj_answer *answer, const char *name, const char *fmt, ...)
{
	va_list ap;

	if (answer->n_headers == BJ_ANSWER_HEADERS)
		return;
	answer->headers[answer->n_headers].name = name;
	va_start(ap, fmt);
	vsnprintf(answer->headers[answer->n_headers++].value, BJ_ANSWER_HEADER_SIZE, fmt, ap);
	va_end(ap);
}

void bj_answer_done(struct bj_answer *answer)
{
	if (!answer->body_static)
		free(answer->body);
	answer->body = NULL;
	if (answer->stream.done)
		answer->stream.done(answer->stream.ctx);
	answer->stream = (struct bj_stream){ 0 };
}
