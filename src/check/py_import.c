/* SPDX-License-Identifier: Apache-2.0 */
#include "check/danger_rules.h"
#include "check/python.h"
#include "grammar_python.h"

/* Statements that bind names to what comes from elsewhere: import, match and class. */

static struct bj_py_value name_value(uint32_t ref)
{
	return (struct bj_py_value){ .kind = BJ_PY_NAME, .ref = ref };
}

uint32_t bj_py_inner_module(struct bj_py *py, const struct bj_py_text *name)
{
	static const char *const modules[] = { "os", "sys", "builtins" };
	const uint32_t skip = name->len && name->s[0] == '_';

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (name->len - skip == strlen(modules[i]) &&
		    !memcmp(name->s + skip, modules[i], name->len - skip))
			return bj_py_intern(py, modules[i], strlen(modules[i]));
	return 0;
}

static uint32_t dotted_ref(struct bj_py *py, uint32_t node, uint32_t left)
{
	uint32_t c = bj_node_child(py->tree, node);

	for (; c; c = py->tree->nodes[c].next) {
		const struct bj_py_text part = bj_py_identifier(py, c);

		/* "from shutil import os" is os. */
		const uint32_t module = left ? bj_py_inner_module(py, &part) : 0;

		left = module ? module
		       : left ? bj_py_dot(py, left, part.s, part.len)
			      : bj_py_intern(py, part.s, part.len);
	}
	return left;
}

/* The set of a name in an import is the module or thing it brings in. */
static void bind_import(struct bj_py *py, uint32_t node, uint32_t from)
{
	const struct bj_tree *tree = py->tree;
	const bool aliased = tree->nodes[node].kind == PY_ALIASED_IMPORT;
	const uint32_t dotted = aliased ? bj_node_field(tree, node, PYF_NAME) : node;
	const uint32_t first = dotted ? bj_node_child(tree, dotted) : 0;
	const uint32_t alias = aliased ? bj_node_field(tree, node, PYF_ALIAS) : first;
	struct bj_py_set whole = { 0 }, bound = { 0 };

	if (!first || !alias)
		return;
	bj_py_set_add(&whole, name_value(dotted_ref(py, dotted, from)));
	bj_py_put(py, node, &whole);
	bound = whole;
	if (!aliased && !from) {
		const struct bj_py_text part = bj_py_identifier(py, first);

		bound = (struct bj_py_set){ 0 };
		bj_py_set_add(&bound, name_value(bj_py_intern(py, part.s, part.len)));
	}
	bj_py_bind(py, alias, &bound);
}

void bj_py_eval_import(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const struct bj_node *nodes = py->tree->nodes;
	const uint32_t module = bj_node_field(py->tree, node, PYF_MODULE_NAME);
	uint32_t from = 0;

	if (module) {
		from = nodes[module].kind == PY_DOTTED_NAME ? dotted_ref(py, module, 0)
							    : bj_py_intern(py, "?relative", 9);
		bj_py_set_add(set, name_value(from));
	}
	for (uint32_t c = bj_node_child(py->tree, node); c; c = nodes[c].next) {
		if (nodes[c].field == PYF_NAME)
			bind_import(py, c, from);
		if (nodes[c].kind == PY_WILDCARD_IMPORT && from && py->n_stars < 4)
			py->stars[py->n_stars++] = from;
	}
}

/* "match eval: case f:" */
void bj_py_eval_match(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const struct bj_node *nodes = py->tree->nodes;
	const uint32_t subject = bj_node_field(py->tree, node, PYF_SUBJECT);
	const uint32_t body = bj_node_field(py->tree, node, PYF_BODY);
	uint32_t c = subject && body ? bj_node_child(py->tree, body) : 0;

	(void)set;
	for (; c; c = nodes[c].next) {
		const uint32_t pattern = bj_node_kind(py->tree, c, PY_CASE_PATTERN);
		const uint32_t dotted =
			pattern ? bj_node_kind(py->tree, pattern, PY_DOTTED_NAME) : 0;
		const uint32_t name = dotted ? bj_node_child(py->tree, dotted) : 0;

		if (name && !nodes[name].next)
			bj_py_bind(py, name, bj_py_set(py, subject));
	}
}

/* "class P(subprocess.Popen)": P(...) starts a program as well. A restricted Unpickler is how
 * pickle is made safe, and what builtins lead to is not what their classes do. */
void bj_py_eval_class(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t name = bj_node_field(py->tree, node, PYF_NAME);
	const uint32_t bases = bj_node_field(py->tree, node, PYF_SUPERCLASSES);
	uint32_t c = bases ? bj_node_child(py->tree, bases) : 0;
	struct bj_py_set all = { 0 };

	(void)set;
	for (; c; c = py->tree->nodes[c].next) {
		const struct bj_py_set *base = bj_py_set(py, c);

		for (uint32_t i = 0; i < base->n; i++) {
			const struct bj_py_text *text = bj_py_text(py, base->v[i].ref);

			if (base->v[i].kind == BJ_PY_NAME && !base->v[i].boxed &&
			    memchr(text->s, '.', text->len) && text->s[0] != '?' &&
			    strncmp(text->s, "builtins.", 9) != 0 &&
			    !bj_danger_globs("*Unpickler", text->s, text->len))
				bj_py_set_add(&all, base->v[i]);
		}
	}
	if (name && all.n)
		bj_py_bind(py, name, &all);
}
