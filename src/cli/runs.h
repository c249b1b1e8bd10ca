/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "serve/client.h"

#include <jansson.h>

/* What the verbs that ask a service share: connecting, and the table of runs. */

/* Connect to the service of @socket (NULL: the settings' one, else the usual places). */
int bj_runs_connect(const char *socket, struct bj_client *ret, struct bj_err *err);

/* The list that GET @target gives. The caller drops *@ret. */
int bj_runs_fetch(struct bj_client *client, const char *target, json_t **ret, struct bj_err *err);

/* Print the runs of @list as a table on stdout, only those under way unless @all. */
void bj_runs_table(const json_t *list, bool all);
