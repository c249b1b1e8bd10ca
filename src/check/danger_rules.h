/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/layer.h"

/* The danger rules as tables; made by tools/gen-dangers from rules/python.yaml and rules/bash.yaml.
 * A key names what a rule looks at; the terms of the rule say under which conditions it holds. */

enum bj_danger_on {
	BJ_ON_CALL,     /* Python: a call of this dotted name */
	BJ_ON_IMPORT,   /* Python: this module is brought in */
	BJ_ON_ATTR,     /* Python: a call of a method of this name on something unknown */
	BJ_ON_READ,     /* Python: this dotted name is used at all */
	BJ_ON_ASSIGN,   /* Python: this dotted name is assigned to; Bash: this variable is */
	BJ_ON_COMMAND,  /* Bash: this command runs */
	BJ_ON_REDIRECT, /* Bash: output or input goes to this path */
	BJ_ON_WORD,     /* Bash: a command gets this word */
	BJ_ON_SPECIAL,  /* found by code, named here to have its severity and text as data */
	BJ_ON_KINDS,
};

struct bj_danger_key {
	const char *name;
	uint64_t letters; /* that stand for themselves in it, see bj_danger_letters() */
	enum bj_danger_on on;
	uint32_t rule; /* index into bj_danger_rules */
};

#define BJ_DANGER_TERMS 8

/* What a condition of a Bash rule begins with. */
enum bj_danger_term {
	BJ_TERM_FLAG,
	BJ_TERM_NO_FLAG,
	BJ_TERM_ARG,
	BJ_TERM_ARG1,
	BJ_TERM_BARE,
	BJ_TERM_WORD,
	BJ_TERM_NO_WORD,
	BJ_TERM_FROM,
	BJ_TERM_TO,
	BJ_TERM_HOLDS,
	BJ_TERM_FED,
	BJ_TERM_DYNAMIC,
	BJ_TERM_LAST,
	BJ_TERM_OUTPUT,
	BJ_TERM_VALUE,
	BJ_TERM_IN,
	BJ_TERM_FEED,
	BJ_TERM_NOT_ONLY,
	BJ_TERM_NO_ARG1,
	BJ_TERM_UNFED,
	BJ_TERM_NO_ARG,
	BJ_TERM_NO_LAST,
	BJ_TERM_UNLESS,
	BJ_TERM_INPUT,
	BJ_TERM_NOT_FOR,
	BJ_TERM_OTHER_THAN,
	BJ_TERM_PROBE,
	BJ_TERM_NO_PROBE,
	BJ_TERMS,
};

/* A condition of a Bash rule that was read when belljar was built. */
struct bj_danger_condition {
	uint8_t term;      /* enum bj_danger_term */
	uint8_t rest;      /* where in the text it goes on behind that */
	uint16_t first, n; /* what stands between bars there, in bj_danger_alternatives */
};

/* One of several patterns with bars in between. */
struct bj_danger_alternative {
	uint64_t letters; /* see bj_danger_letters() */
	uint16_t start, len;
};

extern const struct bj_danger_alternative bj_danger_alternatives[];

struct bj_danger_terms {
	bool strict; /* only under the strict policy */
	const char *when[BJ_DANGER_TERMS + 1];
	struct bj_danger_condition conditions[BJ_DANGER_TERMS]; /* of Bash, same index */
};

extern const struct bj_rule bj_danger_rules[];
extern const struct bj_danger_terms bj_danger_terms[]; /* same index */
extern const size_t bj_n_danger_rules;

/* Sorted by name; those with wildcards apart, by what they are about. */
extern const struct bj_danger_key bj_python_keys[], bj_python_globs[];
extern const struct bj_danger_key bj_bash_keys[], bj_bash_globs[];
extern const size_t bj_n_python_keys, bj_n_python_globs, bj_n_bash_keys, bj_n_bash_globs;

/* Where those of one kind are among the ones with wildcards. */
struct bj_danger_part {
	size_t first, end;
};
extern const struct bj_danger_part bj_python_globs_on[BJ_ON_KINDS], bj_bash_globs_on[BJ_ON_KINDS];

/* What a danger pass works with. */
struct bj_danger_pass {
	const struct bj_check_request *request;
	const struct bj_call_rule *extra;
	size_t n_extra;
	struct bj_findings *findings;
	bool nested; /* the text is a string inside the script: hits are reported at @start */
	size_t start, end;
	unsigned depth;
	size_t *nested_left;         /* bytes of nested text that may still be read */
	struct hs_scratch **scratch; /* for patterns of the user; made when first needed */
};

/* Add a hit of rule @rule (an index), unless it is for the strict policy only and that is off. */
void bj_danger_hit(const struct bj_danger_pass *pass, uint32_t rule, size_t start, size_t end);

/* Add a hit of the rule that goes by @special. */
void bj_danger_special(const struct bj_danger_pass *pass, enum bj_language language,
		       const char *special, size_t start, size_t end);

/* A use of a name that rules of the user may be about. */
struct bj_danger_use {
	enum bj_language language;
	const char *name;
	bool import;
	size_t start, end;
	/* Whether some constant argument or word of it passes @test; with @whole, also all words
	 * of a command together. */
	bool (*any)(const struct bj_danger_use *use, bool whole,
		    bool (*test)(const void *ctx, const char *s, size_t len), const void *ctx);
	const void *ctx;
	uint32_t node;
};

/* Add a hit of every rule of the user on @use. */
void bj_danger_extra(const struct bj_danger_pass *pass, const struct bj_danger_use *use);

/* Check constant text that @tree hands to an interpreter at @node as a script of its own; hits are
 * reported at @node. Text inside text inside text ends at a fixed depth, and all nested text of
 * one script is no longer than the script and a bit: a variable used a thousand times is not read
 * a thousand times. */
int bj_danger_nested(const struct bj_danger_pass *outer, const struct bj_tree *tree, uint32_t node,
		     enum bj_language language, const char *text, size_t size, struct bj_err *err);

/* Where the keys begin that begin with a byte, and behind all of them where they end. */
extern const uint16_t bj_python_keys_at[257], bj_bash_keys_at[257];

/* The first key called @name in a sorted table, with its bj_..._keys_at; NULL: none. More may
 * follow it. */
const struct bj_danger_key *bj_danger_find(const struct bj_danger_key *keys, const uint16_t *at,
					   const char *name);

/* Whether @c in a pattern stands for itself. */
static inline bool bj_danger_is_plain(char c)
{
	static const bool special[256] = {
		['*'] = true, ['?'] = true, ['['] = true, [']'] = true, ['$'] = true, ['%'] = true
	};

	return !special[(unsigned char)c];
}

/* The bytes of [@s, @len) as a set of 64 places. */
static inline uint64_t bj_danger_letters(const char *s, size_t len)
{
	uint64_t set = 0;

	for (size_t i = 0; i < len; i++)
		set |= UINT64_C(1) << (s[i] & 63);
	return set;
}

/* Whether a text of @letters lacks one that @key asks for: then it does not fit. */
static inline bool bj_danger_lacks(const struct bj_danger_key *key, uint64_t letters)
{
	return (key->letters & ~letters) != 0;
}

/* Whether @text fits @pattern: '*' any bytes, '?' one byte, "[a-z*]" one of a set, '$' any
 * expansion of the shell, '%' one of a variable that the script never sets. */
bool bj_danger_glob(const char *pattern, size_t pattern_len, const char *text, size_t len);

/* The same for alternatives with bars in between. */
bool bj_danger_globs(const char *patterns, const char *text, size_t len);

int bj_dangers_python(const struct bj_danger_pass *pass, const struct bj_tree *tree,
		      struct bj_err *err);
int bj_dangers_bash(const struct bj_danger_pass *pass, const struct bj_tree *tree,
		    struct bj_err *err);

/* How folded shell text marks an expansion: MARK name MARK. */
#define BJ_MARK_KNOWN '\x01' /* a variable the script or the shell sets, or other output */
#define BJ_MARK_UNSET '\x03' /* a variable that nothing sets */
