/* SPDX-License-Identifier: Apache-2.0 */
#include "check/tree.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "check/pieces.h"
#include "check/python.h"
#include "check/sh_mend.h"
#include "check/shell.h"
#include "check/tree_memory.h"

#include <errno.h>
#include <tree_sitter/api.h>

/* What the ways to parse a text may take of the processor: far above what honest text needs. A
 * script that needs more is not read to its end, and that is a finding. */
#define CLEAN_NS            1700000u
#define CLEAN_NS_PER_BYTE   500u
#define MENDING_NS          800000u /* all ways to mend a text */
#define MENDING_NS_PER_BYTE 250u
/* A text with errors: next to nothing for a byte, since tree-sitter may look at all of an error
 * again for each token, and enough for any script of ordinary length. */
#define ERRORS_NS          16000000u
#define ERRORS_NS_PER_BYTE 120u

/* Sanitizers make a parser slow, and that is no fault of the text. */
#ifdef BJ_SANITIZED
#define SLOWER 10u
#else
#define SLOWER 1u
#endif

static uint64_t clean_ns(size_t size)
{
	return SLOWER * (CLEAN_NS + CLEAN_NS_PER_BYTE * (uint64_t)size);
}

static uint64_t mending_ns(size_t size)
{
	return SLOWER * (MENDING_NS + MENDING_NS_PER_BYTE * (uint64_t)size);
}

/* NULL: it takes too long. */
static TSTree *read_with_errors(TSParser *parser, const struct bj_squeezed *text)
{
	const uint64_t most = SLOWER * (ERRORS_NS + ERRORS_NS_PER_BYTE * (uint64_t)text->size);

	return bj_tree_read_wrong(parser, text->text, (uint32_t)text->size, most);
}

/* 1: the text has errors that can be mended, and then has none, and that is the tree. 0: it has
 * others, or the time for it is over. -1: no memory. */
static int read_mended(struct bj_tree *tree, TSParser *parser, const struct bj_squeezed *text,
		       const struct bj_tree_marks *marks)
{
	const uint64_t end = bj_clock_cpu() + mending_ns(text->size);

	for (unsigned step = 0; step < BJ_SH_MENDS && bj_clock_cpu() < end; step++) {
		struct bj_squeezed mended = { 0 };
		size_t same;
		bool late;

		if (!bj_sh_mend(text, step, &mended, &same))
			continue;

		const TSTree *better =
			bj_tree_read_again(parser, mended.text, (uint32_t)mended.size,
					   mending_ns(mended.size), marks, (uint32_t)same, &late);
		const bool ok = better && bj_tree_flatten(better, mended.places, tree);

		bj_squeezed_done(&mended);
		if (better)
			return ok ? 1 : -1;
	}
	return 0;
}

/* What tree-sitter makes here goes with its memory: nothing is deleted piece by piece. */
static int parse_into(struct bj_tree *tree, const struct bj_squeezed *text, struct bj_err *err)
{
	const bool python = tree->language == BJ_LANG_PYTHON;
	TSParser *parser = ts_parser_new();
	struct bj_tree_marks *marks = NULL;
	bool late = false;

	if (!bj_tree_set_language(parser, tree->language))
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "the grammar does not fit libtree-sitter; build belljar again");

	const TSTree *parsed = bj_tree_read(parser, text->text, (uint32_t)text->size,
					    clean_ns(text->size), python ? NULL : &marks, &late);
	int r = !parsed && !late && !python ? read_mended(tree, parser, text, marks) : 0;

	if (r == 0 && !parsed)
		parsed = read_with_errors(parser, text);
	if (r == 0 && !parsed) {
		tree->gave_up = true;
		return 0;
	}
	/* That took long, and then there may still be errors. */
	if (r == 0 && late && !python && ts_node_has_error(ts_tree_root_node(parsed)))
		r = read_mended(tree, parser, text, marks);
	if (r == 0)
		r = bj_tree_flatten(parsed, text->places, tree) ? 1 : -1;
	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot keep the syntax tree");
	return 0;
}

int bj_tree_parse(struct bj_tree *tree, const struct bj_squeezed *text, struct bj_err *err)
{
	struct bj_tree_memory memory;

	bj_tree_memory_begin(&memory);

	const int r = parse_into(tree, text, err);

	/* From there on it may have read what Bash does not. */
	if (memory.lost)
		tree->gave_up = true;
	bj_tree_memory_end(&memory);
	return r;
}

int bj_tree_init(struct bj_tree *tree, enum bj_language language, const char *text, size_t size,
		 struct bj_err *err)
{
	struct bj_squeezed squeezed;

	*tree = (struct bj_tree){ .language = language, .text = text, .size = size };
	if (size > UINT32_MAX / 8)
		return bj_err_set(err, BJ_E_LIMIT, 0, "the script is too large to be read");
	if (!bj_squeeze(language, text, size, &squeezed))
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the script");

	const int r = bj_tree_parse(tree, &squeezed, err);

	bj_squeezed_done(&squeezed);
	return r;
}

void bj_tree_done(struct bj_tree *tree)
{
	bj_py_free(tree->py);
	bj_sh_free(tree->sh);
	bj_piece_free(tree->nodes);
	*tree = (struct bj_tree){ 0 };
}

int bj_tree_understand(struct bj_tree *tree, struct bj_err *err)
{
	return tree->language == BJ_LANG_PYTHON ? bj_py_new(tree, &tree->py, err)
						: bj_sh_new(tree, &tree->sh, err);
}

int bj_tree_new(const struct bj_check_request *request, struct bj_tree **ret, struct bj_err *err)
{
	struct bj_tree *tree = malloc(sizeof(*tree));

	if (!tree)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot keep the syntax tree");

	int r = bj_tree_init(tree, request->language, request->text, request->size, err);

	if (r >= 0)
		r = bj_tree_understand(tree, err);
	if (r < 0) {
		bj_tree_free(tree);
		return r;
	}
	*ret = tree;
	return 0;
}

void bj_tree_free(struct bj_tree *tree)
{
	if (!tree)
		return;
	bj_tree_done(tree);
	free(tree);
}

void bj_tree_walk(const struct bj_tree *tree, void (*close)(void *ctx, uint32_t node), void *ctx)
{
	uint32_t open = 0;

	for (uint32_t i = 1; i < tree->n_nodes; i++) {
		for (; open != tree->nodes[i].parent; open = tree->nodes[open].parent)
			close(ctx, open);
		open = i;
	}
	for (; open; open = tree->nodes[open].parent)
		close(ctx, open);
	if (tree->n_nodes)
		close(ctx, 0);
}
