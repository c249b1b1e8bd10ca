/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "serve/sse.h"

#include <stdlib.h>
#include <string.h>

/* SX-OUT, RESULT: events are bounded, whole, and lose no byte. */

enum { KEEP = 32 << 10 };

static void done(struct bj_sse *sse)
{
	bj_sse_done(sse);
}

static void test_one_event_each(void **state)
{
	__attribute__((cleanup(done))) struct bj_sse sse = { .keep = KEEP };
	AUTO_BUF struct bj_buf text = { 0 };
	uint64_t pos = 0;

	(void)state;
	bj_sse_state(&sse, "running");
	bj_sse_output(&sse, BJ_EV_STDOUT, "a\"\n", 3);
	bj_sse_output(&sse, BJ_EV_STDERR, "\xff\x00", 2);
	bj_sse_take(&sse, &pos, SIZE_MAX, &text);
	assert_string_equal(text.data, "event: state\ndata: {\"state\":\"running\"}\n\n"
				       "event: stdout\ndata: {\"text\":\"a\\\"\\n\"}\n\n"
				       "event: stderr\ndata: {\"base64\":\"/wA=\"}\n\n");
	assert_int_equal(pos, bj_sse_end(&sse));
}

static void test_characters_are_not_torn(void **state)
{
	__attribute__((cleanup(done))) struct bj_sse sse = { .keep = KEEP };
	AUTO_BUF struct bj_buf text = { 0 };
	AUTO_BUF struct bj_buf in = { 0 };
	uint64_t pos = 0;

	(void)state;
	/* One byte, then characters of three: no power of two falls between two of them. */
	bj_buf_puts(&in, "x");
	for (int i = 0; i < 5000; i++)
		bj_buf_puts(&in, "\xe2\x82\xac");
	bj_sse_output(&sse, BJ_EV_STDOUT, in.data, in.size);
	bj_sse_take(&sse, &pos, SIZE_MAX, &text);
	assert_null(strstr(text.data, "base64"));
}

static void test_old_events_go(void **state)
{
	__attribute__((cleanup(done))) struct bj_sse sse = { .keep = KEEP };
	AUTO_BUF struct bj_buf text = { 0 };
	uint64_t pos = 0;

	(void)state;
	for (int i = 0; i < 10000; i++)
		bj_sse_output(&sse, BJ_EV_STDOUT, "0123456789", 10);
	assert_true(sse.text.size < 2 * KEEP);
	bj_sse_take(&sse, &pos, SIZE_MAX, &text);
	assert_memory_equal(text.data, "event: gap\n", 11);
	assert_memory_equal(strstr(text.data, "\n\n") + 2, "event: stdout\n", 14);
	assert_int_equal(pos, bj_sse_end(&sse));
}

static void test_what_is_held_stays(void **state)
{
	__attribute__((cleanup(done))) struct bj_sse sse = { .keep = KEEP, .held = true };
	uint64_t pos = 0;
	size_t seen = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		AUTO_BUF struct bj_buf text = { 0 };

		bj_sse_output(&sse, BJ_EV_STDOUT, "0123456789", 10);
		if (i % 100 != 99)
			continue;
		bj_sse_take(&sse, &pos, SIZE_MAX, &text);
		sse.hold = pos;
		assert_null(strstr(text.data, "gap"));
		seen += text.size;
	}
	assert_int_equal(seen, bj_sse_end(&sse));
	assert_true(sse.dropped > 0);
}

static void test_takes_whole_events(void **state)
{
	__attribute__((cleanup(done))) struct bj_sse sse = { .keep = KEEP };
	uint64_t pos = 0;

	(void)state;
	for (int i = 0; i < 10; i++)
		bj_sse_output(&sse, BJ_EV_STDOUT, "0123456789", 10);
	while (pos < bj_sse_end(&sse)) {
		AUTO_BUF struct bj_buf text = { 0 };

		bj_sse_take(&sse, &pos, 50, &text);
		assert_memory_equal(text.data, "event: ", 7);
		assert_memory_equal(text.data + text.size - 2, "\n\n", 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_event_each),
		cmocka_unit_test(test_characters_are_not_torn),
		cmocka_unit_test(test_old_events_go),
		cmocka_unit_test(test_what_is_held_stays),
		cmocka_unit_test(test_takes_whole_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
