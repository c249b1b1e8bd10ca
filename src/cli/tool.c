/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/tool.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/nearest.h"
#include "cli/options.h"
#include "engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TOOL_FAILED = 1, ARGUMENTS_MAX = 32 << 20 };

static const struct bj_option OPTIONS[] = {
	{ .name = "json", .help = "print the structured answer instead of the text" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

struct command {
	const char *words[3]; /* call NAME JSON */
	size_t n_words;
	const char *config;
	bool json;
};

static int parse(int argc, char **argv, struct command *c, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (p.option && strcmp(p.option->name, "json") == 0)
			c->json = true;
		else if (p.option)
			c->config = p.value;
		else if (c->n_words < BJ_ARRAY_SIZE(c->words))
			c->words[c->n_words++] = p.value;
		else
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "too many arguments: belljar tool call NAME JSON");
	}
	if (r == 0 && (c->n_words != 3 || strcmp(c->words[0], "call") != 0))
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "say belljar tool call NAME JSON; `belljar tools` lists them");
	return r;
}

static int find_tool(const char *name, const struct bj_tool **ret, struct bj_err *err)
{
	const char *names[16];
	size_t n = 0;

	*ret = bj_tool_find(name);
	if (*ret)
		return 0;
	while (n < bj_tools_size && n < BJ_ARRAY_SIZE(names)) {
		names[n] = bj_tools[n].name;
		n++;
	}

	const char *near = bj_nearest(name, names, n);

	return bj_err_set(err, BJ_E_NOT_FOUND, 0, "there is no tool %.60s; %s%s", name,
			  near ? "did you mean " : "`belljar tools` lists them", near ? near : "");
}

static int read_arguments(const char *word, json_t **ret, struct bj_err *err)
{
	AUTO_BUF struct bj_buf text = { .max = ARGUMENTS_MAX };
	json_error_t why;

	if (strcmp(word, "-") == 0) {
		const int r = bj_fd_read_all(STDIN_FILENO, &text);

		if (r < 0)
			return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot read the arguments");
	} else {
		bj_buf_puts(&text, word);
	}
	*ret = json_loadb(text.data ? text.data : "", text.size,
			  JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (!*ret)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "the arguments are not JSON: line %d: %.100s", why.line,
				  why.text);
	return 0;
}

static int run_here(void *ctx, struct bj_spec *spec, struct bj_result **ret, struct bj_err *err)
{
	return bj_run(ctx, spec, ret, err);
}

static int resume_here(void *ctx, const char *id, struct bj_result **ret, struct bj_err *err)
{
	return bj_resume(ctx, id, NULL, ret, err);
}

static int print_answer(const struct command *c, const struct bj_tool_answer *answer,
			struct bj_err *err)
{
	AUTO_FREE char *object =
		c->json && answer->data ? json_dumps(answer->data, JSON_COMPACT) : NULL;
	const char *text = object ? object : answer->text ? answer->text : "";
	const size_t n = strlen(text);

	fputs(text, stdout);
	if (n == 0 || text[n - 1] != '\n')
		putchar('\n');
	if (fflush(stdout) != 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot write to standard output");
	return answer->failed ? TOOL_FAILED : 0;
}

static int call_tool(const struct command *c, struct bj_err *err)
{
	struct bj_tool_call call = { .run = run_here, .resume = resume_here };
	struct bj_tool_answer answer = { 0 };
	struct bj_settings *settings = NULL;
	struct belljar *bj = NULL;
	json_t *args = NULL;
	int r = find_tool(c->words[1], &call.tool, err);

	if (r == 0)
		r = bj_settings_load(c->config, NULL, 0, &settings, err);
	if (r == 0)
		r = bj_engine_new(settings, &bj, err);
	/* From here on foreign bytes are parsed. */
	if (r == 0)
		r = bj_engine_drop_privileges(err);
	if (r == 0)
		r = read_arguments(c->words[2], &args, err);
	if (r == 0) {
		call.args = args;
		call.bj = call.ctx = bj;
		r = bj_tool_call(&call, &answer, err);
	}
	if (r == 0)
		r = print_answer(c, &answer, err);
	bj_tool_answer_done(&answer);
	json_decref(args);
	bj_close(bj);
	return r;
}

static int run(int argc, char **argv)
{
	struct command command = { 0 };
	struct bj_err err = { 0 };
	int r = parse(argc, argv, &command, &err);

	if (r == 0)
		r = call_tool(&command, &err);
	if (r < 0) {
		fprintf(stderr, "belljar: %s\n", err.msg);
		return BJ_EXIT_FAILED;
	}
	return r;
}

const struct bj_verb bj_verb_tool = {
	.name = "tool",
	.args = "call [OPTIONS] NAME JSON|-",
	.words = "call",
	.summary = "call a tool as an agent would, and print what the agent would read",
	.example = "  belljar tool call run_python_code '{\"code\": \"print(6 * 7)\"}'\n"
		   "  belljar tool call execute_script - < arguments.json",
	.options = OPTIONS,
	.run = run,
};
