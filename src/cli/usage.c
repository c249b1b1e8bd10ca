/* SPDX-License-Identifier: Apache-2.0 */

/* `belljar usage`: what tenants used and what it cost. */

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/size.h"
#include "cli/office.h"
#include "cli/options.h"
#include "record/quota.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "tenant", .arg = "NAME", .help = "only this one; local is who has no tenant" },
	{ .name = "since", .arg = "DATE", .help = "from this day on, such as 2026-01-31 or 48h" },
	{ .name = "days", .help = "one line a day" },
	{ .name = "json", .help = "print JSON" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

struct line {
	const char *tenant, *since, *config;
	bool days, json;
};

static int parse(int argc, char **argv, struct line *line, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (!p.option)
			return bj_err_set(err, BJ_E_INVALID, 0, "usage takes no argument %.40s",
					  p.value);
		if (strcmp(p.option->name, "tenant") == 0)
			line->tenant = p.value;
		else if (strcmp(p.option->name, "since") == 0)
			line->since = p.value;
		else if (strcmp(p.option->name, "config") == 0)
			line->config = p.value;
		else if (strcmp(p.option->name, "days") == 0)
			line->days = true;
		else
			line->json = true;
	}
	return r;
}

/* A date, or how long ago. */
static int read_since(const char *text, uint64_t *ret, struct bj_err *err)
{
	struct tm day = { 0 };
	const char *end = strptime(text, "%Y-%m-%d", &day);
	uint64_t ms;

	if (end && *end == '\0') {
		*ret = (uint64_t)timegm(&day) * 1000;
		return 0;
	}
	if (bj_duration_parse_ms(text, &ms) < 0 || ms > bj_clock_unix_ms())
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "--since: a date such as 2026-01-31 or a duration such as 48h");
	*ret = bj_clock_unix_ms() - ms;
	return 0;
}

static double number_of(const json_t *row, const char *name)
{
	return json_number_value(json_object_get(row, name));
}

static void print_table(const json_t *usage, bool days)
{
	const json_t *rows = json_object_get(usage, "usage");

	printf("%s%-32s %8s %12s %12s %14s %14s %14s\n", days ? "day        " : "", "tenant",
	       "runs", "cpu s", "GB s", "output B", "artifact B", "cost");
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);

		if (days)
			printf("%-10s ", json_string_value(json_object_get(row, "day")));
		printf("%-32s %8.0f %12.3f %12.3f %14.0f %14.0f %10.6f %s\n",
		       json_string_value(json_object_get(row, "tenant")), number_of(row, "runs"),
		       number_of(row, "cpu_seconds"), number_of(row, "gb_seconds"),
		       number_of(row, "output_bytes"), number_of(row, "artifact_bytes"),
		       number_of(row, "cost"), json_string_value(json_object_get(row, "currency")));
	}
}

static int show(const struct line *line, struct bj_err *err)
{
	struct bj_office office;
	json_t *usage = NULL;
	uint64_t since = 0;
	int r = line->since ? read_since(line->since, &since, err) : 0;

	if (r == 0)
		r = bj_office_open(line->config, &office, err);
	if (r < 0)
		return r;
	r = bj_usage_list(&office.archive->store, line->tenant, since, line->days,
			  office.settings->price.currency, &usage, err);
	if (r == 0 && line->json) {
		r = bj_office_print(usage, err);
	} else if (r == 0) {
		print_table(usage, line->days);
		json_decref(usage);
	}
	bj_office_close(&office);
	return r;
}

static int verb_usage(int argc, char **argv)
{
	struct line line = { 0 };
	struct bj_err err = { 0 };
	int r = parse(argc, argv, &line, &err);

	if (r == 0)
		r = show(&line, &err);
	if (r < 0)
		fprintf(stderr, "belljar: %s\n", err.msg);
	return r < 0 ? BJ_EXIT_FAILED : 0;
}

const struct bj_verb bj_verb_usage = {
	.name = "usage",
	.args = "[OPTIONS]",
	.summary = "show what tenants used and what it cost",
	.example = "  belljar usage\n"
		   "  belljar usage --tenant acme --since 2026-01-01 --days --json",
	.options = OPTIONS,
	.run = verb_usage,
};
