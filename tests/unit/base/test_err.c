/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/err.h"

#include <string.h>

/* An error that another process sent is one of ours: whoever sent it may have been taken over. */
static void what_came_can_be_shown(void **state)
{
	static const int codes[] = { -3, 0, BJ_E_CANCELLED + 1, 1 << 30 };
	struct bj_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		err.code = codes[i];
		memset(err.msg, 'x', sizeof(err.msg));
		assert_int_equal(bj_err_received(&err), -BJ_E_SYSTEM);
		assert_int_equal(err.code, BJ_E_SYSTEM);
		assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	}
	err = (struct bj_err){ .code = BJ_E_LIMIT };
	assert_int_equal(bj_err_received(&err), -BJ_E_LIMIT);
	assert_string_not_equal(err.msg, "");
}

static void what_is_right_stays(void **state)
{
	struct bj_err err = { .code = BJ_E_DENIED, .errnum = 1, .msg = "no" };

	(void)state;
	assert_int_equal(bj_err_received(&err), -BJ_E_DENIED);
	assert_int_equal(err.errnum, 1);
	assert_string_equal(err.msg, "no");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_came_can_be_shown),
		cmocka_unit_test(what_is_right_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
