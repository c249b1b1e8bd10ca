/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/check.h"

/* Secrets that the order of a run holds: in its script, arguments, environment, standard input and
 * files. A script can print one without a word that gives it away, so what is kept of the run is
 * searched for the values themselves. */
struct bj_known {
	struct bj_known_value {
		char *data;
		size_t size;
	} * values;
	size_t n;
};

/* Find them. @script: the check found some in the script. What is longer than a ceiling is not
 * searched. The caller ends *@ret with bj_known_done(). */
void bj_known_find(const struct bj_checker *checker, const struct bj_spec *spec, bool script,
		   struct bj_known *ret);
void bj_known_done(struct bj_known *known);

/* Write stars over every value in @text, in place. @known NULL does nothing. */
void bj_known_mask(const struct bj_known *known, char *text, size_t size);
