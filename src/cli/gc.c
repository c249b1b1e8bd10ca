/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/log.h"
#include "cli/options.h"
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "backend",
	  .arg = "NAME",
	  .key = "backend",
	  .help = "docker: also containers; native: only jars" },
	{ .name = "json", .help = "print JSON" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

struct request {
	struct bj_override override;
	size_t n_overrides;
	const char *config;
	bool json;
};

static int parse(int argc, char **argv, struct request *ret, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (!p.option)
			return bj_err_set(err, BJ_E_INVALID, 0, "gc takes no argument %.40s",
					  p.value);
		if (p.option->key) {
			ret->override = (struct bj_override){ .key = p.option->key,
							      .value = p.value,
							      .flag = p.option->name };
			ret->n_overrides = 1;
		} else if (strcmp(p.option->name, "json") == 0) {
			ret->json = true;
		} else {
			ret->config = p.value;
		}
	}
	return r;
}

static int verb_gc(int argc, char **argv)
{
	struct request req = { 0 };
	struct bj_settings *settings = NULL;
	struct bj_err err = { 0 };
	int r = parse(argc, argv, &req, &err);

	if (r == 0)
		r = bj_settings_load(req.config, &req.override, req.n_overrides, &settings, &err);
	if (r == 0) {
		bj_log_set_level(settings->log_level);
		r = bj_engine_sweep(settings, &err);
	}
	bj_settings_free(settings);
	if (r < 0) {
		fprintf(stderr, "belljar: %s\n", err.msg);
		return BJ_EXIT_FAILED;
	}
	if (req.json)
		printf("{\"removed\":%d}\n", r);
	else if (r == 0)
		printf("nothing was left behind\n");
	else
		printf("removed %d that dead runs left behind\n", r);
	return 0;
}

const struct bj_verb bj_verb_gc = {
	.name = "gc",
	.args = "[OPTIONS]",
	.summary = "remove what runs left behind whose belljar died",
	.example = "  belljar gc\n"
		   "  belljar gc --backend docker",
	.options = OPTIONS,
	.run = verb_gc,
};
