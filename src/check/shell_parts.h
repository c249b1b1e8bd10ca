/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/shell.h"

/* Between sh_words.c and sh_commands.c only. */

/* Remember that the script sets variable [@s, @len); @value is its constant or NULL. */
void bj_sh_assign(struct bj_sh *sh, const char *s, size_t len, const char *value);

/* The elements of an array, each a field of its own. */
const char *bj_sh_fold_array(struct bj_sh *sh, uint32_t node);
void bj_sh_free_chunks(struct bj_sh *sh);
