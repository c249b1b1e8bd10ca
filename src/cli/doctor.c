/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/size.h"
#include "cli/options.h"
#include "config/settings.h"
#include "jar/probe.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

struct request {
	const char *root, *file;
	uid_t uid;
	bool json;
};

static const struct bj_option OPTIONS[] = {
	{ .name = "json", .help = "print JSON" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ .name = "file", .letter = 'f', .arg = "FILE", .help = "the same" },
	{ .name = "root", .arg = "DIR", .help = "read the files of another root; try nothing" },
	{ .name = "uid", .arg = "UID", .help = "with --root: who is going to run belljar" },
	{ 0 },
};

static const char *const NEEDS[] = {
	[BJ_PROBE_NOTE] = "nothing",
	[BJ_PROBE_FULL] = "full",
	[BJ_PROBE_BASIC] = "basic",
};

static int parse_uid(const char *text, uid_t *ret, struct bj_err *err)
{
	uint64_t value;

	if (bj_u64_parse(text, &value) < 0 || value >= UINT32_MAX)
		return bj_err_set(err, BJ_E_INVALID, 0, "--uid must be a number, not %.40s", text);
	*ret = (uid_t)value;
	return 0;
}

static int parse(int argc, char **argv, struct request *ret, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	struct request req = { .root = "/", .uid = geteuid() };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (!p.option)
			return bj_err_set(err, BJ_E_INVALID, 0, "doctor takes no argument %.40s",
					  p.value);
		if (strcmp(p.option->name, "json") == 0)
			req.json = true;
		else if (strcmp(p.option->name, "root") == 0)
			req.root = p.value;
		else if (strcmp(p.option->name, "uid") != 0)
			req.file = p.value;
		else if (parse_uid(p.value, &req.uid, err) < 0)
			return -BJ_E_INVALID;
	}
	if (r < 0)
		return r;
	if (req.uid != geteuid() && strcmp(req.root, "/") == 0)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "--uid needs --root; run doctor as that user instead");
	*ret = req;
	return 0;
}

static void print_text(const struct bj_probe *probe)
{
	for (size_t i = 0; i < probe->n; i++) {
		const struct bj_probe_item *item = &probe->items[i];
		const char *mark = item->ok ? "ok" : item->need == BJ_PROBE_NOTE ? "note" : "miss";

		printf("%-5s %-20s %s\n", mark, item->name, item->found);
		if (!item->ok)
			printf("      fix: %s\n", item->fix);
	}
	if (probe->full)
		printf("\nReady: every layer holds (require: full).\n");
	else if (probe->basic)
		printf("\nNot ready: only `native.require: basic` would hold; see the fixes "
		       "above.\n");
	else
		printf("\nNot ready: nothing can run here; see the fixes above.\n");
}

static void print_json(const struct bj_probe *probe)
{
	json_t *checks = json_array();

	for (size_t i = 0; i < probe->n; i++) {
		const struct bj_probe_item *item = &probe->items[i];

		json_array_append_new(checks, json_pack("{s:s, s:b, s:s, s:s, s:s?}", "name",
							item->name, "ok", item->ok, "needed_for",
							NEEDS[item->need], "found", item->found,
							"fix", item->ok ? NULL : item->fix));
	}

	json_t *root = json_pack("{s:b, s:b, s:o}", "full", probe->full, "basic", probe->basic,
				 "checks", checks);

	json_dumpf(root, stdout, JSON_COMPACT);
	printf("\n");
	json_decref(root);
}

static int examine(const struct request *req, struct bj_probe *probe, struct bj_err *err)
{
	struct bj_settings *settings = NULL;
	int r = bj_settings_load(req->file, NULL, 0, &settings, err);

	if (r < 0)
		return r;

	const struct bj_probe_target target = {
		.root = req->root,
		.uid = req->uid,
		.python = settings->python,
		.bash = settings->bash,
		.cgroup = settings->cgroup,
	};

	r = bj_probe_run(&target, probe, err);
	bj_settings_free(settings);
	return r;
}

static int run(int argc, char **argv)
{
	struct bj_err err = { 0 };
	struct request req = { 0 };
	struct bj_probe probe;

	if (parse(argc, argv, &req, &err) < 0 || examine(&req, &probe, &err) < 0) {
		fprintf(stderr, "belljar: %s\n", err.msg);
		return BJ_EXIT_FAILED;
	}
	if (req.json)
		print_json(&probe);
	else
		print_text(&probe);
	if (fflush(stdout) != 0) {
		fprintf(stderr, "belljar: cannot write to standard output\n");
		return BJ_EXIT_FAILED;
	}
	return probe.full ? 0 : 1;
}

const struct bj_verb bj_verb_doctor = {
	.name = "doctor",
	.args = "[OPTIONS]",
	.summary = "say what this machine gives to a jar, and how to fix what is missing",
	.example = "  belljar doctor\n  belljar doctor --json | jq '.checks[] | select(.ok | not)'",
	.options = OPTIONS,
	.run = run,
};
