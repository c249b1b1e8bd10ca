/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "check/encoding.h"
#include "check/length.h"

/* VALD-05: characters are counted, not bytes; and what the interpreter would refuse, or read as
 * another text than we do, is refused. */

static enum bj_text_verdict verdict(enum bj_language language, const char *text, size_t size,
				    uint32_t max_chars, const char **ret_rule)
{
	const struct bj_check_request request = {
		.language = language, .text = text, .size = size, .max_chars = max_chars
	};
	struct bj_findings findings = { 0 };
	const enum bj_text_verdict v = bj_layer_length(&request, &findings);

	*ret_rule = findings.n ? findings.items[0].rule->id : "";
	bj_findings_done(&findings);
	return v;
}

static void assert_rule(enum bj_language language, const char *text, size_t size,
			enum bj_text_verdict wanted, const char *rule)
{
	const char *found;

	assert_int_equal(verdict(language, text, size, 0, &found), wanted);
	assert_string_equal(found, rule);
}

static void limit_counts_characters(void **state)
{
	static char text[10001 * 2];
	const char *rule;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	assert_int_equal(verdict(BJ_LANG_PYTHON, text, 20000, 0, &rule), BJ_TEXT_FINE);
	assert_int_equal(verdict(BJ_LANG_PYTHON, text, 20002, 0, &rule), BJ_TEXT_REFUSED);
	assert_string_equal(rule, "length-chars");
	assert_int_equal(verdict(BJ_LANG_PYTHON, text, 20002, 10001, &rule), BJ_TEXT_FINE);
}

static void limit_is_named(void **state)
{
	static char text[30000];
	const struct bj_check_request request = { .text = text, .size = sizeof(text) };
	struct bj_findings findings = { 0 };

	(void)state;
	memset(text, 'x', sizeof(text));
	bj_layer_length(&request, &findings);
	assert_non_null(strstr(findings.items[0].message, "30000 characters"));
	assert_non_null(strstr(findings.items[0].message, "10000"));
	bj_findings_done(&findings);
}

static void bytes_have_a_ceiling(void **state)
{
	static char text[40001];
	const char *rule;

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(verdict(BJ_LANG_BASH, text, sizeof(text), 0, &rule), BJ_TEXT_TOO_LARGE);
	assert_string_equal(rule, "length-bytes");
}

#define TEXT(s) s, sizeof(s) - 1

static void bytes_no_interpreter_takes(void **state)
{
	(void)state;
	assert_rule(BJ_LANG_PYTHON, TEXT("x = 1\0\n"), BJ_TEXT_REFUSED, "encoding-nul");
	assert_rule(BJ_LANG_BASH, TEXT("echo \0\n"), BJ_TEXT_REFUSED, "encoding-nul");
	assert_rule(BJ_LANG_PYTHON, TEXT("x = '\xff'\n"), BJ_TEXT_REFUSED, "encoding-utf8");
	assert_rule(BJ_LANG_PYTHON, TEXT("x = '\xed\xa0\x80'\n"), BJ_TEXT_REFUSED, "encoding-utf8");
	assert_rule(BJ_LANG_PYTHON, TEXT("x = '\xc0\xaf'\n"), BJ_TEXT_REFUSED, "encoding-utf8");
	assert_rule(BJ_LANG_PYTHON, TEXT("x = '\xf4\x90\x80\x80'"), BJ_TEXT_REFUSED,
		    "encoding-utf8");
	assert_rule(BJ_LANG_PYTHON, TEXT("x = '\xe2\x82'"), BJ_TEXT_REFUSED, "encoding-utf8");
	assert_rule(BJ_LANG_PYTHON, TEXT("x = '\xf0\x9f\x98\x80'"), BJ_TEXT_FINE, "");
}

static void marks_and_line_ends(void **state)
{
	(void)state;
	assert_rule(BJ_LANG_PYTHON, TEXT("\xef\xbb\xbfx = 1\r\n"), BJ_TEXT_FINE, "");
	assert_rule(BJ_LANG_BASH,
		    TEXT("\xef\xbb\xbf"
			 "echo\n"),
		    BJ_TEXT_FINE, "encoding-bom");
	assert_rule(BJ_LANG_BASH, TEXT("echo\r\n"), BJ_TEXT_FINE, "encoding-crlf");
	assert_rule(BJ_LANG_PYTHON, TEXT("x = 1 # \xe2\x80\xae\n"), BJ_TEXT_FINE, "encoding-bidi");
}

static void declared_encodings(void **state)
{
	(void)state;
	assert_rule(BJ_LANG_PYTHON, TEXT("# coding: utf-7\n"), BJ_TEXT_REFUSED,
		    "encoding-declared");
	assert_rule(BJ_LANG_PYTHON,
		    TEXT("#!/usr/bin/python\n# vim: set fileencoding=unicode_escape :\n"),
		    BJ_TEXT_REFUSED, "encoding-declared");
	assert_rule(BJ_LANG_PYTHON, TEXT("\f # -*- coding: UTF_8 -*-\n"), BJ_TEXT_FINE, "");
	assert_rule(BJ_LANG_PYTHON, TEXT("# coding: latin-1\nx = 1\n"), BJ_TEXT_FINE, "");
	assert_rule(BJ_LANG_PYTHON, TEXT("# coding: latin-1\nx = '\xc3\xa9'\n"), BJ_TEXT_REFUSED,
		    "encoding-declared");
	/* CPython does not look behind a first line of code, nor at the third line. */
	assert_rule(BJ_LANG_PYTHON, TEXT("x = 1\n# coding: utf-7\n"), BJ_TEXT_FINE, "");
	assert_rule(BJ_LANG_PYTHON, TEXT("\n\n# coding: utf-7\n"), BJ_TEXT_FINE, "");
	assert_rule(BJ_LANG_BASH, TEXT("# coding: utf-7\n"), BJ_TEXT_FINE, "");
	/* A carriage return alone ends a line for CPython. */
	assert_rule(BJ_LANG_PYTHON, TEXT("#\r# coding: utf-7\r"), BJ_TEXT_REFUSED,
		    "encoding-declared");
}

/* What an example stands for: see struct bj_rule. */
static void decode(const struct bj_rule *rule, const char *text, struct bj_buf *ret)
{
	char last = 0;

	for (char *end; *text; text = end) {
		end = (char *)text + 1;

		const bool coded = rule->coded && *text == '\\';
		const bool repeats = coded && text[1] == '{';
		const unsigned long n = repeats ? strtoul(text + 2, &end, 10)
					: coded ? strtoul(text + 2, &end, 16)
						: 0;

		if (!repeats)
			last = coded ? (char)n : *text;
		for (unsigned long i = 1; repeats && i < n; i++)
			bj_buf_add(ret, &last, 1);
		if (!repeats)
			bj_buf_add(ret, &last, 1);
		end += repeats;
	}
}

static const char *rule_for(const struct bj_rule *rule, const char *example)
{
	const enum bj_language language =
		rule->language == BJ_RULE_BASH ? BJ_LANG_BASH : BJ_LANG_PYTHON;
	AUTO_BUF struct bj_buf text = { 0 };
	const char *found;

	assert_non_null(example);
	decode(rule, example, &text);
	verdict(language, text.data, text.size, 0, &found);
	return found;
}

static void examples_of_every_rule(void **state)
{
	size_t n;
	const struct bj_rule *rules = bj_rules_length(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(rule_for(&rules[i], rules[i].positive), rules[i].id);
		assert_string_equal(rule_for(&rules[i], rules[i].negative), "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limit_counts_characters),
		cmocka_unit_test(limit_is_named),
		cmocka_unit_test(bytes_have_a_ceiling),
		cmocka_unit_test(bytes_no_interpreter_takes),
		cmocka_unit_test(marks_and_line_ends),
		cmocka_unit_test(declared_encodings),
		cmocka_unit_test(examples_of_every_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
