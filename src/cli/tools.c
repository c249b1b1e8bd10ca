/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "cli/options.h"
#include "spec/names.h"
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "format",
	  .letter = 'f',
	  .arg = "FORMAT",
	  .help = "mcp, openai, openai-responses, anthropic or json-schema" },
	{ 0 },
};

static void print_params(const struct bj_tool *tool)
{
	for (size_t i = 0; i < BJ_TOOL_PARAMS && tool->params[i].name; i++)
		printf("  %s%s\n      %s\n", tool->params[i].name,
		       tool->params[i].needed ? "" : " (optional)", tool->params[i].help);
}

/* For a person. */
static void print_plain(void)
{
	for (size_t i = 0; i < bj_tools_size; i++) {
		printf("%s%s: %s (declared risk %s%s)\n", i ? "\n" : "", bj_tools[i].name,
		       bj_tools[i].title, bj_risk_name(bj_tools[i].risk),
		       bj_tools[i].asks ? ", waits for approval by default" : "");
		printf("  %s\n", bj_tools[i].help);
		print_params(&bj_tools[i]);
	}
}

static int print_as(const char *format)
{
	json_t *list = bj_tools_as(format);
	AUTO_FREE char *text = list ? json_dumps(list, JSON_INDENT(2)) : NULL;

	json_decref(list);
	if (!text) {
		fprintf(stderr,
			"belljar: --format %.40s: say mcp, openai, openai-responses, anthropic or "
			"json-schema\n",
			format);
		return BJ_EXIT_FAILED;
	}
	puts(text);
	return 0;
}

static int run(int argc, char **argv)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	const char *format = NULL;
	struct bj_err err = { 0 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, &err)) > 0) {
		if (!p.option) {
			r = bj_err_set(&err, BJ_E_INVALID, 0, "tools takes no argument %.40s",
				       p.value);
			break;
		}
		format = p.value;
	}
	if (r < 0) {
		fprintf(stderr, "belljar: %s\n", err.msg);
		return BJ_EXIT_FAILED;
	}
	if (format)
		return print_as(format);
	print_plain();
	return 0;
}

const struct bj_verb bj_verb_tools = {
	.name = "tools",
	.args = "[--format FORMAT]",
	.summary = "list the tools that agents may call, as their programs read it",
	.example = "  belljar tools\n"
		   "  belljar tools --format openai > tools.json",
	.options = OPTIONS,
	.run = run,
};
