/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/layer.h"

/* The syntax tree of one script as a flat array, in the order of the text: a node comes before its
 * children, the children of one node one after the other. Every walk is a loop over the array, so
 * no depth of nesting can overflow the stack.
 *
 * Kinds and fields are the numbers of the grammar (grammar_python.h, grammar_bash.h, made at build
 * time). Only named nodes and nodes with a field are kept; of punctuation, nothing is. */

#define BJ_NODE_ERROR UINT16_MAX

struct bj_node {
	uint16_t kind;
	uint8_t field;
	bool missing;        /* the parser made it up to go on */
	uint32_t start, end; /* bytes of the text */
	uint32_t parent;     /* index; the root is its own parent */
	uint32_t next;       /* the next sibling; 0: none */
	uint32_t after;      /* the first node that is not below this one */
};

struct bj_py;
struct bj_sh;

struct bj_tree {
	enum bj_language language;
	const char *text; /* borrowed */
	size_t size;
	struct bj_node *nodes;
	uint32_t n_nodes;
	bool gave_up;     /* the parser ran out of its budget: the nodes are not the whole */
	struct bj_py *py; /* Python only: what its names mean */
	struct bj_sh *sh; /* Bash only: its commands and variables */
};

/* Parse @text into *@tree, which bj_tree_done() empties. */
int bj_tree_init(struct bj_tree *tree, enum bj_language language, const char *text, size_t size,
		 struct bj_err *err);
void bj_tree_done(struct bj_tree *tree);

/* Fill tree->py or tree->sh. */
int bj_tree_understand(struct bj_tree *tree, struct bj_err *err);

/* The same from a text that was squeezed already, for tree->text. */
struct bj_squeezed;
int bj_tree_parse(struct bj_tree *tree, const struct bj_squeezed *text, struct bj_err *err);

/* Fill the nodes of *@tree from what tree-sitter made. @places: from the bytes that were parsed to
 * the bytes of the script. False: no memory. */
struct TSTree;
struct TSParser;
bool bj_tree_flatten(const struct TSTree *parsed, const uint32_t *places, struct bj_tree *tree);

/* Let @parser read @language, in the memory of this parse. False: it does not fit the parser. */
bool bj_tree_set_language(struct TSParser *parser, enum bj_language language);

/* Parse @text if it has no error. NULL: it has one, or (*@ret_late) needs more than @budget
 * nanoseconds of the processor. *@ret_marks: for bj_tree_read_again(), in the
 * memory of this parse; NULL: there is no need for them. */
struct bj_tree_marks;
struct TSTree *bj_tree_read(struct TSParser *parser, const char *text, uint32_t size,
			    uint64_t budget, struct bj_tree_marks **ret_marks, bool *ret_late);

/* The same for a text whose first @same bytes are those of the one that @marks come from: most of
 * them are not read again. */
struct TSTree *bj_tree_read_again(struct TSParser *parser, const char *text, uint32_t size,
				  uint64_t budget, const struct bj_tree_marks *marks, uint32_t same,
				  bool *ret_late);

/* Parse @text whatever errors it has, as ts_parser_parse() would; but the tree is not made fit for
 * being changed later. NULL: it needs more than @budget nanoseconds of the processor. */
struct TSTree *bj_tree_read_wrong(struct TSParser *parser, const char *text, uint32_t size,
				  uint64_t budget);

/* The first child of @node, 0: none. */
static inline uint32_t bj_node_child(const struct bj_tree *tree, uint32_t node)
{
	const uint32_t c = node + 1;

	return c < tree->n_nodes && tree->nodes[c].parent == node ? c : 0;
}

/* The first child of @node in @field, 0: none. */
static inline uint32_t bj_node_field(const struct bj_tree *tree, uint32_t node, unsigned field)
{
	uint32_t c = bj_node_child(tree, node);

	while (c && tree->nodes[c].field != field)
		c = tree->nodes[c].next;
	return c;
}

/* The first child of @node of @kind, 0: none. */
static inline uint32_t bj_node_kind(const struct bj_tree *tree, uint32_t node, unsigned kind)
{
	uint32_t c = bj_node_child(tree, node);

	while (c && tree->nodes[c].kind != kind)
		c = tree->nodes[c].next;
	return c;
}

/* Call @close(@ctx, node) for every node after all of its children. */
void bj_tree_walk(const struct bj_tree *tree, void (*close)(void *ctx, uint32_t node), void *ctx);
