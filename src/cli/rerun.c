/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "cli/options.h"
#include "cli/records.h"
#include "record/history.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ARGS = 64, ARG_SIZE = 64 };

static const struct bj_option OPTIONS[] = {
	{ .name = "json", .help = "print the result object and nothing else" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

/* The command line of `belljar run` that does it again. */
struct again {
	char text[16][ARG_SIZE];
	char *argv[MAX_ARGS];
	int argc;
	int fd; /* the script; -1: none */
};

/* The script as it was: kept, and nothing in it masked. */
static int find_script(const json_t *run, const char **ret, size_t *ret_size, struct bj_err *err)
{
	const json_t *script = json_object_get(run, "script");
	unsigned char hash[crypto_hash_sha256_BYTES];
	char hex[65];

	if (!json_is_string(script))
		return bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "the script of %.32s was not kept: store_code keeps it %s; only "
				  "its hash is there",
				  bj_records_text(run, "id"),
				  json_is_true(json_object_get(run, "success"))
					  ? "of runs that fail, or with always of all"
					  : "with on_error or always");
	*ret = json_string_value(script);
	*ret_size = json_string_length(script);
	crypto_hash_sha256(hash, (const unsigned char *)*ret, *ret_size);
	sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	if (strcmp(hex, bj_records_text(run, "script_sha256")) != 0)
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "secrets of %.32s were masked before it was kept, so it cannot "
				  "run again",
				  bj_records_text(run, "id"));
	return 0;
}

static void add(struct again *a, const char *text)
{
	char *to = a->text[a->argc];

	snprintf(to, ARG_SIZE, "%s", text);
	a->argv[a->argc++] = to;
	a->argv[a->argc] = NULL;
}

static void add_limits(struct again *a, const json_t *run)
{
	const json_t *limits = json_object_get(run, "limits");
	char text[ARG_SIZE];

	snprintf(text, sizeof(text), "--timeout=%lldms",
		 (long long)json_integer_value(json_object_get(limits, "timeout_ms")));
	add(a, text);
	snprintf(text, sizeof(text), "--memory=%lld",
		 (long long)json_integer_value(json_object_get(limits, "memory")));
	add(a, text);
	snprintf(text, sizeof(text), "--cpus=%.3f",
		 (double)json_integer_value(json_object_get(limits, "cpu_milli")) / 1000);
	add(a, text);
	snprintf(text, sizeof(text), "--pids=%lld",
		 (long long)json_integer_value(json_object_get(limits, "pids")));
	add(a, text);
}

static int prepare(const struct bj_records_line *line, struct again *a, struct bj_err *err)
{
	AUTO_RECORDS struct bj_records records = { 0 };
	const char *script = NULL;
	size_t size = 0;
	char id[33], text[ARG_SIZE];
	int r = bj_records_open(line->config, &records, err);

	if (r == 0)
		r = bj_history_find(records.record.archive, line->id, id, err);
	if (r < 0)
		return r;

	json_t *run = bj_history_show(&records.record, id, err);

	r = run ? find_script(run, &script, &size, err) : -err->code;
	if (r == 0) {
		a->fd = bj_fd_memfile("rerun", script, size);
		if (a->fd < 0)
			r = bj_err_set(err, BJ_E_SYSTEM, -a->fd, "cannot hold the script");
	}
	if (r == 0) {
		add(a, "run");
		snprintf(text, sizeof(text), "--language=%s", bj_records_text(run, "language"));
		add(a, text);
		snprintf(text, sizeof(text), "--policy=%s", bj_records_text(run, "policy"));
		add(a, text);
		add_limits(a, run);
		snprintf(text, sizeof(text), "/proc/self/fd/%d", a->fd);
		add(a, text);
	}
	json_decref(run);
	return r;
}

static int verb_rerun(int argc, char **argv)
{
	struct bj_records_line line = { 0 };
	struct again again = { .fd = -1 };
	struct bj_err err = { 0 };
	int r = bj_records_parse("rerun", OPTIONS, argc, argv, &line, &err);

	if (r == 0)
		r = prepare(&line, &again, &err);
	if (r < 0) {
		fprintf(stderr, "belljar: %s\n", err.msg);
		return BJ_EXIT_FAILED;
	}
	if (line.json)
		add(&again, "--json");
	if (line.config) {
		add(&again, "--config");
		again.argv[again.argc++] = (char *)line.config;
		again.argv[again.argc] = NULL;
	}
	return bj_verb_run.run(again.argc, again.argv);
}

const struct bj_verb bj_verb_rerun = {
	.name = "rerun",
	.args = "[OPTIONS] ID",
	.summary = "run a script again that was kept",
	.example = "  belljar rerun 6fd39091",
	.options = OPTIONS,
	.run = verb_rerun,
};
