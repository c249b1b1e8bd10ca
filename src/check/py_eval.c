/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "check/pieces.h"
#include "check/python.h"
#include "grammar_python.h"

#include <errno.h>

/* What each kind of expression means, given its children. */

static const struct bj_py_text return_name = { .s = "\x01return", .len = 7 };

static struct bj_py_value name_value(uint32_t ref)
{
	return (struct bj_py_value){ .kind = BJ_PY_NAME, .ref = ref };
}

static void add_builtin(struct bj_py *py, const struct bj_py_text *name, struct bj_py_set *set)
{
	static const char builtins_name[] = "__builtins__";

	if (name->len == sizeof(builtins_name) - 1 && !memcmp(name->s, builtins_name, name->len)) {
		bj_py_set_add(set, name_value(bj_py_intern(py, "builtins", 8)));
		return;
	}
	if (bj_py_is_builtin(name->s, name->len))
		bj_py_set_add(set, name_value(bj_py_dot(py, bj_py_intern(py, "builtins", 8),
							name->s, name->len)));
	for (uint32_t i = 0; i < py->n_stars; i++)
		bj_py_set_add(set, name_value(bj_py_dot(py, py->stars[i], name->s, name->len)));
}

/* A name that a function binds anywhere is its own everywhere in it. */
static bool hides_builtin(const struct bj_py *py, const struct bj_py_symbol *s)
{
	return s->hides && s->scope && !py->scopes[s->scope].is_class && !s->is_global &&
	       !s->is_nonlocal;
}

static void eval_identifier(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const struct bj_node *at = &py->tree->nodes[node];

	if (at->field == PYF_ATTRIBUTE ||
	    (at->field == PYF_NAME && py->tree->nodes[at->parent].kind == PY_KEYWORD_ARGUMENT))
		return;

	const struct bj_py_symbol *s = bj_py_lookup(py, node);

	if (s)
		*set = s->set;
	if (!s || (!s->sure && !hides_builtin(py, s)) || s->deleted) {
		const struct bj_py_text name = bj_py_identifier(py, node);

		add_builtin(py, &name, set);
		if (!s && bj_py_is_module(name.s, name.len))
			bj_py_set_add(set, name_value(bj_py_intern(py, name.s, name.len)));
	}
}

static void eval_children(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	uint32_t c = bj_node_child(py->tree, node);

	for (; c; c = py->tree->nodes[c].next)
		bj_py_set_union(set, bj_py_set(py, c));
}

static void eval_display(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	struct bj_py_set all = { 0 };

	eval_children(py, node, &all);
	*set = bj_py_box(&all);
}

static void eval_value_field(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t value = bj_node_field(py->tree, node, PYF_VALUE);

	if (value)
		*set = *bj_py_set(py, value);
}

static void eval_body_field(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t body = bj_node_field(py->tree, node, PYF_BODY);

	if (body)
		*set = bj_py_box(bj_py_set(py, body));
}

static void eval_integer(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const struct bj_node *at = &py->tree->nodes[node];
	char digits[24];
	size_t n = 0;

	for (uint32_t i = at->start; i < at->end && n < sizeof(digits) - 1; i++)
		if (py->tree->text[i] != '_')
			digits[n++] = py->tree->text[i];
	digits[n] = '\0';

	const int base = n > 2 && digits[0] == '0' && (digits[1] | 32) == 'o'   ? 8
			 : n > 2 && digits[0] == '0' && (digits[1] | 32) == 'b' ? 2
			 : n > 2 && digits[0] == '0' && (digits[1] | 32) == 'x' ? 16
										: 10;
	const unsigned long v = strtoul(base == 10 ? digits : digits + 2, NULL, base);

	bj_py_set_add(set, (struct bj_py_value){ .kind = BJ_PY_INT,
						 .ref = v > INT32_MAX ? INT32_MAX : (uint32_t)v });
}

/* Attributes bound anywhere in the script ("self.run = os.system") go by their name alone. */
static struct bj_py_symbol *attribute_symbol(struct bj_py *py, const struct bj_py_text *name,
					     bool make)
{
	char dotted[BJ_PY_TEXT_MAX];

	if (name->len + 1 > sizeof(dotted))
		return NULL;
	dotted[0] = '.';
	memcpy(dotted + 1, name->s, name->len);

	const uint32_t ref = bj_py_intern(py, dotted, name->len + 1);

	return ref ? bj_py_symbol(py, 0, &py->texts[ref], make) : NULL;
}

/* Names that lead from any object to the inside of the interpreter. */
static bool is_inner(const struct bj_py_text *name)
{
	static const char *const others[] = { "gi_frame",   "cr_frame",  "ag_frame",    "tb_frame",
					      "f_builtins", "f_globals", "func_globals" };

	if (name->len > 4 && name->s[0] == '_' && name->s[1] == '_')
		return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (name->len == strlen(others[i]) && !memcmp(name->s, others[i], name->len))
			return true;
	return false;
}

static bool ends_with(const struct bj_py_text *text, const char *end)
{
	const size_t len = strlen(end);

	return text->len >= len && memcmp(text->s + text->len - len, end, len) == 0;
}

/* "x.__dict__" and "x.__globals__" stand for the names in x; "m.__getattribute__" for getattr. */
static uint32_t attribute_of(struct bj_py *py, uint32_t left, const struct bj_py_text *name)
{
	static const char *const same[] = { "__wrapped__", "__func__", "__call__", "__self__" };
	const struct bj_py_text *l = bj_py_text(py, left);

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (name->len == strlen(same[i]) && !memcmp(name->s, same[i], name->len))
			return i == 3 && strncmp(l->s, "builtins.", 9) == 0
				       ? bj_py_intern(py, "builtins", 8)
				       : left;
	if (name->len == 12 && !memcmp(name->s, "__builtins__", 12))
		return bj_py_intern(py, "builtins", 8);
	const uint32_t module = bj_py_inner_module(py, name);

	return module ? module : bj_py_dot(py, left, name->s, name->len);
}

static void eval_attribute(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t object = bj_node_field(py->tree, node, PYF_OBJECT);
	const uint32_t attribute = bj_node_field(py->tree, node, PYF_ATTRIBUTE);

	if (!object || !attribute)
		return;

	const struct bj_py_text name = bj_py_identifier(py, attribute);
	const struct bj_py_set *left = bj_py_set(py, object);
	bool known = false;

	for (uint32_t i = 0; i < left->n; i++)
		if (left->v[i].kind == BJ_PY_NAME && !left->v[i].boxed) {
			known = true;
			bj_py_set_add(set, name_value(attribute_of(py, left->v[i].ref, &name)));
		}
	bj_py_eval_flag(&name, left, py, set);

	const struct bj_py_symbol *s = attribute_symbol(py, &name, false);

	/* What the script binds to an attribute of that name anywhere may be this one. */
	if (s)
		bj_py_set_union(set, &s->set);
	if (known)
		return;
	if (is_inner(&name)) {
		const bool builtin = name.len == 8 && !memcmp(name.s, "__self__", 8) &&
				     py->tree->nodes[object].kind == PY_IDENTIFIER &&
				     !bj_py_lookup(py, object);
		const uint32_t any =
			builtin ? bj_py_intern(py, "builtins.len", 12) : bj_py_intern(py, "?", 1);

		bj_py_set_add(set, name_value(attribute_of(py, any, &name)));
	}
}

/* A constant subscript of something that holds names: "globals()['eval']", "sys.modules['os']",
 * "vars(os)['system']", "os.__dict__['system']". */
static uint32_t subscript_of(struct bj_py *py, uint32_t left, const struct bj_py_text *key)
{
	const struct bj_py_text *l = bj_py_text(py, left);

	if (key->len == 12 && !memcmp(key->s, "__builtins__", 12))
		return bj_py_intern(py, "builtins", 8);
	if (!strcmp(l->s, "sys.modules"))
		return bj_py_intern(py, key->s, key->len);
	if (!strcmp(l->s, "builtins") || !strcmp(l->s, "os.environ"))
		return bj_py_dot(py, left, key->s, key->len);
	if (ends_with(l, ".__dict__"))
		return bj_py_dot(py, bj_py_intern(py, l->s, l->len - 9), key->s, key->len);
	if (!strcmp(l->s, "builtins.globals()") || !strcmp(l->s, "builtins.locals()") ||
	    !strcmp(l->s, "builtins.vars()") || ends_with(l, ".__globals__")) {
		/* What is not a builtin there is most likely a module. */
		if (!bj_py_is_builtin(key->s, key->len))
			return ends_with(l, ".__globals__") ? bj_py_intern(py, key->s, key->len)
							    : 0;
		return bj_py_dot(py, bj_py_intern(py, "builtins", 8), key->s, key->len);
	}
	return 0;
}

static void add_module_symbol(struct bj_py *py, const struct bj_py_text *left,
			      const struct bj_py_text *key, struct bj_py_set *set)
{
	if (strncmp(left->s, "builtins.", 9) != 0)
		return;

	const struct bj_py_symbol *s = bj_py_symbol(py, 0, key, false);

	if (s)
		bj_py_set_union(set, &s->set);
}

static struct bj_py_set boxed_part(const struct bj_py_set *set)
{
	struct bj_py_set out = { 0 };

	for (uint32_t i = 0; i < set->n; i++)
		if (set->v[i].boxed)
			bj_py_set_add(&out, set->v[i]);
	return out;
}

static void eval_subscript(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t object = bj_node_field(py->tree, node, PYF_VALUE);
	const uint32_t index = bj_node_field(py->tree, node, PYF_SUBSCRIPT);

	if (!object || !index)
		return;

	const struct bj_py_set *left = bj_py_set(py, object);
	const struct bj_py_text *key = bj_py_const(py, index);

	/* A part of a list is a list. */
	*set = py->tree->nodes[index].kind == PY_SLICE ? boxed_part(left) : bj_py_unbox(left);
	bj_py_eval_slice(py, node, set);
	if (py->tree->nodes[index].kind == PY_SLICE)
		return;
	for (uint32_t i = 0; i < left->n; i++) {
		if (left->v[i].kind != BJ_PY_NAME || left->v[i].boxed)
			continue;

		const struct bj_py_text l = *bj_py_text(py, left->v[i].ref);

		if (key) {
			const struct bj_py_text k = *key;

			bj_py_set_add(set, name_value(subscript_of(py, left->v[i].ref, &k)));
			if (!strcmp(l.s, "os.environ"))
				bj_py_eval_home(py, &k, set);
			add_module_symbol(py, &l, &k, set);
			key = bj_py_const(py, index);
		}
		if (l.s[0] == '?')
			bj_py_set_add(set, left->v[i]);
		else if (!key && (!strcmp(l.s, "builtins") || ends_with(&l, "()") ||
				  ends_with(&l, "__dict__")))
			bj_py_set_add(set, name_value(bj_py_dot(py, left->v[i].ref, "[]", 2)));
	}
}

static void eval_lambda(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t body = bj_node_field(py->tree, node, PYF_BODY);

	if (!body)
		return;

	const uint32_t scope = py->body_scope[node];
	struct bj_py_symbol *s = bj_py_symbol(py, scope, &return_name, true);

	if (s)
		bj_py_set_union(&s->set, bj_py_set(py, body));
	bj_py_set_add(set, (struct bj_py_value){ .kind = BJ_PY_FUNC, .ref = scope });
}

/* "nonlocal x": the x of a function around is meant as well. */
static void bind_outer(struct bj_py *py, uint32_t scope, const struct bj_py_text *name,
		       const struct bj_py_set *set)
{
	for (int n = 0; scope && n < 16; n++) {
		scope = py->scopes[scope].parent;

		struct bj_py_symbol *s = scope ? bj_py_symbol(py, scope, name, false) : NULL;

		if (s) {
			bj_py_set_union(&s->set, set);
			return;
		}
	}
}

static void bind_name(struct bj_py *py, uint32_t node, const struct bj_py_set *set)
{
	const struct bj_py_text name = bj_py_identifier(py, node);
	const uint32_t scope = py->node_scope[node];
	struct bj_py_symbol *s = bj_py_symbol(py, scope, &name, true);

	if (s && s->is_global && scope)
		s = bj_py_symbol(py, 0, &name, true);
	if (s && s->is_nonlocal)
		bind_outer(py, scope, &name, set);
	if (s)
		bj_py_set_union(&s->set, set);
	if (py->scopes[scope].is_class) {
		s = attribute_symbol(py, &name, true);
		if (s)
			bj_py_set_union(&s->set, set);
	}
}

static void bind_attribute(struct bj_py *py, uint32_t node, const struct bj_py_set *set)
{
	const uint32_t attribute = bj_node_field(py->tree, node, PYF_ATTRIBUTE);

	if (!attribute)
		return;

	const struct bj_py_text name = bj_py_identifier(py, attribute);
	struct bj_py_symbol *s = attribute_symbol(py, &name, true);

	if (s)
		bj_py_set_union(&s->set, set);
}

/* "d[k] = eval": the container now holds it. */
static void bind_element(struct bj_py *py, uint32_t node, const struct bj_py_set *set)
{
	const uint32_t object = bj_node_field(py->tree, node, PYF_VALUE);
	const struct bj_py_set boxed = bj_py_box(set);

	if (object && py->tree->nodes[object].kind == PY_IDENTIFIER)
		bind_name(py, object, &boxed);
}

static void bind_one(struct bj_py *py, uint32_t node, const struct bj_py_set *set)
{
	switch (py->tree->nodes[node].kind) {
	case PY_IDENTIFIER:
		bind_name(py, node, set);
		break;
	case PY_ATTRIBUTE:
		bind_attribute(py, node, set);
		break;
	case PY_SUBSCRIPT:
		bind_element(py, node, set);
		break;
	default:
		break;
	}
}

void bj_py_bind(struct bj_py *py, uint32_t target, const struct bj_py_set *set)
{
	const uint16_t kind = py->tree->nodes[target].kind;

	if (!set->n)
		return;
	if (kind != PY_PATTERN_LIST && kind != PY_TUPLE_PATTERN && kind != PY_LIST_PATTERN &&
	    kind != PY_AS_PATTERN_TARGET) {
		bind_one(py, target, set);
		return;
	}

	const struct bj_py_set inner = kind == PY_AS_PATTERN_TARGET ? *set : bj_py_unbox(set);
	uint32_t c = bj_node_child(py->tree, target);

	for (; c; c = py->tree->nodes[c].next)
		bind_one(py, c, &inner);
}

/* "a, b = x, y": pair by pair. */
static bool bind_pairs(struct bj_py *py, uint32_t left, uint32_t right)
{
	const struct bj_node *nodes = py->tree->nodes;
	uint32_t l = bj_node_child(py->tree, left), r = bj_node_child(py->tree, right);

	if (nodes[left].kind != PY_PATTERN_LIST && nodes[left].kind != PY_TUPLE_PATTERN)
		return false;
	if (nodes[right].kind != PY_EXPRESSION_LIST && nodes[right].kind != PY_TUPLE)
		return false;
	for (; l && r; l = nodes[l].next, r = nodes[r].next) {
		if (nodes[l].kind == PY_LIST_SPLAT_PATTERN)
			return false;
		bj_py_bind(py, l, bj_py_set(py, r));
	}
	return true;
}

/* What a rule may ask of a variable: how its value is written. */
static bool is_written(uint16_t kind)
{
	return kind == PY_DICTIONARY || kind == PY_LIST || kind == PY_CALL || kind == PY_STRING ||
	       kind == PY_BINARY_OPERATOR || kind == PY_CONCATENATED_STRING || kind == PY_SUBSCRIPT;
}

static void eval_assignment(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t left = bj_node_field(py->tree, node, PYF_LEFT);
	const uint32_t right = bj_node_field(py->tree, node, PYF_RIGHT);

	if (!left || !right)
		return;
	*set = *bj_py_set(py, right);
	if (!bind_pairs(py, left, right))
		bj_py_bind(py, left, set);
	if (py->tree->nodes[left].kind == PY_IDENTIFIER &&
	    is_written(py->tree->nodes[right].kind)) {
		const struct bj_py_text name = bj_py_identifier(py, left);
		struct bj_py_symbol *s = bj_py_symbol(py, py->node_scope[left], &name, false);

		if (s)
			s->value = right;
	}
}

static void eval_augmented(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t left = bj_node_field(py->tree, node, PYF_LEFT);

	bj_py_eval_operator(py, node, set);
	if (left)
		bj_py_bind(py, left, set);
}

static void eval_loop(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t left = bj_node_field(py->tree, node, PYF_LEFT);
	const uint32_t right = bj_node_field(py->tree, node, PYF_RIGHT);

	(void)set;
	if (!left || !right)
		return;

	const struct bj_py_set items = bj_py_unbox(bj_py_set(py, right));

	bj_py_bind(py, left, &items);
}

static void eval_named(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t name = bj_node_field(py->tree, node, PYF_NAME);

	eval_value_field(py, node, set);
	if (name)
		bj_py_bind(py, name, set);
}

static void eval_as(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t value = bj_node_child(py->tree, node);
	const uint32_t alias = bj_node_field(py->tree, node, PYF_ALIAS);

	if (!value || !alias)
		return;
	*set = *bj_py_set(py, value);
	bj_py_bind(py, alias, set);
}

static void eval_return(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	struct bj_py_symbol *s = bj_py_symbol(py, py->node_scope[node], &return_name, true);

	(void)set;
	if (s)
		eval_children(py, node, &s->set);
}

/* What a generator gives comes out of a box. */
static void eval_yield(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	struct bj_py_symbol *s = bj_py_symbol(py, py->node_scope[node], &return_name, true);
	struct bj_py_set all = { 0 };

	(void)set;
	eval_children(py, node, &all);
	all = bj_py_box(&all);
	if (s)
		bj_py_set_union(&s->set, &all);
}

static void eval_function(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t name = bj_node_field(py->tree, node, PYF_NAME);

	bj_py_set_add(set, (struct bj_py_value){ .kind = BJ_PY_FUNC, .ref = py->body_scope[node] });
	if (name)
		bind_name(py, name, set);
	*set = (struct bj_py_set){ 0 };
}

static void eval_concatenated(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	bj_py_eval_concat(py, node, set);
}

static const struct {
	uint16_t kind;
	void (*eval)(struct bj_py *py, uint32_t node, struct bj_py_set *set);
} evaluators[] = {
	{ PY_IDENTIFIER, eval_identifier },
	{ PY_STRING, bj_py_eval_string },
	{ PY_CONCATENATED_STRING, eval_concatenated },
	{ PY_INTEGER, eval_integer },
	{ PY_BINARY_OPERATOR, bj_py_eval_operator },
	{ PY_ATTRIBUTE, eval_attribute },
	{ PY_SUBSCRIPT, eval_subscript },
	{ PY_CALL, bj_py_eval_call },
	{ PY_LIST, eval_display },
	{ PY_TUPLE, eval_display },
	{ PY_SET, eval_display },
	{ PY_EXPRESSION_LIST, eval_display },
	{ PY_DICTIONARY, eval_display },
	{ PY_PAIR, eval_value_field },
	{ PY_LIST_COMPREHENSION, eval_body_field },
	{ PY_SET_COMPREHENSION, eval_body_field },
	{ PY_GENERATOR_EXPRESSION, eval_body_field },
	{ PY_PARENTHESIZED_EXPRESSION, eval_children },
	{ PY_CONDITIONAL_EXPRESSION, eval_children },
	{ PY_BOOLEAN_OPERATOR, eval_children },
	{ PY_AWAIT, eval_children },
	{ PY_NAMED_EXPRESSION, eval_named },
	{ PY_KEYWORD_ARGUMENT, eval_value_field },
	{ PY_LAMBDA, eval_lambda },
	{ PY_ASSIGNMENT, eval_assignment },
	{ PY_AUGMENTED_ASSIGNMENT, eval_augmented },
	{ PY_FOR_STATEMENT, eval_loop },
	{ PY_MATCH_STATEMENT, bj_py_eval_match },
	{ PY_FOR_IN_CLAUSE, eval_loop },
	{ PY_DEFAULT_PARAMETER, eval_named },
	{ PY_TYPED_DEFAULT_PARAMETER, eval_named },
	{ PY_AS_PATTERN, eval_as },
	{ PY_RETURN_STATEMENT, eval_return },
	{ PY_YIELD, eval_yield },
	{ PY_FUNCTION_DEFINITION, eval_function },
	{ PY_CLASS_DEFINITION, bj_py_eval_class },
	{ PY_IMPORT_STATEMENT, bj_py_eval_import },
	{ PY_IMPORT_FROM_STATEMENT, bj_py_eval_import },
	{ PY_DECORATOR, eval_children },
};

struct pass {
	struct bj_py *py;
	uint32_t *again; /* nodes that may mean more in the second pass, in their order */
	uint32_t n_again;
	void (*by_kind[PY_FORMAT_EXPRESSION + 1])(struct bj_py *py, uint32_t node,
						  struct bj_py_set *set);
};

/* Apart, so that nodes that mean nothing do not pay for a set. */
static __attribute__((noinline)) void eval_known(const struct pass *pass, uint32_t node,
						 uint16_t kind)
{
	struct bj_py_set set;

	set.n = 0;
	pass->by_kind[kind](pass->py, node, &set);
	if (pass->py->visitors)
		bj_py_carry_visitor(pass->py, node, &set);
	bj_py_put(pass->py, node, &set);
}

/* A literal means the same in both passes. */
static bool is_literal(const struct bj_tree *tree, uint32_t node, uint16_t kind)
{
	return kind == PY_INTEGER ||
	       (kind == PY_STRING && !bj_node_kind(tree, node, PY_INTERPOLATION));
}

static void eval_node(void *ctx, uint32_t node)
{
	struct pass *pass = ctx;
	const struct bj_tree *tree = pass->py->tree;
	const uint16_t kind = tree->nodes[node].kind;

	if (kind > PY_FORMAT_EXPRESSION || !pass->by_kind[kind])
		return;
	eval_known(pass, node, kind);
	if (!is_literal(tree, node, kind))
		pass->again[pass->n_again++] = node;
}

const struct bj_py_text *bj_py_const(const struct bj_py *py, uint32_t node)
{
	const struct bj_py_set *set = bj_py_set(py, node);

	for (uint32_t i = 0; i < set->n; i++)
		if (set->v[i].kind == BJ_PY_STR && !set->v[i].boxed)
			return bj_py_text(py, set->v[i].ref);
	return NULL;
}

static bool is_ascii(const char *text, size_t size)
{
	uint64_t all = 0, word;
	size_t i = 0;

	for (; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, text + i, sizeof(word));
		all |= word;
	}
	for (; i < size; i++)
		all |= (unsigned char)text[i];
	return !(all & 0x8080808080808080u);
}

static bool prepare(struct bj_py *py, const struct bj_tree *tree)
{
	const size_t n = (size_t)tree->n_nodes + 1;

	py->tree = tree;
	py->is_ascii = is_ascii(tree->text, tree->size);
	py->node_set = bj_piece_new(4 * n * sizeof(*py->node_set));
	if (!py->node_set || !bj_py_begin_names(py))
		return false;
	memset(py->node_set, 0, 4 * n * sizeof(*py->node_set));
	py->node_scope = py->node_set + n;
	py->body_scope = py->node_scope + n;
	py->node_symbol = py->body_scope + n;
	return true;
}

/* Twice: functions use names that are bound further down. */
static void eval_twice(struct pass *pass)
{
	struct bj_py *py = pass->py;
	AUTO_PIECE uint32_t *again = bj_piece_new((py->tree->n_nodes + 1) * sizeof(*again));

	if (!again || py->failed) {
		py->failed = true;
		return;
	}
	pass->again = again;
	bj_tree_walk(py->tree, eval_node, pass);
	py->n_stars = 0;
	for (uint32_t i = 0; i < pass->n_again && !py->failed; i++)
		eval_known(pass, again[i], py->tree->nodes[again[i]].kind);
}

int bj_py_new(const struct bj_tree *tree, struct bj_py **ret, struct bj_err *err)
{
	struct bj_py *py = calloc(1, sizeof(*py));

	if (!py)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the script");

	struct pass pass = { .py = py };

	for (size_t i = 0; i < sizeof(evaluators) / sizeof(evaluators[0]); i++)
		pass.by_kind[evaluators[i].kind] = evaluators[i].eval;
	if (prepare(py, tree)) {
		bj_py_collect(py);
		eval_twice(&pass);
	} else {
		py->failed = true;
	}
	if (py->failed) {
		bj_py_free(py);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the script");
	}
	*ret = py;
	return 0;
}
