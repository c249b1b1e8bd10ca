/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* The check reads a script before it runs: length, secrets, dangers, imports, risk. The
 * interpreter's own syntax check happens inside the jar and is added by the engine with
 * bj_report_add_syntax(). Triage, never the wall. */

enum bj_layer_mode { BJ_LAYER_BLOCK, BJ_LAYER_WARN, BJ_LAYER_OFF };

/* What to check and how. Plain value, all borrowed. */
struct bj_check_request {
	enum bj_language language;
	const char *text;
	size_t size;
	enum bj_policy policy;
	bool trust; /* skip imports and dangers, record that */
	enum bj_layer_mode imports;
	const char *const *blocked_imports; /* NULL-terminated; NULL: the built-in list */
	uint32_t max_chars;                 /* 0: the built-in 10,000 */
	uint32_t max_bytes;                 /* 0: four times max_chars */
	bool decoded; /* @text was in the encoding that it declares, and is UTF-8 now */
};

/* What came out. Zero is a valid empty report. */
struct bj_report {
	struct bj_finding *findings; /* by line, then column */
	size_t n_findings;
	bool blocked;
	bool unparsed; /* it blocks only for text that the syntax tree could not read: whether the
			* interpreter can read it is worth asking before nothing runs */
	char *error;   /* the first blocking finding as one sentence with layer, rule and line */
	enum bj_risk risk;
	char **risk_reasons;
	size_t n_risk_reasons;
	char **blocked_imports; /* modules of the import policy that the script uses */
	size_t n_blocked_imports;
};

/* Compiled rules; immutable once made, so any number of threads may use one. */
struct bj_checker;

/* @user_rules: a YAML file of rules to add, or NULL. The caller frees *@ret. */
int bj_checker_new(const char *user_rules, struct bj_checker **ret, struct bj_err *err);
void bj_checker_free(struct bj_checker *checker); /* NULL is fine */

/* For a program of its own that may check many scripts: what one check has used of memory is kept
 * for the next and not given back to the system each time, up to a few megabytes. */
void bj_check_keep_memory(void);

/* Run every layer but syntax. *@ret is filled on success and freed with bj_report_done().
 * Negative only when the checker itself failed: then nothing may run. */
int bj_check(const struct bj_checker *checker, const struct bj_check_request *request,
	     struct bj_report *ret, struct bj_err *err);
void bj_report_done(struct bj_report *report);

/* Add what the interpreter said: @message is its own text, with secrets masked by this call. It
 * replaces findings about text that the syntax tree could not read, for it says why. */
int bj_report_add_syntax(const struct bj_checker *checker, const struct bj_check_request *request,
			 struct bj_report *report, uint32_t line, uint32_t column,
			 const char *message, struct bj_err *err);

/* A copy of @text in which every secret is masked. The caller frees it. NULL: no memory. */
char *bj_checker_mask(const struct bj_checker *checker, const char *text, size_t size);
