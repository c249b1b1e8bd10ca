/* SPDX-License-Identifier: Apache-2.0 */

/* An entry goes into files that people wrote, and nothing else changes: TOOL, DOCS. */

#include "unit.h"

#include "base/cleanup.h"
#include "cli/jsonc.h"

#include <jansson.h>
#include <string.h>

#define VALUE "{\"command\": \"b\"}"

static int put(const char *text, struct bj_buf *ret)
{
	struct bj_err err = { 0 };

	return bj_jsonc_put(text, strlen(text), "mcpServers", "belljar", VALUE, ret, &err);
}

static void goes_into(const char *text, const char *expected)
{
	AUTO_BUF struct bj_buf got = { 0 };
	AUTO_BUF struct bj_buf again = { 0 };

	assert_int_equal(put(text, &got), 0);
	assert_string_equal(got.data, expected);
	assert_int_equal(put(got.data, &again), 1);
	assert_null(again.data);
}

static void json_keeps_the_rest(void **state)
{
	(void)state;
	goes_into("", "{\n  \"mcpServers\": {\n    \"belljar\": " VALUE "\n  }\n}\n");
	goes_into("{\"a\": 1}",
		  "{\n  \"mcpServers\": {\n    \"belljar\": " VALUE "\n  },\"a\": 1}");
	goes_into("{\"mcpServers\": {}}", "{\"mcpServers\": {\n    \"belljar\": " VALUE "\n}}");
	goes_into("{\"mcpServers\": {\"x\": {\"belljar\": 1}}}",
		  "{\"mcpServers\": {\n    \"belljar\": " VALUE ",\"x\": {\"belljar\": 1}}}");
	goes_into("{\"mcpServers\": {\"belljar\": {\"old\": [1, \"}\"]}, \"y\": 2}}",
		  "{\"mcpServers\": {\"belljar\": " VALUE ", \"y\": 2}}");
}

static void comments_and_trailing_commas_stay(void **state)
{
	(void)state;
	goes_into("// top\n{\n  /* \"mcpServers\": {} */\n  \"mcpServers\": { // one\n    \"x\": "
		  "\"// no\",\n  },\n}\n",
		  "// top\n{\n  /* \"mcpServers\": {} */\n  \"mcpServers\": {\n    "
		  "\"belljar\": " VALUE ", // one\n    \"x\": \"// no\",\n  },\n}\n");
}

static void broken_json_is_refused(void **state)
{
	static const char *const bad[] = { "{",
					   "[]",
					   "nonsense",
					   "{\"a\": 1",
					   "{\"mcpServers\": []}",
					   "{\"a\": 1, \"a\": 2}",
					   "{\"a\": \"x}",
					   "/* open" };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(bad); i++) {
		AUTO_BUF struct bj_buf got = { 0 };

		assert_true(put(bad[i], &got) < 0);
		assert_null(got.data);
	}
}

static int put_toml(const char *text, struct bj_buf *ret)
{
	struct bj_err err = { 0 };

	return bj_toml_put(text, strlen(text), "mcp_servers", "belljar",
			   "command = \"b\"\nargs = [\"mcp\"]\n", ret, &err);
}

static void toml_goes_into(const char *text, const char *expected)
{
	AUTO_BUF struct bj_buf got = { 0 };
	AUTO_BUF struct bj_buf again = { 0 };

	assert_int_equal(put_toml(text, &got), 0);
	assert_string_equal(got.data, expected);
	assert_int_equal(put_toml(got.data, &again), 1);
}

static void toml_keeps_the_rest(void **state)
{
	(void)state;
	toml_goes_into("", "[mcp_servers.belljar]\ncommand = \"b\"\nargs = [\"mcp\"]\n");
	toml_goes_into("model = \"m\" # mine\n",
		       "model = \"m\" # mine\n\n[mcp_servers.belljar]\ncommand = \"b\"\nargs = "
		       "[\"mcp\"]\n");
	toml_goes_into(
		"[mcp_servers.belljar]\ncommand = \"old\"\n# note\nenv = { A = \"1\" }\n[z]\n",
		"[mcp_servers.belljar]\ncommand = \"b\"\nargs = [\"mcp\"]\n# note\nenv = { A "
		"= \"1\" }\n[z]\n");
	/* A last line without an end stays a line of its own. */
	/* Values that go on for lines: ours goes as a whole, and none is taken for a header. */
	toml_goes_into(
		"[mcp_servers.belljar]\nargs = [\n  \"a\", # ]\n]\nx = [\n[1]]\n[y]\n",
		"[mcp_servers.belljar]\ncommand = \"b\"\nargs = [\"mcp\"]\nx = [\n[1]]\n[y]\n");
	toml_goes_into("x = [\n[mcp_servers.belljar]\n]\n",
		       "x = [\n[mcp_servers.belljar]\n]\n\n[mcp_servers.belljar]\ncommand = "
		       "\"b\"\nargs = [\"mcp\"]\n");
	toml_goes_into("[mcp_servers.belljar] # \"mine\"",
		       "[mcp_servers.belljar] # \"mine\"\ncommand = \"b\"\nargs = [\"mcp\"]\n");
}

static void broken_toml_is_refused(void **state)
{
	static const char *const bad[] = { "nonsense\n", "[open\n", "a = [1,\n",
					   "[mcp_servers.belljar]= =", "[a] b = 1\n" };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(bad); i++) {
		AUTO_BUF struct bj_buf got = { 0 };

		assert_true(put_toml(bad[i], &got) < 0);
		assert_null(got.data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_keeps_the_rest),
		cmocka_unit_test(comments_and_trailing_commas_stay),
		cmocka_unit_test(broken_json_is_refused),
		cmocka_unit_test(toml_keeps_the_rest),
		cmocka_unit_test(broken_toml_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
