/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/secrets.h"

/* From hits to the report that people and programs read. */

/* Fill @ret's findings, verdict and error from @findings, which gets sorted, and thinned: a rule
 * that fires again and again is reported so often and no more. @secrets are the spans to mask. */
int bj_report_build(const struct bj_check_request *request, struct bj_findings *findings,
		    const struct bj_spans *secrets, struct bj_report *ret, struct bj_err *err);

/* Does a finding of @rule stop the script under the policy of @request? */
bool bj_rule_blocks(const struct bj_check_request *request, const struct bj_rule *rule);

/* What the interpreter itself says: two rules, one a language. */
const struct bj_rule *bj_rules_syntax(size_t *ret_n);
