/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/settings.h"
#include "engine/engine.h"
#include "serve/problem.h"

#include <jansson.h>

/* What a request orders: the body of POST /v1/executions, read and held against the settings. A
 * request can only tighten: limits up to those of the settings or of the profile it names, a
 * policy at least as strict, never `off`, trust or the backend direct. */
struct bj_order {
	struct bj_spec spec;
	/* What the spec points at. */
	json_t *root;
	char **env;        /* NULL-terminated K=V */
	const char **args; /* NULL-terminated */
	struct bj_input *inputs;
	void **decoded; /* bytes that came as base64 */
	size_t n_decoded;
	int stdin_fd;                /* -1: none */
	struct bj_settings *profile; /* the settings with another profile; NULL: none was named */
};

/* Read @body. On failure *@ret_problem says of which kind it is and @err why. The caller ends
 * *@ret with bj_order_done(), also after a failure. */
int bj_order_read(const struct belljar *bj, const char *body, size_t size, struct bj_order *ret,
		  enum bj_problem *ret_problem, struct bj_err *err);
void bj_order_done(struct bj_order *order);
