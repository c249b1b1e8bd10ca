/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/check.h"

/* What the layers of the check share. Inside this module only.
 *
 * A layer reads the text and adds hits: which rule, and from which byte to which. check.c turns
 * hits into findings: it counts lines and columns in one pass, masks the source line, and decides
 * what blocks. So no layer knows about policies, and none can leak a secret. */

/* What a rule's code gets at. The strict policy blocks every one of these. */
enum bj_access {
	BJ_ACCESS_FILE = 1 << 0,
	BJ_ACCESS_NETWORK = 1 << 1,
	BJ_ACCESS_PROCESS = 1 << 2,
	BJ_ACCESS_CODE = 1 << 3, /* runs text or bytes as code */
};

enum bj_rule_language {
	BJ_RULE_ANY = -1,
	BJ_RULE_PYTHON = BJ_LANG_PYTHON,
	BJ_RULE_BASH = BJ_LANG_BASH
};

/* One rule, from rules/ or from the user's file. */
struct bj_rule {
	const char *id;    /* stable: "py-eval", "sh-rm-root", "secret-aws-access-key" */
	const char *layer; /* "secrets", "dangers", "imports", ... */
	enum bj_rule_language language;
	enum bj_severity severity;
	unsigned access;      /* enum bj_access, or 0 */
	const char *message;  /* one sentence */
	const char *positive; /* an example that triggers it, by this id */
	const char *negative; /* one that looks alike and does not */
	/* In both, \xNN is one byte, and \{N} stands for N times the byte before it: what no text
	 * can show. */
	bool coded;
};

/* One place where a rule fired. */
struct bj_hit {
	const struct bj_rule *rule; /* borrowed: lives as long as the checker */
	size_t start, end;          /* bytes of the text */
	char *message;              /* NULL: the rule's own */
};

/* Hits of one check, in any order. Zero is a valid empty list. Growth without memory sets
 * @failed; the caller checks once, at the end. */
struct bj_findings {
	struct bj_hit *items;
	size_t n;
	uint32_t room;
	bool failed;
};

/* Add a hit of @rule on the bytes [@start, @end). @message replaces the rule's own; it is
 * copied, NULL is fine. */
void bj_findings_add(struct bj_findings *findings, const struct bj_rule *rule, size_t start,
		     size_t end, const char *message);
void bj_findings_done(struct bj_findings *findings);

/* Names of modules, each once, in order of first use. Zero is a valid empty list. */
struct bj_modules {
	char **items;
	size_t n;
	bool failed;
};

void bj_modules_add(struct bj_modules *modules, const char *name);
void bj_modules_done(struct bj_modules *modules);

/* A danger rule of the user: a call by its full name, or an import. Python: the dotted name after
 * aliases are resolved ("os.system"); Bash: the command word ("shutdown"). */
struct bj_call_rule {
	struct bj_rule rule;
	const char *call;
	const char *argument; /* NULL, or what some constant argument must fit */
	const char *pattern;  /* NULL, or what must match in a constant argument or the command */
	const struct bj_patterns *patterns; /* where it is compiled, with @pattern_id */
	uint32_t pattern_id;
	bool import; /* @call is a module that Python brings in */
};

/* The syntax tree of one script: parsed once, read by both layers below. */
struct bj_tree;

int bj_tree_new(const struct bj_check_request *request, struct bj_tree **ret, struct bj_err *err);
void bj_tree_free(struct bj_tree *tree); /* NULL is fine */

/* Add a hit for every danger in the tree, by the built-in rules and by @extra. Policy is not its
 * business: hits below "high" are added too. */
int bj_layer_dangers(const struct bj_check_request *request, const struct bj_tree *tree,
		     const struct bj_call_rule *extra, size_t n_extra, struct bj_findings *findings,
		     struct bj_err *err);

/* Add a hit, with the message "Security policy blocked import: {module}", for every use of a
 * module on request->blocked_imports (NULL: the built-in list; under the strict policy the
 * modules of the strict list as well), and the module's name to @modules. request->imports is
 * not its business. Bash has no imports. */
int bj_layer_imports(const struct bj_check_request *request, const struct bj_tree *tree,
		     struct bj_findings *findings, struct bj_modules *modules, struct bj_err *err);

/* The built-in rules of these layers, for `belljar rules` and for tests. */
const struct bj_rule *bj_rules_dangers(size_t *ret_n);
const struct bj_rule *bj_rules_imports(size_t *ret_n);
