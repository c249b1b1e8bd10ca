/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "cli/options.h"
#include "cli/runs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "all", .letter = 'a', .help = "show runs that have ended too" },
	{ .name = "json", .help = "print the service's own list" },
	{ .name = "socket", .arg = "PATH", .help = "the service's socket" },
	{ 0 },
};

struct line {
	bool all, json;
	const char *socket;
};

static int parse(int argc, char **argv, struct line *line, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (!p.option)
			return bj_err_set(err, BJ_E_INVALID, 0, "ps takes no argument %.60s",
					  p.value);
		if (strcmp(p.option->name, "all") == 0)
			line->all = true;
		else if (strcmp(p.option->name, "json") == 0)
			line->json = true;
		else
			line->socket = p.value;
	}
	return r;
}

static int list_runs(const struct line *line, struct bj_err *err)
{
	static const char *const live[] = { "queued", "running", NULL };
	static const char *const any[] = { "", NULL };
	struct bj_client client;
	json_t *list = NULL;
	int r = bj_runs_connect(line->socket, &client, err);

	if (r < 0)
		return r;
	r = bj_runs_list(&client, line->all || line->json ? any : live, SIZE_MAX, &list, err);
	if (r == 0 && line->json) {
		json_dumpf(list, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
		putchar('\n');
	} else if (r == 0) {
		bj_runs_table(list);
	}
	if (r == 0 && fflush(stdout) != 0)
		r = bj_err_set(err, BJ_E_SYSTEM, errno, "cannot write to standard output");
	json_decref(list);
	bj_client_done(&client);
	return r;
}

static int verb_ps(int argc, char **argv)
{
	struct line line = { 0 };
	struct bj_err err = { 0 };
	int r = parse(argc, argv, &line, &err);

	if (r == 0)
		r = list_runs(&line, &err);
	if (r < 0)
		fprintf(stderr, "belljar: %s\n", err.msg);
	return r < 0 ? BJ_EXIT_FAILED : 0;
}

const struct bj_verb bj_verb_ps = {
	.name = "ps",
	.args = "[OPTIONS]",
	.summary = "list the runs of the service",
	.example = "  belljar ps\n"
		   "  belljar ps --all --json",
	.options = OPTIONS,
	.run = verb_ps,
};
