/* SPDX-License-Identifier: Apache-2.0 */

/* SX-OUT: head and tail are kept, the count is true, and no character is cut in two. */

#include "unit.h"

#include "backend/capture.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* Give @text to a capture of @max bytes in pieces of @piece. The caller frees the data. */
static struct bj_output capture(const char *text, size_t size, size_t max, size_t piece)
{
	struct bj_output out = { 0 };
	struct bj_capture c;

	bj_capture_init(&c, max);
	for (size_t at = 0; at < size; at += piece)
		assert_true(bj_capture_add(&c, text + at, size - at < piece ? size - at : piece));
	assert_true(bj_capture_take(&c, &out));
	bj_capture_done(&c);
	return out;
}

static void what_fits_is_whole(void **state)
{
	static const char text[] = "0123456789";

	(void)state;
	for (size_t max = 10; max < 23; max++)
		for (size_t piece = 1; piece <= 10; piece++) {
			const struct bj_output out = capture(text, 10, max, piece);

			assert_string_equal(out.data, text);
			assert_int_equal(out.size, 10);
			assert_int_equal(out.total, 10);
			assert_false(out.truncated);
			free(out.data);
		}
}

static void nothing_is_an_empty_string(void **state)
{
	struct bj_output out = capture("", 0, 10, 1);

	(void)state;
	assert_string_equal(out.data, "");
	assert_int_equal(out.size, 0);
	free(out.data);
	out = capture("", 0, 0, 1);
	assert_string_equal(out.data, "");
	free(out.data);
}

/* Head and tail at every limit, in pieces of every size. */
static void the_middle_is_left_out(void **state)
{
	static const char text[] = "abcdefghijklmnopqrstuvwxyz";

	(void)state;
	for (size_t max = 0; max < 26; max++)
		for (size_t piece = 1; piece <= 26; piece++) {
			const struct bj_output out = capture(text, 26, max, piece);
			char want[100];

			snprintf(want, sizeof(want), "%.*s\n[... %zu bytes left out ...]\n%s",
				 (int)(max / 2), text, 26 - max, text + 26 - (max - max / 2));
			assert_string_equal(out.data, want);
			assert_int_equal(out.size, strlen(want));
			assert_int_equal(out.total, 26);
			assert_true(out.truncated);
			free(out.data);
		}
}

/* The bytes that are shown and the bytes that are said to be left out make the whole. */
static void characters_stay_whole_and_are_counted(void **state)
{
	static const char *const signs[] = { "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x90\x9d" };
	char text[120];

	(void)state;
	for (size_t s = 0; s < BJ_ARRAY_SIZE(signs); s++) {
		const size_t len = strlen(signs[s]), size = len * 30;

		for (size_t i = 0; i < 30; i++)
			memcpy(text + i * len, signs[s], len);
		for (size_t max = 0; max < size; max++) {
			const struct bj_output out = capture(text, size, max, 7);
			const char *mark = strstr(out.data, "\n[... ");
			const char *end = strstr(out.data, " bytes left out ...]\n");

			assert_true(bj_utf8_valid(out.data, out.size));
			assert_non_null(mark);
			assert_non_null(end);

			const size_t shown = (size_t)(mark - out.data) +
					     strlen(end + strlen(" bytes left out ...]\n"));

			assert_int_equal(strtoul(mark + 6, NULL, 10) + shown, size);
			assert_true(shown <= max);
			free(out.data);
		}
	}
}

static void any_bytes_are_kept(void **state)
{
	char text[256];

	(void)state;
	for (int i = 0; i < 256; i++)
		text[i] = (char)i;

	const struct bj_output out = capture(text, sizeof(text), 4096, 10);

	assert_int_equal(out.size, 256);
	assert_memory_equal(out.data, text, 256);
	free(out.data);
}

/* Continuation bytes without end are no character: at most three are dropped at an edge. */
static void rubbish_is_not_eaten(void **state)
{
	char text[64];

	(void)state;
	memset(text, 0x80, sizeof(text));

	const struct bj_output out = capture(text, sizeof(text), 32, 64);

	assert_true(out.truncated);
	assert_true(out.size > 32 - 6);
	free(out.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_whole),
		cmocka_unit_test(nothing_is_an_empty_string),
		cmocka_unit_test(the_middle_is_left_out),
		cmocka_unit_test(characters_stay_whole_and_are_counted),
		cmocka_unit_test(any_bytes_are_kept),
		cmocka_unit_test(rubbish_is_not_eaten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
