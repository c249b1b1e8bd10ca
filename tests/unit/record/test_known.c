/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "record/known.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* VALD-03: the values of secrets that a run was given do not stand in what is kept of it. */

static void mask(const char *value, const char *text, const char *expected)
{
	struct bj_known_value v = { .data = (char *)value, .size = strlen(value) };
	const struct bj_known known = { .values = &v, .n = 1 };
	AUTO_FREE char *copy = strdup(text);

	alarm(10);
	bj_known_mask(&known, copy, strlen(copy));
	alarm(0);
	assert_string_equal(copy, expected);
}

static void test_every_place(void **state)
{
	(void)state;
	mask("secret", "", "");
	mask("secret", "secre", "secre");
	mask("secret", "secret", "******");
	mask("secret", "a secret and secretsecret", "a ****** and ************");
}

/* A key may hold a line of stars: what it is masked with is found again, once and not for ever. */
static void test_a_value_of_stars(void **state)
{
	(void)state;
	mask("******", "a ******* and ******", "a ******* and ******");
	mask("****************", "******************************",
	     "******************************");
}

/* A value that was cut within a character takes the whole of it. */
static void test_a_part_of_a_character(void **state)
{
	(void)state;
	mask("secret\xe2", "a secret\xe2\x82\xac b", "a ********* b");
	mask("\x82\xacsecret", "a \xe2\x82\xacsecret b", "a ********* b");
	mask("secret\xe2\x82", "secret\xe2\x82", "********");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_place),
		cmocka_unit_test(test_a_value_of_stars),
		cmocka_unit_test(test_a_part_of_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
