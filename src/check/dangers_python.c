/* SPDX-License-Identifier: Apache-2.0 */
#include "check/py_match.h"
#include "check/py_nested.h"
#include "grammar_python.h"

/* Python dangers: every call, import, attribute and assignment against the rules, by the dotted
 * names that the analysis found. */

/* --- names against rules --- */

static void special(const struct bj_py_match *p, const char *name, uint32_t node)
{
	bj_danger_special(p->pass, BJ_LANG_PYTHON, name, p->tree->nodes[node].start,
			  p->tree->nodes[node].end);
}

/* @call is the call the name is in; 0 when it is only handed on. */
static void match_name(const struct bj_py_match *p, const struct bj_py_text *name,
		       enum bj_danger_on on, uint32_t call, uint32_t at)
{
	const struct bj_node *node = &p->tree->nodes[at];
	const struct bj_danger_key *key =
		bj_danger_find(bj_python_keys, bj_python_keys_at, name->s);
	const struct bj_danger_key *end = bj_python_keys + bj_n_python_keys;

	for (; key && key < end && !strcmp(key->name, name->s); key++)
		if (key->on == on && bj_py_all_hold(p, key->rule, call))
			bj_danger_hit(p->pass, key->rule, node->start, node->end);

	const uint64_t letters = bj_danger_letters(name->s, name->len);

	for (size_t i = bj_python_globs_on[on].first; i < bj_python_globs_on[on].end; i++) {
		key = &bj_python_globs[i];
		if (bj_danger_lacks(key, letters))
			continue;
		if (bj_danger_glob(key->name, strlen(key->name), name->s, name->len) &&
		    bj_py_all_hold(p, key->rule, call))
			bj_danger_hit(p->pass, key->rule, node->start, node->end);
	}
}

static bool any_argument(const struct bj_danger_use *use, bool whole,
			 bool (*test)(const void *ctx, const char *s, size_t len), const void *ctx)
{
	const struct bj_py_match *p = use->ctx;
	const uint32_t args = use->node ? bj_node_field(p->tree, use->node, PYF_ARGUMENTS) : 0;
	uint32_t c = args ? bj_node_child(p->tree, args) : 0;

	(void)whole;
	for (; c; c = p->tree->nodes[c].next) {
		const struct bj_py_set *set = bj_py_set(p->py, c);

		for (uint32_t i = 0; i < set->n; i++) {
			const struct bj_py_text *text = bj_py_text(p->py, set->v[i].ref);

			if (set->v[i].kind == BJ_PY_STR && test(ctx, text->s, text->len))
				return true;
		}
	}
	return false;
}

/* @call is 0 for a name that is only handed on, and for an import. */
static void match_extra(const struct bj_py_match *p, const struct bj_py_text *name, bool import,
			uint32_t call, uint32_t at)
{
	const struct bj_danger_use use = { .language = BJ_LANG_PYTHON,
					   .name = name->s,
					   .import = import,
					   .start = p->tree->nodes[at].start,
					   .end = p->tree->nodes[at].end,
					   .any = any_argument,
					   .ctx = p,
					   .node = call };

	bj_danger_extra(p->pass, &use);
}

static void match_set(const struct bj_py_match *p, const struct bj_py_set *set,
		      enum bj_danger_on on, uint32_t call, uint32_t at)
{
	for (uint32_t i = 0; i < set->n; i++) {
		if (set->v[i].kind != BJ_PY_NAME)
			continue;
		if (set->v[i].boxed && on != BJ_ON_CALL)
			continue;
		if (set->v[i].boxed && call)
			continue;

		const struct bj_py_text *name = bj_py_text(p->py, set->v[i].ref);

		/* A list of some values of globals() is no function that is handed on. */
		if (set->v[i].boxed && name->len > 2 && !strcmp(name->s + name->len - 2, "[]"))
			continue;

		match_name(p, name, on, call, at);
		if (on == BJ_ON_CALL || on == BJ_ON_IMPORT)
			match_extra(p, name, on == BJ_ON_IMPORT, call, at);
	}
}

/* A function handed on is as good as called: map(eval, lines), Thread(target=os.system). But some
 * only look at what they get. */
static void match_arguments(const struct bj_py_match *p, uint32_t call, uint32_t function)
{
	const uint32_t args = bj_node_field(p->tree, call, PYF_ARGUMENTS);
	uint32_t c = args ? bj_node_child(p->tree, args) : 0;

	if (bj_py_fits_name(p, function,
			    "builtins.isinstance|builtins.issubclass|builtins.print|builtins.repr|"
			    "builtins.hasattr|builtins.callable|builtins.id|builtins.hash|"
			    "builtins.str") ||
	    (bj_py_fits_name(p, function, "builtins.type") && c && !p->tree->nodes[c].next))
		return;

	for (; c; c = p->tree->nodes[c].next) {
		const uint32_t value = p->tree->nodes[c].kind == PY_KEYWORD_ARGUMENT
					       ? bj_node_field(p->tree, c, PYF_VALUE)
					       : c;

		if (value)
			match_set(p, bj_py_set(p->py, value), BJ_ON_CALL, 0, value);
		/* type("X", (), {"run": eval}) makes a method of it. */
		if (value && p->tree->nodes[value].kind == PY_DICTIONARY &&
		    bj_py_fits_name(p, function, "builtins.type")) {
			const struct bj_py_set inner = bj_py_unbox(bj_py_set(p->py, value));

			match_set(p, &inner, BJ_ON_CALL, 0, value);
		}
	}
}

/* A method of something unknown goes by its name alone. */
static void match_method(const struct bj_py_match *p, uint32_t call, uint32_t function)
{
	const uint32_t attribute = bj_node_field(p->tree, function, PYF_ATTRIBUTE);

	if (!attribute)
		return;

	const struct bj_node *a = &p->tree->nodes[attribute];
	char name[64] = "";

	if (a->end - a->start >= sizeof(name))
		return;
	memcpy(name, p->tree->text + a->start, a->end - a->start);

	const struct bj_py_text text = { .s = name, .len = a->end - a->start };

	match_name(p, &text, BJ_ON_ATTR, call, attribute);
}

/* A name the script defines itself is not the builtin; that is worth a remark only. */
static void match_shadow(const struct bj_py_match *p, uint32_t function)
{
	static const char *const names[] = { "eval", "exec", "compile", "__import__" };
	const struct bj_py_symbol *s;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!bj_py_node_is(p->tree, function, names[i]))
			continue;
		s = bj_py_lookup((struct bj_py *)p->py, function);
		if (s && s->local_code && s->sure && !s->deleted)
			bj_danger_special(p->pass, BJ_LANG_PYTHON, "shadow",
					  p->tree->nodes[function].start,
					  p->tree->nodes[function].end);
	}
}

/* A statement of its own, straight in the body of "while True". */
static bool in_endless_loop(const struct bj_py_match *p, uint32_t node)
{
	const struct bj_node *nodes = p->tree->nodes;
	const uint32_t statement = nodes[node].parent;
	const uint32_t block = nodes[statement].parent;
	const uint32_t loop = nodes[block].parent;

	if (nodes[statement].kind != PY_EXPRESSION_STATEMENT ||
	    nodes[loop].kind != PY_WHILE_STATEMENT)
		return false;

	const uint32_t condition = bj_node_field(p->tree, loop, PYF_CONDITION);

	return condition && bj_py_is_literal(p, condition) && !bj_py_is_false(p, condition);
}

static void match_fork_bomb(const struct bj_py_match *p, uint32_t node, uint32_t function)
{
	if (bj_py_fits_name(p, function, "os.fork|posix.fork|os.forkpty") &&
	    in_endless_loop(p, node))
		bj_danger_special(p->pass, BJ_LANG_PYTHON, "fork-bomb",
				  p->tree->nodes[function].start, p->tree->nodes[function].end);
}

static int match_call(const struct bj_py_match *p, uint32_t node, struct bj_err *err)
{
	const uint32_t function = bj_node_field(p->tree, node, PYF_FUNCTION);

	if (!function)
		return 0;

	const struct bj_py_set *set = bj_py_set(p->py, function);

	match_set(p, set, BJ_ON_CALL, node, function);
	/* What operator.methodcaller("x")(y) gives is y.x, and that is called. */
	if (bj_py_fits_name(p, function, "operator.methodcaller()"))
		match_set(p, bj_py_set(p->py, node), BJ_ON_CALL, 0, function);
	match_arguments(p, node, function);
	match_fork_bomb(p, node, function);
	if (p->tree->nodes[function].kind == PY_ATTRIBUTE) {
		match_method(p, node, function);
		bj_py_match_password_call(p, node, function);
		bj_py_match_built(p, node);
	}
	if (p->tree->nodes[function].kind == PY_IDENTIFIER)
		match_shadow(p, function);
	return bj_py_nested(p->pass, p->py, node, function, err);
}

static void match_import(const struct bj_py_match *p, uint32_t node)
{
	const struct bj_node *nodes = p->tree->nodes;

	match_set(p, bj_py_set(p->py, node), BJ_ON_IMPORT, 0, node);
	for (uint32_t c = bj_node_child(p->tree, node); c; c = nodes[c].next) {
		if (nodes[c].field != PYF_NAME)
			continue;
		match_set(p, bj_py_set(p->py, c), BJ_ON_IMPORT, 0, c);

		const uint32_t alias = nodes[c].kind == PY_ALIASED_IMPORT
					       ? bj_node_field(p->tree, c, PYF_ALIAS)
					       : 0;

		/* from os import system as __getattr__ */
		if (alias && bj_py_fits_source(p, alias, "__getattr__|__dir__|__class_getitem__"))
			special(p, "alias-inner", c);
	}
}

/* Of x[y]: what x is by itself was told where x got it. */
static struct bj_py_set without(const struct bj_py_set *set, const struct bj_py_set *told)
{
	struct bj_py_set left = { 0 };

	for (uint32_t i = 0; i < set->n; i++) {
		bool known = false;

		for (uint32_t k = 0; k < told->n; k++)
			known |= told->v[k].kind == set->v[i].kind &&
				 told->v[k].ref == set->v[i].ref;
		if (!known)
			bj_py_set_add(&left, set->v[i]);
	}
	return left;
}

static void match_read(const struct bj_py_match *p, uint32_t node)
{
	const uint32_t object = p->tree->nodes[node].kind == PY_SUBSCRIPT
					? bj_node_field(p->tree, node, PYF_VALUE)
					: 0;

	/* Who compares with a setting does not choose it. */
	if (p->tree->nodes[p->tree->nodes[node].parent].kind == PY_COMPARISON_OPERATOR &&
	    bj_py_fits_name(p, node, "ssl.*|OpenSSL.*"))
		return;
	if (object && p->tree->nodes[object].kind == PY_IDENTIFIER) {
		const struct bj_py_set left =
			without(bj_py_set(p->py, node), bj_py_set(p->py, object));

		match_set(p, &left, BJ_ON_READ, 0, node);
		return;
	}
	match_set(p, bj_py_set(p->py, node), BJ_ON_READ, 0, node);
}

/* The dotted name of "object.part", which @assignment sets, for every object that @object may be.
 */
static void match_target(const struct bj_py_match *p, uint32_t assignment, uint32_t object,
			 const char *part, size_t len, uint32_t at)
{
	const struct bj_py_set *set = bj_py_set(p->py, object);
	const struct bj_py_text unknown = { .s = "?", .len = 1 };
	char name[BJ_PY_TEXT_MAX];

	for (uint32_t i = 0; i < set->n || i == 0; i++) {
		if (set->n && set->v[i].boxed)
			continue;

		/* A function of the script is as good as unknown. */
		const bool named = set->n && set->v[i].kind == BJ_PY_NAME;
		const struct bj_py_text *left = named ? bj_py_text(p->py, set->v[i].ref) : &unknown;
		/* x.__dict__["part"] is x.part */
		const uint32_t left_len =
			left->len > 9 && !strcmp(left->s + left->len - 9, ".__dict__")
				? left->len - 9
				: left->len;

		if (left_len + len + 2 > sizeof(name))
			continue;

		const int n = snprintf(name, sizeof(name), "%.*s.%.*s", (int)left_len, left->s,
				       (int)len, part);
		const struct bj_py_text text = { .s = name, .len = (uint32_t)n };

		match_name(p, &text, BJ_ON_ASSIGN, assignment, at);
	}
}

/* "NAME = x", of a settings file. */
static void match_plain(const struct bj_py_match *p, uint32_t assignment, uint32_t at,
			const char *name, size_t len)
{
	char text[64] = "=";

	if (len + 2 > sizeof(text) || !len || (name[0] >= 'a' && name[0] <= 'z'))
		return;
	memcpy(text + 1, name, len);
	text[len + 1] = '\0';

	const struct bj_danger_key *key = bj_danger_find(bj_python_keys, bj_python_keys_at, text);
	const struct bj_danger_key *end = bj_python_keys + bj_n_python_keys;

	for (; key && key < end && !strcmp(key->name, text); key++)
		if (bj_py_all_hold(p, key->rule, assignment))
			bj_danger_hit(p->pass, key->rule, p->tree->nodes[at].start,
				      p->tree->nodes[at].end);
}

/* "object.part = x" and "object['part'] = x" */
static void match_assign(const struct bj_py_match *p, uint32_t node)
{
	const struct bj_tree *tree = p->tree;
	const uint32_t left = bj_node_field(tree, node, PYF_LEFT);

	if (left && tree->nodes[left].kind == PY_ATTRIBUTE) {
		const uint32_t object = bj_node_field(tree, left, PYF_OBJECT);
		const uint32_t part = bj_node_field(tree, left, PYF_ATTRIBUTE);

		const uint32_t right = bj_node_field(tree, node, PYF_RIGHT);

		/* "self.__code__ = None" replaces nothing. */
		if (object && part && !(right && tree->nodes[right].kind == PY_NONE))
			match_target(p, node, object, tree->text + tree->nodes[part].start,
				     tree->nodes[part].end - tree->nodes[part].start, left);
		/* "sys.displayhook = os.system": a module that is not ours calls it. */
		if (object && right &&
		    bj_py_fits_name(p, object, "sys|threading|builtins|json|pickle|socket"))
			match_set(p, bj_py_set(p->py, right), BJ_ON_CALL, 0, right);
	}
	if (left && tree->nodes[left].kind == PY_IDENTIFIER)
		match_plain(p, node, left, tree->text + tree->nodes[left].start,
			    tree->nodes[left].end - tree->nodes[left].start);
	/* "__getattr__ = eval" in a class: the interpreter calls it. */
	if (left && tree->nodes[left].kind == PY_IDENTIFIER &&
	    tree->nodes[left].end - tree->nodes[left].start > 4 &&
	    !memcmp(tree->text + tree->nodes[left].start, "__", 2)) {
		const uint32_t right = bj_node_field(tree, node, PYF_RIGHT);

		if (right)
			match_set(p, bj_py_set(p->py, right), BJ_ON_CALL, 0, right);
	}
	if (left && tree->nodes[left].kind == PY_SUBSCRIPT) {
		const uint32_t object = bj_node_field(tree, left, PYF_VALUE);
		const uint32_t index = bj_node_field(tree, left, PYF_SUBSCRIPT);
		const struct bj_py_text *key = index ? bj_py_const(p->py, index) : NULL;

		if (key && object && bj_py_fits_source(p, object, "config|*.config"))
			match_plain(p, node, left, key->s, key->len);
		/* x.__dict__['__code__'] is not x.__code__ */
		if (key && !strcmp(key->s, "__code__"))
			return;
		if (object && bj_py_set(p->py, object)->n)
			match_target(p, node, object, key ? key->s : "[]", key ? key->len : 2,
				     left);
	}
}

/* Text that a page is made of: not a value that is handed on, nor a dictionary, which is JSON. */
static bool is_page(const struct bj_py_match *p, uint32_t value)
{
	const uint16_t kind = p->tree->nodes[value].kind;

	if (kind == PY_IDENTIFIER) {
		const struct bj_py_symbol *s = bj_py_lookup((struct bj_py *)p->py, value);

		return s && s->value && p->tree->nodes[s->value].kind != PY_IDENTIFIER &&
		       is_page(p, s->value);
	}
	return kind == PY_STRING || kind == PY_BINARY_OPERATOR || kind == PY_CONCATENATED_STRING ||
	       (kind == PY_CALL && bj_py_fits_source(p, value, "*.format(*|*.join(*"));
}

/* What a handler of requests gives becomes a page. */
static void match_page(const struct bj_py_match *p, uint32_t definition, uint32_t value)
{
	if (!bj_py_is_route(p->py, definition))
		return;
	if (bj_py_is_visitor(p->py, value) && is_page(p, value))
		special(p, "page", value);
	if (bj_py_fits_name(p, value, "traceback.format_exc()|traceback.format_exception()"))
		special(p, "trace", value);
}

/* "def __reduce__(self): return (os.system, ...)" is what unpickling calls; what __get__ or
 * __enter__ return is called by name. */
static void match_return(const struct bj_py_match *p, uint32_t node)
{
	const struct bj_node *nodes = p->tree->nodes;
	const uint32_t value = bj_node_child(p->tree, node);
	uint32_t up = node;

	for (int n = 0; n < 12 && up && nodes[up].kind != PY_FUNCTION_DEFINITION; n++)
		up = nodes[up].parent;
	/* Of what is around a return in no function, all children would be looked at. */
	if (nodes[up].kind != PY_FUNCTION_DEFINITION)
		return;

	const uint32_t name = bj_node_field(p->tree, up, PYF_NAME);
	const bool pair =
		value && (nodes[value].kind == PY_TUPLE || nodes[value].kind == PY_EXPRESSION_LIST);
	const uint32_t first = pair ? bj_node_child(p->tree, value) : value;

	if (first && name &&
	    bj_py_fits_source(p, name, pair ? "__reduce__|__reduce_ex__" : "__*__"))
		match_set(p, bj_py_set(p->py, first), BJ_ON_CALL, 0, first);
	if (first && name && p->py->serves)
		match_page(p, up, first);
}

#define BODY_MAX 512 /* nodes of a loop that are looked at */

static const char SYSTEM_TREES[] =
	"/|/[*]|/[*][*]*|~|~/|~/[*]*|/etc|/etc/|/etc/[*]*|/usr|/usr/|/usr/[*]*|/var|/var/|/home|"
	"/home/|/home/[*]*|/root|/root/[*]*|/boot|/boot/[*]*|/bin|/bin/[*]*|/lib|/lib/[*]*|/opt|"
	"/var/log|/var/log/|/var/log/[*]*|~/Documents*|~/Desktop*|~/Pictures*";

static bool walks_system(const struct bj_py_match *p, uint32_t call)
{
	const uint32_t function = bj_node_field(p->tree, call, PYF_FUNCTION);
	const uint32_t top = bj_py_argument(p->py, call, 0, "top");
	const uint32_t attribute = function ? bj_node_field(p->tree, function, PYF_ATTRIBUTE) : 0;
	const uint32_t object = function ? bj_node_field(p->tree, function, PYF_OBJECT) : 0;

	if (!function || p->tree->nodes[call].kind != PY_CALL)
		return false;
	if (bj_py_fits_name(p, function,
			    "os.walk|os.fwalk|os.scandir|os.listdir|glob.glob|glob.iglob"))
		return top && bj_py_fits_text(p, top, SYSTEM_TREES);
	return attribute && object && bj_py_fits_source(p, attribute, "rglob|glob|iterdir|walk") &&
	       bj_py_fits_text(p, object, SYSTEM_TREES);
}

/* open(f, "w") of a file that is not named in the script empties or replaces it. */
static bool rewrites(const struct bj_py_match *p, uint32_t call, uint32_t function)
{
	const uint32_t path = bj_py_argument(p->py, call, 0, "file");
	const uint32_t mode = bj_py_argument(p->py, call, 1, "mode");

	return bj_py_fits_name(p, function, "builtins.open|io.open") && path && mode &&
	       !bj_py_const(p->py, path) && bj_py_fits_text(p, mode, "*w*|*+*");
}

/* for f in os.walk("/"): os.remove(f) */
static void match_walk(const struct bj_py_match *p, uint32_t node)
{
	const struct bj_node *nodes = p->tree->nodes;
	const uint32_t right = bj_node_field(p->tree, node, PYF_RIGHT);
	const uint32_t whole = nodes[node].kind == PY_FOR_STATEMENT ? node : nodes[node].parent;

	if (!right || !walks_system(p, right))
		return;
	for (uint32_t i = whole; i < nodes[whole].after && i < whole + BODY_MAX; i++) {
		const uint32_t function =
			nodes[i].kind == PY_CALL ? bj_node_field(p->tree, i, PYF_FUNCTION) : 0;
		const uint32_t attribute =
			function ? bj_node_field(p->tree, function, PYF_ATTRIBUTE) : 0;

		if ((function &&
		     bj_py_fits_name(p, function,
				     "os.remove|os.unlink|os.rmdir|os.truncate|shutil.rmtree|"
				     "os.removedirs")) ||
		    (function && rewrites(p, i, function)) ||
		    (attribute && bj_py_fits_source(p, attribute, "unlink|rmdir")))
			special(p, "remove-walked", function);
	}
}

/* {"LD_PRELOAD": "x.so"} and dict(LD_PRELOAD="x.so") */
static void match_pair(const struct bj_py_match *p, uint32_t node)
{
	static const char names[] =
		"LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|BASH_ENV|PYTHONSTARTUP";
	const uint32_t key = bj_node_field(p->tree, node, PYF_KEY);
	const uint32_t name = bj_node_field(p->tree, node, PYF_NAME);

	if ((key && bj_py_fits_text(p, key, names)) || (name && bj_py_fits_source(p, name, names)))
		special(p, "preload-pair", node);

	/* {"()": "os.system"} of logging, {"_target_": "os.system"} of hydra: a name that is
	 * called. */
	const uint32_t value = key && bj_py_fits_text(p, key, "()|_target_")
				       ? bj_node_field(p->tree, node, PYF_VALUE)
				       : 0;
	const struct bj_py_text *called = value ? bj_py_const(p->py, value) : NULL;

	if (called)
		match_name(p, called, BJ_ON_CALL, 0, value);
}

/* "@eval" calls it with the function below. */
static void match_decorator(const struct bj_py_match *p, uint32_t node)
{
	match_set(p, bj_py_set(p->py, node), BJ_ON_CALL, 0, node);
}

int bj_dangers_python(const struct bj_danger_pass *pass, const struct bj_tree *tree,
		      struct bj_err *err)
{
	const struct bj_py_match p = { .pass = pass, .py = tree->py, .tree = tree };

	int r = 0;

	for (uint32_t i = 0; i < tree->n_nodes && r >= 0; i++) {
		switch (tree->nodes[i].kind) {
		case PY_CALL:
			r = match_call(&p, i, err);
			break;
		case PY_ASSERT_STATEMENT:
			bj_py_match_assert(&p, i);
			break;
		case PY_COMPARISON_OPERATOR:
			bj_py_match_compared(&p, i);
			break;
		case PY_STRING:
		case PY_CONCATENATED_STRING:
		case PY_BINARY_OPERATOR:
			bj_py_match_built(&p, i);
			break;
		case PY_IMPORT_STATEMENT:
		case PY_IMPORT_FROM_STATEMENT:
			match_import(&p, i);
			break;
		case PY_ATTRIBUTE:
		case PY_SUBSCRIPT:
			match_read(&p, i);
			break;
		case PY_ASSIGNMENT:
		case PY_AUGMENTED_ASSIGNMENT:
			match_assign(&p, i);
			break;
		case PY_DECORATOR:
			match_decorator(&p, i);
			break;
		case PY_RETURN_STATEMENT:
			match_return(&p, i);
			break;
		case PY_FOR_STATEMENT:
		case PY_FOR_IN_CLAUSE:
			match_walk(&p, i);
			break;
		case PY_PAIR:
		case PY_KEYWORD_ARGUMENT:
			match_pair(&p, i);
			bj_py_match_empty(&p, i);
			break;
		default:
			break;
		}
	}
	return r;
}
