/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/check.h"

/* SARIF 2.1.0, the format that code hosts and editors read findings in. */

/* One script and what was found in it. Borrowed. */
struct bj_sarif_file {
	const char *name; /* a path, "-" for standard input */
	const struct bj_report *report;
	const char *failure; /* why it could not be checked; NULL: it was */
};

/* One SARIF log for all @files. The caller frees it. NULL: no memory. */
char *bj_sarif_log(const struct bj_checker *checker, const struct bj_sarif_file *files, size_t n);
