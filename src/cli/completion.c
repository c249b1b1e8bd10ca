/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/options.h"
#include "config/settings.h"

#include <stdio.h>
#include <string.h>

/* Completion scripts come from the tables of verbs and options, so a new option is completed
 * without anybody thinking of it. */

static const struct bj_option OPTIONS[] = { { 0 } };

/* Does the option take a file or a directory? Then the shell completes names by itself. */
static bool takes_file(const struct bj_option *o)
{
	return o->arg && (strncmp(o->arg, "FILE", 4) == 0 || strncmp(o->arg, "DIR", 3) == 0);
}

static const char *const *choices_of(const struct bj_option *o)
{
	return o->arg && o->key ? bj_settings_choices(o->key) : NULL;
}

static void add_words(struct bj_buf *buf, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		bj_buf_printf(buf, "%s%s", i ? " " : "", words[i]);
}

/* @text between single quotes; what stands in @special gets a backslash first. */
static void add_quoted(struct bj_buf *buf, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'') {
			bj_buf_puts(buf, "'\\''");
			continue;
		}
		if (strchr(special, *text))
			bj_buf_puts(buf, "\\");
		bj_buf_add(buf, text, 1);
	}
}

/* The patterns match VERB:PREVIOUS:CURRENT. */
static void bash_verb(struct bj_buf *buf, const struct bj_verb *verb)
{
	for (const struct bj_option *o = verb->options; o->name; o++) {
		const char *const *choices = choices_of(o);

		if (!choices)
			continue;
		bj_buf_printf(buf, "\t%s:--%s:*) words='", verb->name, o->name);
		add_words(buf, choices);
		bj_buf_puts(buf, "' ;;\n");
	}
	if (verb->words)
		bj_buf_printf(buf, "\t%s:%s:[!-]*|%s:%s:) words='%s' ;;\n", verb->name, verb->name,
			      verb->name, verb->name, verb->words);
	bj_buf_printf(buf, "\t%s:*:-*) words='", verb->name);
	for (const struct bj_option *o = verb->options; o->name; o++)
		bj_buf_printf(buf, "--%s ", o->name);
	bj_buf_puts(buf, "--help' ;;\n");
}

static void bash(struct bj_buf *buf)
{
	bj_buf_puts(buf, "_belljar() {\n"
			 "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words=''\n"
			 "\tlocal at=${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD-1]}:$cur\n"
			 "\t[ \"$COMP_CWORD\" -gt 1 ] || at=verb\n"
			 "\tcase $at in\n"
			 "\tverb) words='");
	for (size_t i = 0; bj_verbs[i]; i++)
		bj_buf_printf(buf, "%s%s", i ? " " : "", bj_verbs[i]->name);
	bj_buf_puts(buf, "' ;;\n");
	for (size_t i = 0; bj_verbs[i]; i++)
		bash_verb(buf, bj_verbs[i]);
	bj_buf_puts(buf, "\tesac\n"
			 "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
			 "}\n"
			 "complete -o default -F _belljar belljar\n");
}

static void zsh_option(struct bj_buf *buf, const struct bj_option *o)
{
	const char *const *choices = choices_of(o);

	bj_buf_printf(buf, " \\\n\t\t'*--%s%s[", o->name, o->arg ? "=" : "");
	add_quoted(buf, o->help, "[]:\\");
	bj_buf_puts(buf, "]");
	if (o->arg)
		bj_buf_printf(buf, ":%s:", o->arg);
	if (choices) {
		bj_buf_puts(buf, "(");
		add_words(buf, choices);
		bj_buf_puts(buf, ")");
	} else if (takes_file(o)) {
		bj_buf_puts(buf, "_files");
	}
	bj_buf_puts(buf, "'");
}

static void zsh(struct bj_buf *buf)
{
	bj_buf_puts(buf, "#compdef belljar\n_belljar() {\n\tlocal -a verbs=(");
	for (size_t i = 0; bj_verbs[i]; i++) {
		bj_buf_printf(buf, "\n\t\t'%s:", bj_verbs[i]->name);
		add_quoted(buf, bj_verbs[i]->summary, ":\\");
		bj_buf_puts(buf, "'");
	}
	bj_buf_puts(buf,
		    "\n\t)\n"
		    "\tif (( CURRENT == 2 )); then\n\t\t_describe verb verbs\n\t\treturn\n\tfi\n"
		    "\tlocal verb=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n"
		    "\tcase $verb in\n");
	for (size_t i = 0; bj_verbs[i]; i++) {
		bj_buf_printf(buf, "\t%s) _arguments '*:file:_files' '--help[show help]'",
			      bj_verbs[i]->name);
		if (bj_verbs[i]->words)
			bj_buf_printf(buf, " '1:what:(%s)'", bj_verbs[i]->words);
		for (const struct bj_option *o = bj_verbs[i]->options; o->name; o++)
			zsh_option(buf, o);
		bj_buf_puts(buf, " ;;\n");
	}
	bj_buf_puts(buf, "\tesac\n}\n"
			 "if [ \"$funcstack[1]\" = _belljar ]; then\n\t_belljar \"$@\"\n"
			 "else\n\tcompdef _belljar belljar\nfi\n");
}

static void fish_option(struct bj_buf *buf, const struct bj_verb *verb, const struct bj_option *o)
{
	const char *const *choices = choices_of(o);

	bj_buf_printf(buf, "complete -c belljar -n '__fish_seen_subcommand_from %s' -l %s",
		      verb->name, o->name);
	if (o->letter)
		bj_buf_printf(buf, " -s %c", o->letter);
	if (o->arg)
		bj_buf_puts(buf, takes_file(o) ? " -r -F" : " -x");
	if (choices) {
		bj_buf_puts(buf, " -a '");
		add_words(buf, choices);
		bj_buf_puts(buf, "'");
	}
	bj_buf_puts(buf, " -d '");
	add_quoted(buf, o->help, "\\");
	bj_buf_puts(buf, "'\n");
}

static void fish(struct bj_buf *buf)
{
	for (size_t i = 0; bj_verbs[i]; i++) {
		bj_buf_printf(buf, "complete -c belljar -f -n __fish_use_subcommand -a %s -d '",
			      bj_verbs[i]->name);
		add_quoted(buf, bj_verbs[i]->summary, "\\");
		bj_buf_puts(buf, "'\n");
		if (bj_verbs[i]->words)
			bj_buf_printf(buf,
				      "complete -c belljar -f -n '__fish_seen_subcommand_from %s; "
				      "and test (count (commandline -opc)) -eq 2' -a '%s'\n",
				      bj_verbs[i]->name, bj_verbs[i]->words);
		for (const struct bj_option *o = bj_verbs[i]->options; o->name; o++)
			fish_option(buf, bj_verbs[i], o);
	}
}

static const struct {
	const char *name;
	void (*write)(struct bj_buf *buf);
} SHELLS[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

static int write_for(const char *shell)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(SHELLS); i++) {
		AUTO_BUF struct bj_buf buf = { 0 };

		if (strcmp(SHELLS[i].name, shell) != 0)
			continue;
		SHELLS[i].write(&buf);
		if (buf.failed || fputs(buf.data, stdout) < 0 || fflush(stdout) != 0) {
			fprintf(stderr, "belljar: cannot write to standard output\n");
			return BJ_EXIT_FAILED;
		}
		return 0;
	}
	fprintf(stderr, "belljar: no completion for %.40s; there is bash, zsh and fish\n", shell);
	return BJ_EXIT_FAILED;
}

static int run(int argc, char **argv)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	const char *shell = NULL;
	struct bj_err err;
	int r;

	while ((r = bj_options_next(&p, OPTIONS, &err)) > 0 && !shell)
		shell = p.value;
	if (r < 0) {
		fprintf(stderr, "belljar: %s\n", err.msg);
		return BJ_EXIT_FAILED;
	}
	if (r > 0 || !shell) {
		fprintf(stderr, "belljar: name one shell: belljar completion bash|zsh|fish\n");
		return BJ_EXIT_FAILED;
	}
	return write_for(shell);
}

const struct bj_verb bj_verb_completion = {
	.name = "completion",
	.args = "bash|zsh|fish",
	.words = "bash zsh fish",
	.summary = "print the completion script of a shell",
	.example = "  source <(belljar completion bash)",
	.options = OPTIONS,
	.run = run,
};
