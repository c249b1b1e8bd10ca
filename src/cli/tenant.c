/* SPDX-License-Identifier: Apache-2.0 */

/* `belljar tenant`: tenants and their quotas. */

#include "record/tenant.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "cli/office.h"
#include "cli/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_QUOTAS = 16 };

static const struct bj_option OPTIONS[] = {
	{ .name = "off", .help = "set: switch the tenant and its keys off" },
	{ .name = "on", .help = "set: switch it on again" },
	{ .name = "json", .help = "print JSON" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

struct line {
	const char *what, *name, *config;
	const char *quotas[MAX_QUOTAS]; /* NAME=VALUE */
	size_t n_quotas;
	bool on, off, json;
};

static int take_plain(struct line *line, const char *word, struct bj_err *err)
{
	if (!line->what)
		line->what = word;
	else if (!line->name)
		line->name = word;
	else if (strchr(word, '=') && line->n_quotas < MAX_QUOTAS)
		line->quotas[line->n_quotas++] = word;
	else
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "%.40s: quotas are given as NAME=VALUE, such as concurrency=4",
				  word);
	return 0;
}

static int parse(int argc, char **argv, struct line *line, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (!p.option)
			r = take_plain(line, p.value, err);
		else if (strcmp(p.option->name, "config") == 0)
			line->config = p.value;
		else if (strcmp(p.option->name, "json") == 0)
			line->json = true;
		else if (strcmp(p.option->name, "on") == 0)
			line->on = true;
		else
			line->off = true;
		if (r < 0)
			return r;
	}
	if (r == 0 && !line->what)
		return bj_err_set(err, BJ_E_INVALID, 0, "say add, ls, set or rm");
	return r;
}

static int read_quotas(const struct line *line, struct bj_quota *quota, struct bj_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < line->n_quotas; i++) {
		const char *equals = strchr(line->quotas[i], '=');
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)(equals - line->quotas[i]),
			 line->quotas[i]);
		r = bj_quota_set(quota, name, equals + 1, err);
	}
	return r;
}

static int note(struct bj_office *office, const char *kind, const char *name, json_t *more,
		struct bj_err *err)
{
	json_t *data = json_pack("{s:s}", "tenant", name);

	if (more)
		json_object_update_missing(data, more);
	json_decref(more);
	return bj_office_note(office, kind, data, err);
}

static int add(struct bj_office *office, const struct line *line, struct bj_err *err)
{
	struct bj_tenant tenant = { .enabled = true };
	int r = read_quotas(line, &tenant.quota, err);

	if (r == 0)
		r = bj_tenant_add(&office->archive->store, line->name, &tenant.quota, err);
	if (r < 0)
		return r;
	snprintf(tenant.name, sizeof(tenant.name), "%s", line->name);
	r = note(office, "tenant.add", line->name, bj_tenant_json(&tenant), err);
	if (r < 0) {
		struct bj_err ignored;

		bj_tenant_remove(&office->archive->store, line->name, &ignored);
	}
	return r;
}

static int set(struct bj_office *office, const struct line *line, struct bj_err *err)
{
	struct bj_tenant tenant;

	if (line->on && line->off)
		return bj_err_set(err, BJ_E_INVALID, 0, "say --on or --off, not both");
	if (!line->on && !line->off && line->n_quotas == 0)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "say what to set: --on, --off or a quota such as concurrency=4");

	int r = bj_tenant_get(&office->archive->store, line->name, &tenant, err);

	if (r == 0)
		r = read_quotas(line, &tenant.quota, err);
	if (r < 0)
		return r;
	if (line->on || line->off)
		tenant.enabled = line->on;
	/* On record first: more for a tenant is loosening. */
	r = note(office, "tenant.set", line->name, bj_tenant_json(&tenant), err);
	return r < 0 ? r : bj_tenant_set(&office->archive->store, &tenant, err);
}

static int remove_tenant(struct bj_office *office, const struct line *line, struct bj_err *err)
{
	const int r = bj_tenant_remove(&office->archive->store, line->name, err);

	return r < 0 ? r : note(office, "tenant.rm", line->name, NULL, err);
}

static void print_tenant(const json_t *tenant)
{
	const json_t *quota = json_object_get(tenant, "quota");
	const char *name;
	json_t *value;

	printf("%-32s %-4s", json_string_value(json_object_get(tenant, "name")),
	       json_is_true(json_object_get(tenant, "enabled")) ? "on" : "off");
	json_object_foreach((json_t *)quota, name, value) if (json_is_integer(value))
		printf(" %s=%" JSON_INTEGER_FORMAT, name, json_integer_value(value));
	putchar('\n');
}

static int list(struct bj_office *office, const struct line *line, struct bj_err *err)
{
	json_t *tenants = NULL;
	const int r = bj_tenant_list(&office->archive->store, line->name, &tenants, err);

	if (r < 0)
		return r;
	if (line->json)
		return bj_office_print(tenants, err);

	const json_t *rows = json_object_get(tenants, "tenants");

	for (size_t i = 0; i < json_array_size(rows); i++)
		print_tenant(json_array_get(rows, i));
	json_decref(tenants);
	return 0;
}

static const struct {
	const char *name;
	bool named; /* needs a tenant's name */
	int (*run)(struct bj_office *office, const struct line *line, struct bj_err *err);
} ACTIONS[] = {
	{ "add", true, add }, { "ls", false, list },         { "list", false, list },
	{ "set", true, set }, { "rm", true, remove_tenant }, { "remove", true, remove_tenant },
};

static int act(const struct line *line, struct bj_err *err)
{
	struct bj_office office;

	for (size_t i = 0; i < BJ_ARRAY_SIZE(ACTIONS); i++) {
		if (strcmp(ACTIONS[i].name, line->what) != 0)
			continue;
		if (ACTIONS[i].named && !line->name)
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "say which: `belljar tenant %s NAME`", line->what);

		int r = bj_office_open(line->config, &office, err);

		if (r < 0)
			return r;
		r = ACTIONS[i].run(&office, line, err);
		bj_office_close(&office);
		return r;
	}
	return bj_err_set(err, BJ_E_INVALID, 0, "tenant cannot %.40s; say add, ls, set or rm",
			  line->what);
}

static int verb_tenant(int argc, char **argv)
{
	struct line line = { 0 };
	struct bj_err err = { 0 };
	int r = parse(argc, argv, &line, &err);

	if (r == 0)
		r = act(&line, &err);
	if (r < 0)
		fprintf(stderr, "belljar: %s\n", err.msg);
	return r < 0 ? BJ_EXIT_FAILED : 0;
}

const struct bj_verb bj_verb_tenant = {
	.name = "tenant",
	.args = "add|ls|set|rm [NAME] [QUOTA=N...] [OPTIONS]",
	.words = "add ls set rm",
	.summary = "make, list, change and remove tenants and their quotas",
	.example = "  belljar tenant add acme concurrency=4 runs_per_minute=60 cpu_seconds=3600\n"
		   "  belljar tenant set acme cpu_seconds=7200\n"
		   "  belljar tenant ls --json",
	.options = OPTIONS,
	.run = verb_tenant,
};
