/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/clock.h"
#include "serve/turns.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* DS-PAR: so many at once, so many in line, in order. */

struct visitor {
	struct bj_turns *turns;
	const char *tenant;
	int cancel;
	int result;
	struct bj_turn turn;
};

static void *visit(void *ctx)
{
	struct visitor *v = ctx;

	v->result = bj_turns_enter(v->turns, v->tenant, v->cancel, &v->turn);
	return NULL;
}

static void wait_for_line(struct bj_turns *turns, unsigned int want)
{
	unsigned int running, waiting;

	do
		bj_turns_count(turns, &running, &waiting);
	while (waiting != want);
}

static void test_limits(void **state)
{
	struct bj_turns *turns = bj_turns_new(1, 1);
	struct visitor second = { .turns = turns, .cancel = -1 };
	struct bj_turn first, none;
	unsigned int running, waiting;
	pthread_t thread;

	(void)state;
	assert_int_equal(bj_turns_enter(turns, NULL, -1, &first), 0);
	pthread_create(&thread, NULL, visit, &second);
	wait_for_line(turns, 1);
	assert_int_equal(bj_turns_enter(turns, NULL, -1, &none), -BJ_E_LIMIT);
	bj_turns_leave(turns, &first);
	pthread_join(thread, NULL);
	assert_int_equal(second.result, 0);
	bj_turns_count(turns, &running, &waiting);
	assert_int_equal(running, 1);
	assert_int_equal(waiting, 0);
	bj_turns_leave(turns, &second.turn);
	bj_turns_free(turns);
}

static void test_cancel_in_line(void **state)
{
	struct bj_turns *turns = bj_turns_new(1, 5);
	struct bj_turn first;
	struct visitor v[3];
	pthread_t threads[3];

	(void)state;
	assert_int_equal(bj_turns_enter(turns, NULL, -1, &first), 0);
	for (unsigned int i = 0; i < 3; i++) {
		v[i] = (struct visitor){ .turns = turns, .cancel = eventfd(0, EFD_CLOEXEC) };
		pthread_create(&threads[i], NULL, visit, &v[i]);
		wait_for_line(turns, i + 1);
	}
	/* The last and the first leave the line; the middle one gets its turn. */
	eventfd_write(v[2].cancel, 1);
	pthread_join(threads[2], NULL);
	eventfd_write(v[0].cancel, 1);
	pthread_join(threads[0], NULL);
	wait_for_line(turns, 1);
	bj_turns_leave(turns, &first);
	pthread_join(threads[1], NULL);
	assert_int_equal(v[0].result, -BJ_E_CANCELLED);
	assert_int_equal(v[1].result, 0);
	assert_int_equal(v[2].result, -BJ_E_CANCELLED);
	bj_turns_leave(turns, &v[1].turn);
	for (int i = 0; i < 3; i++)
		close(v[i].cancel);
	bj_turns_free(turns);
}

static void test_resize_lets_in(void **state)
{
	struct bj_turns *turns = bj_turns_new(0, 1);
	struct visitor v = { .turns = turns, .cancel = -1 };
	pthread_t thread;

	(void)state;
	pthread_create(&thread, NULL, visit, &v);
	wait_for_line(turns, 1);
	bj_turns_resize(turns, 1, 1);
	pthread_join(thread, NULL);
	assert_int_equal(v.result, 0);
	bj_turns_leave(turns, &v.turn);
	bj_turns_free(turns);
}

/* --- between tenants -------------------------------------------------------------------------- */

/* TENANT: a flood of one tenant does not keep another from its turn. */
static void test_flood(void **state)
{
	struct bj_turns *turns = bj_turns_new(1, 20);
	struct bj_turn first;
	struct visitor flood[20], other = { .turns = turns, .tenant = "b", .cancel = -1 };
	pthread_t threads[20], thread;

	(void)state;
	assert_int_equal(bj_turns_enter(turns, "a", -1, &first), 0);
	for (unsigned int i = 0; i < 20; i++) {
		flood[i] = (struct visitor){ .turns = turns, .tenant = "a", .cancel = -1 };
		pthread_create(&threads[i], NULL, visit, &flood[i]);
		wait_for_line(turns, i + 1);
	}
	/* The line is full for the one who filled it, not for others. */
	assert_true(bj_turns_full(turns, "a"));
	assert_false(bj_turns_full(turns, "b"));
	pthread_create(&thread, NULL, visit, &other);
	wait_for_line(turns, 21);
	bj_turns_leave(turns, &first);
	pthread_join(thread, NULL); /* the last to come is the next to go */
	assert_int_equal(other.result, 0);
	bj_turns_leave(turns, &other.turn);
	for (int i = 0; i < 20; i++) {
		pthread_join(threads[i], NULL);
		bj_turns_leave(turns, &flood[i].turn);
	}
	bj_turns_free(turns);
}

/* Where a tenant with long runs and one with short runs both want more than there is, each gets
 * half of the time. */
static void *stay(void *ctx)
{
	struct visitor *v = ctx;
	const struct timespec nap = { .tv_nsec = v->cancel * 1000000L };

	for (int i = 0; i < v->result; i++) {
		struct bj_turn turn;

		assert_int_equal(bj_turns_enter(v->turns, v->tenant, -1, &turn), 0);
		nanosleep(&nap, NULL);
		bj_turns_leave(v->turns, &turn);
	}
	v->turn.began = bj_clock_now();
	return NULL;
}

static void test_shares_of_time(void **state)
{
	struct bj_turns *turns = bj_turns_new(1, 100);
	struct visitor v[6];
	pthread_t threads[6];
	uint64_t last[2] = { 0, 0 };

	(void)state;
	for (int i = 0; i < 6; i++) {
		const bool slow = i < 3;

		/* The same work in all: 3 * 5 * 12 ms and 3 * 20 * 3 ms. */
		v[i] = (struct visitor){ .turns = turns,
					 .tenant = slow ? "slow" : "quick",
					 .cancel = slow ? 12 : 3,
					 .result = slow ? 5 : 20 };
		v[i].turn.charged = bj_clock_now();
		pthread_create(&threads[i], NULL, stay, &v[i]);
	}
	for (int i = 0; i < 6; i++) {
		pthread_join(threads[i], NULL);
		if (v[i].turn.began > last[i < 3])
			last[i < 3] = v[i].turn.began;
	}

	const uint64_t begun = v[0].turn.charged;
	const double ratio = (double)(last[0] - begun) / (double)(last[1] - begun);

	/* First come, first served would let the slow ones take 80 % of the time. */
	assert_true(ratio > 0.75 && ratio < 1.34);
	bj_turns_free(turns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),         cmocka_unit_test(test_cancel_in_line),
		cmocka_unit_test(test_resize_lets_in), cmocka_unit_test(test_flood),
		cmocka_unit_test(test_shares_of_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
