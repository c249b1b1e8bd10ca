/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* One approval rule: what to do, then what it looks at, apart by blanks:
 *
 *	ask through=api risk>=high
 *	allow tenant=ci tool=run_python_code
 *	deny backend=direct
 *
 * A rule fits when all that it names does. */
enum bj_gate { BJ_GATE_ALLOW, BJ_GATE_ASK, BJ_GATE_DENY };

/* The rules by default, which also follow those of the settings. */
#define BJ_RULE_SCRIPTS "ask tool=execute_script"
#define BJ_RULE_API     "ask through=api"
#define BJ_RULE_TOOLS   "ask through=tool risk>=high"

enum { BJ_RULE_WORD = 64 };
struct bj_approval_rule {
	enum bj_gate gate;
	char through[8];           /* own, api, tool; "": any */
	char tool[BJ_RULE_WORD];   /* "": any */
	char tenant[BJ_RULE_WORD]; /* "": any; "local" is the local user */
	int backend;               /* negative: any */
	int risk_min, risk_max;    /* of the effective risk */
};

/* Read @text. False: it is no rule. */
bool bj_rule_read(const char *text, struct bj_approval_rule *ret);

/* Whether @rule fits a run of @spec with this effective risk. */
bool bj_rule_fits(const struct bj_approval_rule *rule, const struct bj_spec *spec,
		  enum bj_risk risk);
