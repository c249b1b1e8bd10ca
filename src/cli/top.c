/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "cli/options.h"
#include "cli/runs.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "socket", .arg = "PATH", .help = "the service's socket" },
	{ 0 },
};

enum { ROWS = 40 };

/* Home, and clear from there; lines that were longer leave nothing behind. */
#define CLEAR "\033[H\033[J"

/* What is under way comes first, however much has ended since it began. */
static int show(struct bj_client *client, bool terminal, struct bj_err *err)
{
	static const char *const states[] = { "running", "queued", "finished", NULL };
	json_t *list = NULL;
	const int r = bj_runs_list(client, states, ROWS, &list, err);

	if (r < 0)
		return r;
	if (terminal)
		printf(CLEAR);
	bj_runs_table(list);
	fflush(stdout);
	json_decref(list);
	return 0;
}

/* Until Ctrl-C, which ends a program that has nothing to clean up as it should. */
static int show_all(struct bj_client *client, struct bj_err *err)
{
	static const struct timespec pause = { .tv_sec = 1 };
	const bool terminal = isatty(STDOUT_FILENO);
	int r = show(client, terminal, err);

	while (r == 0 && terminal) {
		nanosleep(&pause, NULL);
		r = show(client, terminal, err);
	}
	return r;
}

static int verb_top(int argc, char **argv)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	struct bj_client client = { .fd = -1 };
	struct bj_err err = { 0 };
	const char *socket = NULL;
	int r;

	while ((r = bj_options_next(&p, OPTIONS, &err)) > 0) {
		if (!p.option) {
			r = bj_err_set(&err, BJ_E_INVALID, 0, "top takes no argument %.60s",
				       p.value);
			break;
		}
		socket = p.value;
	}
	if (r == 0)
		r = bj_runs_connect(socket, &client, &err);
	if (r == 0)
		r = show_all(&client, &err);
	bj_client_done(&client);
	if (r < 0)
		fprintf(stderr, "belljar: %s\n", err.msg);
	return r < 0 ? BJ_EXIT_FAILED : 0;
}

const struct bj_verb bj_verb_top = {
	.name = "top",
	.args = "[OPTIONS]",
	.summary = "watch the runs of the service",
	.example = "  belljar top",
	.options = OPTIONS,
	.run = verb_top,
};
