/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Included in front of the lexers that the grammars bring, which are made of the macros below. Here
 * a lexer steps over plain ASCII inside of a line with a few variables of its own, and writes them
 * back when it is done. Everything else goes to the function that the parser gave: line ends, other
 * characters, the end of the text. */

#include "tree_sitter/parser.h"

#include "lexer.h"

#define BJ_CURSOR_NONE UINT32_MAX

/* Offsets into the chunk of text that the lexer has. */
struct bj_cursor {
	const char *chunk;
	uint32_t size;
	uint32_t at;         /* the character to look at */
	uint32_t synced;     /* what the lexer takes for that */
	uint32_t start, end; /* of the token, if set since then */
};

static inline struct bj_cursor bj_cursor_of(const TSLexer *data)
{
	const Lexer *self = (const Lexer *)data;
	const uint32_t at = self->current_position.bytes - self->chunk_start;

	return (struct bj_cursor){ .chunk = self->chunk,
				   .size = self->chunk ? self->chunk_size : 0,
				   .at = at,
				   .synced = at,
				   .start = BJ_CURSOR_NONE,
				   .end = BJ_CURSOR_NONE };
}

/* All since the latest call lies in one line, and each character is one byte. */
static inline Length bj_cursor_place(const struct bj_cursor *cursor, Length from, uint32_t at)
{
	from.bytes += at - cursor->synced;
	from.extent.column += at - cursor->synced;
	return from;
}

static inline void bj_cursor_store(const struct bj_cursor *cursor, TSLexer *data, int32_t lookahead)
{
	Lexer *self = (Lexer *)data;
	const Length from = self->current_position;

	if (cursor->start != BJ_CURSOR_NONE)
		self->token_start_position = bj_cursor_place(cursor, from, cursor->start);
	if (cursor->end != BJ_CURSOR_NONE)
		self->token_end_position = bj_cursor_place(cursor, from, cursor->end);
	if (cursor->at == cursor->synced)
		return;
	self->current_position = bj_cursor_place(cursor, from, cursor->at);
	self->lookahead_size = 1;
	data->lookahead = lookahead;
}

static __attribute__((noinline)) int32_t bj_cursor_call(struct bj_cursor *cursor, TSLexer *data,
							int32_t lookahead, bool skip)
{
	bj_cursor_store(cursor, data, lookahead);
	data->advance(data, skip);
	*cursor = bj_cursor_of(data);
	return data->lookahead;
}

/* The next character. */
static inline __attribute__((always_inline)) int32_t
bj_cursor_advance(struct bj_cursor *cursor, TSLexer *data, int32_t lookahead, bool skip)
{
	const uint32_t next = cursor->at + 1;

	if ((uint32_t)lookahead >= 0x80 || lookahead == '\n' || next >= cursor->size ||
	    (unsigned char)cursor->chunk[next] >= 0x80) {
		/* A copy, so that the cursor itself can live in registers. */
		struct bj_cursor copy = *cursor;

		lookahead = bj_cursor_call(&copy, data, lookahead, skip);
		*cursor = copy;
		return lookahead;
	}
	cursor->at = next;
	if (skip)
		cursor->start = next;
	return cursor->chunk[next];
}

static inline bool bj_lexer_at_end(const TSLexer *data)
{
	return data->eof(data);
}

static inline bool bj_lexer_in_range(const TSCharacterRange *ranges, uint32_t n, uint32_t i,
				     int32_t c)
{
	return i < n && ranges[i].start <= c && c <= ranges[i].end;
}

/* Ranges are sorted and known here: the compiler makes comparisons with numbers of the first few,
 * which nearly always are all of ASCII. */
static inline __attribute__((always_inline)) bool bj_lexer_contains(TSCharacterRange *ranges,
								    uint32_t n, int32_t c)
{
	if (bj_lexer_in_range(ranges, n, 3, c) || bj_lexer_in_range(ranges, n, 2, c) ||
	    bj_lexer_in_range(ranges, n, 1, c) || bj_lexer_in_range(ranges, n, 0, c))
		return true;
	return n > 4 && c >= ranges[4].start && set_contains(ranges, n, c);
}

#define set_contains bj_lexer_contains

/* In "eof = lexer->eof(lexer)": only where a NUL is seen the text may be over. */
#define eof(data) eof, eof = lookahead == 0 && bj_lexer_at_end(data)

#undef START_LEXER
#define START_LEXER()                                                                              \
	bool result = false, skip = false;                                                         \
	__attribute__((unused)) bool eof = false;                                                  \
	int32_t lookahead = lexer->lookahead;                                                      \
	struct bj_cursor cursor = bj_cursor_of(lexer);                                             \
	goto start;                                                                                \
	done:                                                                                      \
	bj_cursor_store(&cursor, lexer, lookahead);                                                \
	return result;                                                                             \
	next_state:                                                                                \
	lookahead = bj_cursor_advance(&cursor, lexer, lookahead, skip);                            \
	start:                                                                                     \
	skip = false;

/* The text is one range, so a token ends where the lexer is. */
#undef ACCEPT_TOKEN
#define ACCEPT_TOKEN(symbol_value)                                                                 \
	result = true;                                                                             \
	lexer->result_symbol = symbol_value;                                                       \
	cursor.end = cursor.at;

#undef END_STATE
#define END_STATE() goto done;
