/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "serve/service.h"

/* How a request for a run is answered. */
enum bj_reply_mode {
	BJ_REPLY_SYNC,   /* when it has ended */
	BJ_REPLY_ASYNC,  /* at once */
	BJ_REPLY_STREAM, /* by its events */
};

/* What the headers ask for. */
enum bj_reply_mode bj_reply_mode(const struct bj_request *request);

/* The run goes on by itself. */
void bj_reply_accepted(struct bj_execution *x, struct bj_answer *answer);

/* The run has ended, or waits for a person. */
void bj_reply_ended(struct bj_execution *x, struct bj_answer *answer);

/* Answer with the run *@x, which the same request brought before. False, and *@x is gone, when that
 * one was cancelled since whoever brought it went away meanwhile: this client is still here. */
bool bj_reply_again(struct bj_service *service, struct bj_execution **x,
		    const struct bj_request *request, enum bj_reply_mode mode,
		    struct bj_answer *answer);
