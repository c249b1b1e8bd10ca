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

#define QUICK_DEPTH 512 /* how much of the graph can be taken back into the array in one go */
#define QUICK_CLOCK 256 /* tokens between two looks at the clock; a power of two */

struct quick_entry {
	Subtree tree;
	Length end;      /* of @tree */
	TSStateId state; /* after @tree */
};

struct quick {
	TSParser *parser;
	const TSLanguage *language;
	const char *text;
	uint32_t size;
	struct quick_entry *entries;
	uint32_t base, n, room; /* in use: from base to n */
	uint64_t end;           /* of the time, see bj_clock_cpu() */
	uint32_t tokens;
	bool late;
	Length at;
	Subtree external; /* the latest token of the grammar's own scanner */

	/* The latest token, where its padding begins and what was external before it. */
	Subtree token, token_external;
	uint32_t token_at;

	/* What the current token has overwritten: entries from low to top, the last one first. */
	struct quick_entry *saved;
	uint32_t low, top, n_saved, room_saved;

	/* The scanner of Python's grammar is as it was set for @scanned: a scan that finds nothing
	 * leaves it alone. */
	bool python, is_set;
	Subtree scanned;
};

const TSLanguage *tree_sitter_python(void);

/* What the lexer calls for each character. The text is one piece of memory, so there is little to
 * do; its end and what is not ASCII go the long way. */
static void quick_advance(TSLexer *data, bool skip)
{
	Lexer *self = (Lexer *)data;

	if (!self->chunk)
		return;
	self->current_position.bytes += self->lookahead_size;
	if (data->lookahead == '\n') {
		self->current_position.extent.row++;
		self->current_position.extent.column = 0;
	} else {
		self->current_position.extent.column += self->lookahead_size;
	}
	if (skip)
		self->token_start_position = self->current_position;

	const uint32_t at = self->current_position.bytes - self->chunk_start;

	if (at < self->chunk_size && (unsigned char)self->chunk[at] < 0x80) {
		data->lookahead = self->chunk[at];
		self->lookahead_size = 1;
		return;
	}
	if (at >= self->chunk_size)
		ts_lexer__get_chunk(self);
	ts_lexer__get_lookahead(self);
}

static void quick_mark_end(TSLexer *data)
{
	Lexer *self = (Lexer *)data;

	self->token_end_position = self->current_position;
}

static TSStateId quick_state(const struct quick *q)
{
	return q->n > q->base ? q->entries[q->n - 1].state : ts_stack_state(q->parser->stack, 0);
}

static void *quick_grow(void *array, uint32_t *room, size_t size)
{
	*room *= 2;
	return ts_realloc(array, *room * size);
}

static void quick_push(struct quick *q, Subtree tree, Length end, TSStateId state)
{
	if (q->n == q->room)
		q->entries = quick_grow(q->entries, &q->room, sizeof(*q->entries));
	q->entries[q->n++] = (struct quick_entry){ tree, end, state };
}

/* Keep what lies from @from up, before something else is written there. */
static void quick_save(struct quick *q, uint32_t from)
{
	while (q->low > from) {
		if (q->n_saved == q->room_saved)
			q->saved = quick_grow(q->saved, &q->room_saved, sizeof(*q->saved));
		q->saved[q->n_saved++] = q->entries[--q->low];
	}
}

static void quick_begin_token(struct quick *q)
{
	q->low = q->top = q->n;
	q->n_saved = 0;
}

static void quick_undo_token(struct quick *q)
{
	while (q->n_saved)
		q->entries[q->low++] = q->saved[--q->n_saved];
	q->n = q->top;
}

/* Take the top of the graph back, below all of the array. False: it cannot be one entry. */
static bool quick_pull(struct quick *q)
{
	Stack *stack = q->parser->stack;
	StackHead *head = array_get(&stack->heads, 0);
	StackNode *node = head->node;

	if (!q->base || node->link_count != 1 || !node->links[0].subtree.ptr)
		return false;

	const StackLink link = node->links[0];

	ts_subtree_retain(link.subtree);
	stack_node_retain(link.node);
	q->entries[--q->base] = (struct quick_entry){ link.subtree, node->position, node->state };
	head->node = link.node;
	stack_node_release(node, &stack->node_pool, stack->subtree_pool);
	return true;
}

/* Move the array to the graph. */
static void quick_flush(struct quick *q)
{
	Stack *stack = q->parser->stack;

	for (uint32_t i = q->base; i < q->n; i++)
		ts_stack_push(stack, 0, q->entries[i].tree, false, q->entries[i].state);
	q->base = q->n = QUICK_DEPTH;
	ts_stack_set_last_external_token(stack, 0, q->external);
	if (q->token.ptr && q->token_at == q->at.bytes)
		ts_parser__set_cached_token(q->parser, q->token_at, q->token_external, q->token);
}

static Subtree quick_leaf(struct quick *q, TSSymbol symbol, bool external, bool keyword,
			  uint32_t seen)
{
	const Lexer *lexer = &q->parser->lexer;
	const Length padding = length_sub(lexer->token_start_position, q->at);
	const Length size = length_sub(lexer->token_end_position, lexer->token_start_position);

	return ts_subtree_new_leaf(&q->parser->tree_pool, symbol, padding, size,
				   seen - lexer->token_end_position.bytes, quick_state(q), external,
				   external && lexer->did_get_column, keyword, q->language);
}

/* Whether the scanner of Python's grammar has nothing to say here: outside of strings it knows line
 * ends, comments and what begins a string. */
static bool quick_scan_is_idle(const struct quick *q, unsigned mode)
{
	enum { STRING_CONTENT = 4 };
	static const bool speaks[256] = {
		['\0'] = true, ['\t'] = true, ['\n'] = true, ['\f'] = true, ['\r'] = true,
		['"'] = true,  ['#'] = true,  ['\''] = true, ['B'] = true,  ['F'] = true,
		['R'] = true,  ['U'] = true,  ['\\'] = true, ['`'] = true,  ['b'] = true,
		['f'] = true,  ['r'] = true,  ['u'] = true,  ['{'] = true,  ['}'] = true,
	};
	uint32_t at = q->at.bytes;

	if (!q->python || ts_language_enabled_external_tokens(q->language, mode)[STRING_CONTENT])
		return false;
	while (at < q->size && q->text[at] == ' ')
		at++;
	return at < q->size && (unsigned char)q->text[at] < 0x80 && !speaks[(int)q->text[at]];
}

/* A token of the grammar's own scanner. NULL_SUBTREE: there is none here. */
static Subtree quick_scan(struct quick *q, unsigned mode, uint32_t *seen)
{
	TSParser *parser = q->parser;
	Lexer *lexer = &parser->lexer;

	ts_lexer_start(lexer);
	if (!q->is_set || q->scanned.ptr != q->external.ptr)
		ts_parser__external_scanner_deserialize(parser, q->external);
	q->is_set = false;
	if (!ts_parser__external_scanner_scan(parser, mode)) {
		q->is_set = q->python;
		q->scanned = q->external;
		ts_lexer_finish(lexer, seen);
		return NULL_SUBTREE;
	}
	ts_lexer_finish(lexer, seen);

	const unsigned length = ts_parser__external_scanner_serialize(parser);
	const bool changed = !ts_external_scanner_state_eq(
		ts_subtree_external_scanner_state(q->external), lexer->debug_buffer, length);
	const TSSymbol symbol = q->language->external_scanner.symbol_map[lexer->data.result_symbol];
	const Subtree token = quick_leaf(q, symbol, true, false, *seen);
	SubtreeHeapData *data = ts_subtree_to_mut_unsafe(token).ptr;

	ts_external_scanner_state_init(&data->external_scanner_state, lexer->debug_buffer, length);
	data->has_external_scanner_state_change = changed;
	return token;
}

/* A word may be a keyword, where one is allowed. */
static Subtree quick_word(struct quick *q, TSSymbol symbol, uint32_t seen)
{
	Lexer *lexer = &q->parser->lexer;
	const Length end = lexer->token_end_position;
	const Length start = lexer->token_start_position;

	ts_lexer_reset(lexer, start);
	ts_lexer_start(lexer);

	const bool keyword = q->language->keyword_lex_fn(&lexer->data, 0);
	const bool whole = keyword && lexer->token_end_position.bytes == end.bytes;

	if (whole &&
	    ts_language_has_actions(q->language, quick_state(q), lexer->data.result_symbol))
		symbol = lexer->data.result_symbol;
	lexer->token_start_position = start;
	lexer->token_end_position = end;
	return quick_leaf(q, symbol, false, keyword, seen);
}

/* NULL_SUBTREE: nothing that is allowed here, or nothing is to be read. */
static Subtree quick_lex(struct quick *q)
{
	Lexer *lexer = &q->parser->lexer;
	const TSLexMode mode = q->language->lex_modes[quick_state(q)];
	uint32_t seen = 0;

	if (mode.lex_state == (uint16_t)-1)
		return NULL_SUBTREE;
	ts_lexer_reset(lexer, q->at);
	if (mode.external_lex_state && !quick_scan_is_idle(q, mode.external_lex_state)) {
		const Length start = lexer->current_position;
		const Subtree token = quick_scan(q, mode.external_lex_state, &seen);

		if (token.ptr)
			return token;
		ts_lexer_reset(lexer, start);
	}
	ts_lexer_start(lexer);
	if (!q->language->lex_fn(&lexer->data, mode.lex_state))
		return NULL_SUBTREE;
	ts_lexer_finish(lexer, &seen);

	const TSSymbol symbol = lexer->data.result_symbol;

	if (symbol && symbol == q->language->keyword_capture_token)
		return quick_word(q, symbol, seen);
	return quick_leaf(q, symbol, false, false, seen);
}

/* The token at this place, which an empty one before it may have left. */
static Subtree quick_next(struct quick *q)
{
	TSParser *parser = q->parser;

	if (q->token.ptr ? q->token_at == q->at.bytes
			 : parser->token_cache.token.ptr &&
				   parser->token_cache.byte_index == q->at.bytes) {
		TableEntry entry;

		if (q->token.ptr)
			ts_parser__set_cached_token(parser, q->token_at, q->token_external,
						    q->token);

		const Subtree token = ts_parser__get_cached_token(parser, quick_state(q),
								  q->at.bytes, q->external, &entry);

		if (token.ptr)
			return token;
	}

	const Subtree token = quick_lex(q);

	if (token.ptr) {
		q->token = token;
		q->token_external = q->external;
		q->token_at = q->at.bytes;
	}
	return token;
}

/* A node of the entries [@from, @to), of which the first one's padding begins at @start. */
static MutableSubtree quick_node(struct quick *q, const TSParseAction *action, uint32_t from,
				 uint32_t to, Length start)
{
	const uint32_t n = to - from;
	Subtree *children = bj_tree_bump(ts_subtree_alloc_size(n));
	const TSSymbolMetadata about = q->language->symbol_metadata[action->reduce.symbol];
	const MutableSubtree node = { .ptr = (SubtreeHeapData *)(children + n) };
	int32_t precedence = action->reduce.dynamic_precedence;
	bool external = false;

	for (uint32_t i = 0; i < n; i++) {
		children[i] = q->entries[from + i].tree;
		if (children[i].data.is_inline)
			continue;
		external |= children[i].ptr->has_external_tokens;
		precedence += ts_subtree_dynamic_precedence(children[i]);
	}

	const Length padding = ts_subtree_padding(children[0]);

	*node.ptr = (SubtreeHeapData){
		.ref_count = 1,
		.padding = padding,
		.size = length_sub(q->entries[to - 1].end, length_add(start, padding)),
		.child_count = n,
		.symbol = action->reduce.symbol,
		.parse_state = TS_TREE_STATE_NONE,
		.visible = about.visible,
		.named = about.named,
		.has_external_tokens = external,
		.dynamic_precedence = precedence,
		.production_id = action->reduce.production_id,
	};
	return node;
}

/* Make one node of the entries on top; those that belong to no rule stay above it. False: some of
 * them lie deeper than the array can reach. */
static bool quick_reduce(struct quick *q, const TSParseAction *action)
{
	uint32_t from = q->n, to = q->n;

	for (uint32_t left = action->reduce.child_count; left;) {
		if (from == q->base && !quick_pull(q))
			return false;
		left -= !ts_subtree_extra(q->entries[--from].tree);
	}
	while (to > from && ts_subtree_extra(q->entries[to - 1].tree))
		to--;

	const bool first = from == q->base;
	const TSStateId below =
		first ? ts_stack_state(q->parser->stack, 0) : q->entries[from - 1].state;
	const Length start =
		first ? ts_stack_position(q->parser->stack, 0) : q->entries[from - 1].end;
	const TSStateId state = ts_language_lookup(q->language, below, action->reduce.symbol);
	const MutableSubtree node = quick_node(q, action, from, to, start);
	const Length end = q->entries[to - 1].end;
	const uint32_t n = q->n;

	quick_save(q, from);
	q->n = from;
	quick_push(q, ts_subtree_from_mut(node), end, state);
	for (uint32_t i = to; i < n; i++)
		quick_push(q, q->entries[i].tree, q->entries[i].end, state);
	return true;
}

/* The only thing to do, NULL: there is none, or a choice. To shift as part of a repetition is
 * never done. */
static const TSParseAction *quick_action(const struct quick *q, Subtree token)
{
	const uint32_t at =
		ts_language_lookup(q->language, quick_state(q), ts_subtree_symbol(token));
	const TSParseActionEntry *entry = &q->language->parse_actions[at];
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

static void quick_shift(struct quick *q, const TSParseAction *action, Subtree token)
{
	const TSStateId state = action->shift.extra ? quick_state(q) : action->shift.state;

	if (action->shift.extra != ts_subtree_extra(token)) {
		MutableSubtree changed = ts_subtree_make_mut(&q->parser->tree_pool, token);

		ts_subtree_set_extra(&changed, action->shift.extra);
		token = ts_subtree_from_mut(changed);
	}
	quick_save(q, q->n);
	q->at = length_add(q->at, ts_subtree_total_size(token));
	quick_push(q, token, q->at, state);
	if (ts_subtree_has_external_tokens(token))
		q->external = token;
}

/* Read one token. False: it was not touched. */
static bool quick_step(struct quick *q)
{
	const Subtree token = quick_next(q);

	if (!token.ptr)
		return false;
	quick_begin_token(q);
	for (;;) {
		const TSParseAction *action = quick_action(q, token);

		if (action && action->type == TSParseActionTypeShift) {
			quick_shift(q, action, token);
			return true;
		}
		if (!action || action->type != TSParseActionTypeReduce ||
		    !action->reduce.child_count || !quick_reduce(q, action))
			break;
	}
	quick_undo_token(q);
	return false;
}

static bool quick_may_run(const TSParser *parser)
{
	const Stack *stack = parser->stack;

	return ts_stack_version_count(stack) == 1 && ts_stack_is_active(stack, 0) &&
	       !parser->finished_tree.ptr;
}

static bool quick_is_late(struct quick *q)
{
	if (++q->tokens % QUICK_CLOCK == 0)
		q->late |= bj_clock_cpu() > q->end;
	return q->late;
}

/* Read as far as there is one way to. */
static void quick_run(struct quick *q)
{
	TSParser *parser = q->parser;

	if (!quick_may_run(parser))
		return;
	q->at = ts_stack_position(parser->stack, 0);
	q->external = ts_stack_last_external_token(parser->stack, 0);
	q->token = NULL_SUBTREE;
	q->is_set = false;
	while (quick_step(q) && !quick_is_late(q))
		;
	quick_flush(q);
}

static void quick_init(struct quick *q, TSParser *parser, const TSStringInput *input,
		       uint64_t budget)
{
	const uint32_t room = QUICK_DEPTH * 2;

	*q = (struct quick){ .parser = parser,
			     .language = parser->language,
			     .text = input->string,
			     .size = input->length,
			     .entries = ts_malloc(room * sizeof(*q->entries)),
			     .end = bj_clock_cpu() + budget,
			     .base = QUICK_DEPTH,
			     .n = QUICK_DEPTH,
			     .room = room,
			     .saved = ts_malloc(room * sizeof(*q->saved)),
			     .room_saved = room,
			     .python = parser->language == tree_sitter_python() };
	parser->lexer.data.advance = quick_advance;
	parser->lexer.data.mark_end = quick_mark_end;
}
