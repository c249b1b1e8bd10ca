/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "base/size.h"
#include "belljar.h"

/* CFG: sizes as Docker and people write them. */
static void sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{ "0", 0 },
		{ "4096", 4096 },
		{ "512b", 512 },
		{ "20k", 20480 },
		{ "512m", 512ull << 20 },
		{ "512M", 512ull << 20 },
		{ "512MiB", 512ull << 20 },
		{ "512mb", 512ull << 20 },
		{ "1G", 1ull << 30 },
		{ "0.5GiB", 512ull << 20 },
		{ "1.5k", 1536 },
		{ "1.23456789012345k", 1264 },
		{ "16777215TiB", 16777215ull << 40 },
		{ "18446744073709551615", UINT64_MAX },
	};
	static const char *const bad[] = { "",    "-1",  "+1",    " 1",   "1 ",    "1 M",
					   "M",   "1X",  "1MiBx", "1e3",  "0x10",  "1.M",
					   ".5G", "nan", "inf",   "1,5G", "1.2.3", "\xc2\xb9" };
	uint64_t v = 7;

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(good); i++) {
		assert_int_equal(bj_size_parse(good[i].text, &v), 0);
		assert_true(v == good[i].bytes);
	}
	v = 7;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(bad); i++)
		assert_int_equal(bj_size_parse(bad[i], &v), -BJ_E_INVALID);
	assert_int_equal(bj_size_parse("16777216TiB", &v), -BJ_E_LIMIT);
	assert_int_equal(bj_size_parse("18446744073709551616", &v), -BJ_E_LIMIT);
	assert_int_equal(bj_size_parse("99999999999999999999999", &v), -BJ_E_LIMIT);
	assert_int_equal(v, 7);
}

/* SCRP-07: zero, negative or no number is no timeout. */
static void durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} good[] = {
		{ "60", 60000 },  { "60s", 60000 }, { "1.5s", 1500 },  { "1.5", 1500 },
		{ "2m", 120000 }, { "500ms", 500 }, { "1h", 3600000 }, { "0.001", 1 },
	};
	static const char *const bad[] = { "",    "0",   "0s",  "0.0", "0.0001", "-5", "-0",
					   "nan", "NaN", "inf", "s",   "abc",    "1d", "1 s" };
	uint64_t v = 7;

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(good); i++) {
		assert_int_equal(bj_duration_parse_ms(good[i].text, &v), 0);
		assert_int_equal(v, good[i].ms);
	}
	v = 7;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(bad); i++)
		assert_int_equal(bj_duration_parse_ms(bad[i], &v), -BJ_E_INVALID);
	assert_int_equal(bj_duration_parse_ms("18446744073709551615", &v), -BJ_E_LIMIT);
	assert_int_equal(v, 7);
}

/* SCRP-04 */
static void cpus(void **state)
{
	uint32_t v = 7;

	(void)state;
	assert_int_equal(bj_cpus_parse_milli("0", &v), -BJ_E_INVALID);
	assert_int_equal(bj_cpus_parse_milli("0.0001", &v), -BJ_E_INVALID);
	assert_int_equal(bj_cpus_parse_milli("1s", &v), -BJ_E_INVALID);
	assert_int_equal(bj_cpus_parse_milli("4294968", &v), -BJ_E_LIMIT);
	assert_int_equal(v, 7);
	assert_int_equal(bj_cpus_parse_milli("0.5", &v), 0);
	assert_int_equal(v, 500);
	assert_int_equal(bj_cpus_parse_milli("2", &v), 0);
	assert_int_equal(v, 2000);
}

static void whole_numbers(void **state)
{
	uint64_t v = 7;

	(void)state;
	assert_int_equal(bj_u64_parse("1.5", &v), -BJ_E_INVALID);
	assert_int_equal(bj_u64_parse("", &v), -BJ_E_INVALID);
	assert_int_equal(bj_u64_parse("18446744073709551616", &v), -BJ_E_LIMIT);
	assert_int_equal(v, 7);
	assert_int_equal(bj_u64_parse("18446744073709551615", &v), 0);
	assert_true(v == UINT64_MAX);
}

static void formats_stay_exact(void **state)
{
	char text[BJ_SIZE_TEXT];
	uint64_t back;

	(void)state;
	bj_size_format(0, text);
	assert_string_equal(text, "0");
	bj_size_format(20480, text);
	assert_string_equal(text, "20KiB");
	bj_size_format(1ull << 40, text);
	assert_string_equal(text, "1TiB");
	bj_size_format(UINT64_MAX, text);
	assert_int_equal(bj_size_parse(text, &back), 0);
	assert_true(back == UINT64_MAX);
	bj_duration_format(60000, text);
	assert_string_equal(text, "60s");
	bj_duration_format(1500, text);
	assert_string_equal(text, "1500ms");
	bj_cpus_format(500, text);
	assert_string_equal(text, "0.5");
	bj_cpus_format(10000, text);
	assert_string_equal(text, "10");
	bj_cpus_format(1250, text);
	assert_string_equal(text, "1.25");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(durations),
		cmocka_unit_test(cpus),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(formats_stay_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
