/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A parser for texts without errors, quick where they can be read in one way only, which is nearly
 * everywhere. Part of tree_core.c: it knows the inside of tree-sitter.
 *
 * tree-sitter keeps several readings of a text at once, on a stack that is a graph, and pays for
 * that at every token. While there is one reading and one thing to do, its tables can be followed
 * with a plain array. The array holds what lies above the graph's only version. A token is taken
 * whole or not at all: if in the middle of it there is a choice or something rare, the array goes
 * back to what it was before that token, moves to the graph, and tree-sitter itself goes on until
 * one reading is left again. So all that is ambiguous is decided by tree-sitter, and the trees are
 * the same (tests/unit/check/test_quick.c compares them). Nodes lack what only errors and changes
 * of a text have use for: at the first error the whole is given up. */

#define QUICK_DEPTH 512   /* how much of the graph can be taken back into the array in one go */
#define QUICK_LARGE 32768 /* entries */
#define QUICK_CLOCK 4096  /* work between two looks at the clock */
#define QUICK_TOKEN 8     /* the work of a token, beside one for each byte that is looked at */

struct quick_entry {
	Subtree tree;
	uint32_t end;    /* of @tree, a byte of the text */
	TSStateId state; /* after @tree */
	/* A hidden node that only stands for @tree and was not made, see quick_rename(). 0: none.
	 */
	TSSymbol stands;
};

struct quick {
	TSParser *parser;
	const TSLanguage *language;
	const struct bj_lexer_table *tokens, *words;
	const char *text;
	uint32_t size;
	/* In use: from base to n. Below it lies what the top of the graph is, but for its tree. */
	struct quick_entry *entries;
	uint32_t base, n, room;
	uint32_t plain;      /* from this entry on there is none that belongs to no rule */
	uint32_t question;   /* which language's, see quick_plan() */
	TSStateId state;     /* on top of the array, or of the graph when that is empty */
	uint64_t end;        /* of the time, see bj_clock_cpu() */
	uint32_t work;       /* since the latest look at the clock */
	uint64_t ghost_work; /* of looking ahead, see tree_choice.h */
	bool late;
	uint32_t at;      /* byte of the text */
	uint32_t seen;    /* the byte after the last one that anything so far depends on */
	Subtree external; /* the latest token of the grammar's own scanner */

	/* The latest token, where its padding begins and what was external before it. */
	Subtree token, token_external;
	uint32_t token_at;

	/* What the current token has overwritten: entries from low to top, the last one first. */
	struct quick_entry *saved;
	uint32_t low, top, room_saved;
	uint32_t plain_before;
	TSStateId state_before;

	/* Where to begin once more, see tree_marks.h. */
	struct bj_tree_marks *marks; /* NULL: nobody wants to */
	uint32_t next_mark;          /* a byte of the text */

	/* The scanner of Python's grammar is as it was set for @scanned: a scan that finds nothing
	 * leaves it alone. */
	bool python, is_set;
	Subtree scanned;
};

const TSLanguage *tree_sitter_python(void);

#include "check/lexer_table.h"
#include "check/tree_tokens.h"

static __attribute__((noinline)) void *quick_grow(void *array, uint32_t *room, uint32_t most)
{
	/* A large one is mapped, and costs nothing where it is not used. */
	while (*room <= most)
		*room *= *room < QUICK_LARGE ? 2 : 8;
	return ts_realloc(array, *room * sizeof(struct quick_entry));
}

/* With its padding. */
static inline uint32_t quick_bytes(Subtree tree)
{
	return tree.data.is_inline ? (uint32_t)tree.data.padding_bytes + tree.data.size_bytes
				   : tree.ptr->padding.bytes + tree.ptr->size.bytes;
}

static inline void quick_push(struct quick *q, Subtree tree, uint32_t end, TSStateId state)
{
	if (__builtin_expect(q->n == q->room, 0))
		q->entries = quick_grow(q->entries, &q->room, q->n);
	q->entries[q->n++] = (struct quick_entry){ tree, end, state, 0 };
	q->state = state;
}

/* Keep what lies from @from up, before something else is written there. */
static inline void quick_save(struct quick *q, uint32_t from)
{
	uint32_t low = q->low;

	if (low <= from)
		return;
	if (__builtin_expect(q->top - from > q->room_saved, 0))
		q->saved = quick_grow(q->saved, &q->room_saved, q->top - from);
	while (low > from) {
		low--;
		q->saved[q->top - 1 - low] = q->entries[low];
	}
	q->low = low;
}

static void quick_begin_token(struct quick *q)
{
	q->low = q->top = q->n;
	q->state_before = q->state;
	q->plain_before = q->plain;
}

static void quick_undo_token(struct quick *q)
{
	for (; q->low < q->top; q->low++)
		q->entries[q->low] = q->saved[q->top - 1 - q->low];
	q->n = q->top;
	q->state = q->state_before;
	q->plain = q->plain_before;
}

/* What the top of the graph is, for whoever looks below the array. */
static void quick_set_below(struct quick *q)
{
	const Stack *stack = q->parser->stack;

	q->entries[q->base - 1] = (struct quick_entry){ .end = ts_stack_position(stack, 0).bytes,
							.state = ts_stack_state(stack, 0) };
}

/* Take the top of the graph back, below all of the array. False: it cannot be one entry. */
static bool quick_pull(struct quick *q)
{
	Stack *stack = q->parser->stack;
	StackHead *head = array_get(&stack->heads, 0);
	StackNode *node = head->node;

	if (q->base < 2 || node->link_count != 1 || !node->links[0].subtree.ptr)
		return false;

	const StackLink link = node->links[0];

	ts_subtree_retain(link.subtree);
	stack_node_retain(link.node);
	q->entries[--q->base] =
		(struct quick_entry){ link.subtree, node->position.bytes, node->state, 0 };
	head->node = link.node;
	stack_node_release(node, &stack->node_pool, stack->subtree_pool);
	quick_set_below(q);
	/* That is what was so before this token as well. */
	if (ts_subtree_extra(link.subtree)) {
		q->plain = q->plain > q->base ? q->plain : q->base + 1;
		q->plain_before = q->plain_before > q->base ? q->plain_before : q->base + 1;
	}
	return true;
}

/* The token at this place, which an empty one before it may have left. */
static Subtree quick_next(struct quick *q)
{
	TSParser *parser = q->parser;

	if (q->token.ptr
		    ? q->token_at == q->at
		    : parser->token_cache.token.ptr && parser->token_cache.byte_index == q->at) {
		TableEntry entry;

		if (q->token.ptr)
			ts_parser__set_cached_token(parser, q->token_at, q->token_external,
						    q->token);

		const Subtree token =
			ts_parser__get_cached_token(parser, q->state, q->at, q->external, &entry);

		if (token.ptr)
			return token;
	}

	const Subtree token = quick_lex(q);

	if (token.ptr) {
		q->token = token;
		q->token_external = q->external;
		q->token_at = q->at;
	}
	return token;
}

/* A node of @symbol with room for @n children in front of it. */
static inline SubtreeHeapData *quick_new(const struct quick *q, TSSymbol symbol, uint32_t n,
					 uint32_t padding, uint32_t size)
{
	const TSSymbolMetadata about = q->language->symbol_metadata[symbol];
	Subtree *children = bj_tree_bump(ts_subtree_alloc_size(n));
	SubtreeHeapData *node = (SubtreeHeapData *)(children + n);
	/* From the symbol up to the flags as one number: the compiler would read them back. */
	const uint64_t bits = symbol | (uint64_t)TS_TREE_STATE_NONE << 16 |
			      (uint64_t)about.visible << 32 | (uint64_t)about.named << 33;
	enum { BITS = offsetof(SubtreeHeapData, symbol) };

	_Static_assert(!TS_BIG_ENDIAN && offsetof(SubtreeHeapData, parse_state) == BITS + 2 &&
			       offsetof(SubtreeHeapData, visible_child_count) == BITS + 8,
		       "how a node is laid out");
	node->ref_count = 1;
	node->padding = quick_place(padding);
	node->size = quick_place(size);
	node->lookahead_bytes = node->error_cost = 0;
	node->child_count = n;
	memcpy((char *)node + BITS, &bits, sizeof(bits));
	node->visible_child_count = node->named_child_count = node->visible_descendant_count = 0;
	node->dynamic_precedence = 0;
	node->repeat_depth = node->production_id = 0;
	node->first_leaf.symbol = node->first_leaf.parse_state = 0;
	return node;
}

/* The tree of @entry, with the hidden node that was not made. */
static Subtree quick_whole(const struct quick *q, const struct quick_entry *entry)
{
	if (!entry->stands)
		return entry->tree;

	SubtreeHeapData *node =
		quick_new(q, entry->stands, 1, ts_subtree_padding(entry->tree).bytes,
			  ts_subtree_size(entry->tree).bytes);

	((Subtree *)node)[-1] = entry->tree;
	node->dynamic_precedence = ts_subtree_dynamic_precedence(entry->tree);
	return (Subtree){ .ptr = node };
}

/* A rule may give some of its children another name, and then a hidden one counts. */
static void quick_alias_all(const struct quick *q, uint32_t production, uint32_t from, uint32_t to)
{
	const TSSymbol *aliases = ts_language_alias_sequence(q->language, production);

	for (uint32_t i = from, structural = 0; i < to; i++) {
		struct quick_entry *entry = &q->entries[i];

		if (i < q->plain && ts_subtree_extra(entry->tree))
			continue;
		if (aliases[structural++] && entry->stands)
			entry->tree = quick_whole(q, entry), entry->stands = 0;
	}
}

static inline void quick_alias(const struct quick *q, uint32_t production, uint32_t from,
			       uint32_t to)
{
	TSSymbol any = 0;

	for (uint32_t i = from; i < to; i++)
		any |= q->entries[i].stands;
	if (any)
		quick_alias_all(q, production, from, to);
}

/* A node of the entries [@from, @to), of which the first one's padding begins at @start. Whether
 * there are tokens of the grammar's own scanner in it is only asked of tokens. */
static inline Subtree quick_node(struct quick *q, const TSParseAction *action, uint32_t from,
				 uint32_t to, uint32_t start)
{
	const uint32_t n = to - from;
	const uint32_t production = action->reduce.production_id;

	if (production)
		quick_alias(q, production, from, to);

	const struct quick_entry *entries = &q->entries[from];
	const Subtree first = entries[0].tree;
	const uint32_t padding =
		first.data.is_inline ? first.data.padding_bytes : first.ptr->padding.bytes;
	SubtreeHeapData *node = quick_new(q, action->reduce.symbol, n, padding,
					  entries[n - 1].end - start - padding);
	Subtree *children = (Subtree *)node - n;
	int32_t precedence = action->reduce.dynamic_precedence;

	for (uint32_t i = 0; i < n; i++) {
		const Subtree child = entries[i].tree;

		children[i] = child;
		if (!child.data.is_inline && child.ptr->child_count)
			precedence += child.ptr->dynamic_precedence;
	}
	node->dynamic_precedence = precedence;
	node->production_id = (uint16_t)production;
	return (Subtree){ .ptr = node };
}

/* Whether a node that only stands for its child (QUICK_RENAME) has that child on top. */
static inline bool quick_may_rename(const struct quick *q)
{
	return q->n > q->base && (q->n > q->plain || !ts_subtree_extra(q->entries[q->n - 1].tree));
}

/* Let the entry on top stand for a node of @symbol around it. */
static inline void quick_rename(struct quick *q, TSSymbol symbol)
{
	const uint32_t at = q->n - 1;

	quick_save(q, at);
	q->state = ts_language_lookup(q->language, q->entries[at - 1].state, symbol);
	q->entries[at].state = q->state;
	q->entries[at].stands = symbol;
}

/* The entries that @action makes a node of, and those between them that belong to no rule. False:
 * some of them lie deeper than the array can reach. */
static bool quick_find(struct quick *q, const TSParseAction *action, uint32_t *ret_from,
		       uint32_t *ret_to)
{
	uint32_t from = q->n, to = q->n;

	for (uint32_t left = action->reduce.child_count; left;) {
		if (from == q->base && !quick_pull(q))
			return false;
		left -= !ts_subtree_extra(q->entries[--from].tree);
	}
	while (to > from && ts_subtree_extra(q->entries[to - 1].tree))
		to--;
	*ret_from = from;
	*ret_to = to;
	return true;
}

/* Make one node of the entries on top; those that belong to no rule stay above it. False: it cannot
 * be done here. */
static inline bool quick_reduce(struct quick *q, const TSParseAction *action)
{
	uint32_t from = q->n - action->reduce.child_count, to = q->n;

	if (action->reduce.child_count > q->n - q->base || from < q->plain) {
		if (!quick_find(q, action, &from, &to))
			return false;
		if (q->n > to)
			q->plain = from + 1 + q->n - to;
		else if (q->plain > from)
			q->plain = from;
	}
	quick_save(q, from);

	const struct quick_entry *below = &q->entries[from - 1];
	const TSStateId state =
		ts_language_lookup(q->language, below->state, action->reduce.symbol);
	const uint32_t end = q->entries[to - 1].end;
	const Subtree node = quick_node(q, action, from, to, below->end);
	const uint32_t n = q->n;

	q->n = from;
	quick_push(q, node, end, state);
	for (uint32_t i = to; i < n; i++)
		quick_push(q, q->entries[i].tree, q->entries[i].end, state);
	return true;
}

/* A node of nothing: a text of comments alone. */
static __attribute__((noinline)) bool quick_reduce_nothing(struct quick *q,
							   const TSParseAction *action)
{
	SubtreeHeapData *node = quick_new(q, action->reduce.symbol, 0, 0, 0);

	node->dynamic_precedence = action->reduce.dynamic_precedence;
	node->production_id = action->reduce.production_id;
	quick_save(q, q->n);
	quick_push(q, (Subtree){ .ptr = node }, q->entries[q->n - 1].end,
		   ts_language_lookup(q->language, q->state, action->reduce.symbol));
	return true;
}

/* What there is to do for a token. */
enum quick_kind {
	QUICK_RARE, /* something else, a choice, or nothing */
	QUICK_SHIFT,
	QUICK_RENAME, /* make a node that is hidden, has one child and nothing of its own */
	QUICK_REDUCE,
};

/* tree-sitter leaves most nodes that only stand for their child out of its tables already; whoever
 * reads a tree skips them. */
static enum quick_kind quick_kind_of(const TSLanguage *language, const TSParseAction *action)
{
	if (action->type == TSParseActionTypeShift)
		return action->shift.extra || action->shift.repetition ? QUICK_RARE : QUICK_SHIFT;
	if (action->type != TSParseActionTypeReduce || !action->reduce.child_count)
		return QUICK_RARE;
	return action->reduce.child_count == 1 && !action->reduce.production_id &&
			       !action->reduce.dynamic_precedence &&
			       !language->symbol_metadata[action->reduce.symbol].visible
		       ? QUICK_RENAME
		       : QUICK_REDUCE;
}

/* The only thing to do by @entry of the table, NULL: there is none, or a choice. To shift as part
 * of a repetition is never done. */
static const TSParseAction *quick_only(const TSParseActionEntry *entry)
{
	const TSParseAction *only = NULL;

	for (uint32_t i = 1; i <= entry->entry.count; i++) {
		const TSParseAction *action = &entry[i].action;

		if (action->type == TSParseActionTypeShift && action->shift.repetition)
			continue;
		if (only)
			return NULL;
		only = action;
	}
	return only;
}

/* What quick_plan() answers: for one thing to do its kind and where it is in the table, else 0.
 * Remembered like the answers of ts_language_lookup(). */
static uint64_t plan_memo[1 << MEMO_BITS];

#define PLAN_BITS 20 /* of an answer */

static __attribute__((noinline)) uint32_t quick_make_plan(const TSLanguage *language, uint32_t key,
							  uint64_t question)
{
	const TSParseActionEntry *all = language->parse_actions;
	const uint16_t at = ts_language_lookup(language, (TSStateId)(key >> 16), (TSSymbol)key);
	const TSParseAction *only = quick_only(&all[at]);
	const uint32_t place = only ? (uint32_t)((const TSParseActionEntry *)only - all) : 0;
	const enum quick_kind kind =
		only && place <= UINT16_MAX ? quick_kind_of(language, only) : QUICK_RARE;
	const uint32_t plan = kind ? (uint32_t)kind << 16 | place : 0;

	__atomic_store_n(memo_place(plan_memo, key), question | plan, __ATOMIC_RELAXED);
	return plan;
}

static inline uint32_t quick_plan(const struct quick *q, TSSymbol symbol)
{
	const uint32_t key = (uint32_t)q->state << 16 | symbol;
	const uint64_t question = (uint64_t)key << 32 | q->question;
	const uint64_t answer =
		__atomic_load_n(memo_place(plan_memo, key), __ATOMIC_RELAXED) ^ question;

	return __builtin_expect(answer >> PLAN_BITS == 0, 1)
		       ? (uint32_t)answer
		       : quick_make_plan(q->language, key, question);
}

static void quick_shift(struct quick *q, const TSParseAction *action, Subtree token)
{
	const TSStateId state = action->shift.extra ? q->state : action->shift.state;

	if (action->shift.extra != ts_subtree_extra(token)) {
		MutableSubtree changed = ts_subtree_make_mut(&q->parser->tree_pool, token);

		ts_subtree_set_extra(&changed, action->shift.extra);
		token = ts_subtree_from_mut(changed);
	}
	quick_save(q, q->n);
	q->at += quick_bytes(token);
	quick_push(q, token, q->at, state);
	if (ts_subtree_extra(token))
		q->plain = q->n;
	if (ts_subtree_has_external_tokens(token))
		q->external = token;
}

#include "check/tree_choice.h"

/* The only thing to do for @token, or the one that leads anywhere. NULL: there is none, or that
 * cannot be said. */
static __attribute__((noinline)) const TSParseAction *quick_action(struct quick *q, Subtree token)
{
	const uint16_t at = ts_language_lookup(q->language, q->state, ts_subtree_symbol(token));
	const TSParseAction *only = quick_only(&q->language->parse_actions[at]);

	return only ? only : quick_choose(q, token);
}

/* The text ends with @token: ts_parser__accept() for what the array holds. False: not all of it
 * lies there, or it is no tree yet. */
static bool quick_accept(struct quick *q, Subtree token)
{
	TSParser *parser = q->parser;
	SubtreeArray trees = array_new();
	uint32_t root = q->n;

	while (array_get(&parser->stack->heads, 0)->node != parser->stack->base_node)
		if (!quick_pull(q))
			return false;
	while (root > q->base && ts_subtree_extra(q->entries[root - 1].tree))
		root--;
	if (root == q->base || q->entries[root - 1].stands ||
	    q->entries[root - 1].tree.data.is_inline)
		return false;
	root--;

	const SubtreeHeapData *top = q->entries[root].tree.ptr;
	const uint32_t n = q->n - q->base + top->child_count;

	array_reserve(&trees, ts_subtree_alloc_size(n) / sizeof(*trees.contents) + 1);
	/* What stands around the root, comments and the end of the text, comes into it. */
	for (uint32_t i = q->base; i < q->n; i++) {
		if (i != root)
			array_push(&trees, quick_whole(q, &q->entries[i]));
		else if (top->child_count)
			array_extend(&trees, top->child_count,
				     (const Subtree *)top - top->child_count);
	}
	array_push(&trees, token);
	parser->finished_tree = ts_subtree_from_mut(
		ts_subtree_new_node(top->symbol, &trees, top->production_id, q->language));
	parser->accept_count++;
	ts_stack_halt(parser->stack, 0);
	q->base = q->n = QUICK_DEPTH;
	return true;
}

/* A token that is part of a rule, which most are. */
static inline void quick_take(struct quick *q, const TSParseAction *action, Subtree token)
{
	if (__builtin_expect(ts_subtree_extra(token), 0)) {
		quick_shift(q, action, token);
		return;
	}
	q->at += quick_bytes(token);
	quick_save(q, q->n);
	quick_push(q, token, q->at, action->shift.state);
	if (!token.data.is_inline && token.ptr->has_external_tokens)
		q->external = token;
}

/* Read one token. False: it was not touched, or it is the end of all. */
static inline bool quick_step(struct quick *q)
{
	const Subtree token = quick_next(q);

	if (!token.ptr)
		return false;

	const TSSymbol symbol = ts_subtree_symbol(token);

	quick_begin_token(q);
	for (;;) {
		const uint32_t plan = quick_plan(q, symbol);
		const TSParseAction *action = &q->language->parse_actions[plan & UINT16_MAX].action;
		enum quick_kind kind = plan >> 16;

		if (__builtin_expect(kind == QUICK_RARE, 0)) {
			action = quick_action(q, token);
			kind = action ? quick_kind_of(q->language, action) : QUICK_RARE;
		}
		if (kind == QUICK_SHIFT) {
			quick_take(q, action, token);
			return true;
		}
		if (kind == QUICK_RENAME && quick_may_rename(q)) {
			quick_rename(q, action->reduce.symbol);
			continue;
		}
		if (kind != QUICK_RARE) {
			if (!quick_reduce(q, action))
				break;
			continue;
		}
		if (action && action->type == TSParseActionTypeShift) {
			quick_shift(q, action, token);
			return true;
		}
		if (action && action->type == TSParseActionTypeAccept && quick_accept(q, token))
			return false;
		if (!action || action->type != TSParseActionTypeReduce ||
		    !quick_reduce_nothing(q, action))
			break;
	}
	quick_undo_token(q);
	return false;
}

/* Move the array to the graph. */
static void quick_flush(struct quick *q)
{
	Stack *stack = q->parser->stack;

	for (uint32_t i = q->base; i < q->n; i++)
		ts_stack_push(stack, 0, quick_whole(q, &q->entries[i]), false, q->entries[i].state);
	q->base = q->n = QUICK_DEPTH;
	q->plain = 0;
	/* First, for the graph may be the last to hold what was external before the token. */
	if (q->token.ptr && q->token_at == q->at)
		ts_parser__set_cached_token(q->parser, q->token_at, q->token_external, q->token);
	ts_stack_set_last_external_token(stack, 0, q->external);
}

static bool quick_may_run(const TSParser *parser)
{
	const Stack *stack = parser->stack;

	return ts_stack_version_count(stack) == 1 && ts_stack_is_active(stack, 0) &&
	       !parser->finished_tree.ptr;
}

static bool quick_is_late(struct quick *q)
{
	q->work += QUICK_TOKEN;
	if (q->work >= QUICK_CLOCK) {
		q->work = 0;
		q->late |= bj_clock_cpu() > q->end;
	}
	return q->late;
}

#include "check/tree_marks.h"

/* Read as far as there is one way to. */
static void quick_run(struct quick *q)
{
	TSParser *parser = q->parser;

	if (!quick_may_run(parser))
		return;
	q->at = ts_stack_position(parser->stack, 0).bytes;
	q->state = ts_stack_state(parser->stack, 0);
	quick_set_below(q);
	q->external = ts_stack_last_external_token(parser->stack, 0);
	q->token = NULL_SUBTREE;
	q->is_set = false;
	for (uint32_t at = q->at; quick_step(q) && !quick_is_late(q); at = q->at)
		/* Behind an empty token the same one may be read again. */
		if (__builtin_expect(q->at >= q->next_mark, 0) && q->at > at)
			quick_mark(q);
	quick_flush(q);
}

static void quick_init(struct quick *q, TSParser *parser, const TSStringInput *input,
		       uint64_t budget)
{
	const uint32_t room = QUICK_DEPTH * 2, room_saved = QUICK_DEPTH;
	const bool python = parser->language == tree_sitter_python();

	*q = (struct quick){ .parser = parser,
			     .language = parser->language,
			     .text = input->string,
			     .size = input->length,
			     .entries = ts_malloc(room * sizeof(*q->entries)),
			     .end = bj_clock_cpu() + budget,
			     .base = QUICK_DEPTH,
			     .n = QUICK_DEPTH,
			     .room = room,
			     .saved = ts_malloc(room_saved * sizeof(*q->saved)),
			     .room_saved = room_saved,
			     .next_mark = UINT32_MAX,
			     .question = 1u << PLAN_BITS << python,
			     .python = python };
	q->tokens = q->python ? &bj_lexer_python : &bj_lexer_bash;
	q->words = q->python ? &bj_lexer_python_words : &bj_lexer_bash_words;
	quick_set_lexer(&parser->lexer.data);
}
