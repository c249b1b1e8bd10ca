/* SPDX-License-Identifier: Apache-2.0 */

/* ABUSE 25: what a script writes shows on a terminal and does not drive it. */

#include "unit.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "cli/visible.h"

#include <string.h>

static const struct {
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

/* In pieces of every size the same is shown. */
static void however_it_is_split(void **state)
{
	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(ROWS); i++) {
		const size_t size = strlen(ROWS[i].text);

		for (size_t piece = 1; piece <= size; piece++) {
			AUTO_BUF struct bj_buf got = { 0 };
			struct bj_visible v = { 0 };

			for (size_t at = 0; at < size; at += piece)
				bj_visible_add(&v, &got, ROWS[i].text + at,
					       size - at < piece ? size - at : piece);
			bj_visible_end(&v, &got);
			assert_string_equal(got.data, ROWS[i].shown);
		}
	}
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
		cmocka_unit_test(nothing_drives_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
