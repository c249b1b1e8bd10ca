/* SPDX-License-Identifier: Apache-2.0 */
#include "check/danger_rules.h"
#include "check/python.h"
#include "grammar_python.h"

/* What a call gives: the calls that only lead to another name are followed. */

static const struct bj_py_text return_name = { .s = "\x01return", .len = 7 };

/* dict(a=b), of plain keywords: one of another dictionary is not followed. */
static bool is_dict_call(const struct bj_py *py, uint32_t call)
{
	const uint32_t function = bj_node_field(py->tree, call, PYF_FUNCTION);
	const uint32_t args = bj_node_field(py->tree, call, PYF_ARGUMENTS);
	const struct bj_node *f = &py->tree->nodes[function];

	return function && args && f->end - f->start == 4 &&
	       !memcmp(py->tree->text + f->start, "dict", 4) &&
	       !bj_node_kind(py->tree, args, PY_DICTIONARY_SPLAT);
}

/* The value of @keyword in **{"keyword": value}, **dict(keyword=value) or a name of these. */
static uint32_t splat_value(const struct bj_py *py, uint32_t splat, const char *keyword)
{
	const struct bj_node *nodes = py->tree->nodes;
	uint32_t dict = bj_node_child(py->tree, splat);

	if (dict && nodes[dict].kind == PY_IDENTIFIER) {
		const struct bj_py_symbol *s = bj_py_lookup((struct bj_py *)py, dict);

		dict = s ? s->value : 0;
	}
	if (dict && nodes[dict].kind == PY_CALL)
		return is_dict_call(py, dict) ? bj_py_argument(py, dict, -1, keyword) : 0;
	if (!dict || nodes[dict].kind != PY_DICTIONARY)
		return 0;

	uint32_t pair = bj_node_child(py->tree, dict);

	for (; pair; pair = py->tree->nodes[pair].next) {
		const uint32_t key = bj_node_field(py->tree, pair, PYF_KEY);
		const struct bj_py_text *text = key ? bj_py_const(py, key) : NULL;

		if (text && !strcmp(text->s, keyword))
			return bj_node_field(py->tree, pair, PYF_VALUE);
	}
	return 0;
}

uint32_t bj_py_argument(const struct bj_py *py, uint32_t call, int position, const char *keyword)
{
	const struct bj_node *nodes = py->tree->nodes;
	const uint32_t args = bj_node_field(py->tree, call, PYF_ARGUMENTS);
	uint32_t c = args ? bj_node_child(py->tree, args) : 0;
	int at = 0;

	/* f(x for x in y): the generator stands for the list. */
	if (args && nodes[args].kind == PY_GENERATOR_EXPRESSION)
		return position == 0 ? args : 0;
	for (; c; c = nodes[c].next) {
		if (nodes[c].kind == PY_COMMENT)
			continue;
		if (nodes[c].kind == PY_DICTIONARY_SPLAT) {
			const uint32_t value = keyword ? splat_value(py, c, keyword) : 0;

			if (value)
				return value;
			continue;
		}
		if (nodes[c].kind != PY_KEYWORD_ARGUMENT) {
			if (at++ == position)
				return c;
			continue;
		}

		const uint32_t name = bj_node_field(py->tree, c, PYF_NAME);
		const size_t len = name ? nodes[name].end - nodes[name].start : 0;

		if (keyword && len == strlen(keyword) &&
		    !memcmp(py->tree->text + nodes[name].start, keyword, len))
			return bj_node_field(py->tree, c, PYF_VALUE);
	}
	return 0;
}

#define TARGET_UP 10 /* levels that are looked up from a call */

uint32_t bj_py_target(const struct bj_py *py, uint32_t call)
{
	const struct bj_node *nodes = py->tree->nodes;
	bool returned = false;

	for (int n = 0; call && n < TARGET_UP; n++, call = nodes[call].parent) {
		if (nodes[call].kind == PY_ASSIGNMENT)
			return bj_node_field(py->tree, call, PYF_LEFT);
		if (nodes[call].kind == PY_FUNCTION_DEFINITION)
			return returned ? bj_node_field(py->tree, call, PYF_NAME) : 0;
		returned |= nodes[call].kind == PY_RETURN_STATEMENT;
	}
	return 0;
}

static struct bj_py_value name_value(uint32_t ref)
{
	return (struct bj_py_value){ .kind = BJ_PY_NAME, .ref = ref };
}

/* __import__("os.path") gives os; import_module("os.path") gives os.path. */
static void call_import(struct bj_py *py, uint32_t call, bool whole, struct bj_py_set *set)
{
	const uint32_t arg = bj_py_argument(py, call, 0, "name");
	const struct bj_py_text *name = arg ? bj_py_const(py, arg) : NULL;

	if (!name)
		return;

	const char *dot = whole ? NULL : memchr(name->s, '.', name->len);

	bj_py_set_add(set, name_value(bj_py_intern(py, name->s,
						   dot ? (size_t)(dot - name->s) : name->len)));
}

static void call_import_top(struct bj_py *py, uint32_t call, struct bj_py_set *set)
{
	call_import(py, call, false, set);
}

static void call_import_module(struct bj_py *py, uint32_t call, struct bj_py_set *set)
{
	call_import(py, call, true, set);
}

/* pkgutil.resolve_name("os:system") gives os.system. */
static void call_resolve(struct bj_py *py, uint32_t call, struct bj_py_set *set)
{
	const uint32_t arg = bj_py_argument(py, call, 0, "name");
	const struct bj_py_text *name = arg ? bj_py_const(py, arg) : NULL;
	const char *colon = name ? memchr(name->s, ':', name->len) : NULL;

	if (!colon) {
		call_import(py, call, true, set);
		return;
	}

	const uint32_t module = bj_py_intern(py, name->s, (size_t)(colon - name->s));

	/* To intern may move the text; arguments keep their names. */
	name = bj_py_const(py, arg);
	colon = memchr(name->s, ':', name->len);
	bj_py_set_add(set, name_value(bj_py_dot(py, module, colon + 1,
						name->len - (size_t)(colon - name->s) - 1)));
}

static void add_attribute(struct bj_py *py, uint32_t object, const struct bj_py_text *name,
			  struct bj_py_set *set)
{
	const struct bj_py_set *left = bj_py_set(py, object);

	if (!name)
		return;

	const struct bj_py_text key = *name;

	for (uint32_t i = 0; i < left->n; i++)
		if (left->v[i].kind == BJ_PY_NAME && !left->v[i].boxed)
			bj_py_set_add(set,
				      name_value(bj_py_dot(py, left->v[i].ref, key.s, key.len)));
	/* From an object of any kind to the inside of the interpreter. */
	if (!set->n && key.len > 4 && !memcmp(key.s, "__", 2))
		bj_py_set_add(set,
			      name_value(bj_py_dot(py, bj_py_intern(py, "?", 1), key.s, key.len)));
}

static void call_getattr(struct bj_py *py, uint32_t call, struct bj_py_set *set)
{
	const uint32_t object = bj_py_argument(py, call, 0, NULL);
	const uint32_t name = bj_py_argument(py, call, 1, NULL);

	if (!object || !name)
		return;

	const struct bj_py_set *names = bj_py_set(py, name);

	for (uint32_t i = 0; i < names->n; i++)
		if (names->v[i].kind == BJ_PY_STR && !names->v[i].boxed)
			add_attribute(py, object, bj_py_text(py, names->v[i].ref), set);
}

/* The first argument comes back: functools.partial(os.system, "x"), iter([...]). */
static void call_same(struct bj_py *py, uint32_t call, struct bj_py_set *set)
{
	const uint32_t arg = bj_py_argument(py, call, 0, NULL);

	if (arg)
		*set = *bj_py_set(py, arg);
}

static void call_next(struct bj_py *py, uint32_t call, struct bj_py_set *set)
{
	const uint32_t arg = bj_py_argument(py, call, 0, NULL);

	if (arg)
		*set = bj_py_unbox(bj_py_set(py, arg));
}

/* vars(os) is os.__dict__; vars() stays as it is. */
static void call_vars(struct bj_py *py, uint32_t call, struct bj_py_set *set)
{
	const uint32_t arg = bj_py_argument(py, call, 0, NULL);
	const struct bj_py_text dict = { .s = "__dict__", .len = 8 };

	if (arg)
		add_attribute(py, arg, &dict, set);
	else
		bj_py_set_add(set, name_value(bj_py_intern(py, "builtins.vars()", 15)));
}

/* dict(a=eval): the values are in a box. */
static void call_dict(struct bj_py *py, uint32_t call, struct bj_py_set *set)
{
	const uint32_t args = bj_node_field(py->tree, call, PYF_ARGUMENTS);
	uint32_t c = args ? bj_node_child(py->tree, args) : 0;
	struct bj_py_set all = { 0 };

	for (; c; c = py->tree->nodes[c].next)
		bj_py_set_union(&all, bj_py_set(py, c));
	*set = bj_py_box(&all);
	/* dict(vars(os)) is a copy of os.__dict__. */
	c = bj_py_argument(py, call, 0, NULL);
	if (c)
		bj_py_set_union(set, bj_py_set(py, c));
}

/* Calls that give a path: what it is as text, when that is known, besides what it is called. */
static void add_path(struct bj_py *py, uint32_t call, const char *name, struct bj_py_set *set)
{
	static const char *const makers[] = { "os.path.expanduser", "os.path.join", "pathlib.Path",
					      "pathlib.PosixPath", "os.path.abspath" };

	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (bj_py_is(name, makers[i]))
			bj_py_eval_path(py, call, set);
	if (bj_py_is(name, "os.getenv") || bj_py_is(name, "os.environ.get")) {
		const uint32_t arg = bj_py_argument(py, call, 0, "key");
		const struct bj_py_text *key = arg ? bj_py_const(py, arg) : NULL;

		if (key) {
			const struct bj_py_text k = *key;
			const uint32_t environ = bj_py_intern(py, "os.environ", 10);

			bj_py_eval_home(py, &k, set);
			bj_py_set_add(set, name_value(bj_py_dot(py, environ, k.s, k.len)));
		}
	}
	if (bj_py_is(name, "pathlib.Path.home"))
		bj_py_set_add(set, (struct bj_py_value){ .kind = BJ_PY_STR,
							 .ref = bj_py_intern(py, "~", 1) });
}

static const struct {
	const char *name;
	void (*call)(struct bj_py *py, uint32_t call, struct bj_py_set *set);
} followed[] = {
	{ "builtins.__import__", call_import_top },
	{ "importlib.__import__", call_import_top },
	{ "importlib.import_module", call_import_module },
	{ "importlib.reload", call_same },
	{ "pydoc.locate", call_import_module },
	{ "pkgutil.resolve_name", call_resolve },
	{ "builtins.getattr", call_getattr },
	{ "builtins.object.__getattribute__", call_getattr },
	{ "builtins.type.__getattribute__", call_getattr },
	{ "functools.partial", call_same },
	{ "functools.partialmethod", call_same },
	{ "functools.wraps", call_same },
	{ "contextlib.nullcontext", call_same },
	{ "copy.copy", call_same },
	{ "copy.deepcopy", call_same },
	{ "types.MethodType", call_same },
	{ "weakref.proxy", call_same },
	{ "builtins.staticmethod", call_same },
	{ "builtins.iter", call_same },
	{ "builtins.tuple", call_same },
	{ "builtins.next", call_next },
	{ "builtins.vars", call_vars },
	{ "builtins.dict", call_dict },
};

/* vars(m)[key] is m.key */
static void add_item(struct bj_py *py, uint32_t object, const struct bj_py_text *key,
		     struct bj_py_set *set)
{
	const struct bj_py_set left = *bj_py_set(py, object);

	for (uint32_t i = 0; key && i < left.n; i++) {
		const struct bj_py_text l = *bj_py_text(py, left.v[i].ref);
		const size_t cut = l.len > 9 && !strcmp(l.s + l.len - 9, ".__dict__") ? 9 : 0;

		if (left.v[i].kind == BJ_PY_NAME && !left.v[i].boxed)
			bj_py_set_add(set,
				      name_value(bj_py_dot(py, bj_py_intern(py, l.s, l.len - cut),
							   key->s, key->len)));
	}
}

/* operator.attrgetter("system")(os), operator.methodcaller("system", "x")(os). */
static bool call_operator(struct bj_py *py, uint32_t call, const char *name, struct bj_py_set *set)
{
	if (!bj_py_is(name, "operator.attrgetter()") &&
	    !bj_py_is(name, "operator.methodcaller()") && !bj_py_is(name, "operator.itemgetter()"))
		return false;

	const uint32_t object = bj_py_argument(py, call, 0, NULL);
	uint32_t function = bj_node_field(py->tree, call, PYF_FUNCTION);

	/* get = operator.attrgetter("system"); get(os) */
	if (py->tree->nodes[function].kind == PY_IDENTIFIER) {
		const struct bj_py_symbol *s = bj_py_lookup(py, function);

		function = s ? s->value : 0;
	}
	if (!object || !function || py->tree->nodes[function].kind != PY_CALL)
		return true;

	const uint32_t key = bj_py_argument(py, function, 0, NULL);

	if (!key)
		return true;
	if (bj_py_is(name, "operator.itemgetter()"))
		add_item(py, object, bj_py_const(py, key), set);
	else
		add_attribute(py, object, bj_py_const(py, key), set);
	return true;
}

/* os.__getattribute__("system"), os.__dict__.get("system"), globals().pop("x"). */
static bool call_dunder(struct bj_py *py, uint32_t call, const struct bj_py_text *name,
			struct bj_py_set *set)
{
	static const char *const ends[] = {
		".__getattribute__", ".__dict__.get", ".__dict__.__getitem__",
		".__dict__.pop",     ".__getitem__",  ".__getattr__",
	};
	const uint32_t arg = bj_py_argument(py, call, 0, NULL);
	const struct bj_py_text *key = arg ? bj_py_const(py, arg) : NULL;

	/* type(os).__getattribute__(os, "system") */
	if (name->len > 17 && !strcmp(name->s + name->len - 17, ".__getattribute__") &&
	    bj_py_argument(py, call, 1, NULL)) {
		call_getattr(py, call, set);
		return set->n;
	}
	for (size_t i = 0; key && i < sizeof(ends) / sizeof(ends[0]); i++) {
		const size_t len = strlen(ends[i]);

		if (name->len <= len || memcmp(name->s + name->len - len, ends[i], len) != 0)
			continue;

		const struct bj_py_text k = *key;
		const uint32_t left = bj_py_intern(py, name->s, name->len - len);

		bj_py_set_add(set, name_value(bj_py_dot(py, left, k.s, k.len)));
		return true;
	}
	if (bj_py_is(name->s, "sys.modules.get") || bj_py_is(name->s, "sys.modules.pop") ||
	    bj_py_is(name->s, "sys.modules.__getitem__")) {
		/* Some module, when the name of it is not known. */
		if (key)
			bj_py_set_add(set, name_value(bj_py_intern(py, key->s, key->len)));
		return true;
	}
	/* find_spec("os").loader.load_module("os") */
	if (key && name->len > 12 && !strcmp(name->s + name->len - 12, ".load_module")) {
		bj_py_set_add(set, name_value(bj_py_intern(py, key->s, key->len)));
		return true;
	}
	if (key &&
	    (bj_py_is(name->s, "builtins.globals().get") ||
	     bj_py_is(name->s, "builtins.locals().get") || bj_py_is(name->s, "builtins.get"))) {
		const struct bj_py_text k = *key;
		const bool all = k.len == 12 && !memcmp(k.s, "__builtins__", 12);
		const uint32_t builtins = bj_py_intern(py, "builtins", 8);

		bj_py_set_add(set,
			      name_value(all ? builtins : bj_py_dot(py, builtins, k.s, k.len)));
		return true;
	}
	return false;
}

static void call_name(struct bj_py *py, uint32_t call, uint32_t ref, struct bj_py_set *set)
{
	const struct bj_py_text name = *bj_py_text(py, ref);
	char result[BJ_PY_TEXT_MAX];

	for (size_t i = 0; i < sizeof(followed) / sizeof(followed[0]); i++)
		if (bj_py_is(name.s, followed[i].name)) {
			followed[i].call(py, call, set);
			if (set->n)
				return;
		}
	if (call_operator(py, call, name.s, set) || call_dunder(py, call, &name, set) ||
	    bj_py_eval_text_call(py, call, name.s, set))
		return;
	add_path(py, call, name.s, set);
	if (name.len + 2 > sizeof(result))
		return;
	memcpy(result, name.s, name.len);
	memcpy(result + name.len, "()", 2);
	bj_py_set_add(set, name_value(bj_py_intern(py, result, name.len + 2)));
}

/* d.get("x"), l.pop(): an element comes out of the box. */
static void call_on_box(struct bj_py *py, uint32_t function, struct bj_py_set *set)
{
	const uint32_t object = bj_node_field(py->tree, function, PYF_OBJECT);
	const uint32_t attribute = bj_node_field(py->tree, function, PYF_ATTRIBUTE);

	if (!object || !attribute)
		return;

	const struct bj_node *a = &py->tree->nodes[attribute];
	const char *s = py->tree->text + a->start;
	const size_t len = a->end - a->start;

	if ((len == 3 && (!memcmp(s, "get", 3) || !memcmp(s, "pop", 3))) ||
	    (len == 11 && !memcmp(s, "__getitem__", 11))) {
		const struct bj_py_set inner = bj_py_unbox(bj_py_set(py, object));

		bj_py_set_union(set, &inner);
	} else if (len == 6 && !memcmp(s, "values", 6)) {
		bj_py_set_union(set, bj_py_set(py, object));
	}
}

bool bj_py_holds_environ(const struct bj_py *py, uint32_t node)
{
	const struct bj_py_set *set = bj_py_set(py, node);

	for (uint32_t i = 0; i < set->n; i++)
		if (set->v[i].kind == BJ_PY_NAME &&
		    bj_py_is(bj_py_text(py, set->v[i].ref)->s, "os.environ"))
			return true;
	return false;
}

void bj_py_add_environ(struct bj_py *py, uint8_t boxed, struct bj_py_set *set)
{
	bj_py_set_add(set, (struct bj_py_value){ .kind = BJ_PY_NAME,
						 .boxed = boxed,
						 .ref = bj_py_intern(py, "os.environ", 10) });
}

/* json.dumps(dict(os.environ)).encode() still holds every variable. */
static void carry_environ(struct bj_py *py, uint32_t call, uint32_t function, struct bj_py_set *set)
{
	static const char carriers[] =
		"json.dumps|builtins.str|builtins.repr|builtins.list|builtins.bytes|"
		"builtins.dict|urllib.parse.urlencode|urllib.parse.quote|base64.*encode|"
		"pickle.dumps|zlib.compress|gzip.compress|pprint.pformat";
	static const char methods[] = "encode|decode|items|values|copy|hex";
	const uint32_t object = bj_node_field(py->tree, function, PYF_OBJECT);
	const uint32_t attribute = bj_node_field(py->tree, function, PYF_ATTRIBUTE);
	const uint32_t args = bj_node_field(py->tree, call, PYF_ARGUMENTS);
	const struct bj_py_set *callee = bj_py_set(py, function);
	bool carried = false, pairs = false;

	if (object && attribute) {
		const struct bj_node *a = &py->tree->nodes[attribute];
		const char *name = py->tree->text + a->start;
		const bool join = a->end - a->start == 4 && !memcmp(name, "join", 4);
		const uint32_t all = join ? bj_py_argument(py, call, 0, NULL) : 0;

		carried = bj_py_holds_environ(py, object) &&
			  bj_danger_globs(methods, name, a->end - a->start);
		pairs = carried && a->end - a->start == 5 && !memcmp(name, "items", 5);
		/* "\n".join(...) */
		carried |= all && bj_py_holds_environ(py, all);
	}
	for (uint32_t c = args ? bj_node_child(py->tree, args) : 0; c && !carried;
	     c = py->tree->nodes[c].next)
		for (uint32_t i = 0; bj_py_holds_environ(py, c) && i < callee->n && !carried; i++) {
			const struct bj_py_text *name = bj_py_text(py, callee->v[i].ref);

			carried = callee->v[i].kind == BJ_PY_NAME &&
				  bj_danger_globs(carriers, name->s, name->len);
		}
	if (carried)
		bj_py_add_environ(py, pairs ? 2 : 1, set);
}

static void eval_call(struct bj_py *py, uint32_t node, uint32_t function, struct bj_py_set *set)
{
	if (bj_py_eval_method(py, node, set))
		return;

	const struct bj_py_set callee = *bj_py_set(py, function);

	for (uint32_t i = 0; i < callee.n; i++) {
		if (callee.v[i].boxed)
			continue;
		if (callee.v[i].kind == BJ_PY_NAME)
			call_name(py, node, callee.v[i].ref, set);
		if (callee.v[i].kind == BJ_PY_FUNC) {
			const struct bj_py_symbol *s =
				bj_py_symbol(py, callee.v[i].ref, &return_name, false);

			if (s)
				bj_py_set_union(set, &s->set);
		}
	}
	if (py->tree->nodes[function].kind == PY_ATTRIBUTE)
		call_on_box(py, function, set);
}

void bj_py_eval_call(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t function = bj_node_field(py->tree, node, PYF_FUNCTION);

	if (!function)
		return;
	eval_call(py, node, function, set);
	carry_environ(py, node, function, set);
}
