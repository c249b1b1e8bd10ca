/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "mcp/rpc.h"

#include <string.h>

static enum bj_rpc_kind kind_of(const char *text)
{
	struct bj_rpc_error error = { 0 };
	json_t *message = bj_rpc_parse(text, strlen(text), &error);
	const enum bj_rpc_kind kind = bj_rpc_kind(message, &error);

	if (kind == BJ_RPC_BROKEN)
		assert_int_not_equal(error.message[0], 0);
	json_decref(message);
	return kind;
}

static void kinds_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(kind_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"),
			 BJ_RPC_REQUEST);
	assert_int_equal(kind_of("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}"),
			 BJ_RPC_REQUEST);
	assert_int_equal(kind_of("{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}"), BJ_RPC_NOTIFICATION);
	assert_int_equal(kind_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"), BJ_RPC_RESPONSE);
	assert_int_equal(kind_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}"), BJ_RPC_RESPONSE);
}

static void broken_ones_are_refused(void **state)
{
	static const char *const bad[] = {
		"1",
		"[]",
		"{}",
		"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"a\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":1}",
		"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"a\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"a\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"a\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":3}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\u0000b\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":[]}",
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(bad); i++)
		assert_int_equal(kind_of(bad[i]), BJ_RPC_BROKEN);
}

static void not_json_is_a_parse_error(void **state)
{
	static const char *const bad[] = {
		"", "{", "\xff", "{\"a\":1,\"a\":2}", "{\"id\":99999999999999999999}", "\"\xc3\""
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(bad); i++) {
		struct bj_rpc_error error = { 0 };

		assert_null(bj_rpc_parse(bad[i], strlen(bad[i]), &error));
		assert_int_equal(error.code, BJ_RPC_PARSE);
	}
}

static void deep_nesting_is_refused(void **state)
{
	enum { DEEP = 100000 };
	AUTO_FREE char *text = malloc(DEEP);
	struct bj_rpc_error error = { 0 };

	(void)state;
	memset(text, '[', DEEP);
	assert_null(bj_rpc_parse(text, DEEP, &error));
	assert_int_equal(error.code, BJ_RPC_PARSE);
}

static void ids_keep_their_type(void **state)
{
	json_t *id = json_integer(7), *text = json_string("7");
	json_t *one = bj_rpc_result(id, json_object()), *two = bj_rpc_result(text, json_object());
	struct bj_rpc_error error = { 0 };

	(void)state;
	assert_true(json_is_integer(json_object_get(one, "id")));
	assert_true(json_is_string(json_object_get(two, "id")));
	bj_rpc_fail(&error, BJ_RPC_PARAMS, "no %s", "way");
	error.data = json_object();

	json_t *three = bj_rpc_failure(NULL, &error);

	assert_true(json_is_null(json_object_get(three, "id")));
	assert_null(error.data);
	json_decref(one);
	json_decref(two);
	json_decref(three);
	json_decref(id);
	json_decref(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_are_told_apart),
		cmocka_unit_test(broken_ones_are_refused),
		cmocka_unit_test(not_json_is_a_parse_error),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(ids_keep_their_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
