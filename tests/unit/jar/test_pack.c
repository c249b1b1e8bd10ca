/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "jar/pack.h"

#include <string.h>

static void what_goes_in_comes_out(void **state)
{
	AUTO_BUF struct bj_buf buf = { 0 };
	struct bj_pack_record rec;
	size_t pos = 0;

	(void)state;
	bj_pack_add(&buf, BJ_PACK_INPUT, "a.py", "print(1)", 8);
	bj_pack_add(&buf, BJ_PACK_ARG, "", "", 0);
	bj_pack_add(&buf, BJ_PACK_END, "", "", 0);
	assert_false(buf.failed);
	assert_int_equal(bj_pack_next(buf.data, buf.size, &pos, &rec), 1);
	assert_int_equal(rec.type, BJ_PACK_INPUT);
	assert_string_equal(rec.name, "a.py");
	assert_int_equal(rec.size, 8);
	assert_memory_equal(rec.data, "print(1)", 8);
	assert_int_equal(bj_pack_next(buf.data, buf.size, &pos, &rec), 1);
	assert_int_equal(rec.type, BJ_PACK_ARG);
	assert_int_equal(rec.size, 0);
	assert_int_equal(bj_pack_next(buf.data, buf.size, &pos, &rec), 0);
}

/* Read until the end; the last return value. */
static int read_whole(const void *pack, size_t size)
{
	struct bj_pack_record rec;
	size_t pos = 0;
	int r;

	while ((r = bj_pack_next(pack, size, &pos, &rec)) > 0)
		;
	return r;
}

/* SCRP-06: a pack that is cut anywhere is refused, and nothing past its end is read (the copy is
 * exactly as long as it says, so that the sanitizers would see it). */
static void cut_anywhere_it_is_refused(void **state)
{
	AUTO_BUF struct bj_buf buf = { 0 };

	(void)state;
	bj_pack_add(&buf, BJ_PACK_INPUT, "a.py", "print(1)", 8);
	bj_pack_add(&buf, BJ_PACK_INPUT, "data", "12345", 5);
	bj_pack_add(&buf, BJ_PACK_END, "", "", 0);
	for (size_t size = 0; size < buf.size; size++) {
		AUTO_FREE char *part = malloc(size ? size : 1);

		memcpy(part, buf.data, size);
		assert_int_equal(read_whole(part, size), -BJ_E_PROTOCOL);
	}
	assert_int_equal(read_whole(buf.data, buf.size), 0);
}

static void hostile_heads_are_refused(void **state)
{
	static const struct bj_pack_head heads[] = {
		{ .type = 0 },
		{ .type = BJ_PACK_END + 1 },
		{ .type = UINT32_MAX },
		{ .type = BJ_PACK_FILE, .name_size = BJ_PACK_NAME_MAX + 1 },
		{ .type = BJ_PACK_FILE, .name_size = UINT32_MAX },
		{ .type = BJ_PACK_FILE, .data_size = UINT64_MAX },
		{ .type = BJ_PACK_FILE, .data_size = UINT64_MAX - sizeof(struct bj_pack_head) },
		{ .type = BJ_PACK_FILE, .name_size = 8, .data_size = UINT64_MAX - 7 },
		{ .type = BJ_PACK_FILE, .name_size = 9 },
		{ .type = BJ_PACK_END, .data_size = 9 },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(heads); i++) {
		char bytes[sizeof(heads[i]) + 8] = { 0 };

		memcpy(bytes, &heads[i], sizeof(heads[i]));
		assert_int_equal(read_whole(bytes, sizeof(bytes)), -BJ_E_PROTOCOL);
	}
}

static void a_position_past_the_end_is_refused(void **state)
{
	struct bj_pack_record rec;
	size_t pos = SIZE_MAX;

	(void)state;
	assert_int_equal(bj_pack_next("", 0, &pos, &rec), -BJ_E_PROTOCOL);
}

static void a_long_name_fails_the_buffer(void **state)
{
	AUTO_BUF struct bj_buf buf = { 0 };
	char name[BJ_PACK_NAME_MAX + 2];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[BJ_PACK_NAME_MAX] = '\0';
	bj_pack_add(&buf, BJ_PACK_INPUT, name, "", 0);
	assert_false(buf.failed);
	name[BJ_PACK_NAME_MAX] = 'n';
	name[BJ_PACK_NAME_MAX + 1] = '\0';
	bj_pack_add(&buf, BJ_PACK_INPUT, name, "", 0);
	assert_true(buf.failed);
}

/* ABUSE 4: what a script calls its files cannot lead out of a directory or drive a terminal. */
static void names_are_one_plain_component(void **state)
{
	static const char *const good[] = { "a",   "a.py", "...",      ".hidden", "\xc3\xa4",
					    "a b", "-n",   "\xc2\xa0", "\xc3\x9b" };
	static const char *const bad[] = { "",          ".",        "..",           "/",
					   "a/b",       "../a",     "a\n",          "\x1b",
					   "a\x7f",     "\xff",     "\xc3",         "a\x01",
					   "/a",        "\xc0\xaf", "\xed\xa0\x80", "\xc2\x9b",
					   "a\xc2\x80", "\xc2\x9f" };
	char longest[BJ_PACK_NAME_MAX + 1];

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(good); i++)
		assert_true(bj_pack_name_ok(good[i], strlen(good[i])));
	for (size_t i = 0; i < BJ_ARRAY_SIZE(bad); i++)
		assert_false(bj_pack_name_ok(bad[i], strlen(bad[i])));
	assert_false(bj_pack_name_ok("a\0b", 3));
	memset(longest, 'x', sizeof(longest));
	assert_true(bj_pack_name_ok(longest, BJ_PACK_NAME_MAX));
	assert_false(bj_pack_name_ok(longest, BJ_PACK_NAME_MAX + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_in_comes_out),
		cmocka_unit_test(cut_anywhere_it_is_refused),
		cmocka_unit_test(hostile_heads_are_refused),
		cmocka_unit_test(a_position_past_the_end_is_refused),
		cmocka_unit_test(a_long_name_fails_the_buffer),
		cmocka_unit_test(names_are_one_plain_component),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
