/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What a grammar's lexer does with plain ASCII, as a table: bj-generate-lexers asks the lexer
 * itself, state by state and byte by byte (generate_lexers.c). The quick parser follows it
 * (tree_tokens.h), a few instructions for a byte; the lexer is some ten thousand lines of
 * comparisons. */
struct bj_lexer_table {
	const uint8_t *columns; /* by byte: its place in a row; what is not ASCII has that of NUL */
	uint32_t width;         /* of a row, a multiple of four */
	/* A row for each state, the first one at BJ_LEXER_FIRST. First the token that may end here,
	 * plus one, or 0. Then, by column, where the row of the next state begins, with the two
	 * bits below; or one of the numbers below. */
	const uint16_t *rows;
};

#define BJ_LEXER_STOP    0 /* there is no next state */
#define BJ_LEXER_ASK     1 /* only the lexer itself knows */
#define BJ_LEXER_FIRST   4
#define BJ_LEXER_SKIPS   1 /* the byte belongs to no token */
#define BJ_LEXER_ACCEPTS 2 /* a token may end in the next state */

extern const struct bj_lexer_table bj_lexer_python, bj_lexer_python_words;
extern const struct bj_lexer_table bj_lexer_bash, bj_lexer_bash_words;

/* What a production calls one of its children. */
struct bj_child_name {
	uint16_t alias; /* 0: it keeps its own name */
	uint8_t field;
	bool named; /* the alias is */
};

/* For each production max_alias_sequence_length of them; the first production calls them nothing.
 * tree-sitter has lists of fields to be searched. */
extern const struct bj_child_name bj_names_python[], bj_names_bash[];
