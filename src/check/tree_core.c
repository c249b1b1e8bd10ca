/* SPDX-License-Identifier: Apache-2.0 */
/* tree-sitter's own source, with one function of it replaced, and what reads its trees from the
 * inside. Both are here for speed: the parser asks its table tens of thousands of times for one
 * script and each time searches a list; and its cursor does work for every node that we have no
 * use for. The version of tree-sitter is fixed by tools/grammars/package-lock.json. */
#include "host.h"

#include "base/clock.h"

/* Trees of one thread need no atomic counts. */
#define TREE_SITTER_ATOMIC_H_
static inline size_t atomic_load(const volatile size_t *p)
{
	return *p;
}

static inline uint32_t atomic_inc(volatile uint32_t *p)
{
	return ++*p;
}

static inline uint32_t atomic_dec(volatile uint32_t *p)
{
	return --*p;
}

/* The parser's limit is of the processor's time, not of the time on the wall. Asked by the wall it
 * had to be stopped and continued to see what it had used; and a parser that was stopped may copy
 * an error of a thousand tokens again for each token that is added to it. */
#define TREE_SITTER_CLOCK_H_
typedef uint64_t TSDuration;
typedef uint64_t TSClock; /* nanoseconds; 0: none */

static inline TSDuration duration_from_micros(uint64_t micros)
{
	return micros * 1000;
}

static inline uint64_t duration_to_micros(TSDuration duration)
{
	return duration / 1000;
}

static inline TSClock clock_null(void)
{
	return 0;
}

static inline TSClock clock_now(void)
{
	return bj_clock_cpu();
}

static inline TSClock clock_after(TSClock base, TSDuration duration)
{
	return base + duration;
}

static inline bool clock_is_null(TSClock clock)
{
	return !clock;
}

static inline bool clock_is_gt(TSClock a, TSClock b)
{
	return a > b;
}

#define ts_language_lookup ts_language_search
#include "language.h"
#undef ts_language_lookup

/* The same answer as ts_language_search(), remembered for all parses of all threads: each place
 * holds question and answer in one word, so that nobody reads half of one. A language is known by
 * the number of its states. No question is 0, for state 0 is a large one. */
#define MEMO_BITS 13
static uint64_t lookup_memo[1 << MEMO_BITS];

static inline uint16_t ts_language_lookup(const TSLanguage *self, TSStateId state, TSSymbol symbol)
{
	if (state < self->large_state_count)
		return self->parse_table[state * self->symbol_count + symbol];

	const uint32_t key = (uint32_t)state << 16 | symbol;
	const uint64_t question = (uint64_t)self->state_count << 48 | (uint64_t)key << 16;
	uint64_t *place = &lookup_memo[(key * 2654435761u) >> (32 - MEMO_BITS)];
	const uint64_t found = __atomic_load_n(place, __ATOMIC_RELAXED);

	if ((found & ~(uint64_t)UINT16_MAX) == question)
		return (uint16_t)found;

	const uint16_t answer = ts_language_search(self, state, symbol);

	__atomic_store_n(place, question | answer, __ATOMIC_RELAXED);
	return answer;
}

#include "lib.c"

#include "check/tree.h"
#include "check/tree_quick.h"

#include <stdlib.h>
#include <string.h>

/* --- the grammars ----------------------------------------------------------------------------- */

enum { STATE_MOST = TREE_SITTER_SERIALIZATION_BUFFER_SIZE };

const TSLanguage *tree_sitter_bash(void);
unsigned tree_sitter_bash_external_scanner_serialize(void *payload, char *state);

/* Where the scanner of Bash is in the text. It writes a few bytes more than it was given room for;
 * and with too many here-documents open it writes nothing, as if none were. */
static unsigned write_bash_state(void *payload, char *state)
{
	char room[STATE_MOST + 64];
	const unsigned n = tree_sitter_bash_external_scanner_serialize(payload, room);

	if (n == 0 || n > STATE_MOST) {
		bj_tree_memory_now->lost = true;
		return 0;
	}
	memcpy(state, room, n);
	return n;
}

bool bj_tree_set_language(TSParser *parser, enum bj_language language)
{
	if (language == BJ_LANG_PYTHON)
		return ts_parser_set_language(parser, tree_sitter_python());

	TSLanguage *bash = ts_malloc(sizeof(*bash));

	*bash = *tree_sitter_bash();
	bash->external_scanner.serialize = write_bash_state;
	return ts_parser_set_language(parser, bash);
}

/* --- parsing ---------------------------------------------------------------------------------- */

/* How far tree-sitter looked for the latest token. */
static uint32_t token_seen(const TSParser *parser)
{
	const Subtree token = parser->token_cache.token;

	return token.ptr ? parser->token_cache.byte_index + quick_bytes(token) +
				   ts_subtree_lookahead_bytes(token)
			 : 0;
}

/* Let every reading of the text go one step. False: the time is over. */
static bool step_all(struct quick *q, uint32_t *furthest)
{
	TSParser *parser = q->parser;

	for (StackVersion v = 0; v < ts_stack_version_count(parser->stack); v++)
		while (ts_stack_is_active(parser->stack, v)) {
			if (!ts_parser__advance(parser, v, false))
				return false;
			quick_saw(q, token_seen(parser));

			const uint32_t at = ts_stack_position(parser->stack, v).bytes;

			if (at > *furthest || (v && at == *furthest)) {
				*furthest = at;
				break;
			}
		}
	return true;
}

static bool any_active(const Stack *stack)
{
	for (StackVersion v = 0; v < ts_stack_version_count(stack); v++)
		if (ts_stack_is_active(stack, v))
			return true;
	return false;
}

/* False: there is an error, or the time is over. */
static bool parse_all(struct quick *q, bool *ret_late)
{
	TSParser *parser = q->parser;
	uint32_t furthest = 0;

	while (any_active(parser->stack)) {
		quick_run(q);
		furthest = q->at > furthest ? q->at : furthest;
		*ret_late = quick_is_late(q);
		if (*ret_late || !step_all(q, &furthest))
			return false;
		/* With no reading left that may go on, it would begin to mend the text. */
		if (any_active(parser->stack))
			ts_parser__condense_stack(parser);
	}
	return parser->finished_tree.ptr;
}

/* Read @text, from one of @marks on if there are some for its first @same bytes. *@ret_marks, when
 * that is not NULL, gets new ones. */
static TSTree *read_text(TSParser *parser, const TSStringInput *input, uint64_t budget,
			 const struct bj_tree_marks *marks, uint32_t same,
			 struct bj_tree_marks **ret_marks, bool *ret_late)
{
	struct quick q;
	TSTree *tree = NULL;

	ts_lexer_set_input(&parser->lexer,
			   (TSInput){ (void *)input, ts_string_input_read, TSInputEncodingUTF8 });
	ts_parser__external_scanner_create(parser);
	parser->end_clock = clock_null();
	*ret_late = false;
	quick_init(&q, parser, input, budget);
	if (marks)
		quick_resume(&q, marks, same);
	if (ret_marks) {
		*ret_marks = q.marks = ts_malloc(sizeof(*q.marks));
		q.marks->n = 0;
		q.next_mark = quick_mark_step(&q);
	}
	if (parse_all(&q, ret_late))
		tree = ts_tree_new(parser->finished_tree, parser->language,
				   parser->lexer.included_ranges,
				   parser->lexer.included_range_count);
	parser->finished_tree = NULL_SUBTREE;
	quick_reset_lexer(&parser->lexer.data);
	ts_parser_reset(parser);
	return tree;
}

TSTree *bj_tree_read(TSParser *parser, const char *text, uint32_t size, uint64_t budget,
		     struct bj_tree_marks **ret_marks, bool *ret_late)
{
	const TSStringInput input = { text, size };

	return read_text(parser, &input, budget, NULL, 0, ret_marks, ret_late);
}

TSTree *bj_tree_read_again(TSParser *parser, const char *text, uint32_t size, uint64_t budget,
			   const struct bj_tree_marks *marks, uint32_t same, bool *ret_late)
{
	const TSStringInput input = { text, size };

	return read_text(parser, &input, budget, marks, same, NULL, ret_late);
}

/* --- the tree as an array --------------------------------------------------------------------- */

/* A node of tree-sitter whose children are being read. Hidden ones leave no trace but hand their
 * field on to their children. */
struct frame {
	const Subtree *child, *end;
	const TSSymbol *aliases; /* by the number of the child; NULL: there are none */
	const uint8_t *fields;   /* the same */
	uint32_t structural;     /* the number of the next child, without comments */
	uint32_t at;             /* byte where the next child's padding begins */
	uint32_t node;           /* the node of ours that it is in */
	uint32_t last;           /* its latest child */
	uint8_t field;           /* what a hidden one hands on */
	bool hidden;
};

struct flatten {
	const TSLanguage *language;
	const uint32_t *places;
	struct bj_node *nodes;
	uint32_t n, room;
	struct frame *frames;
	uint32_t depth, room_frames;
	const uint8_t *fields; /* of the grammar, see lexer_table.h */
};

/* A child of the frame on top: what that says about it, and where it is. */
struct child {
	uint32_t start, end;
	TSSymbol alias;
	uint8_t field;
};

static bool more_nodes(struct flatten *f)
{
	struct bj_node *nodes = bj_tree_grow(f->nodes, &f->room, sizeof(*nodes));

	if (!nodes)
		return false;
	f->nodes = nodes;
	return true;
}

static bool more_frames(struct flatten *f)
{
	struct frame *frames = bj_tree_grow(f->frames, &f->room_frames, sizeof(*frames));

	if (!frames)
		return false;
	f->frames = frames;
	return true;
}

/* Read the children of @tree, which has some. */
static inline bool push_frame(struct flatten *f, const SubtreeHeapData *tree, uint32_t start,
			      uint32_t node, bool hidden, uint8_t field)
{
	if (f->depth == f->room_frames && !more_frames(f))
		return false;

	const uint32_t width = f->language->max_alias_sequence_length;
	const uint32_t production = tree->production_id;
	struct frame *frame = &f->frames[f->depth++];

	frame->end = (const Subtree *)tree;
	frame->child = frame->end - tree->child_count;
	frame->aliases = production ? &f->language->alias_sequences[production * width] : NULL;
	frame->fields = &f->fields[production * width];
	frame->structural = 0;
	/* The first child has no padding apart from its parent's. */
	frame->at = start - ts_subtree_padding(*frame->child).bytes;
	frame->node = node;
	/* A hidden one continues the list of children of the node around it. */
	frame->last = hidden ? frame[-1].last : 0;
	frame->field = field;
	frame->hidden = hidden;
	return true;
}

static inline struct child next_child(struct frame *frame, uint32_t padding, uint32_t size,
				      bool extra)
{
	struct child child = { .start = frame->at + padding, .end = frame->at + padding + size };

	frame->at = child.end;
	if (extra)
		return child;
	child.field = frame->field;
	if (frame->aliases) {
		const uint8_t field = frame->fields[frame->structural];

		child.alias = frame->aliases[frame->structural++];
		child.field = field ? field : frame->field;
	}
	return child;
}

static inline bool is_named(const struct flatten *f, const struct child *child, bool named)
{
	return child->alias ? f->language->symbol_metadata[child->alias].named : named;
}

static inline bool add_node(struct flatten *f, struct frame *frame, TSSymbol symbol, bool missing,
			    const struct child *child)
{
	if (f->n == f->room && !more_nodes(f))
		return false;

	const TSSymbol kind = child->alias ? child->alias : symbol;

	f->nodes[f->n] = (struct bj_node){
		.kind = ts_language_public_symbol(f->language, kind),
		.field = child->field,
		.missing = missing,
		.start = f->places[child->start],
		.end = child->end > child->start ? f->places[child->end - 1] + 1
						 : f->places[child->end],
		.parent = frame->node,
		.after = f->n + 1,
	};
	if (frame->last)
		f->nodes[frame->last].next = f->n;
	frame->last = f->n++;
	return true;
}

/* Many hidden nodes only stand for the one child that they have. */
static Subtree skip_hidden(Subtree tree)
{
	while (!tree.data.is_inline && tree.ptr->child_count == 1 && !tree.ptr->visible &&
	       !tree.ptr->production_id && !tree.ptr->extra)
		tree = ts_subtree_children(tree)[0];
	return tree;
}

/* A visible leaf, or one that an alias makes visible. */
static inline bool read_leaf(struct flatten *f, struct frame *frame, const SubtreeInlineData *leaf,
			     const struct child *child)
{
	if ((!child->alias && !leaf->visible) ||
	    (!is_named(f, child, leaf->named) && !child->field && !leaf->is_missing))
		return true;
	return add_node(f, frame, leaf->symbol, leaf->is_missing, child);
}

static inline bool read_tree(struct flatten *f, struct frame *frame, const SubtreeHeapData *tree,
			     const struct child *child)
{
	const uint32_t n = tree->child_count;

	if (!child->alias && !tree->visible)
		return !n || push_frame(f, tree, child->start, frame->node, true, child->field);
	if (!is_named(f, child, tree->named) && !child->field && !n && !tree->is_missing)
		return true;
	return add_node(f, frame, tree->symbol, tree->is_missing, child) &&
	       (!n || push_frame(f, tree, child->start, f->n - 1, false, 0));
}

/* The next child of the frame on top. */
static inline bool read_child(struct flatten *f, struct frame *frame)
{
	Subtree tree = *frame->child++;

	if (tree.data.is_inline) {
		const struct child child = next_child(frame, tree.data.padding_bytes,
						      tree.data.size_bytes, tree.data.extra);

		return read_leaf(f, frame, &tree.data, &child);
	}

	const struct child child =
		next_child(frame, tree.ptr->padding.bytes, tree.ptr->size.bytes, tree.ptr->extra);

	if (!child.alias && !tree.ptr->visible && tree.ptr->child_count == 1)
		tree = skip_hidden(tree);
	return tree.data.is_inline ? read_leaf(f, frame, &tree.data, &child)
				   : read_tree(f, frame, tree.ptr, &child);
}

static inline void pop_frame(struct flatten *f, const struct frame *frame)
{
	f->depth--;
	if (frame->hidden)
		f->frames[f->depth - 1].last = frame->last;
	else if (f->depth)
		f->nodes[frame->node].after = f->n;
}

/* The root is the only child of a frame around all. */
static bool flatten_all(struct flatten *f, Subtree root)
{
	if (!more_frames(f))
		return false;
	f->frames[f->depth++] = (struct frame){ .child = &root, .end = &root + 1 };
	while (f->depth) {
		struct frame *frame = &f->frames[f->depth - 1];

		if (frame->child == frame->end)
			pop_frame(f, frame);
		else if (!read_child(f, frame))
			return false;
	}
	return true;
}

bool bj_tree_flatten(const struct TSTree *parsed, const uint32_t *places, struct bj_tree *tree)
{
	/* Few texts have more nodes than that. */
	const bool python = parsed->language == tree_sitter_python();
	struct flatten f = { .language = parsed->language,
			     .places = places,
			     .fields = python ? bj_fields_python : bj_fields_bash,
			     .room = 64 + ts_subtree_total_bytes(parsed->root) / 3 };

	f.nodes = bj_tree_piece(f.room * sizeof(*f.nodes));
	if (!f.nodes)
		return false;

	const bool ok = flatten_all(&f, parsed->root);

	free(f.frames);
	if (!ok) {
		free(f.nodes);
		return false;
	}
	tree->nodes = f.nodes;
	tree->n_nodes = f.n;
	return true;
}
