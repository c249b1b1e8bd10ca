/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "check/danger_rules.h"
#include "check/patterns.h"
#include "check/python.h"
#include "check/sh_misread.h"

#include <errno.h>

/* The danger layer: what both languages share. */

const struct bj_rule *bj_rules_dangers(size_t *ret_n)
{
	*ret_n = bj_n_danger_rules;
	return bj_danger_rules;
}

void bj_danger_hit(const struct bj_danger_pass *pass, uint32_t rule, size_t start, size_t end)
{
	if (bj_danger_terms[rule].strict && pass->request->policy != BJ_POLICY_STRICT)
		return;
	if (pass->nested) {
		start = pass->start;
		end = pass->end;
	}
	/* A name with several meanings may lead to one rule more than once. */
	for (size_t i = pass->findings->n, back = 0; i > 0 && back < 8; i--, back++)
		if (pass->findings->items[i - 1].rule == &bj_danger_rules[rule] &&
		    pass->findings->items[i - 1].start == start)
			return;
	bj_findings_add(pass->findings, &bj_danger_rules[rule], start, end, NULL);
}

void bj_danger_special(const struct bj_danger_pass *pass, enum bj_language language,
		       const char *special, size_t start, size_t end)
{
	const bool py = language == BJ_LANG_PYTHON;
	const struct bj_danger_key *keys = py ? bj_python_keys : bj_bash_keys;
	const size_t n = py ? bj_n_python_keys : bj_n_bash_keys;

	for (size_t i = 0; i < n; i++)
		if (keys[i].on == BJ_ON_SPECIAL && !strcmp(keys[i].name, special))
			bj_danger_hit(pass, keys[i].rule, start, end);
}

static bool fits_globs(const void *ctx, const char *s, size_t len)
{
	return bj_danger_globs(ctx, s, len);
}

/* A rule's pattern and what it takes to match it. */
struct matcher {
	const struct bj_call_rule *rule;
	hs_scratch_t **scratch;
};

static bool fits_pattern(const void *ctx, const char *s, size_t len)
{
	const struct matcher *m = ctx;

	return bj_patterns_match(m->rule->patterns, m->rule->pattern_id, s, len, m->scratch);
}

static bool holds_for(const struct bj_danger_pass *pass, const struct bj_call_rule *rule,
		      const struct bj_danger_use *use)
{
	const struct matcher m = { .rule = rule, .scratch = pass->scratch };

	if (rule->argument && !use->any(use, false, fits_globs, rule->argument))
		return false;
	return !rule->patterns || use->any(use, true, fits_pattern, &m);
}

void bj_danger_extra(const struct bj_danger_pass *pass, const struct bj_danger_use *use)
{
	for (size_t i = 0; i < pass->n_extra; i++) {
		const struct bj_call_rule *rule = &pass->extra[i];

		if (rule->rule.language != BJ_RULE_ANY &&
		    rule->rule.language != (enum bj_rule_language)use->language)
			continue;
		if (rule->import != use->import ||
		    !bj_danger_globs(rule->call, use->name, strlen(use->name)) ||
		    !holds_for(pass, rule, use))
			continue;
		bj_findings_add(pass->findings, &rule->rule,
				pass->nested ? pass->start : use->start,
				pass->nested ? pass->end : use->end, NULL);
	}
}

/* strcmp() of two names that begin with the same byte; most differ in the next one. */
static inline int compare_names(const char *a, const char *b)
{
	const int differ = (unsigned char)a[1] - (unsigned char)b[1];

	return differ ? differ : strcmp(a, b);
}

const struct bj_danger_key *bj_danger_find(const struct bj_danger_key *keys, const uint16_t *at,
					   const char *name)
{
	const unsigned char first = (unsigned char)name[0];
	size_t lo = at[first], hi = at[first + 1];
	const size_t end = hi;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (compare_names(keys[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < end && !compare_names(keys[lo].name, name) ? &keys[lo] : NULL;
}

/* The length of the expansion at @text that @wanted ('$' or '%') stands for; 0: none. */
static size_t expansion(char wanted, const char *text, size_t len)
{
	if (!len || (text[0] != BJ_MARK_UNSET && (wanted == '%' || text[0] != BJ_MARK_KNOWN)))
		return 0;

	const char *end = memchr(text + 1, text[0], len - 1);

	return end ? (size_t)(end - text) + 1 : 0;
}

/* The set "[a-z*]" at @pattern: its length, and whether @c is in it. */
static size_t in_set(const char *pattern, size_t len, char c, bool *ret_in)
{
	const char *end = memchr(pattern, ']', len);

	*ret_in = false;
	for (const char *p = pattern + 1; end && p < end; p++) {
		if (p + 2 < end && p[1] == '-') {
			*ret_in |= c >= p[0] && c <= p[2];
			p += 2;
		} else {
			*ret_in |= c == *p;
		}
	}
	return end ? (size_t)(end - pattern) + 1 : 1;
}

/* How many bytes of @text the next part of @pattern stands for; 0: it does not fit. *@ret_step is
 * the length of that part. */
static size_t fits(const char *pattern, size_t pattern_len, const char *text, size_t len,
		   size_t *ret_step)
{
	bool in = false;

	*ret_step = 1;
	if (!len || !pattern_len)
		return 0;
	if (pattern[0] == '$' || pattern[0] == '%')
		return expansion(pattern[0], text, len);
	if (pattern[0] == '[') {
		*ret_step = in_set(pattern, pattern_len, text[0], &in);
		return in;
	}
	return pattern[0] == '?' || pattern[0] == text[0];
}

/* Nearly all that does not fit differs at its first or its last byte. */
static bool ends_differ(const char *pattern, size_t pattern_len, const char *text, size_t len)
{
	return pattern_len && len &&
	       ((pattern[0] != text[0] && bj_danger_is_plain(pattern[0])) ||
		(pattern[pattern_len - 1] != text[len - 1] &&
		 bj_danger_is_plain(pattern[pattern_len - 1])));
}

bool bj_danger_glob(const char *pattern, size_t pattern_len, const char *text, size_t len)
{
	if (ends_differ(pattern, pattern_len, text, len))
		return false;

	size_t p = 0, t = 0, star = SIZE_MAX, from = 0, step;

	while (t < len || p < pattern_len) {
		if (p < pattern_len && t < len && pattern[p] == text[t] &&
		    bj_danger_is_plain(pattern[p])) {
			p++;
			t++;
			continue;
		}
		if (p < pattern_len && pattern[p] == '*') {
			star = p++;
			from = t;
			continue;
		}

		const size_t n = fits(pattern + p, pattern_len - p, text + t, len - t, &step);

		if (n) {
			p += step;
			t += n;
			continue;
		}
		if (star == SIZE_MAX || from >= len)
			return false;
		p = star + 1;
		t = ++from;
		/* Nowhere before the byte behind the star can the rest begin. */
		if (p < pattern_len && bj_danger_is_plain(pattern[p])) {
			const char *next = memchr(text + t, pattern[p], len - t);

			if (!next)
				return false;
			t = from = (size_t)(next - text);
		}
	}
	return true;
}

bool bj_danger_globs(const char *patterns, const char *text, size_t len)
{
	for (;;) {
		const char *bar = strchrnul(patterns, '|');

		if ((!len || patterns[0] == text[0] || !bj_danger_is_plain(patterns[0]) ||
		     bar == patterns) &&
		    bj_danger_glob(patterns, (size_t)(bar - patterns), text, len))
			return true;
		if (!*bar)
			return false;
		patterns = bar + 1;
	}
}

#define DEPTH_MAX 3

int bj_danger_nested(const struct bj_danger_pass *outer, const struct bj_tree *tree, uint32_t node,
		     enum bj_language language, const char *text, size_t size, struct bj_err *err)
{
	struct bj_danger_pass pass = *outer;
	struct bj_tree inner;

	if (pass.depth >= DEPTH_MAX || !size)
		return 0;
	if (size > *pass.nested_left) {
		*pass.nested_left = 0;
		bj_danger_special(&pass, tree->language, "gave-up", tree->nodes[node].start,
				  tree->nodes[node].end);
		return 0;
	}
	*pass.nested_left -= size;
	pass.depth++;
	if (!pass.nested) {
		pass.nested = true;
		pass.start = tree->nodes[node].start;
		pass.end = tree->nodes[node].end;
	}

	int r = bj_tree_init(&inner, language, text, size, err);

	if (r >= 0)
		r = bj_tree_understand(&inner, err);
	if (r >= 0)
		r = language == BJ_LANG_PYTHON ? bj_dangers_python(&pass, &inner, err)
					       : bj_dangers_bash(&pass, &inner, err);
	bj_tree_done(&inner);
	return r;
}

/* What the parser could not make sense of was not checked. When the interpreter refuses the
 * script as well, the engine drops these hits: nothing runs then. */
static void report_unparsed(const struct bj_danger_pass *pass, const struct bj_tree *tree)
{
	if (tree->gave_up) {
		bj_danger_special(pass, tree->language, "gave-up", 0, tree->size);
		return;
	}
	for (uint32_t i = 0; i < tree->n_nodes; i++)
		if (tree->nodes[i].kind == BJ_NODE_ERROR || tree->nodes[i].missing ||
		    (tree->language == BJ_LANG_BASH && bj_sh_is_misread(tree, i))) {
			bj_danger_special(pass, tree->language, "unparsed", tree->nodes[i].start,
					  tree->nodes[i].end);
			return;
		}
}

int bj_layer_dangers(const struct bj_check_request *request, const struct bj_tree *tree,
		     const struct bj_call_rule *extra, size_t n_extra, struct bj_findings *findings,
		     struct bj_err *err)
{
	size_t nested_left = tree->size + 4096;
	hs_scratch_t *scratch = NULL;
	const struct bj_danger_pass pass = {
		.request = request,
		.nested_left = &nested_left,
		.extra = extra,
		.n_extra = n_extra,
		.findings = findings,
		.scratch = &scratch,
	};

	report_unparsed(&pass, tree);

	const int r = tree->language == BJ_LANG_PYTHON ? bj_dangers_python(&pass, tree, err)
						       : bj_dangers_bash(&pass, tree, err);

	if (scratch)
		hs_free_scratch(scratch);
	if (r < 0)
		return r;
	return findings->failed ? bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot keep findings") : 0;
}
