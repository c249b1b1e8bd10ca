/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <string.h>

enum { MAX_WORD = 32 };

static size_t min3(size_t a, size_t b, size_t c)
{
	const size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Edit distance of two short words; words longer than MAX_WORD are far from everything. */
static size_t distance(const char *a, const char *b)
{
	const size_t la = strlen(a), lb = strlen(b);
	size_t row[MAX_WORD + 1];

	if (la > MAX_WORD || lb > MAX_WORD)
		return MAX_WORD;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			const size_t above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[lb];
}

const char *bj_nearest(const char *word, const char *const *candidates, size_t n)
{
	const char *best = NULL;
	size_t best_distance = 1 + strlen(word) / 3;

	for (size_t i = 0; i < n; i++) {
		const size_t d = distance(word, candidates[i]);

		if (d <= best_distance && (!best || d < best_distance)) {
			best = candidates[i];
			best_distance = d;
		}
	}
	return best;
}
