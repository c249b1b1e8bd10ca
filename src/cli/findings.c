/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/findings.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "spec/finding_json.h"
#include "spec/names.h"

#include <unistd.h>

/* Colour is for people at a terminal who did not say no. */
static const char *colour(enum bj_severity severity)
{
	static const char *const COLOURS[] = {
		[BJ_SEV_INFO] = "\033[36m",       [BJ_SEV_LOW] = "\033[36m",
		[BJ_SEV_MEDIUM] = "\033[33m",     [BJ_SEV_HIGH] = "\033[31m",
		[BJ_SEV_CRITICAL] = "\033[1;31m",
	};
	const char *no = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && !(no && *no) ? COLOURS[severity] : "";
}

static void print_line(const char *text)
{
	AUTO_FREE char *line = bj_visible_line(text);

	fputs(line ? line : "?", stdout);
}

/* Append what @size bytes of a line of a script show as. Tabs stay tabs. */
static void add_shown(struct bj_buf *to, const char *text, size_t size)
{
	struct bj_visible visible = { .judged = true };

	bj_visible_add(&visible, to, text, size);
	bj_visible_end(&visible, to);
}

static void print_source(const char *source)
{
	AUTO_BUF struct bj_buf shown = { 0 };

	add_shown(&shown, source, strlen(source));
	printf("    %s\n", shown.data ? shown.data : "");
}

/* Where the characters before @column end. */
static const char *column_of(const char *text, uint32_t column)
{
	for (uint32_t at = 1; *text && at < column; at++)
		do
			text++;
		while ((*text & 0xc0) == 0x80);
	return text;
}

/* One @mark for each character that is shown of [@from, @to) but the first @skip ones; tabs stay
 * tabs where the mark is a blank. */
static void print_marks(const char *from, const char *to, size_t skip, char mark)
{
	AUTO_BUF struct bj_buf shown = { 0 };

	add_shown(&shown, from, (size_t)(to - from));
	for (size_t i = 0; i < shown.size; i++) {
		if ((shown.data[i] & 0xc0) == 0x80)
			continue;
		if (skip)
			skip--;
		else
			putchar(mark == ' ' && shown.data[i] == '\t' ? '\t' : mark);
	}
}

/* The line under the source, as wide as what is shown of it. */
static void print_caret(const struct bj_finding *f)
{
	const char *start = column_of(f->source, f->column);

	printf("    ");
	print_marks(f->source, start, 0, ' ');
	putchar('^');
	if (f->end_column > f->column)
		print_marks(start, column_of(f->source, f->end_column), 1, '~');
	putchar('\n');
}

static void print_finding(const char *name, const struct bj_finding *f)
{
	const char *start = colour(f->severity);

	print_line(name);
	if (f->line)
		printf(f->column ? ":%u:%u" : ":%u", f->line, f->column);
	printf(": %s%s%s: ", start, bj_severity_name(f->severity), *start ? "\033[0m" : "");
	print_line(f->message);
	printf(" [%s]%s\n", f->rule, f->blocks ? " (blocks)" : "");
	if (!f->source)
		return;
	print_source(f->source);
	if (f->column)
		print_caret(f);
}

void bj_findings_print(const char *name, const struct bj_report *report,
		       struct bj_findings_summary *sum)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		print_finding(name, &report->findings[i]);
		sum->blocking += report->findings[i].blocks;
	}
	sum->files++;
	sum->findings += report->n_findings;
	print_line(name);
	printf(": risk %s", bj_risk_name(report->risk));
	for (size_t i = 0; i < report->n_risk_reasons; i++) {
		fputs(i ? "; " : ": ", stdout);
		print_line(report->risk_reasons[i]);
	}
	printf("%s\n", report->blocked ? "; blocked" : "");
}

void bj_findings_print_summary(const struct bj_findings_summary *sum)
{
	printf("%zu finding%s in %zu file%s, %zu blocking", sum->findings,
	       sum->findings == 1 ? "" : "s", sum->files, sum->files == 1 ? "" : "s",
	       sum->blocking);
	if (sum->failed)
		printf("; %zu file%s not checked", sum->failed, sum->failed == 1 ? "" : "s");
	putchar('\n');
}

static json_t *strings(char *const *items, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < n; i++)
		json_array_append_new(list, json_string(items[i]));
	return list;
}

char *bj_findings_report_json(const char *name, enum bj_language language, enum bj_policy policy,
			      bool trusted, const struct bj_report *report)
{
	size_t n;
	AUTO_FREE char *clean = bj_utf8_repair(name, strlen(name), &n);

	if (!clean)
		return NULL;

	json_t *object =
		json_pack("{s:s, s:s, s:s, s:b, s:b, s:s?, s:s, s:o, s:o, s:o}", "file", clean,
			  "language", bj_language_name(language), "policy", bj_policy_name(policy),
			  "trusted", trusted, "blocked", report->blocked, "error", report->error,
			  "risk", bj_risk_name(report->risk), "risk_reasons",
			  strings(report->risk_reasons, report->n_risk_reasons), "blocked_imports",
			  strings(report->blocked_imports, report->n_blocked_imports), "findings",
			  bj_findings_to_json(report->findings, report->n_findings));

	if (!object)
		return NULL;

	char *text = json_dumps(object, JSON_COMPACT);

	json_decref(object);
	return text;
}

char *bj_findings_failure_json(const char *name, const char *message)
{
	size_t n;
	AUTO_FREE char *clean = bj_utf8_repair(name, strlen(name), &n);
	AUTO_FREE char *why = bj_utf8_repair(message, strlen(message), &n);
	json_t *object = clean && why ? json_pack("{s:s, s:s}", "file", clean, "error", why) : NULL;

	if (!object)
		return NULL;

	char *text = json_dumps(object, JSON_COMPACT);

	json_decref(object);
	return text;
}
