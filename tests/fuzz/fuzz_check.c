/* SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"
#include "fuzz.h"

#include "check/check.h"

#include <stdlib.h>
#include <string.h>

/* Any bytes as a script: the first one picks language, policy and trust. Whatever comes, the
 * check gives a verdict that holds together, shows no secret and takes no longer than bound.h says.
 */

static void require(int condition)
{
	if (!condition)
		abort();
}

static void check_findings(const struct bj_report *report)
{
	bool blocks = false;

	for (size_t i = 0; i < report->n_findings; i++) {
		const struct bj_finding *f = &report->findings[i];

		require(f->layer && f->rule && f->message);
		require(i == 0 || f->line >= report->findings[i - 1].line);
		require(f->end_column >= f->column);
		blocks |= f->blocks;
	}
	require(report->blocked == blocks);
	require(!report->blocked == !report->error);
}

/* Where a secret begins, the line that is shown has a star. Lines that are not plain ASCII have
 * other bytes than columns, and a NUL ends what is shown. */
static void check_masks(const struct bj_report *report)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct bj_finding *f = &report->findings[i];
		size_t n = 0;

		if (strcmp(f->layer, "secrets") != 0 || !f->source)
			continue;
		while (f->source[n] > 0 && n + 1 < f->column)
			n++;
		require(f->source[n] <= 0 || f->source[n] == '*');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bj_checker *checker;
	struct bj_report report = { 0 };

	if (!checker && bj_checker_new(NULL, &checker, NULL) < 0)
		abort();
	if (size < 1)
		return 0;

	const struct bj_check_request request = {
		.language = data[0] & 1 ? BJ_LANG_BASH : BJ_LANG_PYTHON,
		.policy = (enum bj_policy)((data[0] >> 1) % 3),
		.trust = (data[0] >> 4) & 1,
		.imports = (enum bj_layer_mode)((data[0] >> 5) % 3),
		.text = (const char *)data + 1,
		.size = size - 1,
		.max_chars = 1 << 20,
	};
	const uint64_t start = bj_clock_cpu();

	if (bj_check(checker, &request, &report, NULL) < 0)
		abort();
	check_findings(&report);
	check_masks(&report);
	if (bj_report_add_syntax(checker, &request, &report, 1, 1, "fuzz", NULL) < 0)
		abort();
	bj_bound_check(start, size);
	check_findings(&report);
	bj_report_done(&report);
	return 0;
}
