/* SPDX-License-Identifier: Apache-2.0 */

/* The verbs approve and deny: by the service where there is one that knows the run, so that it can
 * begin it; else in the records themselves. */

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/options.h"
#include "cli/records.h"
#include "engine/engine.h"
#include "record/history.h"
#include "serve/client.h"

#include <stdio.h>
#include <string.h>

enum { MAX_IDS = 64 };

static const struct bj_option OPTIONS[] = {
	{ .name = "reason", .letter = 'r', .arg = "TEXT", .help = "why; reaches the agent" },
	{ .name = "socket", .arg = "PATH", .help = "the service's socket" },
	{ .name = "no-service", .help = "write to the records, even where a service runs" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

struct line {
	const char *reason, *socket, *config;
	bool no_service, approve;
	const char *ids[MAX_IDS];
	size_t n;
};

static int take_option(struct line *line, const struct bj_parse *p)
{
	const char *name = p->option->name;

	if (strcmp(name, "reason") == 0)
		line->reason = p->value;
	else if (strcmp(name, "socket") == 0)
		line->socket = p->value;
	else if (strcmp(name, "config") == 0)
		line->config = p->value;
	else
		line->no_service = true;
	return 0;
}

static int parse(int argc, char **argv, struct line *line, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (p.option)
			take_option(line, &p);
		else if (line->n == MAX_IDS)
			return bj_err_set(err, BJ_E_LIMIT, 0, "more than %d runs", MAX_IDS);
		else
			line->ids[line->n++] = p.value;
	}
	if (r == 0 && line->n == 0)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "no run given; `belljar history --state pending` lists those "
				  "that wait");
	return r;
}

/* 1: there is no service that can take it. */
static int decide_by_service(const struct line *line, const struct bj_settings *settings,
			     const char *id, struct bj_err *err)
{
	struct bj_client client;
	AUTO_BUF struct bj_buf body = { 0 };
	char target[96];
	json_t *order = json_pack("{s:s?}", "reason", line->reason);
	AUTO_FREE char *text = order ? json_dumps(order, JSON_COMPACT) : NULL;
	int r;

	json_decref(order);
	if (line->no_service || !text ||
	    bj_client_open(line->socket ? line->socket : settings->serve.socket, &client, err) < 0)
		return 1;
	snprintf(target, sizeof(target), "/v1/executions/%.32s/%s", id,
		 line->approve ? "approve" : "deny");
	r = bj_client_ask(&client, "POST", target, "Content-Type: application/json\r\n", text,
			  strlen(text), err);
	if (r == 0)
		r = bj_client_body(&client, &body, err);
	if (r == 0 && client.status == 404)
		r = 1; /* another service, with other records */
	else if (r == 0 && client.status / 100 != 2) {
		json_t *problem = json_loadb(body.data ? body.data : "", body.size, 0, NULL);

		r = bj_err_set(err, BJ_E_DENIED, 0, "%.200s", bj_records_text(problem, "detail"));
		json_decref(problem);
	}
	bj_client_done(&client);
	return r;
}

static int decide(const struct line *line, struct bj_records *records, const char *prefix,
		  struct bj_err *err)
{
	char id[33];
	int r = bj_history_find(records->record.archive, prefix, id, err);

	if (r == 0)
		r = decide_by_service(line, records->settings, id, err);
	if (r > 0) {
		/* All of an engine that a decision takes. */
		struct belljar bj = { .settings = records->settings,
				      .checker = records->checker,
				      .record = records->record };

		r = bj_decide(&bj, id, line->approve, bj_records_user(), line->reason, err);
	}
	if (r == 0)
		printf("%s %s\n", id, line->approve ? "approved" : "denied");
	return r;
}

static int run(int argc, char **argv, bool approve)
{
	struct line line = { .approve = approve };
	AUTO_RECORDS struct bj_records records = { 0 };
	struct bj_err err = { 0 };
	int r = parse(argc, argv, &line, &err);

	if (r == 0)
		r = bj_records_open(line.config, &records, &err);
	if (r < 0) {
		fprintf(stderr, "belljar: %s\n", err.msg);
		return BJ_EXIT_FAILED;
	}

	int status = 0;

	for (size_t i = 0; i < line.n; i++)
		if (decide(&line, &records, line.ids[i], &err) < 0) {
			fprintf(stderr, "belljar: %s\n", err.msg);
			status = BJ_EXIT_FAILED;
		}
	return status;
}

static int verb_approve(int argc, char **argv)
{
	return run(argc, argv, true);
}

static int verb_deny(int argc, char **argv)
{
	return run(argc, argv, false);
}

const struct bj_verb bj_verb_approve = {
	.name = "approve",
	.args = "[OPTIONS] ID...",
	.summary = "let a run begin that waits for a person",
	.example = "  belljar approve 6fd39091\n"
		   "  belljar approve --reason 'reads only' 6fd39091",
	.options = OPTIONS,
	.run = verb_approve,
};

const struct bj_verb bj_verb_deny = {
	.name = "deny",
	.args = "[OPTIONS] ID...",
	.summary = "refuse a run that waits for a person",
	.example = "  belljar deny --reason 'use the staging database' 6fd39091",
	.options = OPTIONS,
	.run = verb_deny,
};
