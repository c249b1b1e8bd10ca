/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* What runs a script that was checked: one file a backend, chosen from a table. */

/* What the interpreter said before the first line ran. */
struct bj_verdict {
	bool said;   /* false: it never came that far */
	bool syntax; /* the script is not valid */
	uint32_t line, column;
	char message[512];
};

struct bj_backend {
	enum bj_backend_id id;
	/* Run @spec to its end. Fills the parts of @result that running decides: cause, outputs,
	 * exit, usage, isolation. A run that could not take place is cause infrastructure with
	 * @err filled and a negative return. */
	int (*run)(void *self, const struct bj_spec *spec, struct bj_result *result,
		   struct bj_verdict *ret_verdict, struct bj_err *err);
};

/* The native jar. @self is the launcher. */
extern const struct bj_backend bj_backend_native;

/* A container of the Docker engine. @self is the broker. */
extern const struct bj_backend bj_backend_docker;

/* No isolation at all. @self is the host of direct runs. */
extern const struct bj_backend bj_backend_direct;
