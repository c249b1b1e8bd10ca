/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/check.h"

/* Findings for people. What came from a script or a file name is shown as base/visible.h shows what
 * is judged: it cannot play with the terminal, and hides nothing. */

struct bj_findings_summary {
	size_t files, findings, blocking;
	size_t failed; /* files that could not be checked, not among @files */
};

/* Print the findings of @name and its risk on stdout, and count them in @sum. */
void bj_findings_print(const char *name, const struct bj_report *report,
		       struct bj_findings_summary *sum);
void bj_findings_print_summary(const struct bj_findings_summary *sum);

/* The report on one file as one line of JSON. The caller frees it. NULL: no memory. */
char *bj_findings_report_json(const char *name, enum bj_language language, enum bj_policy policy,
			      bool trusted, const struct bj_report *report);

/* The same for a file that could not be checked, and why: there is nothing else to say of it. */
char *bj_findings_failure_json(const char *name, const char *message);
