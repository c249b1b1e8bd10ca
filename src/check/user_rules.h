/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/secrets.h"

/* Rules of the user, read from a YAML file and added to the built-in ones:
 *
 *	secrets:
 *	  - id: acme-token
 *	    severity: high
 *	    message: An Acme token is in the script
 *	    pattern: '\bacme_[a-z0-9]{24}\b'
 *	dangers:
 *	  - id: no-remove
 *	    language: python
 *	    severity: high
 *	    message: Deletes a file
 *	    call: os.remove
 *	    argument: "/etc?*"       # optional: some constant argument
 *	    pattern: '^/etc/.+'      # optional: the same by a regular expression
 *	  - id: no-pandas
 *	    language: python
 *	    message: Uses pandas
 *	    import: pandas|pandas.?*
 *
 * "positive" and "negative" examples are optional; those of a secret rule are tried at once. */
struct bj_user_rules {
	struct bj_secret_rule *secrets;
	size_t n_secrets;
	struct bj_call_rule *calls;
	size_t n_calls;
	struct bj_patterns *patterns; /* of the danger rules; NULL: none has one */
	uint32_t *secret_lines;       /* where each secret rule stands in the file */
	uint32_t *call_lines;         /* the same for danger rules */
	char **strings;               /* what the rules point at */
	size_t n_strings;
};

/* Read @path. On failure the message begins with file:line. The caller frees *@ret. */
int bj_user_rules_load(const char *path, struct bj_user_rules **ret, struct bj_err *err);
void bj_user_rules_free(struct bj_user_rules *rules); /* NULL is fine */

/* The user's rules of a checker, borrowed; NULL: none. */
const struct bj_user_rules *bj_checker_user_rules(const struct bj_checker *checker);
