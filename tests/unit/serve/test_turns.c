/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "serve/turns.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* DS-PAR: so many at once, so many in line, in order. */

struct visitor {
	struct bj_turns *turns;
	int cancel;
	int result;
};

static void *visit(void *ctx)
{
	struct visitor *v = ctx;

	v->result = bj_turns_enter(v->turns, v->cancel);
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
	unsigned int running, waiting;
	pthread_t thread;

	(void)state;
	assert_int_equal(bj_turns_enter(turns, -1), 0);
	pthread_create(&thread, NULL, visit, &second);
	wait_for_line(turns, 1);
	assert_int_equal(bj_turns_enter(turns, -1), -BJ_E_LIMIT);
	bj_turns_leave(turns);
	pthread_join(thread, NULL);
	assert_int_equal(second.result, 0);
	bj_turns_count(turns, &running, &waiting);
	assert_int_equal(running, 1);
	assert_int_equal(waiting, 0);
	bj_turns_leave(turns);
	bj_turns_free(turns);
}

static void test_cancel_in_line(void **state)
{
	struct bj_turns *turns = bj_turns_new(1, 5);
	struct visitor v[3];
	pthread_t threads[3];

	(void)state;
	assert_int_equal(bj_turns_enter(turns, -1), 0);
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
	bj_turns_leave(turns);
	pthread_join(threads[1], NULL);
	assert_int_equal(v[0].result, -BJ_E_CANCELLED);
	assert_int_equal(v[1].result, 0);
	assert_int_equal(v[2].result, -BJ_E_CANCELLED);
	bj_turns_leave(turns);
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
	bj_turns_leave(turns);
	bj_turns_free(turns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_cancel_in_line),
		cmocka_unit_test(test_resize_lets_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
