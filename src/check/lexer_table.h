/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* What a grammar's lexer does with plain ASCII, as a table: bj-generate-lexers asks the lexer
 * itself, state by state and byte by byte (generate_lexers.c). The quick parser follows it
 * (tree_tokens.h), a few instructions for a byte; the lexer is some ten thousand lines of
 * comparisons. */
struct bj_lexer_table {
	const uint8_t *classes; /* by byte: its column; 0 for what is not ASCII and for NUL */
	uint16_t n_classes;
	const uint16_t *accepts; /* by state: the token that may end here, plus one; 0: none */
	/* By state, then by class: the next state, plus one, twice, and one more if the byte
	 * belongs to no token. */
	const uint16_t *steps;
};

#define BJ_LEXER_STOP 0 /* there is no next state */
#define BJ_LEXER_ASK  1 /* only the lexer itself knows */

extern const struct bj_lexer_table bj_lexer_python, bj_lexer_python_words;
extern const struct bj_lexer_table bj_lexer_bash, bj_lexer_bash_words;
