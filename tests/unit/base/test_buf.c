/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <string.h>

static void grows_and_terminates(void **state)
{
	AUTO_BUF struct bj_buf buf = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		bj_buf_printf(&buf, "%d,", i % 10);
	assert_false(buf.failed);
	assert_int_equal(buf.size, 2000);
	assert_int_equal(buf.data[2000], 0);
	for (size_t i = 0; i < 1000; i++) {
		assert_int_equal(buf.data[2 * i], '0' + i % 10);
		assert_int_equal(buf.data[2 * i + 1], ',');
	}
}

static void printing_obeys_the_ceiling(void **state)
{
	AUTO_BUF struct bj_buf buf = { .max = 300 };

	(void)state;
	bj_buf_printf(&buf, "%0290d", 7);
	assert_false(buf.failed);
	bj_buf_printf(&buf, "%s", "12345678901");
	assert_true(buf.failed);
	assert_int_equal(buf.size, 290);
	assert_int_equal(strlen(buf.data), 290);
}

static void ceiling_fails_once_and_for_all(void **state)
{
	AUTO_BUF struct bj_buf buf = { .max = 4 };

	(void)state;
	bj_buf_puts(&buf, "1234");
	assert_false(buf.failed);
	bj_buf_puts(&buf, "5");
	assert_true(buf.failed);
	assert_string_equal(buf.data, "1234");
	assert_null(bj_buf_take(&buf));
}

static void empty_gives_an_empty_string(void **state)
{
	struct bj_buf buf = { 0 };
	AUTO_FREE char *text = bj_buf_take(&buf);

	(void)state;
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_and_terminates),
		cmocka_unit_test(ceiling_fails_once_and_for_all),
		cmocka_unit_test(printing_obeys_the_ceiling),
		cmocka_unit_test(empty_gives_an_empty_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
