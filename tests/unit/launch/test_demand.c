/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/demand.h"

#include "unit.h"

static void test_grows_with_demand(void **state)
{
	struct bj_demand d;

	(void)state;
	bj_demand_init(&d, 4, 20);
	bj_demand_use(&d, 4);
	assert_int_equal(d.target, 4); /* enough were there */
	bj_demand_use(&d, 1);
	assert_int_equal(d.target, 6);
	for (int i = 0; i < 50; i++)
		bj_demand_use(&d, 0);
	assert_int_equal(d.target, 20); /* and no further */
}

static void test_shrinks_without_it(void **state)
{
	struct bj_demand d;
	uint64_t now = BJ_DEMAND_PERIOD_NS;

	(void)state;
	bj_demand_init(&d, 4, 20);
	for (int i = 0; i < 50; i++)
		bj_demand_use(&d, 0);
	bj_demand_look(&d, now, false); /* a period in which all were needed */
	assert_int_equal(d.target, 20);
	bj_demand_look(&d, now + 1, false); /* too early */
	assert_int_equal(d.target, 20);
	now += BJ_DEMAND_PERIOD_NS;
	bj_demand_look(&d, now, false);
	assert_int_equal(d.target, 15);
	for (int i = 0; i < 20; i++)
		bj_demand_look(&d, now += BJ_DEMAND_PERIOD_NS, false);
	assert_int_equal(d.target, 4); /* what the settings say stays */
}

/* Short from the first run that found none until a period has gone by without one. */
static void test_is_short_while_runs_find_none(void **state)
{
	struct bj_demand d;
	uint64_t now = BJ_DEMAND_PERIOD_NS;

	(void)state;
	bj_demand_init(&d, 4, 20);
	assert_false(bj_demand_is_short(&d));
	bj_demand_use(&d, 1);
	assert_false(bj_demand_is_short(&d));
	bj_demand_use(&d, 0);
	bj_demand_use(&d, 4);
	assert_true(bj_demand_is_short(&d));
	bj_demand_look(&d, now, false);
	assert_false(bj_demand_is_short(&d));
	bj_demand_init(&d, 0, 0);
	assert_false(bj_demand_is_short(&d));
}

static void test_gives_way_to_others(void **state)
{
	struct bj_demand d;

	(void)state;
	bj_demand_init(&d, 8, 20);
	bj_demand_look(&d, 1, true);
	assert_int_equal(d.target, 4);
	bj_demand_look(&d, BJ_DEMAND_PERIOD_NS, false);
	assert_int_equal(d.target, 8);
}

static void test_none_stays_none(void **state)
{
	struct bj_demand d;

	(void)state;
	bj_demand_init(&d, 0, 0);
	bj_demand_use(&d, 0);
	bj_demand_look(&d, BJ_DEMAND_PERIOD_NS, true);
	bj_demand_look(&d, 3 * BJ_DEMAND_PERIOD_NS, false);
	assert_int_equal(d.target, 0);
}

static void test_knows_when_memory_is_short(void **state)
{
	(void)state;
	assert_true(bj_demand_memory_short(
		"MemTotal: 1000 kB\nMemFree: 900 kB\nMemAvailable: 49 kB\n"));
	assert_false(bj_demand_memory_short("MemTotal: 1000 kB\nMemAvailable: 50 kB\n"));
	assert_false(bj_demand_memory_short("MemTotal: 1000 kB\n"));
	assert_false(bj_demand_memory_short(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows_with_demand),
		cmocka_unit_test(test_shrinks_without_it),
		cmocka_unit_test(test_is_short_while_runs_find_none),
		cmocka_unit_test(test_gives_way_to_others),
		cmocka_unit_test(test_none_stays_none),
		cmocka_unit_test(test_knows_when_memory_is_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
