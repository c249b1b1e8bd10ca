/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* What a grammar's lexer does with plain ASCII, as a table: bj-generate-lexers asks the lexer
 * itself, state by state and byte by byte (generate_lexers.c). The quick parser follows it
 * (tree_tokens.h), a few instructions for a byte; the lexer is some ten thousand lines of
 * comparisons. */
struct bj_lexer_table {
	const uint8_t *columns; /* by byte: its place in a row; what is not ASCII has that of NUL */
	uint32_t width;         /* of a row */
	/* A row for each state. First the token that may end here, plus one, or 0. Then, by column,
	 * where the row of the next state begins, plus one, twice, and one more if the byte belongs
	 * to no token; or one of the numbers below. */
	const uint32_t *rows;
};

#define BJ_LEXER_STOP 0 /* there is no next state */
#define BJ_LEXER_ASK  1 /* only the lexer itself knows */

extern const struct bj_lexer_table bj_lexer_python, bj_lexer_python_words;
extern const struct bj_lexer_table bj_lexer_bash, bj_lexer_bash_words;
