/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "cli/options.h"
#include "config/settings.h"

#include <stdio.h>
#include <string.h>

enum mode { SHOW, EXPLAIN, CHECK };

struct request {
	enum mode mode;
	bool json;
	const char *file, *only;
};

static const struct bj_option OPTIONS[] = {
	{ .name = "show", .help = "print every value with where it came from (the default)" },
	{ .name = "explain", .help = "print every setting with its meaning, as YAML that loads" },
	{ .name = "check", .help = "print nothing; fail when a value is wrong" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ .name = "file", .letter = 'f', .arg = "FILE", .help = "the same" },
	{ .name = "json", .help = "print JSON" },
	{ 0 },
};

static int unknown_key(const char *key, struct bj_err *err)
{
	const char *near = bj_settings_suggest(key);

	return bj_err_set(err, BJ_E_INVALID, 0,
			  "config: there is no setting or section %.60s; %s%s%s", key,
			  near ? "did you mean "
			       : "`belljar config` lists all settings, --config "
				 "names a file",
			  near ? near : "", near ? "?" : "");
}

static int parse(int argc, char **argv, struct request *ret, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	struct request req = { 0 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (!p.option && !bj_settings_has(p.value))
			return unknown_key(p.value, err);
		if (!p.option && req.only)
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "config: one setting or section, not also %.60s; "
					  "`belljar config` lists all settings",
					  p.value);
		if (!p.option)
			req.only = p.value;
		else if (strcmp(p.option->name, "explain") == 0)
			req.mode = EXPLAIN;
		else if (strcmp(p.option->name, "check") == 0)
			req.mode = CHECK;
		else if (strcmp(p.option->name, "show") == 0)
			req.mode = SHOW;
		else if (strcmp(p.option->name, "json") == 0)
			req.json = true;
		else
			req.file = p.value;
	}
	if (r == 0)
		*ret = req;
	return r;
}

static int print(const char *text)
{
	if (!text) {
		fprintf(stderr, "belljar: out of memory\n");
		return BJ_EXIT_FAILED;
	}

	const size_t n = strlen(text);

	printf("%s%s", text, n > 0 && text[n - 1] == '\n' ? "" : "\n");
	return 0;
}

static int answer(const struct request *req, struct bj_err *err)
{
	AUTO_FREE char *text = NULL;
	struct bj_settings *settings;

	if (req->mode == EXPLAIN) {
		text = bj_settings_explain(req->only, req->json);
		return print(text);
	}

	const int r = bj_settings_load(req->file, NULL, 0, &settings, err);

	if (r < 0)
		return r;
	if (req->mode == SHOW)
		text = bj_settings_show(settings, req->only, req->json);
	bj_settings_free(settings);
	return req->mode == CHECK ? 0 : print(text);
}

static int run(int argc, char **argv)
{
	struct request req = { 0 };
	struct bj_err err;
	int r = parse(argc, argv, &req, &err);

	if (r == 0)
		r = answer(&req, &err);
	if (r < 0) {
		fprintf(stderr, "belljar: %s\n", err.msg);
		return BJ_EXIT_FAILED;
	}
	return r;
}

const struct bj_verb bj_verb_config = {
	.name = "config",
	.args = "[--show | --explain | --check] [KEY] [--config FILE] [--json]",
	.summary = "show, explain or check the settings",
	.example = "  belljar config --explain > belljar.yaml\n"
		   "  belljar config --check --config belljar.yaml\n"
		   "  belljar config --explain limits.memory\n"
		   "  SANDBOX_TIMEOUT_SEC=30 belljar config --show limits",
	.options = OPTIONS,
	.run = run,
};
