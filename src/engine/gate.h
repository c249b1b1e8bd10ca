/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/rule.h"
#include "engine/engine.h"

/* Whether a checked script may run now. */
enum bj_gate_answer { BJ_GATE_GO, BJ_GATE_WAIT, BJ_GATE_NO };

/* Hold the run of @spec against the approval rules, and ask a person where they say so. @result
 * holds what the check found; the decision, and for those who may not go the cause, goes into it.
 */
int bj_gate_ask(struct belljar *bj, const struct bj_spec *spec, struct bj_result *result,
		enum bj_gate_answer *ret, struct bj_err *err);

/* What the rules say about a run of @spec with this risk; *@ret_rule is the rule, or NULL. */
enum bj_gate bj_gate_rule(const struct bj_settings *settings, const struct bj_spec *spec,
			  enum bj_risk risk, const char **ret_rule);

/* Whether any rule could make a person's own run wait or deny it. */
bool bj_gate_minds_own(const struct bj_settings *settings);
