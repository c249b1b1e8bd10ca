/* SPDX-License-Identifier: Apache-2.0 */

/* What only test builds have is not in others: these sources are compiled without BJ_FAULTS. TOOL.
 */

#include "unit.h"

#include "cli/options.h"
#include "mcp/fixtures.h"
#include "serve/mcp_rules.h"

#include <stdlib.h>
#include <string.h>

#ifdef BJ_FAULTS
#error "this file is about builds without faults"
#endif

static void assert_no_option(const struct bj_verb *verb)
{
	for (const struct bj_option *o = verb->options; o->name; o++)
		assert_string_not_equal(o->name, "conformance");
}

static void no_verb_knows_the_option(void **state)
{
	(void)state;
	assert_no_option(&bj_verb_mcp);
	assert_no_option(&bj_verb_serve);
}

static void the_service_cannot_be_told_to(void **state)
{
	(void)state;
	setenv("BELLJAR_CONFORMANCE", "1", 1);
	assert_false(bj_mcp_rules_fixtures());
}

static void there_are_no_fixtures(void **state)
{
	struct bj_mcp_call *call = NULL;
	struct bj_rpc_error error = { 0 };
	json_t *result = NULL, *list = json_array();

	(void)state;
	assert_false(bj_mcp_fixture_tool(call, "test_simple_text", &result, &error));
	assert_false(bj_mcp_fixture_resource(call, "test://static-text", &result, &error));
	assert_false(bj_mcp_fixture_prompt(call, "test_simple_prompt", &result, &error));
	assert_null(bj_mcp_fixture_schema("test_simple_text"));
	bj_mcp_fixture_list(call, "tools", list);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_verb_knows_the_option),
		cmocka_unit_test(the_service_cannot_be_told_to),
		cmocka_unit_test(there_are_no_fixtures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
