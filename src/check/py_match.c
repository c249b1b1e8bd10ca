/* SPDX-License-Identifier: Apache-2.0 */
#include "check/py_match.h"
#include "grammar_python.h"

/* Conditions of Python rules: "ARGUMENT is ...". */

bool bj_py_node_is(const struct bj_tree *tree, uint32_t node, const char *text)
{
	const size_t len = strlen(text);

	return tree->nodes[node].end - tree->nodes[node].start == len &&
	       !memcmp(tree->text + tree->nodes[node].start, text, len);
}

/* Whether @node is surely false: False, None, 0, "" or an empty display. */
bool bj_py_is_false(const struct bj_py_match *p, uint32_t node)
{
	static const char *const texts[] = { "False", "None", "0", "\"\"", "''", "[]", "()", "{}" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (bj_py_node_is(p->tree, node, texts[i]))
			return true;
	return false;
}

bool bj_py_is_literal(const struct bj_py_match *p, uint32_t node)
{
	switch (p->tree->nodes[node].kind) {
	case PY_INTEGER:
	case PY_FLOAT:
	case PY_TRUE:
	case PY_FALSE:
	case PY_NONE:
		return true;
	default:
		return bj_py_node_is(p->tree, node, "\"\"") || bj_py_node_is(p->tree, node, "''");
	}
}

#define SOURCE_MAX 512 /* bytes of an argument that are compared as they are written */

bool bj_py_fits_source(const struct bj_py_match *p, uint32_t node, const char *globs)
{
	const struct bj_node *n = &p->tree->nodes[node];
	const size_t len = n->end - n->start;

	return bj_danger_globs(globs, p->tree->text + n->start,
			       len < SOURCE_MAX ? len : SOURCE_MAX);
}

/* The same for what is written where the name @node was bound last. */
static bool fits_written(const struct bj_py_match *p, uint32_t node, const char *globs)
{
	const struct bj_py_symbol *s = p->tree->nodes[node].kind == PY_IDENTIFIER
					       ? bj_py_lookup((struct bj_py *)p->py, node)
					       : NULL;

	return bj_py_fits_source(p, node, globs) ||
	       (s && s->value && bj_py_fits_source(p, s->value, globs));
}

/* Whether @node is a constant, be it one that is too long to follow. */
static bool is_constant(const struct bj_py_match *p, uint32_t node)
{
	const struct bj_py_set *set = bj_py_set(p->py, node);

	for (uint32_t i = 0; i < set->n; i++)
		if (set->v[i].kind == BJ_PY_LONG && !set->v[i].boxed)
			return true;
	return bj_py_is_literal(p, node) || bj_py_const(p->py, node);
}

/* A name that @node may be, or that is anywhere inside it. */
static bool holds_name(const struct bj_py_match *p, uint32_t node, const char *globs)
{
	const struct bj_py_set *set = bj_py_set(p->py, node);

	for (uint32_t i = 0; i < set->n; i++) {
		const struct bj_py_text *name = bj_py_text(p->py, set->v[i].ref);

		if (set->v[i].kind == BJ_PY_NAME && bj_danger_globs(globs, name->s, name->len))
			return true;
	}
	return false;
}

bool bj_py_fits_name(const struct bj_py_match *p, uint32_t node, const char *globs)
{
	const struct bj_py_set *set = bj_py_set(p->py, node);

	for (uint32_t i = 0; i < set->n; i++) {
		const struct bj_py_text *name = bj_py_text(p->py, set->v[i].ref);

		if (set->v[i].kind == BJ_PY_NAME && !set->v[i].boxed &&
		    bj_danger_globs(globs, name->s, name->len))
			return true;
	}
	return false;
}

/* Any constant of @node, elements of a list included. */
bool bj_py_fits_text(const struct bj_py_match *p, uint32_t node, const char *globs)
{
	const struct bj_py_set *set = bj_py_set(p->py, node);

	for (uint32_t i = 0; i < set->n; i++) {
		const struct bj_py_text *text = bj_py_text(p->py, set->v[i].ref);

		if (set->v[i].kind == BJ_PY_STR && bj_danger_globs(globs, text->s, text->len))
			return true;
	}
	return false;
}

static bool fits_number(const struct bj_py_match *p, uint32_t node, uint32_t mask)
{
	const struct bj_py_set *set = bj_py_set(p->py, node);

	for (uint32_t i = 0; i < set->n; i++)
		if (set->v[i].kind == BJ_PY_INT && (set->v[i].ref & mask))
			return true;
	return false;
}

/* Some whole number that @node may be, below @limit. */
static bool is_below(const struct bj_py_match *p, uint32_t node, uint32_t limit)
{
	const struct bj_py_set *set = bj_py_set(p->py, node);

	for (uint32_t i = 0; i < set->n; i++)
		if (set->v[i].kind == BJ_PY_INT && !set->v[i].boxed && set->v[i].ref < limit)
			return true;
	return false;
}

#define WITHIN_UP 24 /* levels that are looked up to the function around */

uint32_t bj_py_name_around(const struct bj_tree *tree, uint32_t node)
{
	for (int n = 0; node && n < WITHIN_UP; n++, node = tree->nodes[node].parent)
		if (tree->nodes[node].kind == PY_FUNCTION_DEFINITION)
			return bj_node_field(tree, node, PYF_NAME);
	return 0;
}

/* @argument is "0", "name", "0/name", "self", the object whose method is called, "value", the right
 * side of an assignment, "target", what a value becomes, or "within", the name of the function
 * around it. */
static uint32_t find_argument(const struct bj_py_match *p, uint32_t call, const char *argument,
			      size_t len)
{
	char keyword[32] = "";
	int position = -1;

	if (len == 5 && !memcmp(argument, "value", 5) && p->tree->nodes[call].kind == PY_ASSIGNMENT)
		return bj_node_field(p->tree, call, PYF_RIGHT);
	if (len == 6 && !memcmp(argument, "target", 6))
		return bj_py_target(p->py, call);
	if (len == 6 && !memcmp(argument, "within", 6))
		return bj_py_name_around(p->tree, call);
	if (len == 4 && !memcmp(argument, "self", 4)) {
		const uint32_t function = bj_node_field(p->tree, call, PYF_FUNCTION);

		return function ? bj_node_field(p->tree, function, PYF_OBJECT) : 0;
	}

	if (argument[0] >= '0' && argument[0] <= '9') {
		position = argument[0] - '0';
		argument += len > 1 ? 2 : 1;
		len -= len > 1 ? 2 : 1;
	}
	if (len < sizeof(keyword))
		memcpy(keyword, argument, len);
	return bj_py_argument(p->py, call, position, keyword[0] ? keyword : NULL);
}

static bool holds(const struct bj_py_match *p, uint32_t call, const char *condition)
{
	const char *space = strchrnul(condition, ' ');
	const uint32_t node = find_argument(p, call, condition, (size_t)(space - condition));
	const char *op = *space ? space + 1 : space;

	if (!strcmp(condition, "called"))
		return true;
	if (!strcmp(condition, "serves"))
		return p->py->serves;
	if (!strcmp(op, "is set"))
		return node;
	if (!strcmp(op, "is unset"))
		return !node;
	if (!strcmp(op, "is false"))
		return !node || bj_py_is_false(p, node);
	if (!strncmp(op, "is not text ", 12))
		return !node || !bj_py_fits_source(p, node, op + 12);
	if (!strncmp(op, "is not name ", 12))
		return !node || !bj_py_fits_name(p, node, op + 12);
	if (!strncmp(op, "is not like ", 12))
		return !node || !bj_py_fits_text(p, node, op + 12);
	if (!node)
		return false;
	if (!strcmp(op, "is true"))
		return !bj_py_is_false(p, node);
	if (!strcmp(op, "is dynamic"))
		return !bj_py_is_literal(p, node) && !bj_py_const(p->py, node);
	if (!strcmp(op, "is constant"))
		return bj_py_is_literal(p, node) || bj_py_const(p->py, node);
	if (!strncmp(op, "is text ", 8))
		return fits_written(p, node, op + 8);
	if (!strcmp(op, "is data"))
		return !is_constant(p, node);
	if (!strcmp(op, "is visitor"))
		return bj_py_is_visitor(p->py, node);
	if (!strcmp(op, "begins visitor"))
		return bj_py_begins_visitor(p->py, node);
	if (!strncmp(op, "is below ", 9))
		return is_below(p, node, (uint32_t)strtoul(op + 9, NULL, 10));
	if (!strncmp(op, "holds ", 6))
		return holds_name(p, node, op + 6);
	if (!strncmp(op, "is like ", 8))
		return bj_py_fits_text(p, node, op + 8);
	if (!strncmp(op, "is name ", 8))
		return bj_py_fits_name(p, node, op + 8);
	if (!strncmp(op, "has bits ", 9))
		return fits_number(p, node, (uint32_t)strtoul(op + 9, NULL, 8));
	return false;
}

bool bj_py_all_hold(const struct bj_py_match *p, uint32_t rule, uint32_t call)
{
	for (const char *const *when = bj_danger_terms[rule].when; *when; when++)
		if (!strcmp(*when, "handed") ? call != 0 : !call || !holds(p, call, *when))
			return false;
	return true;
}
