/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

#include <jansson.h>

/* A spec as bytes and back, for a run that waits. Callbacks, descriptors of the caller and the
 * compiled profile stay behind. */

enum { BJ_HELD_MAX = 64 << 20 };

/* Standard input is read to its end where it is a file; a stream cannot wait. */
int bj_held_pack(const struct bj_spec *spec, struct bj_buf *ret, struct bj_err *err);

struct bj_held {
	struct bj_spec spec; /* its strings belong to what follows */
	json_t *root;
	const char **args, **env;
	struct bj_input *inputs;
	void **blobs;
	size_t n_blobs;
	int stdin_fd; /* -1: none */
};

/* The caller ends *@ret with bj_held_done(), also after a failure. */
int bj_held_unpack(const char *data, size_t size, struct bj_held *ret, struct bj_err *err);
void bj_held_done(struct bj_held *held);
