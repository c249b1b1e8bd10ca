/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "cli/options.h"
#include "cli/runs.h"

#include <stdio.h>
#include <string.h>

enum { MAX_IDS = 64 };

static const struct bj_option OPTIONS[] = {
	{ .name = "socket", .arg = "PATH", .help = "the service's socket" },
	{ 0 },
};

struct line {
	const char *socket;
	const char *ids[MAX_IDS];
	size_t n;
};

static int parse(int argc, char **argv, struct line *line, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (p.option)
			line->socket = p.value;
		else if (line->n == MAX_IDS)
			return bj_err_set(err, BJ_E_LIMIT, 0, "more than %d runs", MAX_IDS);
		else
			line->ids[line->n++] = p.value;
	}
	if (r == 0 && line->n == 0)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "no run given: belljar kill ID; `belljar ps` lists them");
	return r;
}

/* The id that begins with @start; the service knows whole ids only. */
static int find_id(const json_t *list, const char *start, const char **ret, struct bj_err *err)
{
	const json_t *runs = json_object_get(list, "executions");
	const char *found = NULL;

	/* Every id begins with nothing: a variable that was not set must not end a run. */
	if (!start[0])
		return bj_err_set(err, BJ_E_INVALID, 0, "an id is needed; `belljar ps` lists them");
	for (size_t i = 0; i < json_array_size(runs); i++) {
		const char *id = json_string_value(json_object_get(json_array_get(runs, i), "id"));

		if (!id || strncmp(id, start, strlen(start)) != 0)
			continue;
		if (found)
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "more than one run begins with %.40s; say more of it",
					  start);
		found = id;
	}
	if (!found)
		return bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "there is no run %.40s; `belljar ps` lists them", start);
	*ret = found;
	return 0;
}

static int kill_one(struct bj_client *client, const char *start, struct bj_err *err)
{
	static const char *const any[] = { "", NULL };
	AUTO_BUF struct bj_buf ignored = { 0 };
	json_t *list = NULL;
	const char *id = NULL;
	char target[64];
	int r = bj_runs_list(client, any, SIZE_MAX, &list, err);

	if (r == 0)
		r = find_id(list, start, &id, err);
	if (r == 0) {
		snprintf(target, sizeof(target), "/v1/executions/%.32s", id);
		r = bj_client_call(client, "DELETE", target, &ignored, err);
	}
	json_decref(list);
	return r;
}

static int verb_kill(int argc, char **argv)
{
	struct line line = { 0 };
	struct bj_err err = { 0 };
	struct bj_client client = { .fd = -1 };
	int failed = 0, r = parse(argc, argv, &line, &err);

	if (r == 0)
		r = bj_runs_connect(line.socket, &client, &err);
	if (r < 0) {
		fprintf(stderr, "belljar: %s\n", err.msg);
		return BJ_EXIT_FAILED;
	}
	for (size_t i = 0; i < line.n; i++)
		if (kill_one(&client, line.ids[i], &err) < 0) {
			fprintf(stderr, "belljar: %s%s%s\n", line.ids[i],
				line.ids[i][0] ? ": " : "", err.msg);
			failed = 1;
		}
	bj_client_done(&client);
	return failed;
}

const struct bj_verb bj_verb_kill = {
	.name = "kill",
	.args = "[OPTIONS] ID...",
	.summary = "cancel runs of the service",
	.example = "  belljar kill 6fd39091",
	.options = OPTIONS,
	.run = verb_kill,
};
