/* SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"
#include "fuzz.h"

#include "check/secrets.h"

#include <stdlib.h>

/* The secrets layer on foreign bytes: spans lie in the text, in order, none overlaps, and
 * finding them takes no longer than bound.h says. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bj_secrets *secrets;
	struct bj_spans spans = { 0 };
	size_t bad, end = 0;

	if (!secrets && bj_secrets_new(NULL, 0, &secrets, &bad, NULL) < 0)
		abort();
	if (!size)
		return 0;

	const char *text = (const char *)data + 1;
	const enum bj_rule_language language = data[0] & 2   ? BJ_RULE_ANY
					       : data[0] & 1 ? BJ_RULE_BASH
							     : BJ_RULE_PYTHON;
	const uint64_t start = bj_clock_cpu();

	if (bj_secrets_find(secrets, language, text, size - 1, &spans, NULL) < 0)
		abort();
	bj_bound_check(start, size);
	for (size_t i = 0; i < spans.n; i++) {
		if (spans.items[i].start < end || spans.items[i].end <= spans.items[i].start ||
		    spans.items[i].end > size - 1)
			abort();
		end = spans.items[i].end;
	}
	bj_spans_done(&spans);
	return 0;
}
