/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/query.h"

#include "base/size.h"
#include "serve/problem.h"

#include <string.h>

bool bj_query_word(const struct bj_request *req, const char *name, int (*from_name)(const char *),
		   int *ret, struct bj_answer *answer)
{
	const char *value = req->query(req->ctx, name);
	const int word = value ? from_name(value) : 0;

	if (word < 0) {
		bj_problem_answer(answer, BJ_PROBLEM_BAD_REQUEST, "%s: there is no %.40s", name,
				  value);
		return false;
	}
	if (value)
		*ret = word;
	return true;
}

bool bj_query_number(const struct bj_request *req, const char *name, uint64_t min, uint64_t max,
		     uint64_t *ret, struct bj_answer *answer)
{
	const char *value = req->query(req->ctx, name);
	uint64_t number;

	if (!value)
		return true;
	if (bj_u64_parse(value, &number) < 0 || number < min || number > max) {
		bj_problem_answer(answer, BJ_PROBLEM_BAD_REQUEST, "%s: a number from %llu to %llu",
				  name, (unsigned long long)min, (unsigned long long)max);
		return false;
	}
	*ret = number;
	return true;
}

bool bj_query_flag(const struct bj_request *req, const char *name, bool *ret,
		   struct bj_answer *answer)
{
	const char *value = req->query(req->ctx, name);
	const bool yes = value && strcmp(value, "true") == 0;

	if (value && !yes && strcmp(value, "false") != 0) {
		bj_problem_answer(answer, BJ_PROBLEM_BAD_REQUEST, "%s: true or false", name);
		return false;
	}
	if (value)
		*ret = yes;
	return true;
}
