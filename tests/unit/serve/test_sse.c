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
	__attribute__((cleanup(done))) struct bj_sse sse = { .keep = KEEP, .life = 0xc0ffee };
	AUTO_BUF struct bj_buf text = { 0 };
	uint64_t pos = 0;

	(void)state;
	bj_sse_state(&sse, "running");
	bj_sse_output(&sse, BJ_EV_STDOUT, "a\"\n", 3);
	bj_sse_output(&sse, BJ_EV_STDERR, "\xff\x00", 2);
	bj_sse_take(&sse, &pos, SIZE_MAX, &text);
	assert_string_equal(text.data,
			    "id: 00c0ffee-40\nevent: state\ndata: {\"state\":\"running\"}\n\n"
			    "id: 00c0ffee-78\nevent: stdout\ndata: {\"text\":\"a\\\"\\n\"}\n\n"
			    "id: 00c0ffee-117\nevent: stderr\ndata: {\"base64\":\"/wA=\"}\n\n");
	assert_int_equal(pos, bj_sse_end(&sse));
}

static void test_characters_are_not_torn(void **state)
{
	__attribute__((cleanup(done))) struct bj_sse sse = { .keep = KEEP, .life = 0xc0ffee };
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
	__attribute__((cleanup(done))) struct bj_sse sse = { .keep = KEEP, .life = 0xc0ffee };
	AUTO_BUF struct bj_buf text = { 0 };
	uint64_t pos = 0;

	(void)state;
	for (int i = 0; i < 10000; i++)
		bj_sse_output(&sse, BJ_EV_STDOUT, "0123456789", 10);
	assert_true(sse.text.size < 2 * KEEP);
	bj_sse_take(&sse, &pos, SIZE_MAX, &text);
	assert_memory_equal(strchr(text.data, '\n') + 1, "event: gap\n", 11);
	assert_memory_equal(strchr(strstr(text.data, "\n\n") + 2, '\n') + 1, "event: stdout\n", 14);
	assert_int_equal(pos, bj_sse_end(&sse));
}

static void test_what_is_held_stays(void **state)
{
	__attribute__((cleanup(done))) struct bj_sse sse = { .keep = KEEP,
							     .life = 0xc0ffee,
							     .held = true };
	uint64_t pos = 0;
	unsigned int seen = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		AUTO_BUF struct bj_buf text = { 0 };

		bj_sse_output(&sse, BJ_EV_STDOUT, "0123456789", 10);
		if (i % 100 != 99)
			continue;
		bj_sse_take(&sse, &pos, SIZE_MAX, &text);
		sse.hold = pos;
		assert_null(strstr(text.data, "gap"));
		for (const char *p = text.data; (p = strstr(p, "event: stdout\n")); p++)
			seen++;
	}
	assert_int_equal(seen, 10000);
	assert_true(sse.dropped > 0);
}

static void test_takes_whole_events(void **state)
{
	__attribute__((cleanup(done))) struct bj_sse sse = { .keep = KEEP, .life = 0xc0ffee };
	uint64_t pos = 0;

	(void)state;
	for (int i = 0; i < 10; i++)
		bj_sse_output(&sse, BJ_EV_STDOUT, "0123456789", 10);
	while (pos < bj_sse_end(&sse)) {
		AUTO_BUF struct bj_buf text = { 0 };

		bj_sse_take(&sse, &pos, 50, &text);
		assert_memory_equal(text.data, "id: ", 4);
		assert_memory_equal(text.data + text.size - 2, "\n\n", 2);
	}
}

/* Whoever goes on after any event sees what a reader who stayed would. */
static void test_goes_on_after_every_event(void **state)
{
	__attribute__((cleanup(done))) struct bj_sse sse = { .keep = KEEP, .life = 0xc0ffee };
	AUTO_BUF struct bj_buf whole = { 0 };
	uint64_t pos = 0;

	(void)state;
	bj_sse_state(&sse, "running");
	for (int i = 0; i < 50; i++)
		bj_sse_output(&sse, i % 2 ? BJ_EV_STDOUT : BJ_EV_STDERR, "a\n\nid: 3\n\n", 10);
	bj_sse_take(&sse, &pos, SIZE_MAX, &whole);
	for (const char *p = whole.data; p; p = strstr(p, "\n\n"), p = p ? p + 2 : NULL) {
		AUTO_BUF struct bj_buf rest = { 0 };
		char id[BJ_SSE_ID] = "";

		if (!*p)
			break;
		memcpy(id, p + 4, strcspn(p + 4, "\n"));
		assert_int_equal(bj_sse_find(&sse, id, &pos), BJ_SSE_FOUND);
		bj_sse_take(&sse, &pos, SIZE_MAX, &rest);
		assert_string_equal(rest.data ? rest.data : "", strstr(p, "\n\n") + 2);
	}
}

static void test_ids_of_others(void **state)
{
	__attribute__((cleanup(done))) struct bj_sse sse = { .keep = KEEP, .life = 0xc0ffee };
	static const char *const bad[] = { "",
					   "1",
					   "-1",
					   "00c0ffee",
					   "00c0ffee-",
					   "00c0ffee-1",
					   "00c0ffee-39",
					   "00c0ffee-42",
					   "00c0ffee-44",
					   "00c0ffee--40",
					   "00c0ffee-+40",
					   "00c0ffee- 40",
					   "00c0ffee-40 ",
					   "00C0FFEE-40",
					   "0c0ffee-40",
					   "00c0ffee-040",
					   "00c0ffee-18446744073709551615",
					   "00c0ffee-18446744073709551658",
					   "00c0ffee-99999999999999999999999999999999" };
	uint64_t pos = 7;
	char id[BJ_SSE_ID];

	(void)state;
	bj_sse_state(&sse, "running");
	for (size_t i = 0; i < BJ_ARRAY_SIZE(bad); i++)
		assert_int_equal(bj_sse_find(&sse, bad[i], &pos), BJ_SSE_UNKNOWN);
	assert_int_equal(pos, 7);
	assert_int_equal(bj_sse_find(&sse, "00c0ffee-40", &pos), BJ_SSE_FOUND);
	assert_int_equal(pos, 40);
	/* A run that waited for a person begins a list of its own. */
	assert_int_equal(bj_sse_find(&sse, "00c0ffef-40", &pos), BJ_SSE_FOUND);
	assert_int_equal(pos, 0);
	bj_sse_id_of_end(&sse, id);
	assert_int_equal(bj_sse_find(&sse, id, &pos), BJ_SSE_ENDED);
	for (int i = 0; i < 10000; i++)
		bj_sse_output(&sse, BJ_EV_STDOUT, "0123456789", 10);
	/* What it comes after is gone: the gap says how much. */
	assert_int_equal(bj_sse_find(&sse, "00c0ffee-40", &pos), BJ_SSE_FOUND);
	assert_int_equal(pos, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_event_each),
		cmocka_unit_test(test_characters_are_not_torn),
		cmocka_unit_test(test_old_events_go),
		cmocka_unit_test(test_what_is_held_stays),
		cmocka_unit_test(test_takes_whole_events),
		cmocka_unit_test(test_goes_on_after_every_event),
		cmocka_unit_test(test_ids_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
