/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"
#include "serve/exchange.h"

/* Problem details (RFC 9457): what went wrong with a request, as an object. Each kind has its
 * own status and its own `type`, which docs/http.md explains. */
enum bj_problem {
	BJ_PROBLEM_BAD_REQUEST,
	BJ_PROBLEM_UNAUTHORIZED,
	BJ_PROBLEM_FORBIDDEN,
	BJ_PROBLEM_LOOSENS, /* the request asks for more than the settings allow */
	BJ_PROBLEM_NOT_FOUND,
	BJ_PROBLEM_METHOD,
	BJ_PROBLEM_CONFLICT,
	BJ_PROBLEM_TOO_LARGE,
	BJ_PROBLEM_MEDIA_TYPE,
	BJ_PROBLEM_KEY_REUSED, /* an idempotency key with another request */
	BJ_PROBLEM_QUEUE_FULL,
	BJ_PROBLEM_QUOTA,     /* the tenant's share is used up */
	BJ_PROBLEM_CANCELLED, /* the run ended before it began */
	BJ_PROBLEM_FAILED,    /* belljar itself failed */
	BJ_PROBLEM_NO_INTERPRETER,
	BJ_PROBLEM_UNAVAILABLE, /* stopping, or the launcher is not up */
};

/* What a result says that is an answer about belljar: of cause quota or infrastructure. */
enum bj_problem bj_problem_of_result(const struct bj_result *result);

unsigned int bj_problem_status(enum bj_problem problem);

/* What a failure of belljar itself is. A full disk and a want of descriptors are unavailable:
 * the request can be sent again. */
enum bj_problem bj_problem_of(const struct bj_err *err);

/* The object as text. @result: the result object of a run that could not take place, or NULL.
 * The caller frees it; NULL: no memory. */
char *bj_problem_text(enum bj_problem problem, const char *detail, const char *result);

/* Answer with the problem; queue-full and unavailable get a Retry-After. */
void bj_problem_answer(struct bj_answer *answer, enum bj_problem problem, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
