/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "serve/client.h"

#include <jansson.h>

/* What the verbs that ask a service share: connecting, and the table of runs. */

/* Connect to the service of @socket (NULL: the settings' one, else the usual places). */
int bj_runs_connect(const char *socket, struct bj_client *ret, struct bj_err *err);

/* The runs that the service lists in @states (NULL at the end, "" for any): state after state, the
 * newest first, each once, @most in all. A run that moves on meanwhile is not missed when it moves
 * towards the end of @states. The caller drops *@ret. */
int bj_runs_list(struct bj_client *client, const char *const *states, size_t most, json_t **ret,
		 struct bj_err *err);

/* Print the runs of @list as a table on stdout. */
void bj_runs_table(const json_t *list);
