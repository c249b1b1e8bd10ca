/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "serve/exchange.h"

#include <stdint.h>

/* One argument of the query by its @name. True: *@ret is its value, or is untouched since the
 * argument is not there. False: it has no such value, and @answer says which it may have. */

/* A word that @from_name knows: it is negative for all others. */
bool bj_query_word(const struct bj_request *req, const char *name, int (*from_name)(const char *),
		   int *ret, struct bj_answer *answer);

bool bj_query_number(const struct bj_request *req, const char *name, uint64_t min, uint64_t max,
		     uint64_t *ret, struct bj_answer *answer);

/* true or false */
bool bj_query_flag(const struct bj_request *req, const char *name, bool *ret,
		   struct bj_answer *answer);
