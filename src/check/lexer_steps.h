/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Included in front of the grammars' lexers when bj-generate-lexers is built: a lexer takes one
 * step and says where to. */

#include "tree_sitter/parser.h"

struct bj_step {
	TSLexer lexer; /* first, so that the lexer's own pointer leads here */
	bool moved, skipped;
	TSStateId to;
};

#undef START_LEXER
#define START_LEXER()                                                                              \
	bool result = false, skip = false, eof = false;                                            \
	int32_t lookahead = lexer->lookahead;                                                      \
	goto start;                                                                                \
	next_state:                                                                                \
	((struct bj_step *)lexer)->moved = true;                                                   \
	((struct bj_step *)lexer)->skipped = skip;                                                 \
	((struct bj_step *)lexer)->to = state;                                                     \
	return result;                                                                             \
	start:
