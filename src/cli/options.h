/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Options of a verb as a table, so that parsing, --help, the nearest-flag hint and shell
 * completion cannot disagree. */

struct bj_option {
	const char *name;  /* long name without dashes */
	char letter;       /* short form, or 0 */
	const char *arg;   /* what the value is called in --help; NULL: the option takes none */
	const char *key;   /* the setting it overrides, or NULL */
	const char *value; /* value given to @key when the option takes no argument */
	const char *help;
};

/* A verb of the command line. */
struct bj_verb {
	const char *name;
	const char *args;    /* after the name in the usage line */
	const char *words;   /* what comes first, for completion; NULL: no fixed words */
	const char *summary; /* one line for `belljar --help` */
	const char *example; /* shown by --help */
	const struct bj_option *options; /* ends with a NULL name */
	int (*run)(int argc, char **argv);
	bool brief; /* somebody waits for its end (leave.h) */
};

extern const struct bj_verb bj_verb_run, bj_verb_check, bj_verb_rules, bj_verb_config,
	bj_verb_doctor, bj_verb_completion, bj_verb_gc, bj_verb_image, bj_verb_serve, bj_verb_ps,
	bj_verb_kill, bj_verb_top, bj_verb_audit, bj_verb_tenant, bj_verb_key, bj_verb_usage,
	bj_verb_tool, bj_verb_tools, bj_verb_mcp, bj_verb_history, bj_verb_show, bj_verb_rerun,
	bj_verb_diff, bj_verb_approve, bj_verb_deny;

extern const struct bj_verb *const bj_verbs[]; /* all of them, NULL-terminated */

/* One step of the parse. */
struct bj_parse {
	int argc;
	char **argv;
	int next;                       /* index of the next argument */
	const struct bj_option *option; /* the option just read; NULL: a plain argument */
	const char *value;              /* its value, or the plain argument */
	bool only_plain;                /* after "--" */
};

/* Read one argument: 1 when @p holds it, 0 at the end, negative with @err for an unknown option
 * (with the nearest one) or a missing value. `--help` is not special here: main() handles it. */
int bj_options_next(struct bj_parse *p, const struct bj_option *options, struct bj_err *err);

/* Print the help of @verb on stdout. */
void bj_options_help(const struct bj_verb *verb);

/* Exit statuses of belljar itself. */
enum {
	BJ_EXIT_TIMEOUT = 124,
	BJ_EXIT_FAILED = 125,
	BJ_EXIT_REJECTED = 126,
	BJ_EXIT_NO_INTERPRETER = 127
};
