/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/visible.h"
#include "cli/options.h"
#include "cli/records.h"
#include "record/history.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "json", .help = "print the record as an object" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

/* --- for people ------------------------------------------------------------------------------- */

static void add_line(struct bj_buf *to, const char *label, const char *value)
{
	if (strcmp(value, "-") != 0)
		bj_buf_printf(to, "%-10s %s\n", label, value);
}

static void add_head(struct bj_buf *to, const json_t *run)
{
	static const char *const names[] = { "id",   "name",   "state", "cause",   "language",
					     "tool", "tenant", "actor", "backend", "policy" };
	const time_t t = (time_t)(json_integer_value(json_object_get(run, "created_ms")) / 1000);
	struct tm tm;
	char when[40];

	localtime_r(&t, &tm);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S %z", &tm);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(names); i++) {
		AUTO_FREE char *value = bj_visible_line(bj_records_text(run, names[i]));

		add_line(to, names[i], value ? value : "?");
	}
	bj_buf_printf(to, "%-10s %s\n", "created", when);
	bj_buf_printf(to, "%-10s %s, of the script by itself %s\n", "risk",
		      bj_records_text(run, "effective_risk"), bj_records_text(run, "risk"));
	if (json_is_integer(json_object_get(run, "exit_code")))
		bj_buf_printf(to, "%-10s %lld\n", "exit code",
			      (long long)json_integer_value(json_object_get(run, "exit_code")));
	if (json_is_number(json_object_get(run, "duration_ms")))
		bj_buf_printf(to, "%-10s %.3f s, %.3f s of CPU, %.1f MiB\n", "usage",
			      json_number_value(json_object_get(run, "duration_ms")) / 1e3,
			      json_number_value(json_object_get(run, "cpu_ms")) / 1e3,
			      json_number_value(json_object_get(run, "peak_memory_bytes")) /
				      (1 << 20));
	add_line(to, "sha256", bj_records_text(run, "script_sha256"));
}

static void add_decision(struct bj_buf *to, const json_t *run)
{
	const json_t *question = json_object_get(run, "question");
	const json_t *decision = json_object_get(json_object_get(run, "result"), "decision");

	if (json_is_object(question)) {
		bj_buf_printf(to, "%-10s %s", "approval", bj_records_text(run, "approval"));
		if (json_is_string(json_object_get(question, "by")))
			bj_buf_printf(to, " by %s", bj_records_text(question, "by"));
		if (json_is_string(json_object_get(question, "reason")))
			bj_buf_printf(to, ": %s", bj_records_text(question, "reason"));
		bj_buf_printf(to, " (rule: %s)\n", bj_records_text(question, "rule"));
	} else if (json_is_object(decision)) {
		bj_buf_printf(to, "%-10s %s by %s, for an earlier run\n", "approval",
			      bj_records_text(decision, "decision"),
			      bj_records_text(decision, "by"));
	}
}

/* What was found in the line @number (0: no line of it), below that line. */
static void add_findings(struct bj_buf *to, const json_t *findings, size_t number)
{
	for (size_t i = 0; i < json_array_size(findings); i++) {
		const json_t *f = json_array_get(findings, i);

		if ((size_t)json_integer_value(json_object_get(f, "line")) != number)
			continue;
		bj_buf_printf(to, "     ^ %s [%s, %s]%s\n", bj_records_text(f, "message"),
			      bj_records_text(f, "rule"), bj_records_text(f, "severity"),
			      json_is_true(json_object_get(f, "blocks")) ? " blocks" : "");
	}
}

static void add_script(struct bj_buf *to, const json_t *run, const json_t *findings)
{
	const json_t *script = json_object_get(run, "script");
	const char *text = json_string_value(script);
	const char *end = text ? text + json_string_length(script) : NULL;
	size_t number = 1;

	if (!text) {
		bj_buf_puts(to, "\nscript: not kept (store_code)\n");
		for (size_t i = 0; i < json_array_size(findings); i++) {
			const json_t *f = json_array_get(findings, i);

			const json_int_t line = json_integer_value(json_object_get(f, "line"));

			if (line)
				bj_buf_printf(to, "line %lld: ", (long long)line);
			bj_buf_printf(to, "%s [%s]\n", bj_records_text(f, "message"),
				      bj_records_text(f, "rule"));
		}
		return;
	}
	bj_buf_puts(to, "\nscript:\n");
	add_findings(to, findings, 0);
	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		const size_t n = (size_t)((line_end ? line_end : end) - text);

		bj_buf_printf(to, "%4zu | ", number);
		bj_buf_add(to, text, n);
		bj_buf_puts(to, "\n");
		add_findings(to, findings, number++);
		text += n + (line_end != NULL);
	}
}

static void add_output(struct bj_buf *to, const json_t *result, const char *name)
{
	const json_t *v = json_object_get(result, name);

	if (json_string_length(v) == 0)
		return;
	bj_buf_printf(to, "\n%s:\n", name);
	bj_buf_add(to, json_string_value(v), json_string_length(v));
	if (json_string_value(v)[json_string_length(v) - 1] != '\n')
		bj_buf_puts(to, "\n");
}

static int print(const json_t *run, struct bj_err *err)
{
	const json_t *result = json_object_get(run, "result");
	const json_t *findings = json_object_get(result, "findings");
	AUTO_BUF struct bj_buf text = { 0 };

	add_head(&text, run);
	add_decision(&text, run);
	add_line(&text, "error", bj_records_text(result, "error"));
	add_script(&text, run, findings);
	add_output(&text, result, "stdout");
	add_output(&text, result, "stderr");
	return bj_records_print(text.data ? text.data : "", text.size, err);
}

static int show(const struct bj_records_line *line, struct bj_err *err)
{
	AUTO_RECORDS struct bj_records records = { 0 };
	char id[33];
	int r = bj_records_open(line->config, &records, err);

	if (r == 0)
		r = bj_history_find(records.record.archive, line->id, id, err);
	if (r < 0)
		return r;

	json_t *run = bj_history_show(&records.record, id, err);

	if (!run)
		return -err->code;
	if (line->json) {
		json_dumpf(run, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
		putchar('\n');
	} else {
		r = print(run, err);
	}
	json_decref(run);
	return r;
}

static int verb_show(int argc, char **argv)
{
	struct bj_records_line line = { 0 };
	struct bj_err err = { 0 };
	int r = bj_records_parse("show", OPTIONS, argc, argv, &line, &err);

	if (r == 0)
		r = show(&line, &err);
	if (r < 0)
		fprintf(stderr, "belljar: %s\n", err.msg);
	return r < 0 ? BJ_EXIT_FAILED : 0;
}

const struct bj_verb bj_verb_show = {
	.name = "show",
	.args = "[OPTIONS] ID",
	.summary = "show what is kept of one run",
	.example = "  belljar show 6fd39091",
	.options = OPTIONS,
	.run = verb_show,
};
