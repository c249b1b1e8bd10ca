/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/danger_rules.h"
#include "check/python.h"

/* What the rules for Python look at, and whether their conditions hold. */

struct bj_py_match {
	const struct bj_danger_pass *pass;
	const struct bj_py *py;
	const struct bj_tree *tree;
};

bool bj_py_node_is(const struct bj_tree *tree, uint32_t node, const char *text);

/* Whether @node is surely false: False, None, 0, "" or an empty display. */
bool bj_py_is_false(const struct bj_py_match *p, uint32_t node);

bool bj_py_is_literal(const struct bj_py_match *p, uint32_t node);

/* Whether @node as it is written, a name that it may be, or a constant of it (elements of a list
 * included) fits one of @globs. */
bool bj_py_fits_source(const struct bj_py_match *p, uint32_t node, const char *globs);
bool bj_py_fits_name(const struct bj_py_match *p, uint32_t node, const char *globs);
bool bj_py_fits_text(const struct bj_py_match *p, uint32_t node, const char *globs);

/* Whether all conditions of @rule hold for @call; 0: a name that is only handed on. */
bool bj_py_all_hold(const struct bj_py_match *p, uint32_t rule, uint32_t call);

/* Text with data in it that is SQL or a page; @node is a string, an operator or a call. */
void bj_py_match_built(const struct bj_py_match *p, uint32_t node);

/* A comparison of a password with text; a call that logs a password or sends it in the clear. */
void bj_py_match_compared(const struct bj_py_match *p, uint32_t node);
void bj_py_match_password_call(const struct bj_py_match *p, uint32_t call, uint32_t function);

/* An assert that guards something; the empty password of a database, in a pair of a dictionary. */
void bj_py_match_assert(const struct bj_py_match *p, uint32_t node);
void bj_py_match_empty(const struct bj_py_match *p, uint32_t pair);

/* The name of the function that @node is in; 0: none. */
uint32_t bj_py_name_around(const struct bj_tree *tree, uint32_t node);
