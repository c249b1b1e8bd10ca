/* SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"
#include "fuzz.h"

#include "base/cleanup.h"
#include "check/patterns.h"
#include "check/tree.h"

#include <stdlib.h>

/* The syntax-tree layers on foreign bytes: the first byte picks the language and the policy. No
 * input may crash them, leave a tree that the layers cannot walk, or take longer than bound.h says.
 * Rules of the user look at what the built-in ones do: every call and import, with and without a
 * condition. */

#define USER_RULE .layer = "dangers", .language = BJ_RULE_ANY, .message = "fuzz"

static struct bj_call_rule extra[] = {
	{ .rule = { .id = "any-call", USER_RULE }, .call = "*" },
	{ .rule = { .id = "any-import", USER_RULE }, .call = "*", .import = true },
	{ .rule = { .id = "argument", USER_RULE }, .call = "*", .argument = "*[a-z]/*" },
	{ .rule = { .id = "pattern", USER_RULE }, .call = "*", .pattern = "(?i)rm\\s+-|[0-9]{3}" },
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void compile_patterns(void)
{
	struct bj_call_rule *rule = &extra[BJ_ARRAY_SIZE(extra) - 1];
	static struct bj_patterns *patterns;
	size_t bad;

	if (patterns)
		return;
	require(bj_patterns_new(&rule->pattern, 1, &patterns, &bad, NULL) == 0);
	rule->patterns = patterns;
}

/* What tree.h promises to whoever walks it. */
static void check_nodes(const struct bj_tree *tree)
{
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		const struct bj_node *n = &tree->nodes[i];
		const struct bj_node *parent = &tree->nodes[n->parent];

		require(n->start <= n->end && n->end <= tree->size);
		require(n->after > i && n->after <= tree->n_nodes);
		require(i == 0 ? n->parent == 0 : n->parent < i && n->after <= parent->after);
		require(n->next == 0 ||
			(n->next == n->after && tree->nodes[n->next].parent == n->parent));
	}
}

static void count_close(void *ctx, uint32_t node)
{
	uint32_t *n = ctx;

	(void)node;
	*n += 1;
}

static void check_findings(const struct bj_findings *findings, size_t size)
{
	require(!findings->failed);
	for (size_t i = 0; i < findings->n; i++)
		require(findings->items[i].rule &&
			findings->items[i].start <= findings->items[i].end &&
			findings->items[i].end <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	compile_patterns();

	const struct bj_check_request request = {
		.language = data[0] & 1 ? BJ_LANG_BASH : BJ_LANG_PYTHON,
		.policy = data[0] & 2 ? BJ_POLICY_STRICT : BJ_POLICY_DEFAULT,
		.text = (const char *)data + 1,
		.size = size - 1,
	};
	const size_t n_extra = data[0] & 4 ? BJ_ARRAY_SIZE(extra) : 0;
	struct bj_findings findings = { 0 };
	struct bj_modules modules = { 0 };
	struct bj_tree *tree = NULL;
	uint32_t closed = 0;
	const uint64_t start = bj_clock_cpu();

	require(bj_tree_new(&request, &tree, NULL) == 0);
	check_nodes(tree);
	bj_tree_walk(tree, count_close, &closed);
	require(closed == tree->n_nodes);
	require(bj_layer_dangers(&request, tree, extra, n_extra, &findings, NULL) == 0);
	require(bj_layer_imports(&request, tree, &findings, &modules, NULL) == 0);
	check_findings(&findings, request.size);
	/* A text that was not read to its end is never one without findings. */
	require(!tree->gave_up || findings.n > 0);
	bj_findings_done(&findings);
	bj_modules_done(&modules);
	bj_tree_free(tree);
	bj_bound_check(start, size);
	return 0;
}
