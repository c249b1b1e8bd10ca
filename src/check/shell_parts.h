/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/shell.h"

/* Between sh_words.c, sh_variables.c, sh_expand.c and sh_commands.c only. */

/* Remember all variables that the script sets. */
void bj_sh_read_variables(struct bj_sh *sh);

/* Remember that the script sets variable [@s, @len); @value is its constant or NULL. */
void bj_sh_assign(struct bj_sh *sh, const char *s, size_t len, const char *value);

/* The elements of an array, each a field of its own. */
const char *bj_sh_fold_array(struct bj_sh *sh, uint32_t node);
void bj_sh_free_chunks(struct bj_sh *sh);

/* Remember that "for [@s, @len)" takes each of @words, parted by BJ_SH_SPLIT. */
void bj_sh_assign_words(struct bj_sh *sh, const char *s, size_t len, const char *words);

/* Remember that the variable holds what was decoded or came from the network. */
void bj_sh_assign_hidden(struct bj_sh *sh, const char *s, size_t len);

/* Remember that the variable takes the rest of a line of the input. */
void bj_sh_assign_input(struct bj_sh *sh, const char *s, size_t len);

/* A copy that lives as long as @sh. */
const char *bj_sh_keep(struct bj_sh *sh, const char *s, size_t len);

/* What the rest of "${name REST}" makes of @value, into @out of BJ_SH_WORD bytes. False: it is not
 * followed. */
bool bj_sh_operate(const char *value, const char *op, size_t op_len, char *out, size_t *ret_len);

/* What echo -e, and printf with @args, write. Returns the length. */
size_t bj_sh_unescape(const char *s, size_t len, char *out, size_t room);
size_t bj_sh_printf(const char *format, const char *const *args, size_t n_args, char *out,
		    size_t room);

/* The first {a,b} of a word as it is written, plain text only, at *@ret_start. Its size, or 0 when
 * there is none. */
size_t bj_sh_find_braces(const char *s, size_t len, size_t *ret_start);

/* What the printf @command writes, its first @skip words aside; NULL: it has no format. */
const char *bj_sh_printed(struct bj_sh *sh, uint32_t command, size_t skip);
