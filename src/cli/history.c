/* SPDX-License-Identifier: Apache-2.0 */
#include "record/history.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/size.h"
#include "base/visible.h"
#include "cli/options.h"
#include "cli/records.h"
#include "spec/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PAGE = 20, MAX_PAGE = 10000 };

static const struct bj_option OPTIONS[] = {
	{ .name = "state", .arg = "STATE", .help = "pending, queued, running, finished, ..." },
	{ .name = "cause", .arg = "CAUSE", .help = "exited, timeout, oom, rejected, denied, ..." },
	{ .name = "language", .letter = 'l', .arg = "LANG", .help = "python or bash" },
	{ .name = "tool", .arg = "NAME", .help = "what came through this tool" },
	{ .name = "tenant", .arg = "NAME", .help = "what this tenant ran; local: nobody's" },
	{ .name = "name", .arg = "NAME", .help = "scripts of this name" },
	{ .name = "since", .arg = "WHEN", .help = "2026-01-31, 2026-01-31T12:00:00Z, or 2h ago" },
	{ .name = "until", .arg = "WHEN", .help = "the same" },
	{ .name = "limit", .letter = 'n', .arg = "N", .help = "how many; 20 by default" },
	{ .name = "before", .arg = "ID", .help = "go on after the page that ended with ID" },
	{ .name = "json", .help = "print one object a line" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

struct line {
	struct bj_history_filter filter;
	const char *config;
	bool json;
};

/* --- the command line ------------------------------------------------------------------------- */

#define STATES "pending, queued, running, finished or interrupted"
#define CAUSES                                                                                     \
	"exited, signal, timeout, oom, pids, output, seccomp, cancelled, denied, expired, quota, " \
	"rejected or infrastructure"

static int take_name(const char *value, int found, const char *allowed, int *ret,
		     struct bj_err *err)
{
	if (found < 0)
		return bj_err_set(err, BJ_E_INVALID, 0, "there is no %.40s; say %s", value,
				  allowed);
	*ret = found;
	return 0;
}

static int take_limit(const char *value, unsigned int *ret, struct bj_err *err)
{
	uint64_t n;

	if (bj_u64_parse(value, &n) < 0 || n < 1 || n > MAX_PAGE)
		return bj_err_set(err, BJ_E_INVALID, 0, "say a number from 1 to %d, not %.40s",
				  MAX_PAGE, value);
	*ret = (unsigned int)n;
	return 0;
}

/* The options that stand for a number. */
static int take_value(struct bj_history_filter *f, const char *name, const char *value,
		      struct bj_err *err)
{
	if (strcmp(name, "state") == 0)
		return take_name(value, bj_state_from_name(value), STATES, &f->state, err);
	if (strcmp(name, "cause") == 0)
		return take_name(value, bj_cause_from_name(value), CAUSES, &f->cause, err);
	if (strcmp(name, "language") == 0)
		return take_name(value, bj_language_from_name(value), "python or bash",
				 &f->language, err);
	if (strcmp(name, "since") == 0)
		return bj_records_time(value, &f->since_ms, err);
	if (strcmp(name, "until") == 0)
		return bj_records_time(value, &f->until_ms, err);
	return strcmp(name, "limit") == 0 ? take_limit(value, &f->limit, err) : 0;
}

static int take_option(struct line *line, const struct bj_parse *p, struct bj_err *err)
{
	struct bj_history_filter *f = &line->filter;
	const char *name = p->option->name;
	const struct {
		const char *name;
		const char **to;
	} texts[] = { { "tool", &f->tool },
		      { "tenant", &f->tenant },
		      { "name", &f->name },
		      { "before", &f->before },
		      { "config", &line->config } };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(texts); i++)
		if (strcmp(name, texts[i].name) == 0)
			*texts[i].to = p->value;
	if (strcmp(name, "json") == 0)
		line->json = true;

	const int r = take_value(f, name, p->value, err);

	return r < 0 ? bj_err_wrap(err, "--%s", name) : r;
}

static int parse(int argc, char **argv, struct line *line, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	line->filter = BJ_HISTORY_ALL;
	line->filter.limit = PAGE;
	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (!p.option)
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "history takes no argument %.60s; `belljar show` shows "
					  "one run",
					  p.value);
		if (take_option(line, &p, err) < 0)
			return -err->code;
	}
	return r;
}

/* --- printing --------------------------------------------------------------------------------- */

static void print_time(const json_t *run, char to[24])
{
	const time_t t = (time_t)(json_integer_value(json_object_get(run, "created_ms")) / 1000);
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(to, 24, "%Y-%m-%d %H:%M:%S", &tm);
}

static void print_row(const json_t *run, struct bj_buf *to)
{
	char when[24];
	const char *name = json_string_value(json_object_get(run, "name"));

	/* Whoever names a script does not write lines of this table. */
	AUTO_FREE char *what = bj_visible_line(name ? name : bj_records_text(run, "tool"));

	print_time(run, when);
	bj_buf_printf(to, "%.12s  %s  %-8.8s %-11.11s %-14.14s %-8.8s %9.3f  %-9.9s %.40s\n",
		      bj_records_text(run, "id"), when, bj_records_text(run, "language"),
		      bj_records_text(run, "state"), bj_records_text(run, "cause"),
		      bj_records_text(run, "effective_risk"),
		      json_number_value(json_object_get(run, "duration_ms")) / 1e3,
		      bj_records_text(run, "approval"), what ? what : "?");
}

static int print_table(const json_t *page, struct bj_err *err)
{
	const json_t *list = json_object_get(page, "executions");
	const char *next = json_string_value(json_object_get(page, "next"));
	AUTO_BUF struct bj_buf text = { 0 };

	printf("%-12s  %-19s  %-8s %-11s %-14s %-8s %9s  %-9s %s\n", "id", "when", "language",
	       "state", "cause", "risk", "seconds", "approval", "what");
	for (size_t i = 0; i < json_array_size(list); i++)
		print_row(json_array_get(list, i), &text);
	if (next)
		bj_buf_printf(&text, "more: --before %s\n", next);
	return bj_records_print(text.data ? text.data : "", text.size, err);
}

static void print_lines(const json_t *page)
{
	const json_t *list = json_object_get(page, "executions");

	for (size_t i = 0; i < json_array_size(list); i++) {
		json_dumpf(json_array_get(list, i), stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
		putchar('\n');
	}
}

static int list(const struct line *line, struct bj_err *err)
{
	AUTO_RECORDS struct bj_records records = { 0 };
	struct bj_history_filter filter = line->filter;
	char before[33];
	int r = bj_records_open(line->config, &records, err);

	if (r == 0 && filter.before) {
		r = bj_history_find(records.record.archive, filter.before, before, err);
		filter.before = before;
	}
	if (r < 0)
		return r;

	json_t *page = bj_history_list(records.record.archive, &filter, err);

	if (!page)
		return -err->code;
	if (line->json)
		print_lines(page);
	else
		r = print_table(page, err);
	json_decref(page);
	if (r == 0 && fflush(stdout) != 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot write to standard output");
	return r;
}

static int verb_history(int argc, char **argv)
{
	struct line line = { 0 };
	struct bj_err err = { 0 };
	int r = parse(argc, argv, &line, &err);

	if (r == 0)
		r = list(&line, &err);
	if (r < 0)
		fprintf(stderr, "belljar: %s\n", err.msg);
	return r < 0 ? BJ_EXIT_FAILED : 0;
}

const struct bj_verb bj_verb_history = {
	.name = "history",
	.args = "[OPTIONS]",
	.summary = "list what was run",
	.example = "  belljar history\n"
		   "  belljar history --cause timeout --since 2h\n"
		   "  belljar history --state pending --json",
	.options = OPTIONS,
	.run = verb_history,
};
