/* SPDX-License-Identifier: Apache-2.0 */
#include "check/rules.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "cli/options.h"
#include "spec/names.h"

#include <jansson.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "rules", .arg = "FILE", .help = "add the rules of this file" },
	{ .name = "layer", .arg = "LAYER", .help = "only those of one layer" },
	{ .name = "json", .help = "one JSON array" },
	{ 0 },
};

struct command {
	const char *file, *layer;
	bool json;
};

static int parse(int argc, char **argv, struct command *c, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (!p.option)
			return bj_err_set(err, BJ_E_INVALID, 0, "rules takes no argument %.40s",
					  p.value);
		if (strcmp(p.option->name, "rules") == 0)
			c->file = p.value;
		else if (strcmp(p.option->name, "layer") == 0)
			c->layer = p.value;
		else
			c->json = true;
	}
	return r;
}

static const char *language_of(const struct bj_rule *rule)
{
	return rule->language == BJ_RULE_ANY ? "any"
					     : bj_language_name((enum bj_language)rule->language);
}

/* An example, each of its lines behind a label; what is no text is escaped. */
static void print_example(const char *label, const char *text)
{
	if (!text)
		return;
	printf("  %s  ", label);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '\n' && c[1])
			printf("\n            ");
		else if (*c == '\r')
			printf("\\r");
		else if (*c >= ' ' || *c == '\t')
			putchar(*c);
	}
	putchar('\n');
}

static void print_rule(const struct bj_rule *rule)
{
	printf("%s  %s, %s, %s\n  %s\n", rule->id, rule->layer, language_of(rule),
	       bj_severity_name(rule->severity), rule->message);
	print_example("triggers", rule->positive);
	print_example("clean   ", rule->negative);
	if (rule->coded)
		puts("            (\\xNN is one byte, \\{N} is N times the byte before it)");
	putchar('\n');
}

static json_t *rule_to_json(const struct bj_rule *rule)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?, s:s?, s:b}", "id", rule->id, "layer",
			 rule->layer, "language", language_of(rule), "severity",
			 bj_severity_name(rule->severity), "message", rule->message, "positive",
			 rule->positive, "negative", rule->negative, "coded", rule->coded);
}

static int print_json(const struct bj_rule *const *rules, size_t n)
{
	json_t *list = json_array();
	int failed = 0;

	for (size_t i = 0; i < n; i++)
		failed |= json_array_append_new(list, rule_to_json(rules[i]));
	if (!failed)
		failed = json_dumpf(list, stdout, JSON_INDENT(1)) | (putchar('\n') < 0);
	json_decref(list);
	return failed;
}

static int print_rules(const struct command *c, const struct bj_rule **rules, size_t n,
		       struct bj_err *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!c->layer || strcmp(rules[i]->layer, c->layer) == 0)
			rules[kept++] = rules[i];
	if (!kept)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "no layer %.40s; the layers are length, syntax, secrets, dangers "
				  "and imports",
				  c->layer);
	for (size_t i = 0; i < kept && !c->json; i++)
		print_rule(rules[i]);
	if (!c->json)
		printf("%zu rules\n", kept);
	if ((c->json && print_json(rules, kept) != 0) || fflush(stdout) != 0)
		return bj_err_set(err, BJ_E_SYSTEM, 0, "cannot write the rules");
	return 0;
}

static int run(int argc, char **argv)
{
	AUTO_FREE const struct bj_rule **rules = NULL;
	struct bj_checker *checker = NULL;
	struct command command = { 0 };
	struct bj_err err = { 0 };
	size_t n = 0;
	int r = parse(argc, argv, &command, &err);

	if (r == 0)
		r = bj_checker_new(command.file, &checker, &err);
	if (r == 0)
		r = bj_rules_list(checker, &rules, &n, &err);
	if (r == 0)
		r = print_rules(&command, rules, n, &err);
	bj_checker_free(checker);
	if (r < 0) {
		fprintf(stderr, "belljar: %s\n", err.msg);
		return BJ_EXIT_FAILED;
	}
	return 0;
}

const struct bj_verb bj_verb_rules = {
	.name = "rules",
	.args = "[--layer LAYER] [--rules FILE] [--json]",
	.summary = "list every rule with an example that triggers it and one that does not",
	.example = "  belljar rules --layer secrets\n"
		   "  belljar rules --json",
	.options = OPTIONS,
	.run = run,
};
