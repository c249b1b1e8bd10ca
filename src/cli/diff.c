/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "cli/options.h"
#include "cli/records.h"
#include "record/history.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

struct line {
	const char *config, *ids[2];
	size_t n;
};

static int parse(int argc, char **argv, struct line *line, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (p.option)
			line->config = p.value;
		else if (line->n < 2)
			line->ids[line->n++] = p.value;
		else
			return bj_err_set(err, BJ_E_INVALID, 0, "diff takes two runs");
	}
	if (r == 0 && line->n != 2)
		return bj_err_set(err, BJ_E_INVALID, 0, "diff takes two runs: belljar diff ID ID");
	return r;
}

static void add_difference(struct bj_buf *to, const char *name, const json_t *a, const json_t *b)
{
	AUTO_FREE char *ta = json_dumps(a, JSON_ENCODE_ANY | JSON_COMPACT);
	AUTO_FREE char *tb = json_dumps(b, JSON_ENCODE_ANY | JSON_COMPACT);

	if (a && b && !json_equal(a, b))
		bj_buf_printf(to, "%s: %s -> %s\n", name, ta ? ta : "?", tb ? tb : "?");
}

/* What else was not the same: settings, then how it ended. */
static void add_differences(struct bj_buf *to, const json_t *a, const json_t *b)
{
	static const char *const names[] = { "language", "name",      "tool",         "tenant",
					     "backend",  "policy",    "trusted",      "risk",
					     "cause",    "exit_code", "script_sha256" };
	const json_t *la = json_object_get(a, "limits"), *lb = json_object_get(b, "limits");
	const char *key;
	json_t *value;

	for (size_t i = 0; i < BJ_ARRAY_SIZE(names); i++)
		add_difference(to, names[i], json_object_get(a, names[i]),
			       json_object_get(b, names[i]));
	json_object_foreach((json_t *)la, key, value)
	{
		char label[64];

		snprintf(label, sizeof(label), "limits.%s", key);
		add_difference(to, label, value, json_object_get(lb, key));
	}
}

static int add_scripts(struct bj_buf *to, const json_t *a, const json_t *b, struct bj_err *err)
{
	const json_t *runs[] = { a, b };

	for (int i = 0; i < 2; i++)
		if (!json_is_string(json_object_get(runs[i], "script")))
			return bj_err_set(err, BJ_E_NOT_FOUND, 0,
					  "the script of %.32s was not kept; with store_code: "
					  "always it would be",
					  bj_records_text(runs[i], "id"));
	bj_diff(bj_records_text(a, "id"), bj_records_text(a, "script"), bj_records_text(b, "id"),
		bj_records_text(b, "script"), to);
	return 0;
}

static int diff(const struct line *line, struct bj_err *err)
{
	AUTO_RECORDS struct bj_records records = { 0 };
	AUTO_BUF struct bj_buf text = { 0 };
	json_t *runs[2] = { NULL, NULL };
	int r = bj_records_open(line->config, &records, err);

	for (int i = 0; i < 2 && r == 0; i++) {
		char id[33];

		r = bj_history_find(records.record.archive, line->ids[i], id, err);
		if (r == 0)
			runs[i] = bj_history_show(&records.record, id, err);
		if (r == 0 && !runs[i])
			r = -err->code;
	}
	if (r == 0) {
		add_differences(&text, runs[0], runs[1]);
		r = add_scripts(&text, runs[0], runs[1], err);

		/* What is known of them is printed even where a script was not kept. */
		struct bj_err unprinted = { 0 };
		const int p = bj_records_print(text.data ? text.data : "", text.size, &unprinted);

		if (r == 0 && p < 0) {
			*err = unprinted;
			r = p;
		}
	}
	json_decref(runs[0]);
	json_decref(runs[1]);
	return r;
}

static int verb_diff(int argc, char **argv)
{
	struct line line = { 0 };
	struct bj_err err = { 0 };
	int r = parse(argc, argv, &line, &err);

	if (r == 0)
		r = diff(&line, &err);
	if (r < 0)
		fprintf(stderr, "belljar: %s\n", err.msg);
	return r < 0 ? BJ_EXIT_FAILED : 0;
}

const struct bj_verb bj_verb_diff = {
	.name = "diff",
	.args = "[OPTIONS] ID ID",
	.summary = "show what differs between two runs",
	.example = "  belljar diff 6fd39091 a01b44c2",
	.options = OPTIONS,
	.run = verb_diff,
};
