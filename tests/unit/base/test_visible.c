/* SPDX-License-Identifier: Apache-2.0 */

/* ABUSE 25: what a script writes shows on a terminal and does not drive it. */

#include "unit.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "base/visible.h"

#include <string.h>

static const struct row {
	const char *text, *shown;
} ROWS[] = {
	{ "plain\ttext\r\n", "plain\ttext\r\n" },
	{ "\x1b[31m", "^[[31m" },
	{ "\x01\x7f", "^A^?" },
	{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9d", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9d" },
	{ "\xc2\x9b", "\xef\xbf\xbd" },
	{ "\xc2\xa0", "\xc2\xa0" },
	{ "\x9b", "\xef\xbf\xbd" },
	{ "\xc2\n", "\xef\xbf\xbd\n" },
	{ "\xc2\x1b", "\xef\xbf\xbd^[" },
	{ "\xe2\x82\x1b", "\xef\xbf\xbd\xef\xbf\xbd^[" },
	{ "\xf0\x9f\xc2\x9b", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xf0\x9f\x90", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd" },
};

/* What a person decides by. */
static const struct row JUDGED[] = {
	{ "plain\ttext\r\n\r\n", "plain\ttext\r\n\r\n" },
	{ "evil()\rprint(1)\n", "evil()^Mprint(1)\n" },
	{ "a\r\r\nb\r", "a^M\r\nb^M" },
	{ "\r\x1b[2K\r", "^M^[[2K^M" },
	{ "a\xe2\x80\xae)b\xe2\x81\xa6\xd8\x9c\xef\xbb\xbf",
	  "a<U+202E>)b<U+2066><U+061C><U+FEFF>" },
	{ "\xe2\x80\x8b\xe2\x80\x90\xe2\x82\xac\xd8\x9b",
	  "<U+200B>\xe2\x80\x90\xe2\x82\xac\xd8\x9b" },
	{ "\xe2\x80", "\xef\xbf\xbd\xef\xbf\xbd" },
};

static void shows_as(const struct row *row, bool judged)
{
	const size_t size = strlen(row->text);

	for (size_t piece = 1; piece <= size; piece++) {
		AUTO_BUF struct bj_buf got = { 0 };
		struct bj_visible v = { .judged = judged };

		for (size_t at = 0; at < size; at += piece)
			bj_visible_add(&v, &got, row->text + at,
				       size - at < piece ? size - at : piece);
		bj_visible_end(&v, &got);
		assert_string_equal(got.data, row->shown);
	}
}

/* In pieces of every size the same is shown. */
static void however_it_is_split(void **state)
{
	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(ROWS); i++)
		shows_as(&ROWS[i], false);
}

static void nothing_hides_from_who_decides(void **state)
{
	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(JUDGED); i++)
		shows_as(&JUDGED[i], true);
}

static void a_line_hides_nothing(void **state)
{
	AUTO_FREE char *line = bj_visible_line("a\nb\tc\r\nd\re\xe2\x80\xae\x1b\r");

	(void)state;
	assert_string_equal(line, "a b c  d^Me<U+202E>^[^M");
}

/* Every sequence of four bytes out of the ones that matter. */
static void nothing_drives_a_terminal(void **state)
{
	static const char some[] = { 'a',        '\n',       0x1b,       (char)0x7f, (char)0x80,
				     (char)0x9b, (char)0xa0, (char)0xc2, (char)0xe2, (char)0xf0 };
	enum { N = sizeof(some) };

	(void)state;
	for (int i = 0; i < N * N * N * N; i++) {
		const char text[] = { some[i % N], some[i / N % N], some[i / N / N % N],
				      some[i / N / N / N] };
		AUTO_BUF struct bj_buf got = { 0 };
		struct bj_visible v = { 0 };

		bj_visible_add(&v, &got, text, 2);
		bj_visible_add(&v, &got, text + 2, 2);
		bj_visible_end(&v, &got);
		assert_true(bj_utf8_valid(got.data, got.size));
		for (size_t k = 0; k < got.size; k++) {
			const unsigned char c = (unsigned char)got.data[k];

			assert_true((c >= 0x20 && c != 0x7f) || c == '\n');
			if (c == 0xc2)
				assert_true((unsigned char)got.data[k + 1] >= 0xa0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(however_it_is_split),
		cmocka_unit_test(nothing_hides_from_who_decides),
		cmocka_unit_test(a_line_hides_nothing),
		cmocka_unit_test(nothing_drives_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
