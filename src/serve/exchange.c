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
