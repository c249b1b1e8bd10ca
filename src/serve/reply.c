/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/reply.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

enum bj_reply_mode bj_reply_mode(const struct bj_request *req)
{
	if (bj_request_has(req, "Prefer", "respond-async"))
		return BJ_REPLY_ASYNC;

	/* Whoever takes anything gets the result: events are for those who name them. */
	bool named;
	const int events = bj_request_wants(req, BJ_TYPE_EVENTS, &named);

	return named && events > 0 && events >= bj_request_wants(req, BJ_TYPE_JSON, NULL)
		       ? BJ_REPLY_STREAM
		       : BJ_REPLY_SYNC;
}

void bj_reply_accepted(struct bj_execution *x, struct bj_answer *answer)
{
	struct bj_buf buf = { 0 };

	bj_execution_print(x, false, &buf);
	bj_answer_take(answer, 202, BJ_TYPE_JSON, bj_buf_take(&buf));
	bj_answer_header(answer, "Location", "/v1/executions/%s", x->id);
	bj_answer_header(answer, "Preference-Applied", "respond-async");
}

void bj_reply_ended(struct bj_execution *x, struct bj_answer *answer)
{
	pthread_mutex_lock(&x->lock);

	const bool waits = x->state == BJ_PENDING;

	pthread_mutex_unlock(&x->lock);
	if (waits) {
		bj_reply_accepted(x, answer);
		return;
	}
	pthread_mutex_lock(&x->lock);
	if (x->failed) {
		bj_problem_answer(answer, x->problem, "%s", x->error);
		free(answer->body);
		answer->body = bj_problem_text(x->problem, x->error, x->result);
		answer->size = answer->body ? strlen(answer->body) : 0;
		if (x->retry_after_s)
			bj_answer_header(answer, "Retry-After", "%u", x->retry_after_s);
	} else {
		bj_answer_take(answer, 200, BJ_TYPE_JSON, x->result ? strdup(x->result) : NULL);
	}
	pthread_mutex_unlock(&x->lock);
}

bool bj_reply_again(struct bj_service *s, struct bj_execution **x, const struct bj_request *req,
		    enum bj_reply_mode mode, struct bj_answer *answer)
{
	const bool joined = mode != BJ_REPLY_SYNC && bj_execution_join(*x, mode == BJ_REPLY_ASYNC);

	if (joined && mode == BJ_REPLY_ASYNC) {
		bj_reply_accepted(*x, answer);
	} else if (joined) {
		bj_execute_stream(s, req, BJ_TAKE_PTR(*x), BJ_FOLLOW_JOINED, answer);
	} else if (!bj_execution_wait(*x, req->hangup)) {
		bj_problem_answer(answer, BJ_PROBLEM_CANCELLED, "the client went away");
	} else if (bj_execution_is_abandoned(*x)) {
		bj_execution_unref(s->runs, BJ_TAKE_PTR(*x));
		return false;
	} else {
		bj_reply_ended(*x, answer);
	}
	return true;
}
