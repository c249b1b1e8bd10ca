/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How the quick parser reads one token: what tree-sitter does in ts_parser__lex(), for a text that
 * is one piece of memory and one range. What is not ASCII goes tree-sitter's own way. Part of
 * tree_core.c. */

/* A text without errors is read as if it were one line, because nobody asks for rows and columns;
 * so a place is a number of bytes, and this is how tree-sitter writes it. */
static inline Length quick_place(uint32_t bytes)
{
	return (Length){ bytes, { 0, bytes } };
}

static inline void quick_advance_to(TSLexer *data, TSPoint extent, bool skip)
{
	Lexer *self = (Lexer *)data;

	self->current_position.bytes += self->lookahead_size;
	self->current_position.extent = extent;
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

/* What the lexer calls for each character. */
static void quick_advance(TSLexer *data, bool skip)
{
	const Lexer *self = (const Lexer *)data;
	const uint32_t column = self->current_position.extent.column + self->lookahead_size;

	if (self->chunk)
		quick_advance_to(data, (TSPoint){ 0, column }, skip);
}

/* The same for a text that is read with errors: there rows say how bad one is. */
static void quick_advance_rows(TSLexer *data, bool skip)
{
	const Lexer *self = (const Lexer *)data;
	TSPoint extent = self->current_position.extent;

	extent.column += self->lookahead_size;
	if (data->lookahead == '\n')
		extent = (TSPoint){ extent.row + 1, 0 };
	if (self->chunk)
		quick_advance_to(data, extent, skip);
}

static void quick_mark_end(TSLexer *data)
{
	Lexer *self = (Lexer *)data;

	self->token_end_position = self->current_position;
}

/* Bash's scanner asks where a line begins, and only there: the true column of anything else is not
 * worth looking for. */
static uint32_t quick_get_column(TSLexer *data)
{
	Lexer *self = (Lexer *)data;
	const uint32_t at = self->current_position.bytes;

	self->did_get_column = true;
	return at && ((const TSStringInput *)self->input.payload)->string[at - 1] != '\n';
}

/* What is read with errors has rows and columns again. */
static void quick_set_lexer(TSLexer *data)
{
	data->advance = quick_advance;
	data->mark_end = quick_mark_end;
	data->get_column = quick_get_column;
}

static void quick_reset_lexer(TSLexer *data)
{
	data->advance = quick_advance_rows;
	data->mark_end = quick_mark_end;
	data->get_column = ts_lexer__get_column;
}

/* Begin a token at @at: ts_lexer_reset() and ts_lexer_start(). */
static inline void quick_start(struct quick *q, uint32_t at)
{
	Lexer *lexer = &q->parser->lexer;

	if (at >= q->size || (unsigned char)q->text[at] >= 0x80) {
		ts_lexer_reset(lexer, quick_place(at));
		ts_lexer_start(lexer);
		return;
	}
	lexer->current_included_range_index = 0;
	lexer->chunk = q->text;
	lexer->chunk_start = 0;
	lexer->chunk_size = q->size;
	lexer->current_position = quick_place(at);
	lexer->token_start_position = quick_place(at);
	lexer->token_end_position = LENGTH_UNDEFINED;
	lexer->did_get_column = false;
	lexer->data.result_symbol = 0;
	lexer->data.lookahead = q->text[at];
	lexer->lookahead_size = 1;
}

/* ts_lexer_finish(). Returns the byte after the last one that was looked at. */
static inline uint32_t quick_finish(struct quick *q, uint32_t seen)
{
	Lexer *lexer = &q->parser->lexer;
	const uint32_t more = lexer->data.lookahead == TS_DECODE_ERROR ? 5 : 1;
	const uint32_t last = lexer->current_position.bytes + more;

	q->work += last - q->at;
	if (length_is_undefined(lexer->token_end_position))
		lexer->token_end_position = lexer->current_position;
	/* What was skipped behind the end belongs to the next token. */
	if (lexer->token_end_position.bytes < lexer->token_start_position.bytes)
		lexer->token_start_position = lexer->token_end_position;
	return last > seen ? last : seen;
}

/* What a lexer found. */
struct quick_match {
	uint32_t start, end; /* of the token */
	uint32_t seen;       /* the byte after the last one that was looked at */
	TSSymbol symbol;
	bool found;
};

/* Let the grammar's own lexer go on at @at. */
static __attribute__((noinline)) void quick_ask(struct quick *q, bool words, TSStateId state,
						uint32_t at, struct quick_match *m)
{
	Lexer *lexer = &q->parser->lexer;

	quick_start(q, at);
	if (m->start != at)
		lexer->token_start_position = quick_place(m->start);
	if (words ? q->language->keyword_lex_fn(&lexer->data, state)
		  : q->language->lex_fn(&lexer->data, state)) {
		m->found = true;
		m->symbol = lexer->data.result_symbol;
		m->end = lexer->token_end_position.bytes;
	}
	m->start = lexer->token_start_position.bytes;
	m->seen =
		lexer->current_position.bytes + (lexer->data.lookahead == TS_DECODE_ERROR ? 5 : 1);
}

/* The token at @at, from @state of a lexer on. */
static inline struct quick_match quick_match(struct quick *q, bool words, TSStateId state,
					     uint32_t at)
{
	const struct bj_lexer_table *table = words ? q->words : q->tokens;
	const uint8_t *columns = table->columns, *text = (const uint8_t *)q->text;
	const uint16_t *rows = table->rows, *row = rows + BJ_LEXER_FIRST + state * table->width;
	const uint16_t *accepted = rows; /* the row of the longest token so far */
	const uint32_t size = q->size;
	uint32_t start = at, end = 0, step = row[0] ? BJ_LEXER_ACCEPTS : 0;

	while (at < size) {
		accepted = step & BJ_LEXER_ACCEPTS ? row : accepted;
		end = step & BJ_LEXER_ACCEPTS ? at : end;
		step = row[columns[text[at]]];
		if (step <= BJ_LEXER_ASK)
			break;
		at++;
		start = step & BJ_LEXER_SKIPS ? at : start;
		row = rows + (step & ~3u);
	}

	struct quick_match m = { .start = start,
				 .end = end,
				 .seen = at + 1,
				 .symbol = (TSSymbol)(accepted[0] - 1),
				 .found = accepted[0] };

	if (__builtin_expect(at == size || step == BJ_LEXER_ASK, 0))
		quick_ask(q, words, (TSStateId)((row - rows - BJ_LEXER_FIRST) / table->width), at,
			  &m);
	/* What was skipped behind the end belongs to the next token. */
	if (m.end < m.start)
		m.start = m.end;
	return m;
}

/* A token that does not fit into one word. */
static SubtreeHeapData *quick_new_leaf(const struct quick *q, TSSymbol symbol,
				       const struct quick_match *m, uint32_t seen)
{
	const TSSymbolMetadata about = q->language->symbol_metadata[symbol];
	SubtreeHeapData *leaf = bj_tree_bump(sizeof(*leaf));

	*leaf = (SubtreeHeapData){ .ref_count = 1,
				   .padding = quick_place(m->start - q->at),
				   .size = quick_place(m->end - m->start),
				   .lookahead_bytes = seen - m->end,
				   .symbol = symbol,
				   .parse_state = q->state,
				   .visible = about.visible,
				   .named = about.named,
				   .extra = symbol == ts_builtin_sym_end };
	return leaf;
}

static Subtree quick_large_leaf(const struct quick *q, TSSymbol symbol, bool keyword,
				const struct quick_match *m, uint32_t seen)
{
	SubtreeHeapData *leaf = quick_new_leaf(q, symbol, m, seen);

	leaf->is_keyword = keyword;
	return (Subtree){ .ptr = leaf };
}

/* ts_subtree_new_leaf() for a token of the lexer. */
static inline Subtree quick_leaf(struct quick *q, TSSymbol symbol, bool keyword,
				 const struct quick_match *m, uint32_t seen)
{
	const uint32_t padding = m->start - q->at;
	const uint32_t size = m->end - m->start;
	const uint32_t ahead = seen - m->end;

	if ((symbol | padding | size) > UINT8_MAX - 1 || ahead > 15)
		return quick_large_leaf(q, symbol, keyword, m, seen);

	const TSSymbolMetadata about = q->language->symbol_metadata[symbol];

	/* SubtreeInlineData as one number: the compiler would put it together bit by bit. */
	const uint64_t bits =
		1u | (uint64_t)about.visible << 1 | (uint64_t)about.named << 2 |
		(uint64_t)(symbol == ts_builtin_sym_end) << 3 | (uint64_t)keyword << 6 |
		(uint64_t)symbol << 8 | (uint64_t)q->state << 16 | (uint64_t)padding << 32 |
		(uint64_t)ahead << 44 | (uint64_t)padding << 48 | (uint64_t)size << 56;
	Subtree leaf;

	_Static_assert(!TS_BIG_ENDIAN && sizeof(leaf) == sizeof(bits), "how a leaf is laid out");
	memcpy(&leaf, &bits, sizeof(leaf));
	return leaf;
}

/* Whether the scanner of Python's grammar has nothing to say here: outside of strings it knows line
 * ends, comments and what begins a string. */
static inline bool quick_python_is_idle(const struct quick *q, const bool *valid)
{
	enum { STRING_CONTENT = 4 };
	static const bool speaks[256] = {
		['\0'] = true, ['\t'] = true, ['\n'] = true, ['\f'] = true, ['\r'] = true,
		['"'] = true,  ['#'] = true,  ['\''] = true, ['B'] = true,  ['F'] = true,
		['R'] = true,  ['U'] = true,  ['\\'] = true, ['`'] = true,  ['b'] = true,
		['f'] = true,  ['r'] = true,  ['u'] = true,  ['{'] = true,  ['}'] = true,
	};
	uint32_t at = q->at;

	if (valid[STRING_CONTENT])
		return false;
	while (at < q->size && q->text[at] == ' ')
		at++;
	return at < q->size && (unsigned char)q->text[at] < 0x80 && !speaks[(int)q->text[at]];
}

#include "check/tree_bash.h"

static inline bool quick_scan_is_idle(const struct quick *q, unsigned mode)
{
	const bool *valid = ts_language_enabled_external_tokens(q->language, mode);

	return q->python ? quick_python_is_idle(q, valid) : quick_bash_is_idle(q, mode);
}

/* How many bytes from here on the scanner of Python's grammar would only step over, because they
 * are plain text of a string. The last of them is left to it: a string that has content differs
 * from one that is empty. */
static inline uint32_t quick_string_run(const struct quick *q, unsigned mode)
{
	enum { INDENT = 1, STRING_CONTENT = 4, DELIMITERS = 1, TRIPLE = 1 << 5 };
	static const bool stops[256] = {
		['\0'] = true, ['\n'] = true, ['"'] = true, ['\''] = true,          ['\\'] = true,
		['`'] = true,  ['{'] = true,  ['}'] = true, [0x80 ... 0xff] = true,
	};
	const bool *valid = ts_language_enabled_external_tokens(q->language, mode);
	const ExternalScannerState *state = ts_subtree_external_scanner_state(q->external);
	const uint8_t *data = (const uint8_t *)ts_external_scanner_state_data(state);
	uint32_t at = q->at;

	if (!valid[STRING_CONTENT] || valid[INDENT] || state->length <= DELIMITERS ||
	    !data[DELIMITERS] || state->length <= DELIMITERS + data[DELIMITERS])
		return 0;

	const bool triple = data[DELIMITERS + data[DELIMITERS]] & TRIPLE;

	while (at < q->size &&
	       (!stops[(unsigned char)q->text[at]] || (triple && q->text[at] == '\n')))
		at++;
	return at > q->at ? at - q->at - 1 : 0;
}

/* A token of the grammar's own scanner. NULL_SUBTREE: there is none here. */
static Subtree quick_scan(struct quick *q, unsigned mode, uint32_t *seen)
{
	enum { INDENT = 1, SURE = 128 };
	TSParser *parser = q->parser;
	Lexer *lexer = &parser->lexer;

	const uint32_t run = q->python ? quick_string_run(q, mode) : 0;

	quick_start(q, q->at + run);
	if (run)
		lexer->token_start_position = quick_place(q->at);
	if (!q->is_set || q->scanned.ptr != q->external.ptr)
		ts_parser__external_scanner_deserialize(parser, q->external);
	q->is_set = false;
	if (!ts_parser__external_scanner_scan(parser, mode)) {
		q->is_set = q->python;
		q->scanned = q->external;
		*seen = quick_finish(q, *seen);
		return NULL_SUBTREE;
	}
	*seen = quick_finish(q, *seen);

	const unsigned length = ts_parser__external_scanner_serialize(parser);
	const bool changed = !ts_external_scanner_state_eq(
		ts_subtree_external_scanner_state(q->external), lexer->debug_buffer, length);
	const TSSymbol symbol = q->language->external_scanner.symbol_map[lexer->data.result_symbol];
	const struct quick_match m = { .start = lexer->token_start_position.bytes,
				       .end = lexer->token_end_position.bytes };
	SubtreeHeapData *data = quick_new_leaf(q, symbol, &m, *seen);
	const Subtree token = { .ptr = data };

	data->has_external_tokens = true;
	data->depends_on_column = lexer->did_get_column;
	ts_external_scanner_state_init(&data->external_scanner_state, lexer->debug_buffer, length);
	data->has_external_scanner_state_change = changed;
	/* What Python's scanner keeps is what it wrote, but for an indentation beyond 255 and more
	 * than there is room for. */
	q->is_set = q->python && lexer->data.result_symbol != INDENT && length < SURE;
	q->scanned = token;
	return token;
}

/* A word may be a keyword, where one is allowed. */
static Subtree quick_word(struct quick *q, const struct quick_match *word, uint32_t seen)
{
	const struct quick_match m = quick_match(q, true, 0, word->start);
	TSSymbol symbol = word->symbol;

	if (m.found && m.end == word->end &&
	    ts_language_has_actions(q->language, q->state, m.symbol))
		symbol = m.symbol;
	return quick_leaf(q, symbol, m.found, word, seen);
}

static inline void quick_saw(struct quick *q, uint32_t end)
{
	q->seen = end > q->seen ? end : q->seen;
}

/* NULL_SUBTREE: nothing that is allowed in @mode, or nothing is to be read. */
static Subtree quick_lex_in(struct quick *q, TSLexMode mode)
{
	uint32_t seen = 0;

	if (mode.lex_state == (uint16_t)-1)
		return NULL_SUBTREE;
	if (mode.external_lex_state && !quick_scan_is_idle(q, mode.external_lex_state)) {
		const Subtree token = quick_scan(q, mode.external_lex_state, &seen);

		if (token.ptr) {
			quick_saw(q, seen);
			return token;
		}
	}

	const struct quick_match m = quick_match(q, false, mode.lex_state, q->at);

	seen = m.seen > seen ? m.seen : seen;
	quick_saw(q, seen);
	if (!m.found)
		return NULL_SUBTREE;
	q->work += m.seen - q->at;
	if (m.symbol && m.symbol == q->language->keyword_capture_token)
		return quick_word(q, &m, seen);
	return quick_leaf(q, m.symbol, false, &m, seen);
}

static Subtree quick_lex(struct quick *q)
{
	return quick_lex_in(q, q->language->lex_modes[q->state]);
}
