/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "check/secrets.h"
#include "check/tree.h"

/* Texts that a script puts together: "ghp_" + "...", "${a}${b}", ["mysql", "-p..."]. No pattern
 * finds a secret in pieces; it finds the whole. */

struct bj_joined_text {
	uint32_t node; /* where it is put together */
	size_t start;  /* in the text of all of them */
};

/* Zero is a valid empty list. */
struct bj_joined {
	struct bj_buf text; /* one after the other, a line end behind each */
	struct bj_joined_text *items;
	size_t n, room;
	size_t left; /* bytes that may still be added */
	bool failed;
};

/* Gather the texts that are long enough for a secret, until all together are as long as the script.
 */
int bj_joined_find(const struct bj_tree *tree, struct bj_joined *ret, struct bj_err *err);
void bj_joined_done(struct bj_joined *joined);

/* The text that byte @at belongs to. */
const struct bj_joined_text *bj_joined_at(const struct bj_joined *joined, size_t at);

/* Add a span of @rule for every constant of the script that is a piece of secret [@s, @len): so
 * that no line shows it. */
void bj_joined_pieces(const struct bj_tree *tree, const char *s, size_t len,
		      const struct bj_rule *rule, struct bj_spans *spans);
