/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "serve/hold.h"

/* DS-PAR: large requests share what there is; small ones always fit. */

enum { LARGE = 100 << 10 };

static void all_hold_so_much_together(void **state)
{
	struct bj_holds holds = { .most = LARGE - BJ_HOLD_FREE };
	struct bj_hold *first = bj_hold_new(&holds), *second = bj_hold_new(&holds);

	(void)state;
	assert_true(bj_hold_more(first, LARGE));
	assert_true(bj_hold_more(second, BJ_HOLD_FREE));
	assert_false(bj_hold_more(second, 1));
	assert_false(bj_hold_more(first, 1));
	bj_hold_unref(first);
	assert_true(bj_hold_more(second, LARGE - BJ_HOLD_FREE));
	bj_hold_unref(second);
	assert_int_equal(holds.bytes, 0);
}

static void what_is_in_use_stays_counted(void **state)
{
	struct bj_holds holds = { .most = LARGE };
	struct bj_hold *hold = bj_hold_new(&holds), *other = bj_hold_ref(hold);

	(void)state;
	for (int i = 0; i < LARGE; i++)
		assert_true(bj_hold_more(hold, 1));
	bj_hold_unref(hold);
	assert_int_equal(holds.bytes, LARGE - BJ_HOLD_FREE);
	bj_hold_unref(other);
	assert_int_equal(holds.bytes, 0);
	assert_null(bj_hold_ref(NULL));
	bj_hold_unref(NULL);
}

/* TENANT: one holds three quarters at most, and the rest is for others. */
static void no_tenant_holds_all(void **state)
{
	struct bj_holds holds = { .most = 4 * LARGE };
	struct bj_hold *loud[2] = { bj_hold_new(&holds), bj_hold_new(&holds) };
	struct bj_hold *quiet = bj_hold_new(&holds), *nobody = bj_hold_new(&holds);

	(void)state;
	bj_hold_belong(loud[0], "loud");
	bj_hold_belong(loud[1], "loud");
	bj_hold_belong(quiet, "quiet");
	bj_hold_belong(nobody, "");
	assert_true(bj_hold_more(loud[0], BJ_HOLD_FREE + 2 * LARGE));
	assert_true(bj_hold_more(loud[1], BJ_HOLD_FREE + LARGE));
	assert_false(bj_hold_more(loud[1], 1));
	assert_true(bj_hold_more(quiet, BJ_HOLD_FREE + LARGE));
	assert_false(bj_hold_more(nobody, BJ_HOLD_FREE + 1));
	bj_hold_unref(loud[0]);
	assert_true(bj_hold_more(loud[1], 2 * LARGE));
	bj_hold_unref(loud[1]);
	/* What belongs to nobody has no bound but that of all. */
	assert_true(bj_hold_more(nobody, BJ_HOLD_FREE + 3 * LARGE));
	bj_hold_unref(nobody);
	bj_hold_unref(quiet);
	assert_int_equal(holds.bytes, 0);
	assert_null(holds.first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_hold_so_much_together),
		cmocka_unit_test(what_is_in_use_stays_counted),
		cmocka_unit_test(no_tenant_holds_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
