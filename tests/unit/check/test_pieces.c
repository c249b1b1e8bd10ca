/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "check/check.h"
#include "check/pieces.h"

#include <pthread.h>
#include <sys/resource.h>

#define MIB ((size_t)1 << 20)

static void an_array_keeps_what_is_in_it(void **state)
{
	AUTO_PIECE uint32_t *items = NULL;
	uint32_t room = 0;

	(void)state;
	/* From the first few to some megabytes: across the border between small and large. */
	for (uint32_t i = 0; i < 2000000; i++) {
		if (i == room) {
			uint32_t *grown = bj_piece_grow(items, &room, sizeof(*items));

			assert_non_null(grown);
			assert_true(room > i);
			items = grown;
		}
		items[i] = i;
	}
	for (uint32_t i = 0; i < 2000000; i++)
		assert_int_equal(items[i], i);
}

static void all_of_a_piece_can_be_written(void **state)
{
	static const size_t sizes[] = {
		0, 1, MIB - 17, MIB - 16, MIB - 1, 2 * MIB - 16, 2 * MIB - 15, 5 * MIB
	};

	(void)state;
	/* Twice: the second time some have waited. */
	for (size_t round = 0; round < 2; round++)
		for (size_t i = 0; i < BJ_ARRAY_SIZE(sizes); i++) {
			AUTO_PIECE char *piece = bj_piece_new(sizes[i]);

			assert_non_null(piece);
			memset(piece, 'x', sizes[i]);
		}
	assert_null(bj_piece_new(SIZE_MAX));
	assert_null(bj_piece_new(SIZE_MAX / 2 + 1));
	bj_piece_free(NULL);
}

#ifndef BJ_SANITIZED /* there each piece is one of malloc()'s */

static size_t mapped(void)
{
	AUTO_FILE FILE *f = fopen("/proc/self/statm", "re");
	size_t pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%zu", &pages), 1);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static long faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_minflt;
}

static void a_large_piece_waits_for_the_next_text(void **state)
{
	char *piece = bj_piece_new(9 * MIB);

	(void)state;
	assert_non_null(piece);
	memset(piece, 'x', 9 * MIB);
	bj_piece_free(piece);

	/* For a smaller one, too, but not for one that would use next to nothing of it. */
	AUTO_PIECE char *small = bj_piece_new(3 * MIB);
	AUTO_PIECE char *again = bj_piece_new(8 * MIB);

	assert_ptr_not_equal(small, piece);
	assert_ptr_equal(again, piece);
}

static void what_waits_has_a_bound(void **state)
{
	enum { COUNT = 100 };
	static void *pieces[COUNT];
	static const size_t sizes[] = { 10 * MIB, 2 * MIB };
	const size_t before = mapped();

	(void)state;
	/* Twice as many bytes as may wait, then more pieces than may wait. */
	for (size_t k = 0; k < BJ_ARRAY_SIZE(sizes); k++) {
		for (size_t i = 0; i < COUNT; i++)
			assert_non_null(pieces[i] = bj_piece_new(sizes[k]));
		for (size_t i = 0; i < COUNT; i++)
			bj_piece_free(pieces[i]);
		assert_true(mapped() - before <= 513 * MIB);
	}
	/* One that is larger than all that may wait goes at once. */
	bj_piece_free(bj_piece_new(1000 * MIB));
	assert_true(mapped() - before <= 513 * MIB);
}

static void the_next_large_text_finds_its_memory(void **state)
{
	enum { SIZE = 300000 };
	static char text[SIZE + 1];
	const struct bj_check_request request = {
		.language = BJ_LANG_PYTHON, .text = text, .size = SIZE, .max_chars = SIZE
	};
	struct bj_checker *checker = NULL;
	long first = 0;

	(void)state;
	bj_check_keep_memory(); /* as the program does */
	for (size_t i = 0; i < SIZE; i++)
		text[i] = "f(a.b)\n"[i % 7];
	assert_int_equal(bj_checker_new(NULL, &checker, NULL), 0);
	for (size_t round = 0; round < 3; round++) {
		struct bj_report report = { 0 };
		const long before = faults();

		assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
		bj_report_done(&report);
		if (round == 0)
			first = faults() - before;
		else if (round == 2)
			assert_in_range(faults() - before, 0, first / 10);
	}
	bj_checker_free(checker);
}

static void *take_and_give(void *arg)
{
	for (size_t i = 0; i < 2000; i++) {
		const size_t size = (2 + (i * 7 + (uintptr_t)arg) % 12) * MIB;
		size_t *piece = bj_piece_new(size);

		if (!piece)
			return "no memory";
		piece[0] = size + (uintptr_t)arg;
		if (piece[0] != size + (uintptr_t)arg)
			return "another thread has the same piece";
		bj_piece_free(piece);
	}
	return NULL;
}

static void threads_do_not_share_a_piece(void **state)
{
	pthread_t threads[4];
	void *wrong = NULL;

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, (void *)(i + 1)),
				 0);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(threads); i++) {
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_array_keeps_what_is_in_it),
		cmocka_unit_test(all_of_a_piece_can_be_written),
#ifndef BJ_SANITIZED
		cmocka_unit_test(a_large_piece_waits_for_the_next_text),
		cmocka_unit_test(the_next_large_text_finds_its_memory),
		cmocka_unit_test(what_waits_has_a_bound),
		cmocka_unit_test(threads_do_not_share_a_piece),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
