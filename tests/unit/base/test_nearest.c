/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "base/nearest.h"

static const char *const WORDS[] = { "timeout", "memory", "pids", "cpus" };

static const char *near(const char *word)
{
	return bj_nearest(word, WORDS, BJ_ARRAY_SIZE(WORDS));
}

static void finds_what_was_meant(void **state)
{
	(void)state;
	assert_string_equal(near("timeuot"), "timeout");
	assert_string_equal(near("memry"), "memory");
	assert_string_equal(near("pid"), "pids");
	assert_string_equal(near("cpus"), "cpus");
}

static void keeps_silent_when_nothing_is_near(void **state)
{
	char longest[200];

	(void)state;
	memset(longest, 't', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_null(near("colour"));
	assert_null(near("zz"));
	assert_null(near(longest));
	assert_null(bj_nearest("timeout", NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_meant),
		cmocka_unit_test(keeps_silent_when_nothing_is_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
