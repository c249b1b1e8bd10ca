/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "check/secrets.h"

#include <stdlib.h>
#include <string.h>

/* Any bytes as a script: the first one picks language, policy and trust. Whatever comes, the
 * check gives a verdict that holds together and shows no secret. */

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

/* What a secret rule found stands in no source line. */
static void check_masks(const struct bj_checker *checker, const struct bj_check_request *request,
			const struct bj_report *report)
{
	struct bj_spans spans = { 0 };

	if (bj_secrets_find(bj_checker_secrets(checker), (enum bj_rule_language)request->language,
			    request->text, request->size, &spans, NULL) < 0)
		abort();
	for (size_t i = 0; i < spans.n; i++) {
		const struct bj_span *span = &spans.items[i];

		require(span->start < span->end && span->end <= request->size);
		require(i == 0 || span->start >= spans.items[i - 1].end);
		for (size_t k = 0; k < report->n_findings; k++) {
			const struct bj_finding *f = &report->findings[k];

			if (strcmp(f->layer, "secrets") == 0 && f->source && f->column)
				require(memchr(f->source, '*', strlen(f->source)) != NULL);
		}
	}
	bj_spans_done(&spans);
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

	if (bj_check(checker, &request, &report, NULL) < 0)
		abort();
	check_findings(&report);
	check_masks(checker, &request, &report);
	if (bj_report_add_syntax(checker, &request, &report, 1, 1, "fuzz", NULL) < 0)
		abort();
	check_findings(&report);
	bj_report_done(&report);
	return 0;
}
