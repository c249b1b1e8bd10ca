/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Included in front of the lexers that the grammars bring, which are made of the macros below. Here
 * a lexer steps over plain ASCII inside of a line with a few variables of its own, and writes them
 * back when it is done. Everything else goes to the function that the parser gave: line ends, other
 * characters, the end of the text. */

#include "tree_sitter/parser.h"

#include "lexer.h"

/* Places in the chunk of text that the lexer has. */
struct bj_cursor {
	const char *at;          /* the character to look at; NULL: there is no text any more */
	const char *last;        /* of the chunk */
	const char *start, *end; /* of the token, NULL: not set since the latest call */
};

static inline struct bj_cursor bj_cursor_of(const TSLexer *data)
{
	const Lexer *self = (const Lexer *)data;
	const uint32_t at = self->current_position.bytes - self->chunk_start;

	if (!self->chunk)
		return (struct bj_cursor){ 0 };
	return (struct bj_cursor){ .at = self->chunk + at,
				   .last = self->chunk + self->chunk_size - 1 };
}

/* All since the latest call lies in one line, and each character is one byte. */
static inline Length bj_cursor_place(Length from, const char *base, const char *at)
{
	from.bytes += (uint32_t)(at - base);
	from.extent.column += (uint32_t)(at - base);
	return from;
}

static inline void bj_cursor_store(const struct bj_cursor *cursor, TSLexer *data, int32_t lookahead)
{
	Lexer *self = (Lexer *)data;

	if (!cursor->at)
		return;

	const Length from = self->current_position;
	const char *base = self->chunk + (from.bytes - self->chunk_start);

	if (cursor->start)
		self->token_start_position = bj_cursor_place(from, base, cursor->start);
	if (cursor->end)
		self->token_end_position = bj_cursor_place(from, base, cursor->end);
	if (cursor->at == base)
		return;
	self->current_position = bj_cursor_place(from, base, cursor->at);
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
	if ((uint32_t)lookahead >= 0x80 || lookahead == '\n' || cursor->at >= cursor->last ||
	    (signed char)cursor->at[1] < 0) {
		/* A copy, so that the cursor itself can live in registers. */
		struct bj_cursor copy = *cursor;

		lookahead = bj_cursor_call(&copy, data, lookahead, skip);
		*cursor = copy;
		return lookahead;
	}
	cursor->at++;
	if (skip)
		cursor->start = cursor->at;
	return *cursor->at;
}

static inline bool bj_lexer_at_end(const TSLexer *data)
{
	return data->eof(data);
}

/* Ranges are sorted, and known where this is compiled: those of ASCII become comparisons with
 * numbers. */
static inline __attribute__((always_inline)) bool bj_lexer_contains(const TSCharacterRange *ranges,
								    uint32_t n, int32_t c)
{
	enum { FIRST = 16 };

	if (c >= 0x80)
		return set_contains((TSCharacterRange *)ranges, n, c);
#pragma GCC unroll 16
	for (uint32_t i = 0; i < FIRST; i++)
		if (i < n && ranges[i].start < 0x80 && ranges[i].start <= c && c <= ranges[i].end)
			return true;
	return n > FIRST && ranges[FIRST].start < 0x80 &&
	       set_contains((TSCharacterRange *)ranges, n, c);
}

#define set_contains     bj_lexer_contains
#define TSCharacterRange const TSCharacterRange /* so that they are known */

/* In "eof = lexer->eof(lexer)": only where a NUL is seen the text may be over. */
#define eof(data) eof, eof = __builtin_expect(lookahead == 0, 0) && bj_lexer_at_end(data)

#undef START_LEXER
#define START_LEXER()                                                                              \
	bool result = false;                                                                       \
	__attribute__((unused)) bool eof = false;                                                  \
	int32_t lookahead = lexer->lookahead;                                                      \
	struct bj_cursor cursor = bj_cursor_of(lexer);                                             \
	goto start;                                                                                \
	done:                                                                                      \
	bj_cursor_store(&cursor, lexer, lookahead);                                                \
	return result;                                                                             \
	skip_state:                                                                                \
	lookahead = bj_cursor_advance(&cursor, lexer, lookahead, true);                            \
	goto start;                                                                                \
	next_state:                                                                                \
	lookahead = bj_cursor_advance(&cursor, lexer, lookahead, false);                           \
	start:

#undef SKIP
#define SKIP(state_value)                                                                          \
	{                                                                                          \
		state = state_value;                                                               \
		goto skip_state;                                                                   \
	}

/* The text is one range, so a token ends where the lexer is. At the end of the text nothing but the
 * lexer knows where that is. */
#undef ACCEPT_TOKEN
#define ACCEPT_TOKEN(symbol_value)                                                                 \
	result = true;                                                                             \
	lexer->result_symbol = symbol_value;                                                       \
	cursor.end = cursor.at;                                                                    \
	if (!cursor.at)                                                                            \
		((Lexer *)lexer)->token_end_position = ((Lexer *)lexer)->current_position;

#undef END_STATE
#define END_STATE() goto done;

/* Pairs of a character and the state that it leads to, as a switch. A macro cannot name itself, so
 * each pair names the next one through BJ_NEXT_PAIR, and BJ_SCAN looks at the result once more for
 * each of them: often enough for 80 pairs, the rest would not compile. */
#define BJ_NOTHING    ()
#define BJ_SCAN(...)  BJ_SCAN2(BJ_SCAN2(BJ_SCAN2(BJ_SCAN2(__VA_ARGS__))))
#define BJ_SCAN2(...) BJ_SCAN1(BJ_SCAN1(BJ_SCAN1(BJ_SCAN1(__VA_ARGS__))))
#define BJ_SCAN1(...) BJ_SCAN0(BJ_SCAN0(BJ_SCAN0(BJ_SCAN0(__VA_ARGS__))))
#define BJ_SCAN0(...) __VA_ARGS__
#define BJ_PAIR(character, next, ...)                                                              \
	case character:                                                                            \
		state = next;                                                                      \
		goto next_state;                                                                   \
		__VA_OPT__(BJ_NEXT_PAIR BJ_NOTHING(__VA_ARGS__))
#define BJ_NEXT_PAIR() BJ_PAIR

#undef ADVANCE_MAP
#define ADVANCE_MAP(...)                                                                           \
	switch (lookahead) {                                                                       \
		BJ_SCAN(BJ_PAIR(__VA_ARGS__))                                                      \
	default:                                                                                   \
		break;                                                                             \
	}

/* The parser generator switches the optimizer off for large grammars, because it takes long. Bash's
 * is one, and it asks by the name of the compiler; what it has for clang means nothing to gcc. */
#ifndef __clang__
#define __clang__ 1
#endif
