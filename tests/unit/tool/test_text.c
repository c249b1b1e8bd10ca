/* SPDX-License-Identifier: Apache-2.0 */

/* What a model reads: TOOL. */

#include "unit.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <string.h>

static struct bj_result finished(void)
{
	return (struct bj_result){ .state = BJ_FINISHED,
				   .cause = BJ_CAUSE_EXITED,
				   .success = true,
				   .duration_us = 120000 };
}

static void what_happened_comes_first(void **state)
{
	AUTO_BUF struct bj_buf text = { 0 };
	struct bj_result r = finished();

	(void)state;
	r.out = (struct bj_output){ .data = "hi\n", .size = 3, .total = 3 };
	bj_tool_text(&r, 1000, &text);
	assert_string_equal(text.data,
			    "The script succeeded: exit code 0 after 0.12 s.\nstdout:\nhi\n");
}

static void silence_is_told(void **state)
{
	AUTO_BUF struct bj_buf text = { 0 };
	struct bj_result r = finished();

	(void)state;
	bj_tool_text(&r, 1000, &text);
	assert_non_null(strstr(text.data, "It printed nothing"));
}

/* Each way to end has a hint on what to change. */
static void every_bad_end_has_a_hint(void **state)
{
	static const enum bj_cause causes[] = {
		BJ_CAUSE_TIMEOUT, BJ_CAUSE_OOM,       BJ_CAUSE_PIDS,          BJ_CAUSE_OUTPUT,
		BJ_CAUSE_SECCOMP, BJ_CAUSE_REJECTED,  BJ_CAUSE_DENIED,        BJ_CAUSE_EXPIRED,
		BJ_CAUSE_QUOTA,   BJ_CAUSE_CANCELLED, BJ_CAUSE_INFRASTRUCTURE
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(causes); i++) {
		AUTO_BUF struct bj_buf text = { 0 };
		struct bj_result r = { .state = BJ_FINISHED, .cause = causes[i], .error = "why" };

		bj_tool_text(&r, 2000, &text);
		assert_non_null(strstr(text.data, "why\nHint: "));
	}
}

static void findings_are_lines(void **state)
{
	AUTO_BUF struct bj_buf text = { 0 };
	struct bj_finding findings[30];
	struct bj_result r = { .state = BJ_FINISHED,
			       .cause = BJ_CAUSE_REJECTED,
			       .error = "no",
			       .findings = findings,
			       .n_findings = BJ_ARRAY_SIZE(findings) };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(findings); i++)
		findings[i] = (struct bj_finding){ .rule = "r",
						   .message = "bad",
						   .line = (uint32_t)i + 1,
						   .severity = BJ_SEV_HIGH,
						   .blocks = true };
	bj_tool_text(&r, 20000, &text);
	assert_non_null(strstr(text.data, "line 1: bad [r, high, blocks]\n"));
	assert_non_null(strstr(text.data, "and 10 more findings\n"));
}

static void waiting_names_the_run(void **state)
{
	AUTO_BUF struct bj_buf text = { 0 };
	struct bj_result r = { .state = BJ_PENDING, .id = "abc" };

	(void)state;
	bj_tool_text(&r, 2000, &text);
	assert_non_null(strstr(text.data, "waits for a person's approval as run abc"));
}

/* However small the room, the text stays within it, is UTF-8, and says how much is missing. */
static void the_middle_is_cut_honestly(void **state)
{
	enum { SIZE = 60000 };
	AUTO_FREE char *big = malloc(SIZE);

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		big[i] = "\xe2\x82\xac\xff\n\0x"[i % 7]; /* a euro sign, a bad byte, a NUL */
	for (size_t max = 1024; max < 40000; max = max * 3 / 2 + 1) {
		AUTO_BUF struct bj_buf text = { 0 };
		struct bj_result r = finished();
		unsigned long long left = 0;

		r.out = (struct bj_output){ .data = big, .size = SIZE, .total = 1000000 };
		r.err = r.out;
		bj_tool_text(&r, max, &text);
		assert_true(text.size <= max);
		assert_true(bj_utf8_valid(text.data, text.size));
		assert_int_equal(strlen(text.data), text.size);
		assert_non_null(strstr(text.data, "stderr:\n"));
		assert_int_equal(
			sscanf(strstr(text.data, "[... "), "[... %llu bytes left out", &left), 1);
		assert_true(left > 1000000 - max && left < 1000000);
	}
}

static void left_out_bytes_add_up(void **state)
{
	AUTO_BUF struct bj_buf text = { 0 };
	char many[1000];

	(void)state;
	memset(many, 'a', sizeof(many));
	bj_tool_add_cut(&text, many, sizeof(many), sizeof(many), 300);
	assert_true(text.size <= 300);

	size_t kept = 0;
	unsigned long long left = 0;

	for (size_t i = 0; i < text.size; i++)
		kept += text.data[i] == 'a';
	sscanf(strstr(text.data, "[... "), "[... %llu", &left);
	assert_int_equal(kept + left, sizeof(many));
}

/* The same table in five forms, each with every tool. */
static void every_format_has_every_tool(void **state)
{
	(void)state;
	for (size_t i = 0; bj_tool_formats[i]; i++) {
		json_t *list = bj_tools_as(bj_tool_formats[i]);

		assert_int_equal(json_array_size(list), bj_tools_size);
		json_decref(list);
	}
	assert_null(bj_tools_as("nothing"));
	for (size_t i = 0; i < bj_tools_size; i++) {
		json_t *schema = json_loads(bj_tools[i].output, JSON_REJECT_DUPLICATES, NULL);

		assert_true(json_is_object(schema));
		json_decref(schema);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_happened_comes_first),
		cmocka_unit_test(silence_is_told),
		cmocka_unit_test(every_bad_end_has_a_hint),
		cmocka_unit_test(findings_are_lines),
		cmocka_unit_test(waiting_names_the_run),
		cmocka_unit_test(the_middle_is_cut_honestly),
		cmocka_unit_test(left_out_bytes_add_up),
		cmocka_unit_test(every_format_has_every_tool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
