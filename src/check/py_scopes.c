/* SPDX-License-Identifier: Apache-2.0 */
#include "check/python.h"
#include "grammar_python.h"

/* Pass 0: the scope of every node, and which names each scope binds. Values come later; here it
 * only matters that a name is bound at all, because then it is not the builtin of that name. */

static bool makes_scope(uint16_t kind)
{
	return kind == PY_FUNCTION_DEFINITION || kind == PY_LAMBDA || kind == PY_CLASS_DEFINITION;
}

/* Whether @node, a child of a definition, lives in the new scope. */
static bool is_inside(const struct bj_node *node)
{
	return node->field == PYF_BODY || node->field == PYF_PARAMETERS;
}

/* Whether nothing but the definition's own block stands between @node and its scope. */
static bool is_unconditional(const struct bj_tree *tree, uint32_t node)
{
	for (int up = 0; up < 6; up++) {
		const struct bj_node *parent = &tree->nodes[tree->nodes[node].parent];

		switch (parent->kind) {
		case PY_MODULE:
			return true;
		case PY_BLOCK:
			return makes_scope(tree->nodes[parent->parent].kind);
		case PY_IF_STATEMENT:
		case PY_FOR_STATEMENT:
		case PY_WHILE_STATEMENT:
		case PY_TRY_STATEMENT:
			return false;
		default:
			node = tree->nodes[node].parent;
		}
	}
	return false;
}

/* The names of a comprehension hold there only. */
static bool in_comprehension(const struct bj_tree *tree, uint32_t node)
{
	for (int up = 0; up < 64; up++, node = tree->nodes[node].parent)
		switch (tree->nodes[node].kind) {
		case PY_FOR_IN_CLAUSE:
		case PY_LIST_COMPREHENSION:
		case PY_SET_COMPREHENSION:
		case PY_DICTIONARY_COMPREHENSION:
		case PY_GENERATOR_EXPRESSION:
			return true;
		case PY_BLOCK:
		case PY_MODULE:
		case PY_PARAMETERS:
			return false;
		default:
			break;
		}
	return true;
}

static void declare(struct bj_py *py, uint32_t node, uint32_t scope, uint32_t bound, bool code)
{
	const struct bj_py_text name = bj_py_identifier(py, node);
	struct bj_py_symbol *s = bj_py_symbol(py, scope, &name, true);

	if (!s)
		return;
	if (s->is_global && scope) {
		s = bj_py_symbol(py, 0, &name, true);
		if (!s)
			return;
	}
	if (!s->bound || bound < s->bound)
		s->bound = bound ? bound : 1;
	s->local_code |= code;
	if (in_comprehension(py->tree, node))
		return;
	s->hides = true;
	s->sure |= is_unconditional(py->tree, node);
}

/* Declare every identifier of a target, but those of "a.b", "a[b]" and "a(b).c". */
static void declare_target(struct bj_py *py, uint32_t target, uint32_t bound, bool code)
{
	const struct bj_node *nodes = py->tree->nodes;

	for (uint32_t i = target; i < nodes[target].after; i++) {
		if (nodes[i].kind == PY_ATTRIBUTE || nodes[i].kind == PY_SUBSCRIPT ||
		    nodes[i].kind == PY_CALL)
			i = nodes[i].after - 1;
		else if (nodes[i].kind == PY_IDENTIFIER)
			declare(py, i, py->node_scope[i], bound, code);
	}
}

static void declare_global(struct bj_py *py, uint32_t node)
{
	uint32_t c = bj_node_child(py->tree, node);

	for (; c; c = py->tree->nodes[c].next) {
		const struct bj_py_text name = bj_py_identifier(py, c);
		struct bj_py_symbol *s = bj_py_symbol(py, py->node_scope[c], &name, true);

		if (s)
			s->is_global = true;
	}
}

static void declare_nonlocal(struct bj_py *py, uint32_t node)
{
	uint32_t c = bj_node_child(py->tree, node);

	for (; c; c = py->tree->nodes[c].next) {
		const struct bj_py_text name = bj_py_identifier(py, c);
		struct bj_py_symbol *s = bj_py_symbol(py, py->node_scope[c], &name, true);

		if (s)
			s->is_nonlocal = true;
	}
}

/* Whether the script answers requests: "import flask", "from http.server import ...". */
static void note_module(struct bj_py *py, uint32_t dotted)
{
	const uint32_t first = bj_node_child(py->tree, dotted);
	const struct bj_node *n = &py->tree->nodes[first ? first : dotted];
	const char *s = py->tree->text + n->start;
	const size_t len = n->end - n->start;

	py->tests |=
		(len == 6 && !memcmp(s, "pytest", 6)) || (len == 8 && !memcmp(s, "unittest", 8));
	py->serves |= bj_py_is_framework(s, len);
	py->answers |= (len == 4 && !memcmp(s, "http", 4) && py->tree->nodes[dotted].end > n->end &&
			!memcmp(s + 4, ".server", 7)) ||
		       (len == 14 && !memcmp(s, "BaseHTTPServer", 14));
	py->visitors |= py->serves || py->answers;
}

/* "import a.b" binds a; "import a.b as c" and "from a import b as c" bind c. */
static void declare_import(struct bj_py *py, uint32_t node)
{
	const struct bj_node *nodes = py->tree->nodes;
	const uint32_t module = bj_node_field(py->tree, node, PYF_MODULE_NAME);
	uint32_t c = bj_node_child(py->tree, node);

	if (module)
		note_module(py, module);
	for (; c; c = nodes[c].next) {
		uint32_t name = 0;

		if (nodes[c].field != PYF_NAME)
			continue;
		if (!module)
			note_module(py, nodes[c].kind == PY_ALIASED_IMPORT
						? bj_node_field(py->tree, c, PYF_NAME)
						: c);
		if (nodes[c].kind == PY_ALIASED_IMPORT)
			name = bj_node_field(py->tree, c, PYF_ALIAS);
		else
			name = bj_node_child(py->tree, c);
		if (name)
			declare(py, name, py->node_scope[node], nodes[node].end, false);
	}
}

static void declare_parameters(struct bj_py *py, uint32_t node)
{
	const struct bj_node *nodes = py->tree->nodes;
	uint32_t c = bj_node_child(py->tree, node);

	for (; c; c = nodes[c].next) {
		uint32_t name = c;

		if (nodes[c].kind != PY_IDENTIFIER) {
			name = bj_node_field(py->tree, c, PYF_NAME);
			if (!name)
				name = bj_node_kind(py->tree, c, PY_IDENTIFIER);
			if (!name)
				continue;
		}
		declare(py, name, py->node_scope[c], 1, true);

		const struct bj_py_text text = bj_py_identifier(py, name);
		struct bj_py_symbol *s = bj_py_symbol(py, py->node_scope[c], &text, false);

		if (s)
			s->sure = true;
		py->visitors |= bj_py_is_handed(text.s, text.len);
	}
}

/* The names of a loop hold in its body, which a comprehension has in front. */
static void declare_loop(struct bj_py *py, uint32_t node)
{
	const uint32_t left = bj_node_field(py->tree, node, PYF_LEFT);

	if (left)
		declare_target(py, left, 1, false);
}

static void declare_left(struct bj_py *py, uint32_t node)
{
	const uint32_t left = bj_node_field(py->tree, node, PYF_LEFT);

	if (left)
		declare_target(py, left, py->tree->nodes[node].end, false);
}

static void declare_definition(struct bj_py *py, uint32_t node)
{
	const uint32_t name = bj_node_field(py->tree, node, PYF_NAME);

	if (name)
		declare(py, name, py->node_scope[node], py->tree->nodes[node].start + 1, true);
}

/* "(f := eval)"; in a comprehension its condition is computed before what stands in front of it. */
static void declare_named(struct bj_py *py, uint32_t node)
{
	const struct bj_node *nodes = py->tree->nodes;
	const uint32_t name = bj_node_field(py->tree, node, PYF_NAME);
	uint32_t bound = nodes[node].end, up = node;

	for (int n = 0; up && n < 8; n++, up = nodes[up].parent)
		if (nodes[up].kind == PY_LIST_COMPREHENSION ||
		    nodes[up].kind == PY_SET_COMPREHENSION ||
		    nodes[up].kind == PY_DICTIONARY_COMPREHENSION ||
		    nodes[up].kind == PY_GENERATOR_EXPRESSION)
			bound = nodes[up].start;
	if (name)
		declare(py, name, py->node_scope[node], bound, false);
}

/* "case f:" binds f. */
static void declare_case(struct bj_py *py, uint32_t node)
{
	const uint32_t dotted = bj_node_kind(py->tree, node, PY_DOTTED_NAME);
	const uint32_t name = dotted ? bj_node_child(py->tree, dotted) : 0;

	if (name && !py->tree->nodes[name].next)
		declare(py, name, py->node_scope[node], py->tree->nodes[node].start + 1, false);
}

static void declare_whole(struct bj_py *py, uint32_t node)
{
	declare_target(py, node, py->tree->nodes[node].end, false);
}

/* "del eval" brings the builtin back. */
static void declare_deleted(struct bj_py *py, uint32_t node)
{
	const struct bj_node *nodes = py->tree->nodes;

	for (uint32_t i = node; i < py->tree->n_nodes; i++) {
		if (nodes[i].start >= nodes[node].end)
			return;
		if (nodes[i].kind != PY_IDENTIFIER)
			continue;

		const struct bj_py_text name = bj_py_identifier(py, i);
		struct bj_py_symbol *s = bj_py_symbol(py, py->node_scope[i], &name, true);

		if (s)
			s->deleted = true;
	}
}

static const struct {
	uint16_t kind;
	void (*declare)(struct bj_py *py, uint32_t node);
} declarers[] = {
	{ PY_ASSIGNMENT, declare_left },
	{ PY_AUGMENTED_ASSIGNMENT, declare_left },
	{ PY_FOR_STATEMENT, declare_loop },
	{ PY_FOR_IN_CLAUSE, declare_loop },
	{ PY_NAMED_EXPRESSION, declare_named },
	{ PY_CASE_PATTERN, declare_case },
	{ PY_AS_PATTERN_TARGET, declare_whole },
	{ PY_FUNCTION_DEFINITION, declare_definition },
	{ PY_CLASS_DEFINITION, declare_definition },
	{ PY_PARAMETERS, declare_parameters },
	{ PY_LAMBDA_PARAMETERS, declare_parameters },
	{ PY_IMPORT_STATEMENT, declare_import },
	{ PY_IMPORT_FROM_STATEMENT, declare_import },
	{ PY_GLOBAL_STATEMENT, declare_global },
	{ PY_NONLOCAL_STATEMENT, declare_nonlocal },
	{ PY_DELETE_STATEMENT, declare_deleted },
};

/* Nodes come parent first, so the scope of the parent is known. */
static uint32_t scope_of(struct bj_py *py, uint32_t i, uint32_t *body_scope)
{
	const struct bj_node *node = &py->tree->nodes[i];
	const struct bj_node *up = &py->tree->nodes[node->parent];
	const uint32_t outer = py->node_scope[node->parent];

	if (makes_scope(up->kind) && is_inside(node)) {
		if (!body_scope[node->parent]) {
			const uint32_t made =
				bj_py_add_scope(py, outer, up->kind == PY_CLASS_DEFINITION);

			body_scope[node->parent] = made;
			if (made)
				py->scopes[made].node = node->parent;
		}
		return body_scope[node->parent];
	}
	/* A default value is computed where the function is defined. */
	if (node->field == PYF_VALUE &&
	    (up->kind == PY_DEFAULT_PARAMETER || up->kind == PY_TYPED_DEFAULT_PARAMETER))
		return py->scopes[outer].parent;
	return outer;
}

void bj_py_collect(struct bj_py *py)
{
	const struct bj_tree *tree = py->tree;
	void (*by_kind[PY_FORMAT_EXPRESSION + 1])(struct bj_py * py, uint32_t node) = { 0 };

	for (size_t d = 0; d < sizeof(declarers) / sizeof(declarers[0]); d++)
		by_kind[declarers[d].kind] = declarers[d].declare;
	bj_py_add_scope(py, 0, false);
	for (uint32_t i = 1; i < tree->n_nodes && !py->failed; i++)
		py->node_scope[i] = scope_of(py, i, py->body_scope);
	for (uint32_t i = 1; i < tree->n_nodes && !py->failed; i++) {
		const uint16_t kind = tree->nodes[i].kind;

		if (kind <= PY_FORMAT_EXPRESSION && by_kind[kind])
			by_kind[kind](py, i);
	}
	if (py->visitors)
		bj_py_find_visitors(py);
}
