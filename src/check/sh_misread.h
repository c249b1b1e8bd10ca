/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/tree.h"

/* Whether bash reads what is at @node of a tree without errors in another way. It costs a constant
 * and what the node has of text that is not in its children. */
bool bj_sh_is_misread(const struct bj_tree *tree, uint32_t node);
