/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/log.h"
#include "cli/load.h"
#include "engine/engine.h"
#include "image/store.h"

#include <stdio.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "backend",
	  .arg = "NAME",
	  .key = "backend",
	  .help = "docker: also containers; native: only jars" },
	{ .name = "json", .help = "print JSON" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

static int take(void *ctx, const struct bj_parse *p, struct bj_err *err)
{
	bool *json = ctx;

	if (!p->option)
		return bj_err_set(err, BJ_E_INVALID, 0, "gc takes no argument %.40s", p->value);
	*json = true;
	return 0;
}

/* What dead belljars left of runs, and dead imports of images. */
static int sweep(const struct bj_settings *s, struct bj_err *err)
{
	struct bj_images images = { .dir = -1 };
	const int runs = bj_engine_sweep(s, err);
	const int open =
		runs < 0 ? runs : bj_images_open(&images, s->images_dir, s->state_dir, false, err);
	const int halves = open == 0 ? bj_images_sweep(&images) : 0;

	bj_images_close(&images);
	return open < 0 ? open : runs + halves;
}

static int verb_gc(int argc, char **argv)
{
	struct bj_settings *settings = NULL;
	struct bj_err err = { 0 };
	bool json = false;
	int r = bj_load(argc, argv, OPTIONS, take, &json, &settings, &err);

	if (r == 0) {
		bj_log_set_level(settings->log_level);
		r = sweep(settings, &err);
	}
	bj_settings_free(settings);
	if (r < 0) {
		fprintf(stderr, "belljar: %s\n", err.msg);
		return BJ_EXIT_FAILED;
	}
	if (json)
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
