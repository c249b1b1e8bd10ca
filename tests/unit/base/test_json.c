/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <jansson.h>
#include <string.h>

/* Every pair of bytes as a string: another reader gets the same text back, or U+FFFD for what is
 * none. */
static void strings_of_any_bytes(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 65536; i++) {
		const char text[] = { (char)(i >> 8), (char)i, 'x', '\0' };
		AUTO_BUF struct bj_buf buf = { 0 };

		bj_json_string(&buf, text, 3);

		json_t *value =
			json_loadb(buf.data, buf.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

		assert_non_null(value);
		assert_null(memchr(buf.data, '\n', buf.size));

		const char *back = json_string_value(value);
		const size_t n = json_string_length(value);

		assert_true(n >= 3);
		assert_int_equal(back[n - 1], 'x');
		if ((i >> 8) < 0x80 && (i & 0xff) < 0x80)
			assert_memory_equal(back, text, 3);
		else if (n != 3 || memcmp(back, text, 3) != 0)
			assert_non_null(memmem(back, n, "\xef\xbf\xbd", 3));
		json_decref(value);
	}
}

static void escapes_are_the_short_ones(void **state)
{
	AUTO_BUF struct bj_buf buf = { 0 };

	(void)state;
	bj_json_string(&buf, "a\"\\\n\t\x01\x7f\xc3\xa4", 9);
	assert_string_equal(buf.data, "\"a\\\"\\\\\\n\\t\\u0001\x7f\xc3\xa4\"");
}

static void commas_come_by_themselves(void **state)
{
	AUTO_BUF struct bj_buf buf = { 0 };

	(void)state;
	bj_buf_puts(&buf, "{");
	bj_json_int(&buf, "a", -3);
	bj_json_open(&buf, "list", '[');
	for (int i = 0; i < 2; i++) {
		bj_json_next(&buf);
		bj_json_string(&buf, "{", 1);
	}
	bj_json_close(&buf, ']');
	bj_json_open(&buf, "none", '{');
	bj_json_close(&buf, '}');
	bj_json_text(&buf, "t", NULL);
	bj_json_flag(&buf, "f", true);
	bj_json_close(&buf, '}');
	assert_string_equal(buf.data,
			    "{\"a\":-3,\"list\":[\"{\",\"{\"],\"none\":{},\"t\":null,\"f\":true}");
}

static void numbers(void **state)
{
	static const struct {
		uint64_t value;
		unsigned int decimals;
		const char *text;
	} cases[] = {
		{ 0, 3, "{\"n\":0.0" },           { 1, 3, "{\"n\":0.001" },
		{ 1500, 3, "{\"n\":1.5" },        { 2000, 3, "{\"n\":2.0" },
		{ 10, 1, "{\"n\":1.0" },          { 1, 6, "{\"n\":0.000001" },
		{ 1000020, 6, "{\"n\":1.00002" }, { UINT64_MAX, 3, "{\"n\":18446744073709551.615" },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(cases); i++) {
		AUTO_BUF struct bj_buf buf = { 0 };

		bj_buf_puts(&buf, "{");
		bj_json_fixed(&buf, "n", cases[i].value, cases[i].decimals);
		assert_string_equal(buf.data, cases[i].text);
	}

	AUTO_BUF struct bj_buf buf = { 0 };

	bj_buf_puts(&buf, "{");
	bj_json_int(&buf, "least", INT64_MIN);
	bj_json_int(&buf, "most", INT64_MAX);
	assert_string_equal(buf.data,
			    "{\"least\":-9223372036854775808,\"most\":9223372036854775807");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_of_any_bytes),
		cmocka_unit_test(escapes_are_the_short_ones),
		cmocka_unit_test(commas_come_by_themselves),
		cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
