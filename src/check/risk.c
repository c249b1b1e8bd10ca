/* SPDX-License-Identifier: Apache-2.0 */
#include "check/risk.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>

/* A row of rules/risk.yaml: every condition that is set must hold. */
struct risk_row {
	enum bj_risk level;
	const char *layer;
	enum bj_severity severity; /* at least, for some finding of the layer */
	unsigned access;           /* all of these, over all findings */
	const char *rule;          /* some finding whose rule ends with this */
	bool trusted;
	const char *reason;
};

#include "risk_rows.inc"

static bool ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static bool has_finding(const struct bj_findings *findings, const struct risk_row *row)
{
	for (size_t i = 0; i < findings->n; i++) {
		const struct bj_rule *rule = findings->items[i].rule;

		if (row->rule ? ends_with(rule->id, row->rule)
			      : strcmp(rule->layer, row->layer) == 0 &&
					rule->severity >= row->severity &&
					!ends_with(rule->id, "-unparsed"))
			return true;
	}
	return false;
}

static bool row_holds(const struct bj_check_request *request, const struct bj_findings *findings,
		      unsigned access, const struct risk_row *row)
{
	if ((access & row->access) != row->access)
		return false;
	if (row->trusted && !request->trust)
		return false;
	return (!row->layer && !row->rule) || has_finding(findings, row);
}

static int add_reason(struct bj_report *report, const char *reason, struct bj_err *err)
{
	char **reasons =
		reallocarray(report->risk_reasons, report->n_risk_reasons + 1, sizeof(*reasons));

	if (reasons)
		report->risk_reasons = reasons;

	char *copy = reasons ? strdup(reason) : NULL;

	if (!copy)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot rate the script");
	reasons[report->n_risk_reasons++] = copy;
	return 0;
}

int bj_risk_rate(const struct bj_check_request *request, const struct bj_findings *findings,
		 struct bj_report *report, struct bj_err *err)
{
	unsigned access = 0;
	int r = 0;

	for (size_t i = 0; i < findings->n; i++)
		access |= findings->items[i].rule->access;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(RISK_ROWS) && r == 0; i++) {
		const struct risk_row *row = &RISK_ROWS[i];

		if (!row_holds(request, findings, access, row))
			continue;
		if (row->level > report->risk)
			report->risk = row->level;
		r = add_reason(report, row->reason, err);
	}
	return r;
}
