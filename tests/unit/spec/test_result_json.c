/* SPDX-License-Identifier: Apache-2.0 */

/* ABUSE 38: whatever a script wrote, the result is one line of valid JSON that holds it. */

#include "unit.h"

#include "base/cleanup.h"
#include "spec/names.h"

#include <jansson.h>
#include <string.h>

/* The result as JSON and back. The caller drops the reference. */
static json_t *round_trip(const struct bj_result *r)
{
	AUTO_FREE char *line = bj_result_to_json(r);
	json_error_t error;

	assert_non_null(line);
	assert_null(strchr(line, '\n'));

	json_t *object = json_loads(line, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);

	assert_non_null(object);
	return object;
}

static const char *str(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	assert_non_null(value);
	return value;
}

static void an_empty_result(void **state)
{
	const struct bj_result r = { .exit_code = -1 };
	json_t *object = round_trip(&r);

	(void)state;
	assert_string_equal(str(object, "stdout"), "");
	assert_true(json_is_null(json_object_get(object, "exit_code")));
	assert_true(json_is_null(json_object_get(object, "signal")));
	assert_true(json_is_null(json_object_get(object, "error")));
	assert_true(json_is_null(json_object_get(object, "validation_error")));
	assert_false(json_boolean_value(json_object_get(object, "success")));
	json_decref(object);
}

static void hostile_output(void **state)
{
	char every[512];

	(void)state;
	for (size_t i = 0; i < sizeof(every); i++)
		every[i] = (char)(i * 7 + i / 256);

	char *errors[] = { (char *)"\xff\xfe", (char *)"\"},{\"cause\":\"exited", NULL };
	const struct bj_result r = {
		.cause = BJ_CAUSE_SIGNAL,
		.exit_code = 255,
		.signal = 11,
		.out = { .data = every,
			 .size = sizeof(every),
			 .total = UINT64_MAX,
			 .truncated = true },
		.err = { .data = (char *)"a\0b\x1b[2J\xc3", .size = 8, .total = 8 },
		.error = (char *)"Execution failed: \xed\xa0\x80 \"quoted\" \\ \n\r\t\x01",
		.validation_error = (char *)"\xff",
		.risk_reasons = errors,
		.n_risk_reasons = 3,
		.blocked_imports = errors,
		.n_blocked_imports = 2,
	};
	json_t *object = round_trip(&r);
	const json_t *err = json_object_get(object, "stderr");

	assert_int_equal(json_string_length(err), 10);
	assert_memory_equal(json_string_value(err), "a\0b\x1b[2J\xef\xbf\xbd", 10);
	assert_int_equal(json_integer_value(json_object_get(object, "exit_code")), 255);
	assert_int_equal(json_integer_value(json_object_get(object, "signal")), 11);
	/* The text cannot add a key of its own. */
	assert_string_equal(str(object, "cause"), "signal");

	const json_t *meta = json_object_get(object, "meta");

	assert_true(json_integer_value(json_object_get(meta, "stdout_bytes")) == INT64_MAX);
	assert_true(
		json_boolean_value(json_object_get(json_object_get(meta, "truncated"), "stdout")));
	assert_int_equal(json_array_size(json_object_get(meta, "blocked_imports")), 2);
	json_decref(object);
}

/* Every name is there, is unlike the others, and what is out of range does not crash. */
static void every_enum_has_a_name(void **state)
{
	(void)state;
	for (int i = -1; i <= BJ_CAUSE_INFRASTRUCTURE + 1; i++) {
		const struct bj_result r = { .cause = (enum bj_cause)i,
					     .state = (enum bj_state)i,
					     .risk = (enum bj_risk)i,
					     .language = (enum bj_language)i,
					     .runtime = (enum bj_backend_id)i,
					     .policy = (enum bj_policy)i };
		json_t *object = round_trip(&r);
		const bool known = i >= 0 && i <= BJ_CAUSE_INFRASTRUCTURE;

		/* What has not ended has no cause. */
		if (i == BJ_CAUSE_NONE)
			assert_true(json_is_null(json_object_get(object, "cause")));
		else
			assert_int_equal(strcmp(str(object, "cause"), "unknown") != 0, known);
		assert_int_equal(strcmp(str(object, "state"), "unknown") != 0,
				 i >= 0 && i <= BJ_INTERRUPTED);
		assert_int_equal(strcmp(str(object, "language"), "unknown") != 0,
				 i >= 0 && i <= BJ_LANG_BASH);
		for (int k = 0; known && k < i; k++)
			assert_string_not_equal(bj_cause_name((enum bj_cause)k),
						bj_cause_name((enum bj_cause)i));
		json_decref(object);
	}
	for (int i = 0; i <= BJ_SEV_CRITICAL; i++)
		assert_int_equal(bj_severity_from_name(bj_severity_name((enum bj_severity)i)), i);
	for (int i = 0; i <= BJ_RISK_CRITICAL; i++)
		assert_int_equal(bj_risk_from_name(bj_risk_name((enum bj_risk)i)), i);
	for (int i = 0; i <= BJ_BACKEND_DIRECT; i++)
		assert_int_equal(bj_backend_from_name(bj_backend_name((enum bj_backend_id)i)), i);
	assert_int_equal(bj_backend_from_name("local"), BJ_BACKEND_NATIVE);
	assert_int_equal(bj_backend_from_name("locals"), -1);
	assert_int_equal(bj_language_from_name("javascript"), -1);
}

/* The largest numbers stay numbers, and are not negative. */
static void large_numbers(void **state)
{
	struct bj_finding finding = { .layer = (char *)"syntax",
				      .rule = (char *)"r",
				      .message = (char *)"m\xff",
				      .source = (char *)"\x80",
				      .line = UINT32_MAX,
				      .column = UINT32_MAX,
				      .end_column = UINT32_MAX };
	const struct bj_limits most = { UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX, UINT64_MAX,
					UINT64_MAX, UINT64_MAX, UINT32_MAX, UINT64_MAX };
	const struct bj_result r = { .findings = &finding,
				     .n_findings = 1,
				     .asked = most,
				     .effective = most,
				     .duration_us = UINT64_MAX,
				     .peak_memory = UINT64_MAX,
				     .started_unix_ms = UINT64_MAX,
				     .out_files = UINT32_MAX,
				     .out_refused = UINT32_MAX,
				     .landlock_abi = UINT32_MAX };
	json_t *object = round_trip(&r);
	const json_t *found = json_array_get(json_object_get(object, "findings"), 0);
	const json_t *meta = json_object_get(object, "meta");
	const json_t *out = json_object_get(meta, "out");
	const json_t *asked = json_object_get(json_object_get(meta, "resource_limits"), "asked");

	(void)state;
	assert_true(json_integer_value(json_object_get(found, "line")) == UINT32_MAX);
	assert_true(json_integer_value(json_object_get(found, "column")) == UINT32_MAX);
	assert_true(json_integer_value(json_object_get(asked, "pids")) == UINT32_MAX);
	assert_true(json_integer_value(json_object_get(out, "files")) == UINT32_MAX);
	assert_true(json_integer_value(json_object_get(out, "refused")) == UINT32_MAX);
	json_decref(object);
}

static void an_id_of_any_bytes(void **state)
{
	const struct bj_result r = { .id = "\xff\x80\"" };
	json_t *object = round_trip(&r);

	(void)state;
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_result),       cmocka_unit_test(hostile_output),
		cmocka_unit_test(every_enum_has_a_name), cmocka_unit_test(large_numbers),
		cmocka_unit_test(an_id_of_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
