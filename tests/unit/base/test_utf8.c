/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <string.h>

/* The plain rule of the standard: decode, then ask whether the value may be written that way. */
static bool is_char(const unsigned char *p, size_t n)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t value = n == 1 ? p[0] : p[0] & (0x7fu >> n);
	const unsigned int lead = n == 1 ? 0 : (0xf00u >> n) & 0xff;

	if (n == 1)
		return p[0] < 0x80;
	if ((p[0] & (0xffu << (7 - n))) != (lead & (0xffu << (7 - n))))
		return false;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return false;
		value = value << 6 | (p[i] & 0x3f);
	}
	return value >= least[n] && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
}

/* Every sequence of two bytes, and every of three and four with a sample of last bytes. */
static void agrees_with_the_standard(void **state)
{
	static const unsigned char lasts[] = {
		0x00, 0x41, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xff
	};

	(void)state;
	for (unsigned int a = 0; a < 256; a++)
		for (unsigned int b = 0; b < 256; b++)
			for (size_t k = 0; k < BJ_ARRAY_SIZE(lasts); k++) {
				const unsigned char text[] = { (unsigned char)a, (unsigned char)b,
							       lasts[k], lasts[8 - k] };
				size_t want = 0;

				for (size_t n = 1; n <= 4 && !want; n++)
					want = is_char(text, n) ? n : 0;
				assert_int_equal(bj_utf8_step((const char *)text, 4), want);
			}
}

static void a_cut_character_is_none(void **state)
{
	(void)state;
	assert_int_equal(bj_utf8_step("", 0), 0);
	assert_int_equal(bj_utf8_step("\xc3\xa4", 1), 0);
	assert_int_equal(bj_utf8_step("\xe2\x82\xac", 2), 0);
	assert_int_equal(bj_utf8_step("\xf0\x9f\x90\x9d", 3), 0);
	assert_int_equal(bj_utf8_step("\xf0\x9f\x90\x9d", 4), 4);
}

static void bad_bytes_are_replaced_one_by_one(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "\xff", "\xef\xbf\xbd" },
		{ "a\x80z", "a\xef\xbf\xbdz" },
		{ "\xc3", "\xef\xbf\xbd" },
		{ "\xc3(", "\xef\xbf\xbd(" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xc3\xa4\xff\xc3\xa4", "\xc3\xa4\xef\xbf\xbd\xc3\xa4" },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		size_t size = 99;
		AUTO_FREE char *got = bj_utf8_repair(rows[i].text, strlen(rows[i].text), &size);

		assert_string_equal(got, rows[i].want);
		assert_int_equal(size, strlen(rows[i].want));
		assert_true(bj_utf8_valid(got, size));
	}
}

static void nul_is_a_character(void **state)
{
	size_t size = 0;
	AUTO_FREE char *got = bj_utf8_repair("a\0b", 3, &size);

	(void)state;
	assert_int_equal(size, 3);
	assert_memory_equal(got, "a\0b", 4);
}

static void what_was_cut_is_mended_in_place(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "" },
		{ "a\xc3\xa4z", "a\xc3\xa4z" },
		{ "a\xc3", "a?" },
		{ "a\xe2\x82", "a??" },
		{ "\xff\xc3\xa4\xa4", "?\xc3\xa4?" },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		AUTO_FREE char *text = strdup(rows[i].text);

		bj_utf8_mend(text);
		assert_string_equal(text, rows[i].want);
	}
}

static void a_range_grows_to_whole_characters(void **state)
{
	static const char text[] = "a\xe2\x82\xac\xf0\x9f\x98\x80z";
	static const struct {
		size_t start, end, want_start, want_end;
	} rows[] = {
		{ 0, 1, 0, 1 }, { 2, 3, 1, 4 }, { 1, 2, 1, 4 }, { 3, 5, 1, 8 },
		{ 0, 7, 0, 8 }, { 8, 9, 8, 9 }, { 9, 9, 9, 9 },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		size_t start = rows[i].start, end = rows[i].end;

		bj_utf8_widen(text, sizeof(text) - 1, &start, &end);
		assert_int_equal(start, rows[i].want_start);
		assert_int_equal(end, rows[i].want_end);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_standard),
		cmocka_unit_test(a_cut_character_is_none),
		cmocka_unit_test(bad_bytes_are_replaced_one_by_one),
		cmocka_unit_test(nul_is_a_character),
		cmocka_unit_test(what_was_cut_is_mended_in_place),
		cmocka_unit_test(a_range_grows_to_whole_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
