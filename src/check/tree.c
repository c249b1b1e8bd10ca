/* SPDX-License-Identifier: Apache-2.0 */
#include "check/tree.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "check/python.h"

#include <ctype.h>
#include <errno.h>
#include <time.h>
#include <tree_sitter/api.h>

/* What a parse may take of the processor: far above what honest text needs. A script that needs
 * more is not read to its end, and that is a finding. */
#define BUDGET_NS          10000000u
#define BUDGET_NS_PER_BYTE 2000u
#define SLICE_US           5000 /* the parser looks at the clock on the wall, so ask it often */

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_bash(void);

static inline void cleanup_parser(TSParser **parser)
{
	if (*parser)
		ts_parser_delete(*parser);
}

static inline void cleanup_ts_tree(TSTree **tree)
{
	if (*tree)
		ts_tree_delete(*tree);
}

/* The flat array while it grows. */
struct flat {
	struct bj_node *nodes;
	uint32_t n, room;
};

static bool flat_add(struct flat *flat, const struct bj_node *node)
{
	if (flat->n == flat->room) {
		const uint32_t room = flat->room ? flat->room * 2 : 1024;
		struct bj_node *nodes = realloc(flat->nodes, room * sizeof(*nodes));

		if (!nodes)
			return false;
		flat->nodes = nodes;
		flat->room = room;
	}
	flat->nodes[flat->n++] = *node;
	return true;
}

/* The path from the root to the cursor: which node of the array is the parent of what comes, and
 * which is the sibling before it. */
struct path {
	struct level {
		uint32_t parent, last;
	} * levels;
	size_t n, room;
};

static bool path_push(struct path *path, uint32_t parent)
{
	if (path->n == path->room) {
		const size_t room = path->room ? path->room * 2 : 64;
		struct level *levels = realloc(path->levels, room * sizeof(*levels));

		if (!levels)
			return false;
		path->levels = levels;
		path->room = room;
	}
	path->levels[path->n++] = (struct level){ .parent = parent };
	return true;
}

static bool add_current(struct flat *flat, struct path *path, TSTreeCursor *cursor)
{
	const TSNode node = ts_tree_cursor_current_node(cursor);
	const TSSymbol symbol = ts_node_symbol(node);
	const bool missing = ts_node_is_missing(node);
	const TSFieldId field = ts_tree_cursor_current_field_id(cursor);
	struct level *level = &path->levels[path->n - 1];

	if (!ts_node_is_named(node) && !field && !missing && !ts_node_child_count(node))
		return true;

	const struct bj_node mine = {
		.kind = symbol,
		.field = (uint8_t)field,
		.missing = missing,
		.start = ts_node_start_byte(node),
		.end = ts_node_end_byte(node),
		.parent = level->parent,
	};

	if (level->last)
		flat->nodes[level->last].next = flat->n;
	level->last = flat->n;
	return flat_add(flat, &mine);
}

static bool flatten_from(TSTreeCursor *cursor, struct flat *flat, struct path *path)
{
	if (!path_push(path, 0))
		return false;
	for (;;) {
		if (!add_current(flat, path, cursor))
			return false;
		if (ts_tree_cursor_goto_first_child(cursor)) {
			if (!path_push(path, flat->n - 1))
				return false;
			continue;
		}
		while (!ts_tree_cursor_goto_next_sibling(cursor)) {
			if (!ts_tree_cursor_goto_parent(cursor))
				return true;
			path->n--;
		}
	}
}

static void set_after(struct bj_node *nodes, uint32_t n)
{
	for (uint32_t i = n; i-- > 0;) {
		struct bj_node *up = &nodes[nodes[i].parent];

		if (nodes[i].after <= i)
			nodes[i].after = i + 1;
		if (up->after < nodes[i].after)
			up->after = nodes[i].after;
	}
}

static int flatten(const TSTree *parsed, struct bj_tree *tree, struct bj_err *err)
{
	struct flat flat = { 0 };
	struct path path = { 0 };
	TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(parsed));
	const bool ok = flatten_from(&cursor, &flat, &path);

	ts_tree_cursor_delete(&cursor);
	free(path.levels);
	if (!ok) {
		free(flat.nodes);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot keep the syntax tree");
	}
	set_after(flat.nodes, flat.n);
	tree->nodes = flat.nodes;
	tree->n_nodes = flat.n;
	return 0;
}

static uint64_t cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* NULL: the budget is spent. A parser that was stopped goes on where it was. */
static TSTree *parse(TSParser *parser, const char *text, size_t size)
{
	const uint64_t end = cpu_now() + BUDGET_NS + BUDGET_NS_PER_BYTE * (uint64_t)size;
	TSTree *tree;

	ts_parser_set_timeout_micros(parser, SLICE_US);
	do
		tree = ts_parser_parse_string(parser, NULL, text, (uint32_t)size);
	while (!tree && cpu_now() < end);
	return tree;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "for NAME do": where its last blank is; 0: it is something else. */
static size_t for_do(const char *s, size_t left)
{
	size_t i = 4;

	if (left < 8 || memcmp(s, "for ", 4) != 0)
		return 0;
	while (i < left && is_name(s[i]))
		i++;
	if (i == 4 || i + 3 >= left || memcmp(s + i, " do", 3) != 0 || is_name(s[i + 3]))
		return 0;
	return i;
}

/* What bash accepts and the grammar does not, written in another way of the same length, so that
 * every byte stays where it is: "<>", "for x do", "= ~". NULL: there is none of it. */
static char *mend(const char *text, size_t size)
{
	char *copy = malloc(size + 1);
	bool changed = false;

	if (!copy)
		return NULL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	for (size_t i = 0; i + 3 < size; i++) {
		const size_t blank = for_do(text + i, size - i);

		if (!memcmp(text + i, "<>", 2))
			copy[i + 1] = ' ';
		else if (!memcmp(text + i, "= ~", 3))
			copy[i + 2] = 'h';
		else if (blank && (!i || !is_name(text[i - 1])))
			copy[i + blank] = ';';
		else
			continue;
		changed = true;
	}
	if (changed)
		return copy;
	free(copy);
	return NULL;
}

/* When the text has errors that can be mended, and then has none, that is the tree. */
static TSTree *parse_mended(TSParser *parser, const char *text, size_t size)
{
	AUTO_FREE char *mended = mend(text, size);
	TSTree *tree = NULL;

	if (!mended)
		return NULL;
	ts_parser_reset(parser);
	tree = parse(parser, mended, size);
	if (tree && ts_node_has_error(ts_tree_root_node(tree))) {
		ts_tree_delete(tree);
		return NULL;
	}
	return tree;
}

int bj_tree_init(struct bj_tree *tree, enum bj_language language, const char *text, size_t size,
		 struct bj_err *err)
{
	__attribute__((cleanup(cleanup_parser))) TSParser *parser = ts_parser_new();
	__attribute__((cleanup(cleanup_ts_tree))) TSTree *parsed = NULL;

	*tree = (struct bj_tree){ .language = language, .text = text, .size = size };
	if (size > UINT32_MAX / 8)
		return bj_err_set(err, BJ_E_LIMIT, 0, "the script is too large to be read");
	if (!parser ||
	    !ts_parser_set_language(parser, language == BJ_LANG_PYTHON ? tree_sitter_python()
								       : tree_sitter_bash()))
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "the grammar does not fit libtree-sitter; build belljar again");
	parsed = parse(parser, text, size);
	if (!parsed) {
		tree->gave_up = true;
		return 0;
	}
	if (language == BJ_LANG_BASH && ts_node_has_error(ts_tree_root_node(parsed))) {
		TSTree *mended = parse_mended(parser, text, size);

		if (mended) {
			ts_tree_delete(parsed);
			parsed = mended;
		}
	}
	return flatten(parsed, tree, err);
}

void bj_tree_done(struct bj_tree *tree)
{
	bj_py_free(tree->py);
	free(tree->nodes);
	*tree = (struct bj_tree){ 0 };
}

int bj_tree_new(const struct bj_check_request *request, struct bj_tree **ret, struct bj_err *err)
{
	struct bj_tree *tree = malloc(sizeof(*tree));

	if (!tree)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot keep the syntax tree");

	int r = bj_tree_init(tree, request->language, request->text, request->size, err);

	if (r >= 0 && request->language == BJ_LANG_PYTHON)
		r = bj_py_new(tree, &tree->py, err);
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
