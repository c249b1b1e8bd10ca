/* SPDX-License-Identifier: Apache-2.0 */
#include "config/rule.h"

#include "base/cleanup.h"
#include "spec/names.h"

#include <string.h>

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

static const char *const GATES[] = {
	[BJ_GATE_ALLOW] = "allow",
	[BJ_GATE_ASK] = "ask",
	[BJ_GATE_DENY] = "deny",
};

static bool take_word(const char *value, char *to, size_t size)
{
	const size_t n = strlen(value);

	if (n == 0 || n >= size || strspn(value, WORD) != n)
		return false;
	memcpy(to, value, n + 1);
	return true;
}

static bool take_through(const char *value, struct bj_approval_rule *rule)
{
	if (strcmp(value, "own") != 0 && strcmp(value, "api") != 0 && strcmp(value, "tool") != 0)
		return false;
	return take_word(value, rule->through, sizeof(rule->through));
}

static bool take_backend(const char *value, struct bj_approval_rule *rule)
{
	rule->backend = bj_backend_from_name(value);
	return rule->backend >= 0;
}

/* =, >= or <= and a level. */
static bool take_risk(const char *value, struct bj_approval_rule *rule)
{
	const bool above = value[0] == '>', below = value[0] == '<';
	const char *name = value + above + below;

	if (name[0] != '=')
		return false;

	const int risk = bj_risk_from_name(name + 1);

	if (risk < 0)
		return false;
	if (!below)
		rule->risk_min = risk;
	if (!above)
		rule->risk_max = risk;
	return true;
}

static bool take_part(const char *part, struct bj_approval_rule *rule)
{
	if (strncmp(part, "risk", 4) == 0)
		return take_risk(part + 4, rule);
	if (strncmp(part, "through=", 8) == 0)
		return take_through(part + 8, rule);
	if (strncmp(part, "tool=", 5) == 0)
		return take_word(part + 5, rule->tool, sizeof(rule->tool));
	if (strncmp(part, "tenant=", 7) == 0)
		return take_word(part + 7, rule->tenant, sizeof(rule->tenant));
	if (strncmp(part, "backend=", 8) == 0)
		return take_backend(part + 8, rule);
	return false;
}

static bool take_gate(const char *word, struct bj_approval_rule *rule)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(GATES); i++)
		if (strcmp(word, GATES[i]) == 0) {
			rule->gate = (enum bj_gate)i;
			return true;
		}
	return false;
}

bool bj_rule_read(const char *text, struct bj_approval_rule *ret)
{
	struct bj_approval_rule rule = { .backend = -1, .risk_max = BJ_RISK_CRITICAL };
	AUTO_FREE char *copy = strdup(text);
	char *save = NULL;
	bool first = true;

	if (!copy)
		return false;
	for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
		if (first ? !take_gate(p, &rule) : !take_part(p, &rule))
			return false;
		first = false;
	}
	if (first)
		return false;
	*ret = rule;
	return true;
}

static const char *through_name(const struct bj_spec *spec)
{
	if (spec->tool)
		return "tool";
	return spec->through == BJ_THROUGH_API ? "api" : "own";
}

static bool word_fits(const char *want, const char *have)
{
	return !want[0] || (have && strcmp(want, have) == 0);
}

bool bj_rule_fits(const struct bj_approval_rule *rule, const struct bj_spec *spec,
		  enum bj_risk risk)
{
	return word_fits(rule->through, through_name(spec)) && word_fits(rule->tool, spec->tool) &&
	       word_fits(rule->tenant, spec->tenant ? spec->tenant : "local") &&
	       (rule->backend < 0 || rule->backend == (int)spec->backend) &&
	       (int)risk >= rule->risk_min && (int)risk <= rule->risk_max;
}
