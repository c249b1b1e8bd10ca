/* SPDX-License-Identifier: Apache-2.0 */

/* APPROVE: approval rules are read whole or not at all, and fit what they name. */

#include "unit.h"

#include "config/rule.h"

static void rules_that_are_none(void **state)
{
	static const char *const bad[] = {
		"",
		" ",
		"maybe",
		"ask risk",
		"ask risk>high",
		"ask risk>=huge",
		"ask through=door",
		"ask tool=",
		"ask tool=a/b",
		"ask backend=none",
		"ask what=ever",
		"through=api ask",
		("ask tenant=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaa"),
	};
	struct bj_approval_rule rule;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(bj_rule_read(bad[i], &rule));
}

static bool fits(const char *text, const struct bj_spec *spec, enum bj_risk risk)
{
	struct bj_approval_rule rule;

	assert_true(bj_rule_read(text, &rule));
	return bj_rule_fits(&rule, spec, risk);
}

static void what_a_rule_fits(void **state)
{
	const struct bj_spec own = { 0 };
	const struct bj_spec api = { .through = BJ_THROUGH_API, .tenant = "acme" };
	const struct bj_spec tool = { .tool = "execute_script", .backend = BJ_BACKEND_DOCKER };

	(void)state;
	assert_true(fits("ask", &own, BJ_RISK_LOW));
	assert_true(fits("ask through=own tenant=local", &own, BJ_RISK_LOW));
	assert_false(fits("ask through=own", &api, BJ_RISK_LOW));
	assert_false(fits("ask through=own", &tool, BJ_RISK_LOW));
	assert_true(fits("ask through=api tenant=acme", &api, BJ_RISK_LOW));
	assert_false(fits("ask tenant=local", &api, BJ_RISK_LOW));
	assert_true(fits("deny tool=execute_script backend=docker", &tool, BJ_RISK_LOW));
	assert_false(fits("deny tool=other", &tool, BJ_RISK_LOW));
	assert_false(fits("deny tool=execute_script", &own, BJ_RISK_LOW));
	assert_true(fits("ask risk>=high", &own, BJ_RISK_CRITICAL));
	assert_false(fits("ask risk>=high", &own, BJ_RISK_MEDIUM));
	assert_true(fits("allow risk<=medium", &own, BJ_RISK_MEDIUM));
	assert_false(fits("allow risk<=medium", &own, BJ_RISK_HIGH));
	assert_true(fits("allow risk=low", &own, BJ_RISK_LOW));
	assert_false(fits("allow risk=low", &own, BJ_RISK_MEDIUM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_that_are_none),
		cmocka_unit_test(what_a_rule_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
