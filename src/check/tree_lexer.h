/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Included in front of the sources of the grammars: their lexers step over most characters without
 * a call. What is not plain ASCII inside of a line goes to the function that the parser gave. */

#include "tree_sitter/parser.h"

#include "lexer.h"

static inline void bj_lexer_advance(TSLexer *data, bool skip)
{
	Lexer *self = (Lexer *)data;
	const uint32_t next = self->current_position.bytes + self->lookahead_size;
	const uint32_t at = next - self->chunk_start;

	if (!self->chunk || at >= self->chunk_size || (unsigned char)self->chunk[at] >= 0x80 ||
	    data->lookahead == '\n') {
		data->advance(data, skip);
		return;
	}
	self->current_position.bytes = next;
	self->current_position.extent.column += self->lookahead_size;
	if (skip)
		self->token_start_position = self->current_position;
	data->lookahead = self->chunk[at];
	self->lookahead_size = 1;
}

/* The text is one range, so a token ends where the lexer is. */
static inline void bj_lexer_mark_end(TSLexer *data)
{
	Lexer *self = (Lexer *)data;

	self->token_end_position = self->current_position;
}

/* Ranges are sorted: those of ASCII are the first few. */
static inline bool bj_lexer_contains(TSCharacterRange *ranges, uint32_t n, int32_t c)
{
	if (c >= 0x80)
		return set_contains(ranges, n, c);
	for (uint32_t i = 0; i < n && ranges[i].start <= c; i++)
		if (c <= ranges[i].end)
			return true;
	return false;
}

#define set_contains bj_lexer_contains

#undef START_LEXER
#define START_LEXER()                                                                              \
	bool result = false, skip = false;                                                         \
	__attribute__((unused)) bool eof;                                                          \
	int32_t lookahead;                                                                         \
	eof = false;                                                                               \
	goto start;                                                                                \
	next_state:                                                                                \
	bj_lexer_advance(lexer, skip);                                                             \
	start:                                                                                     \
	skip = false;                                                                              \
	lookahead = lexer->lookahead;

#undef ACCEPT_TOKEN
#define ACCEPT_TOKEN(symbol_value)                                                                 \
	result = true;                                                                             \
	lexer->result_symbol = symbol_value;                                                       \
	bj_lexer_mark_end(lexer);
