/* SPDX-License-Identifier: Apache-2.0 */
/* tree-sitter's own source, with one function of it replaced and one wrapped, and what reads its
 * trees from the inside. All are here for speed: the parser asks its table tens of thousands of
 * times for one script and each time searches a list; it waits for memory at each step down a long
 * stack; and its cursor does work for every node that we have no use for. The version of
 * tree-sitter is fixed by tools/grammars/package-lock.json. */
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

static inline uint64_t *memo_place(uint64_t *memo, uint32_t key)
{
	return &memo[(key * 2654435761u) >> (32 - MEMO_BITS)];
}

static __attribute__((noinline)) uint16_t memo_search(const TSLanguage *self, uint32_t key,
						      uint64_t question)
{
	const uint16_t answer = ts_language_search(self, (TSStateId)(key >> 16), (TSSymbol)key);

	__atomic_store_n(memo_place(lookup_memo, key), question | answer, __ATOMIC_RELAXED);
	return answer;
}

static inline __attribute__((always_inline)) uint16_t
ts_language_lookup(const TSLanguage *self, TSStateId state, TSSymbol symbol)
{
	if (state < self->large_state_count)
		return self->parse_table[state * self->symbol_count + symbol];

	const uint32_t key = (uint32_t)state << 16 | symbol;
	const uint64_t question = (uint64_t)self->state_count << 48 | (uint64_t)key << 16;
	const uint64_t answer =
		__atomic_load_n(memo_place(lookup_memo, key), __ATOMIC_RELAXED) ^ question;

	return __builtin_expect(answer <= UINT16_MAX, 1) ? (uint16_t)answer
							 : memo_search(self, key, question);
}

/* The function that looks at every node of a stack, from the last to the first, with a fetch put in
 * front of it. Where it is handed over, without arguments, this macro is not used. */
#define pop_all_callback(payload_, node_)                                                          \
	pop_all_plain(payload_, node_);                                                            \
	static StackAction(pop_all_callback)(payload_, node_)                                      \
	{                                                                                          \
		bj_tree_fetch(iterator->node, -BJ_TREE_NEAR, sizeof(StackNode));                   \
		return pop_all_plain(payload, iterator);                                           \
	}                                                                                          \
	static inline StackAction pop_all_plain(payload_, node_)
#include "lib.c"

#include "check/pieces.h"
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

/* To release what the parser made for the last text takes as long as a tenth of reading it. So that
 * is done in front of the next one, which there seldom is: the memory goes as a whole. But the
 * grammar's own state is not in it. */
static void begin(TSParser *parser, const TSStringInput *input)
{
	ts_parser_reset(parser);
	ts_lexer_set_input(&parser->lexer,
			   (TSInput){ (void *)input, ts_string_input_read, TSInputEncodingUTF8 });
	ts_parser__external_scanner_create(parser);
	parser->end_clock = clock_null();
}

static TSTree *take_tree(TSParser *parser)
{
	const Subtree root = parser->finished_tree;

	parser->finished_tree = NULL_SUBTREE;
	return ts_tree_new(root, parser->language, parser->lexer.included_ranges,
			   parser->lexer.included_range_count);
}

/* Read @text, from one of @marks on if there are some for its first @same bytes. *@ret_marks, when
 * that is not NULL, gets new ones. */
static TSTree *read_text(TSParser *parser, const TSStringInput *input, uint64_t budget,
			 const struct bj_tree_marks *marks, uint32_t same,
			 struct bj_tree_marks **ret_marks, bool *ret_late)
{
	struct quick q;
	TSTree *tree = NULL;

	begin(parser, input);
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
		tree = take_tree(parser);
	quick_reset_lexer(&parser->lexer.data);
	ts_parser__external_scanner_destroy(parser);
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

/* Let the reading @version go on until it is ahead of all others. False: the time is over. */
static bool step_one(TSParser *parser, StackVersion version, uint32_t *furthest)
{
	while (ts_stack_is_active(parser->stack, version)) {
		if (!ts_parser__advance(parser, version, false))
			return false;

		const uint32_t at = ts_stack_position(parser->stack, version).bytes;

		if (at > *furthest || (version && at == *furthest)) {
			*furthest = at;
			break;
		}
	}
	return true;
}

/* Let all go on until one is at the end and none can become better. */
static bool parse_wrong(TSParser *parser)
{
	uint32_t furthest = 0, versions;

	do {
		StackVersion v = 0;

		for (; versions = ts_stack_version_count(parser->stack), v < versions; v++)
			if (!step_one(parser, v, &furthest))
				return false;

		const unsigned cost = ts_parser__condense_stack(parser);

		if (parser->finished_tree.ptr &&
		    ts_subtree_error_cost(parser->finished_tree) < cost)
			break;
	} while (versions > 0);
	return true;
}

TSTree *bj_tree_read_wrong(TSParser *parser, const char *text, uint32_t size, uint64_t budget)
{
	const TSStringInput input = { text, size };
	TSTree *tree = NULL;

	begin(parser, &input);
	parser->operation_count = 0;
	parser->end_clock = clock_after(clock_now(), budget);
	if (parse_wrong(parser))
		tree = take_tree(parser);
	ts_parser__external_scanner_destroy(parser);
	return tree;
}

/* --- the tree as an array --------------------------------------------------------------------- */

/* A node of tree-sitter whose children are being read. Hidden ones leave no trace but hand their
 * field on to their children. */
struct frame {
	const Subtree *child, *end;
	const struct bj_child_name *name; /* of the next child */
	uint8_t step;                     /* to the name of the one after it; 0: no names */
	uint8_t field;                    /* what a hidden one hands on */
	bool hidden;
};

struct flatten {
	const TSLanguage *language;
	const uint32_t *places;
	struct bj_node *nodes;
	uint32_t n, room;
	struct frame *frames; /* around the one that is being read */
	uint32_t depth, room_frames;
	const struct bj_child_name *names; /* of the grammar */
	uint32_t at;                       /* byte where the padding of the next leaf begins */
	uint32_t node;                     /* the node of ours that is being read */
	uint32_t last;                     /* its latest child */
};

/* A child of a frame: what that says about it, and where it is. */
struct child {
	uint32_t start, end;
	struct bj_child_name name;
};

static __attribute__((noinline)) bool more_nodes(struct flatten *f)
{
	struct bj_node *nodes = bj_piece_grow(f->nodes, &f->room, sizeof(*nodes));

	if (!nodes)
		return false;
	f->nodes = nodes;
	return true;
}

static __attribute__((noinline)) bool more_frames(struct flatten *f)
{
	struct frame *frames = bj_piece_grow(f->frames, &f->room_frames, sizeof(*frames));

	if (!frames)
		return false;
	f->frames = frames;
	return true;
}

/* What a production calls its children. */
static inline const struct bj_child_name *names_of(const struct flatten *f, uint32_t production)
{
	return &f->names[production * f->language->max_alias_sequence_length];
}

/* Read the children of @tree, which has some. The first of them begins where @tree does, and has
 * its padding. */
static inline bool push_frame(struct flatten *f, struct frame *frame, const SubtreeHeapData *tree,
			      bool hidden, uint8_t field)
{
	if (__builtin_expect(f->depth == f->room_frames, 0) && !more_frames(f))
		return false;

	const uint32_t production = tree->production_id;

	f->frames[f->depth++] = *frame;
	frame->end = (const Subtree *)tree;
	frame->child = frame->end - tree->child_count;
	frame->name = names_of(f, production);
	frame->step = production != 0;
	frame->field = field;
	frame->hidden = hidden;
	return true;
}

/* Go on with the frame around this one. */
static inline void pop_frame(struct flatten *f, struct frame *frame)
{
	if (!frame->hidden) {
		struct bj_node *node = &f->nodes[f->node];

		node->after = f->n;
		f->last = f->node;
		f->node = node->parent;
	}
	*frame = f->frames[--f->depth];
}

static inline struct bj_child_name name_of(struct bj_child_name name, uint8_t field)
{
	name.field = name.field ? name.field : field;
	return name;
}

/* Where a child is, and what it is called. */
static inline struct child next_child(const struct flatten *f, struct frame *frame,
				      uint32_t padding, uint32_t size, bool extra)
{
	struct child child = { .start = f->at + padding, .end = f->at + padding + size };

	if (!extra) {
		child.name = name_of(*frame->name, frame->field);
		frame->name += frame->step;
	}
	return child;
}

static inline bool add_node(struct flatten *f, TSSymbol symbol, bool missing,
			    const struct child *child)
{
	if (__builtin_expect(f->n == f->room, 0) && !more_nodes(f))
		return false;

	const TSSymbol kind = child->name.alias ? child->name.alias : symbol;

	f->nodes[f->n] = (struct bj_node){
		.kind = ts_language_public_symbol(f->language, kind),
		.field = child->name.field,
		.missing = missing,
		.start = f->places[child->start],
		.end = child->end > child->start ? f->places[child->end - 1] + 1
						 : f->places[child->end],
		.parent = f->node,
		.after = f->n + 1,
	};
	if (f->last)
		f->nodes[f->last].next = f->n;
	f->last = f->n++;
	return true;
}

/* A visible leaf, or one that an alias makes visible. */
static inline bool read_leaf(struct flatten *f, const SubtreeInlineData *leaf,
			     const struct child *child)
{
	const struct bj_child_name name = child->name;

	f->at = child->end;
	if ((!name.alias && !leaf->visible) ||
	    (!(name.alias ? name.named : leaf->named) && !name.field && !leaf->is_missing))
		return true;
	return add_node(f, leaf->symbol, leaf->is_missing, child);
}

static inline bool is_hidden(const SubtreeHeapData *tree, struct bj_child_name name)
{
	return !name.alias && !tree->visible;
}

/* Many hidden nodes only stand for the one child that they have, or give it a name. */
static inline Subtree skip_hidden(const struct flatten *f, Subtree tree, struct child *child)
{
	while (!tree.data.is_inline && tree.ptr->child_count == 1 &&
	       is_hidden(tree.ptr, child->name)) {
		const uint32_t production = tree.ptr->production_id;
		const uint8_t field = child->name.field;

		tree = ((const Subtree *)tree.ptr)[-1];
		child->name = ts_subtree_extra(tree) ? (struct bj_child_name){ 0 }
						     : name_of(*names_of(f, production), field);
	}
	return tree;
}

/* A node that is no leaf of one word: its children are the next to be read. */
static inline bool read_tree(struct flatten *f, struct frame *frame, const SubtreeHeapData *tree,
			     const struct child *child)
{
	const struct bj_child_name name = child->name;

	if (!tree->child_count)
		f->at = child->end;
	if (is_hidden(tree, name))
		return !tree->child_count || push_frame(f, frame, tree, true, name.field);
	if (!(name.alias ? name.named : tree->named) && !name.field && !tree->child_count &&
	    !tree->is_missing)
		return true;
	if (!add_node(f, tree->symbol, tree->is_missing, child))
		return false;
	if (!tree->child_count)
		return true;
	f->node = f->last;
	f->last = 0;
	return push_frame(f, frame, tree, false, 0);
}

/* The next child of @frame. */
static inline bool read_child(struct flatten *f, struct frame *frame)
{
	Subtree tree = *frame->child++;

	if (tree.data.is_inline) {
		const struct child child = next_child(f, frame, tree.data.padding_bytes,
						      tree.data.size_bytes, tree.data.extra);

		return read_leaf(f, &tree.data, &child);
	}

	/* Repeats are read from the last to the first, then forth. */
	bj_tree_fetch(tree.ptr, BJ_TREE_NEAR, 2 * 64);
	bj_tree_fetch(tree.ptr, -BJ_TREE_NEAR, 2 * 64);

	struct child child = next_child(f, frame, tree.ptr->padding.bytes, tree.ptr->size.bytes,
					tree.ptr->extra);

	tree = skip_hidden(f, tree, &child);
	return tree.data.is_inline ? read_leaf(f, &tree.data, &child)
				   : read_tree(f, frame, tree.ptr, &child);
}

/* The root is the only child of a frame around all. */
static bool flatten_all(struct flatten *f, Subtree root)
{
	struct frame frame = { .child = &root, .end = &root + 1, .name = f->names };

	for (;;) {
		while (frame.child != frame.end)
			if (!read_child(f, &frame))
				return false;
		if (!f->depth)
			return true;
		pop_frame(f, &frame);
	}
}

bool bj_tree_flatten(const struct TSTree *parsed, const uint32_t *places, struct bj_tree *tree)
{
	/* Few texts have more nodes than that. */
	const bool python = parsed->language == tree_sitter_python();
	struct flatten f = { .language = parsed->language,
			     .places = places,
			     .names = python ? bj_names_python : bj_names_bash,
			     .room = 64 + ts_subtree_total_bytes(parsed->root) / 3 };

	f.nodes = bj_piece_new(f.room * sizeof(*f.nodes));
	if (!f.nodes)
		return false;

	const bool ok = flatten_all(&f, parsed->root);

	bj_piece_free(f.frames);
	if (!ok) {
		bj_piece_free(f.nodes);
		return false;
	}
	tree->nodes = f.nodes;
	tree->n_nodes = f.n;
	return true;
}
