/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/problem.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>

static const struct {
	const char *type;
	const char *title;
	unsigned int status;
	unsigned int retry_after; /* seconds; 0: none */
} PROBLEMS[] = {
	[BJ_PROBLEM_BAD_REQUEST] = { "bad-request", "The request is wrong", 400, 0 },
	[BJ_PROBLEM_UNAUTHORIZED] = { "unauthorized", "An API key is needed", 401, 0 },
	[BJ_PROBLEM_FORBIDDEN] = { "forbidden", "Not for you", 403, 0 },
	[BJ_PROBLEM_LOOSENS] = { "loosens", "More than the settings allow", 403, 0 },
	[BJ_PROBLEM_NOT_FOUND] = { "not-found", "Not there", 404, 0 },
	[BJ_PROBLEM_METHOD] = { "method", "The method does not fit", 405, 0 },
	[BJ_PROBLEM_CONFLICT] = { "conflict", "Too late", 409, 0 },
	[BJ_PROBLEM_TOO_LARGE] = { "too-large", "The request is too large", 413, 0 },
	[BJ_PROBLEM_MEDIA_TYPE] = { "media-type", "The body is not JSON", 415, 0 },
	[BJ_PROBLEM_KEY_REUSED] = { "key-reused", "The idempotency key was used before", 422, 0 },
	[BJ_PROBLEM_QUEUE_FULL] = { "queue-full", "Too many runs are waiting", 429, 1 },
	[BJ_PROBLEM_QUOTA] = { "quota", "Over quota", 429, 0 },
	[BJ_PROBLEM_CANCELLED] = { "cancelled", "Cancelled before it began", 409, 0 },
	[BJ_PROBLEM_FAILED] = { "failed", "belljar failed", 500, 0 },
	[BJ_PROBLEM_NO_INTERPRETER] = { "no-interpreter", "The interpreter is missing", 500, 0 },
	[BJ_PROBLEM_UNAVAILABLE] = { "unavailable", "Not ready", 503, 1 },
};

enum bj_problem bj_problem_of(const struct bj_err *err)
{
	return err->errnum == ENOSPC || bj_err_lacks_fds(err) ? BJ_PROBLEM_UNAVAILABLE
							      : BJ_PROBLEM_FAILED;
}

enum bj_problem bj_problem_of_result(const struct bj_result *r)
{
	if (r->cause == BJ_CAUSE_QUOTA)
		return BJ_PROBLEM_QUOTA;
	if (r->no_interpreter)
		return BJ_PROBLEM_NO_INTERPRETER;
	return r->retry_after_s ? BJ_PROBLEM_UNAVAILABLE : BJ_PROBLEM_FAILED;
}

unsigned int bj_problem_status(enum bj_problem problem)
{
	return PROBLEMS[problem].status;
}

/* As a JSON string with its quotes. Bytes that are no UTF-8 are replaced. */
static void add_text(struct bj_buf *buf, const char *text)
{
	size_t n = 0;
	AUTO_FREE char *good = bj_utf8_repair(text, strlen(text), &n);
	json_t *string = good ? json_stringn_nocheck(good, n) : NULL;
	AUTO_FREE char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

	json_decref(string);
	bj_buf_puts(buf, quoted ? quoted : "\"\"");
}

char *bj_problem_text(enum bj_problem problem, const char *detail, const char *result)
{
	struct bj_buf buf = { 0 };

	bj_buf_printf(&buf,
		      "{\"type\":\"urn:belljar:problem:%s\",\"title\":", PROBLEMS[problem].type);
	add_text(&buf, PROBLEMS[problem].title);
	bj_buf_printf(&buf, ",\"status\":%u,\"detail\":", PROBLEMS[problem].status);
	add_text(&buf, detail);
	if (result) {
		bj_buf_puts(&buf, ",\"result\":");
		bj_buf_puts(&buf, result);
	}
	bj_buf_puts(&buf, "}");
	return bj_buf_take(&buf);
}

void bj_problem_answer(struct bj_answer *answer, enum bj_problem problem, const char *fmt, ...)
{
	char detail[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	bj_answer_take(answer, PROBLEMS[problem].status, BJ_TYPE_PROBLEM,
		       bj_problem_text(problem, detail, NULL));
	if (PROBLEMS[problem].retry_after)
		bj_answer_header(answer, "Retry-After", "%u", PROBLEMS[problem].retry_after);
	if (problem == BJ_PROBLEM_UNAUTHORIZED)
		bj_answer_header(answer, "WWW-Authenticate", "Bearer");
}
