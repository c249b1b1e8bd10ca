/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/err.h"

#include <errno.h>
#include <stdio.h>
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

/* A message quotes names that somebody else chose: it stays one line and drives no terminal. */
static void what_is_quoted_is_plain(void **state)
{
	struct bj_err err;

	(void)state;
	bj_err_set(&err, BJ_E_NOT_FOUND, ENOENT, "cannot open %s",
		   "a\x1b]0;b\x07\n\x7f\xc2\x9b"
		   "31m \xc3\xa9.py");
	assert_string_equal(err.msg, "cannot open a?]0;b????\?31m \xc3\xa9.py: "
				     "No such file or directory");
	bj_err_wrap(&err, "in %s", "x\ty");
	assert_memory_equal(err.msg, "in x?y: cannot", 14);
	snprintf(err.msg, sizeof(err.msg), "from\nafar");
	bj_err_received(&err);
	assert_string_equal(err.msg, "from?afar");
}

/* What failed, why, what to do: in this order. */
static void the_reason_comes_before_the_advice(void **state)
{
	struct bj_err err;

	(void)state;
	bj_err_set(&err, BJ_E_SYSTEM, ENOSPC, "cannot write %s", "a; b");
	assert_string_equal(err.msg, "cannot write a; b: No space left on device");
	bj_err_set(&err, BJ_E_SYSTEM, ENOENT, "cannot run %s; install it", "x");
	assert_string_equal(err.msg, "cannot run x: No such file or directory; install it");

	char name[sizeof(err.msg) * 2];

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	bj_err_set(&err, BJ_E_SYSTEM, ENOENT, "cannot open %s; name another", name);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	bj_err_set(&err, BJ_E_SYSTEM, ENOENT, "no %.225s; a", name);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_came_can_be_shown),
		cmocka_unit_test(what_is_right_stays),
		cmocka_unit_test(what_is_quoted_is_plain),
		cmocka_unit_test(the_reason_comes_before_the_advice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
