/* SPDX-License-Identifier: Apache-2.0 */

/* A unified diff of two scripts. The longest common subsequence of their lines, by a table: scripts
 * are short, and what is longer than the table holds is compared as one block. */

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/records.h"

#include <stdint.h>
#include <string.h>

enum { MAX_LINES = 4000, CONTEXT = 3 };

struct lines {
	const char **at;
	size_t *size;
	size_t n;
};

static void lines_done(struct lines *l)
{
	free(l->at);
	free(l->size);
}

static bool split(const char *text, struct lines *ret)
{
	const size_t max = strlen(text) + 1;

	ret->at = calloc(max, sizeof(*ret->at));
	ret->size = calloc(max, sizeof(*ret->size));
	if (!ret->at || !ret->size)
		return false;
	while (*text) {
		const size_t n = strcspn(text, "\n");

		ret->at[ret->n] = text;
		ret->size[ret->n++] = n;
		text += n + (text[n] == '\n');
	}
	return true;
}

static bool same(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
	return a->size[i] == b->size[j] && memcmp(a->at[i], b->at[j], a->size[i]) == 0;
}

/* table[i][j]: how long the longest common subsequence of a[i..] and b[j..] is. */
static uint16_t *make_table(const struct lines *a, const struct lines *b)
{
	const size_t width = b->n + 1;
	uint16_t *t = calloc((a->n + 1) * width, sizeof(*t));

	for (size_t i = a->n; t && i-- > 0;)
		for (size_t j = b->n; j-- > 0;) {
			const uint16_t down = t[(i + 1) * width + j], right = t[i * width + j + 1];

			t[i * width + j] = same(a, i, b, j) ? t[(i + 1) * width + j + 1] + 1
					   : down > right   ? down
							    : right;
		}
	return t;
}

/* One line of the whole: ' ', '-' or '+', and its text. */
struct step {
	char sign;
	const char *text;
	size_t size;
};

static size_t walk(const struct lines *a, const struct lines *b, const uint16_t *t,
		   struct step *steps)
{
	const size_t width = b->n + 1;
	size_t i = 0, j = 0, n = 0;

	while (i < a->n || j < b->n) {
		if (t && i < a->n && j < b->n && same(a, i, b, j)) {
			steps[n++] = (struct step){ ' ', a->at[i], a->size[i] };
			i++, j++;
		} else if (i < a->n &&
			   (j == b->n || !t || t[(i + 1) * width + j] >= t[i * width + j + 1])) {
			steps[n++] = (struct step){ '-', a->at[i], a->size[i] };
			i++;
		} else {
			steps[n++] = (struct step){ '+', b->at[j], b->size[j] };
			j++;
		}
	}
	return n;
}

static bool is_near(const struct step *steps, size_t n, size_t i)
{
	const size_t from = i > CONTEXT ? i - CONTEXT : 0;
	const size_t to = i + CONTEXT < n ? i + CONTEXT + 1 : n;

	for (size_t k = from; k < to; k++)
		if (steps[k].sign != ' ')
			return true;
	return false;
}

static void print(const struct step *steps, size_t n, struct bj_buf *ret)
{
	size_t line[2] = { 1, 1 };
	bool shown = false;

	for (size_t i = 0; i < n; i++) {
		const bool near = is_near(steps, n, i);

		if (near && !shown)
			bj_buf_printf(ret, "@@ -%zu +%zu @@\n", line[0], line[1]);
		if (near)
			bj_buf_printf(ret, "%c%.*s\n", steps[i].sign, (int)steps[i].size,
				      steps[i].text);
		shown = near;
		line[0] += steps[i].sign != '+';
		line[1] += steps[i].sign != '-';
	}
}

bool bj_diff(const char *old_name, const char *old, const char *new_name, const char *new_text,
	     struct bj_buf *ret)
{
	__attribute__((cleanup(lines_done))) struct lines a = { 0 };
	__attribute__((cleanup(lines_done))) struct lines b = { 0 };

	if (strcmp(old, new_text) == 0 || !split(old, &a) || !split(new_text, &b))
		return false;

	const bool fits = a.n <= MAX_LINES && b.n <= MAX_LINES;
	AUTO_FREE uint16_t *table = fits ? make_table(&a, &b) : NULL;
	AUTO_FREE struct step *steps = calloc(a.n + b.n + 1, sizeof(*steps));

	if (!steps)
		return false;
	bj_buf_printf(ret, "--- %s\n+++ %s\n", old_name, new_name);
	print(steps, walk(&a, &b, table, steps), ret);
	return true;
}
