/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/findings.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/visible.h"
#include "check/check.h"
#include "check/sarif.h"
#include "cli/options.h"
#include "cli/script.h"
#include "config/settings.h"
#include "engine/engine.h"
#include "spec/names.h"

#include <errno.h>

enum { MAX_FILES = 4096, MAX_OVERRIDES = 8 };
enum format { TEXT, JSON, SARIF };

static const struct bj_option OPTIONS[] = {
	{ .name = "language",
	  .letter = 'l',
	  .arg = "LANG",
	  .help = "python or bash; else by first line or suffix" },
	{ .name = "policy",
	  .letter = 'p',
	  .arg = "POLICY",
	  .key = "check.policy",
	  .help = "strict, default or off" },
	{ .name = "imports",
	  .arg = "MODE",
	  .key = "check.imports",
	  .help = "what a listed import does: block, warn or off" },
	{ .name = "rules",
	  .arg = "FILE",
	  .key = "check.rules_file",
	  .help = "rules of your own, added to the built-in ones" },
	{ .name = "max-chars",
	  .arg = "N",
	  .key = "check.max_script_chars",
	  .help = "longest script in characters" },
	{ .name = "trust", .help = "skip the import and danger layers" },
	{ .name = "no-syntax", .help = "do not ask the interpreter itself; needs no jar" },
	{ .name = "json", .help = "one JSON object a file, one a line" },
	{ .name = "sarif", .help = "one SARIF 2.1.0 log" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

/* What was asked for on the command line. */
struct command {
	const char *files[MAX_FILES];
	size_t n_files;
	struct bj_override overrides[MAX_OVERRIDES];
	size_t n_overrides;
	const char *language; /* NULL: find out */
	bool trust, no_syntax;
	enum format format;
	const char *config;
};

/* One script and its report; or script.failure says why there is none. */
struct checked {
	struct bj_script script;
	struct bj_report report;
};

struct session {
	const struct command *command;
	struct bj_settings *settings; /* NULL once @bj has them */
	struct belljar *bj;           /* NULL with --no-syntax */
	struct bj_checker *checker;   /* of its own, with --no-syntax */
	struct checked *done;
	size_t n_done;
};

static const struct bj_settings *settings_of(const struct session *s)
{
	return s->bj ? s->bj->settings : s->settings;
}

static const struct bj_checker *checker_of(const struct session *s)
{
	return s->bj ? s->bj->checker : s->checker;
}

static int take_option(const struct bj_parse *p, struct command *c, struct bj_err *err)
{
	const char *name = p->option->name;

	if (p->option->key) {
		if (c->n_overrides == MAX_OVERRIDES)
			return bj_err_set(err, BJ_E_INVALID, 0, "too many options");
		c->overrides[c->n_overrides++] =
			(struct bj_override){ p->option->key, p->value, name };
	} else if (strcmp(name, "language") == 0) {
		c->language = p->value;
	} else if (strcmp(name, "trust") == 0) {
		c->trust = true;
	} else if (strcmp(name, "no-syntax") == 0) {
		c->no_syntax = true;
	} else if (strcmp(name, "config") == 0) {
		c->config = p->value;
	} else {
		c->format = strcmp(name, "json") == 0 ? JSON : SARIF;
	}
	return 0;
}

static int parse(int argc, char **argv, struct command *c, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (p.option) {
			r = take_option(&p, c, err);
			if (r < 0)
				return r;
		} else if (c->n_files == MAX_FILES) {
			return bj_err_set(err, BJ_E_LIMIT, 0, "too many files; give at most %d",
					  MAX_FILES);
		} else {
			c->files[c->n_files++] = p.value;
		}
	}
	if (r == 0 && !c->n_files)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "nothing to check; name a file, or - for standard input");
	if (r == 0 && c->language && bj_script_language(c->language, err) < 0)
		return -err->code;
	return r;
}

/* Every layer and, in a jar, the interpreter's own parser. */
static int check_with_interpreter(const struct session *s, const struct bj_script *script,
				  struct bj_report *ret, struct bj_err *err)
{
	struct bj_result *result = NULL;
	struct bj_spec spec;

	bj_spec_init(s->bj, script->language, &spec);
	spec.script = script->text.data ? script->text.data : "";
	spec.script_size = script->text.size;
	spec.trust = s->command->trust;
	spec.check_only = true;

	int r = bj_run(s->bj, &spec, &result, err);

	if (r == 0 && result->cause == BJ_CAUSE_INFRASTRUCTURE)
		r = bj_err_set(err, BJ_E_SYSTEM, 0, "%.200s",
			       result->error ? result->error : "the interpreter did not answer");
	if (r == 0)
		bj_engine_take_report(result, ret);
	bj_result_free(result);
	return r;
}

static int check_alone(const struct session *s, const struct bj_script *script,
		       struct bj_report *ret, struct bj_err *err)
{
	struct bj_check_request request = bj_engine_check_request(
		s->settings, s->settings->backend, s->settings->policy, s->command->trust);

	request.language = script->language;
	request.text = script->text.data ? script->text.data : "";
	request.size = script->text.size;
	return bj_check(s->checker, &request, ret, err);
}

/* What cannot be had takes nothing from the other files. */
static void read_file(struct session *s, const char *name)
{
	struct bj_script *script = &s->done[s->n_done++].script;
	const int fd = bj_script_open(name, &script->failure);

	script->path = name;
	if (fd >= 0)
		bj_script_read_any(script, name, fd, s->command->language, &script->failure);
}

static void check_one(const struct session *s, struct checked *c)
{
	struct bj_err *err = &c->script.failure;

	if (err->code)
		return;

	const int r = s->bj ? check_with_interpreter(s, &c->script, &c->report, err)
			    : check_alone(s, &c->script, &c->report, err);

	/* Which of several files it is about is not in the message. */
	if (r < 0 && s->command->n_files > 1)
		bj_err_wrap(err, "%.100s", c->script.path);
}

static int print_json(const struct session *s)
{
	for (size_t i = 0; i < s->n_done; i++) {
		const struct checked *c = &s->done[i];
		const struct bj_script *script = &c->script;
		AUTO_FREE char *text =
			script->failure.code
				? bj_findings_failure_json(script->path, script->failure.msg)
				: bj_findings_report_json(script->path, script->language,
							  settings_of(s)->policy, s->command->trust,
							  &c->report);

		if (!text)
			return BJ_EXIT_FAILED;
		puts(text);
	}
	return 0;
}

static int print_sarif(const struct session *s)
{
	AUTO_FREE struct bj_sarif_file *files = calloc(s->n_done + 1, sizeof(*files));

	for (size_t i = 0; files && i < s->n_done; i++) {
		const struct checked *c = &s->done[i];
		const struct bj_err *failure = &c->script.failure;

		files[i] = (struct bj_sarif_file){ c->script.path, &c->report,
						   failure->code ? failure->msg : NULL };
	}

	AUTO_FREE char *text = files ? bj_sarif_log(checker_of(s), files, s->n_done) : NULL;

	if (!text)
		return BJ_EXIT_FAILED;
	puts(text);
	return 0;
}

static int print_text(const struct session *s)
{
	struct bj_findings_summary sum = { 0 };

	for (size_t i = 0; i < s->n_done; i++)
		if (s->done[i].script.failure.code)
			sum.failed++;
		else
			bj_findings_print(s->done[i].script.path, &s->done[i].report, &sum);
	if (sum.files)
		bj_findings_print_summary(&sum);
	return 0;
}

static void print_error(const struct bj_err *err)
{
	AUTO_FREE char *line = bj_visible_line(err->msg);

	fprintf(stderr, "belljar: %s\n", line ? line : "out of memory");
}

static void print_failures(const struct session *s)
{
	for (size_t i = 0; i < s->n_done; i++)
		if (s->done[i].script.failure.code)
			print_error(&s->done[i].script.failure);
}

/* The worst of all files; not to know is worse than to know the worst. */
static int exit_status(const struct session *s)
{
	int status = 0;

	for (size_t i = 0; i < s->n_done; i++) {
		if (s->done[i].script.failure.code)
			return BJ_EXIT_FAILED;
		if (s->done[i].report.blocked)
			status = BJ_EXIT_REJECTED;
		else if (s->done[i].report.n_findings && status == 0)
			status = 1;
	}
	return status;
}

static int open_session(struct session *s, struct bj_err *err)
{
	const struct command *c = s->command;
	int r = bj_settings_load(c->config, c->overrides, c->n_overrides, &s->settings, err);

	/* Nothing runs, so there is nothing to keep, and no place for it is needed. */
	if (r == 0)
		s->settings->record.enabled = false;
	if (r == 0 && c->no_syntax)
		r = bj_checker_new(s->settings->user_rules, &s->checker, err);
	else if (r == 0)
		r = (c->n_files == 1 ? bj_engine_new_to_run
				     : bj_engine_new)(BJ_TAKE_PTR(s->settings), &s->bj, err);
	if (r == 0 && !(s->done = calloc(c->n_files, sizeof(*s->done))))
		r = bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot check");
	return r;
}

static void close_session(struct session *s)
{
	for (size_t i = 0; i < s->n_done; i++) {
		bj_script_done(&s->done[i].script);
		bj_report_done(&s->done[i].report);
	}
	free(s->done);
	bj_checker_free(s->checker);
	bj_settings_free(s->settings);
	bj_engine_leave(s->bj);
}

static int check_all(struct session *s, struct bj_err *err)
{
	static int (*const PRINT[])(const struct session *) = { print_text, print_json,
								print_sarif };
	const struct command *c = s->command;
	int r = open_session(s, err);

	for (size_t i = 0; i < c->n_files && r == 0; i++)
		read_file(s, c->files[i]);
	/* From here on foreign bytes are parsed. */
	if (r == 0)
		r = bj_engine_drop_privileges(err);
	for (size_t i = 0; i < s->n_done && r == 0; i++)
		check_one(s, &s->done[i]);
	if (r < 0)
		return r;
	if (PRINT[c->format](s) != 0 || fflush(stdout) != 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot write the findings");
	print_failures(s);
	return exit_status(s);
}

static int run(int argc, char **argv)
{
	AUTO_FREE struct command *command = calloc(1, sizeof(*command));
	struct session session = { .command = command };
	struct bj_err err = { 0 };

	if (!command)
		return BJ_EXIT_FAILED;

	int r = parse(argc, argv, command, &err);

	if (r == 0)
		r = check_all(&session, &err);
	close_session(&session);
	if (r < 0) {
		print_error(&err);
		return BJ_EXIT_FAILED;
	}
	return r;
}

const struct bj_verb bj_verb_check = {
	.name = "check",
	.args = "[OPTIONS] FILE...|-",
	.summary = "read scripts and say what is wrong with them; run nothing",
	.example = "  belljar check script.py\n"
		   "  belljar check --policy strict --json *.sh\n"
		   "  echo 'rm -rf /' | belljar check --language bash -",
	.options = OPTIONS,
	.run = run,
	.brief = true,
};
