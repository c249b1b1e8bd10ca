/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "serve/service.h"

/* Requests that are sent again under the same idempotency key, whose run waits for a person or has
 * waited for one: the records know it, across restarts. */

/* The run @x, which has a key, waits from now on. */
void bj_again_keep(const struct bj_generation *generation, const struct bj_execution *x);

/* Look for the run that @init asked for before, and answer with it when it is found: with what is
 * known of it, or with its result when that is wanted (@result) and there is one. 1: answered. 2:
 * it is under way, and *@ret holds it, for the caller to unref. 0: there is none. */
int bj_again_answer(struct bj_service *service, const struct bj_generation *generation,
		    const struct bj_request *request, const struct bj_run_init *init, bool result,
		    struct bj_execution **ret, struct bj_answer *answer);
