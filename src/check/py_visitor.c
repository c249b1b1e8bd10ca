/* SPDX-License-Identifier: Apache-2.0 */
#include "check/danger_rules.h"
#include "check/python.h"
#include "grammar_python.h"

/* What strangers send: parts of a request, arguments of what handles it, parameters that are named
 * so. It is followed through variables, operators, formats and functions of the script to where a
 * rule asks for it ("0 is visitor"). What a test has looked at (name in NAMES, name.isalnum()) is
 * not followed further, nor what a function made of it that is not known to hand it on. A script
 * that handles no requests does not pay for any of this. */

static bool has_text(const struct bj_py *py, uint32_t node, const char *globs)
{
	const struct bj_node *n = &py->tree->nodes[node];

	return node && bj_danger_globs(globs, py->tree->text + n->start, n->end - n->start);
}

/* The same for whole words, which are told apart by their length and first byte: this is asked of
 * every call and attribute. */
static bool is_one_of(const struct bj_py *py, uint32_t node, const char *const *words)
{
	const struct bj_node *n = &py->tree->nodes[node];
	const char *s = py->tree->text + n->start;
	const size_t len = n->end - n->start;

	if (!node || !len)
		return false;
	for (; *words; words++)
		if ((*words)[0] == s[0] && strlen(*words) == len && !memcmp(*words, s, len))
			return true;
	return false;
}

static bool has_name(const struct bj_py *py, uint32_t node, const char *globs)
{
	const struct bj_py_set *set = bj_py_set(py, node);

	for (uint32_t i = 0; i < set->n; i++) {
		const struct bj_py_text *name = bj_py_text(py, set->v[i].ref);

		if (set->v[i].kind == BJ_PY_NAME && bj_danger_globs(globs, name->s, name->len))
			return true;
	}
	return false;
}

static void add(struct bj_py_set *set)
{
	bj_py_set_add(set, (struct bj_py_value){ .kind = BJ_PY_VISITOR });
}

static bool has_visitor(const struct bj_py_set *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (set->v[i].kind == BJ_PY_VISITOR)
			return true;
	return false;
}

bool bj_py_is_visitor(const struct bj_py *py, uint32_t node)
{
	return node && has_visitor(bj_py_set(py, node));
}

/* --- who handles requests --- */

bool bj_py_is_framework(const char *s, size_t len)
{
	static const char *const names[] = { "flask",          "django",    "fastapi",   "bottle",
					     "tornado",        "starlette", "sanic",     "quart",
					     "aiohttp",        "cherrypy",  "pyramid",   "falcon",
					     "werkzeug",       "webob",     "cgi",       "web",
					     "rest_framework", "litestar",  "flask_cors" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], s, len))
			return true;
	return false;
}

bool bj_py_is_handed(const char *s, size_t len)
{
	static const char globs[] =
		"request|req|event|user_input|userinput|user_supplied*|user_provided*|"
		"user_controlled*|untrusted|untrusted_*|unsafe_input|tainted*|attacker_*";

	return len > 2 && strchr("reuta", s[0]) && bj_danger_globs(globs, s, len);
}

/* The decorator that makes @definition answer requests ("@app.route('/x')"); 0: none. */
static uint32_t route_of(const struct bj_py *py, uint32_t definition)
{
	const struct bj_node *nodes = py->tree->nodes;
	const uint32_t up = nodes[definition].parent;
	uint32_t c = nodes[up].kind == PY_DECORATED_DEFINITION ? bj_node_child(py->tree, up) : 0;

	for (int n = 0; c && n < 8; c = nodes[c].next, n++) {
		const uint32_t call =
			nodes[c].kind == PY_DECORATOR ? bj_node_child(py->tree, c) : 0;
		const uint32_t function = call && nodes[call].kind == PY_CALL
						  ? bj_node_field(py->tree, call, PYF_FUNCTION)
						  : 0;
		const uint32_t name =
			function ? bj_node_field(py->tree, function, PYF_ATTRIBUTE) : 0;
		const uint32_t path = name ? bj_py_argument(py, call, 0, "path") : 0;

		if (has_text(py, name, "route|get|post|put|delete|patch|websocket|api_route") &&
		    path && nodes[path].kind == PY_STRING)
			return call;
	}
	return 0;
}

bool bj_py_is_route(const struct bj_py *py, uint32_t definition)
{
	return py->serves && route_of(py, definition);
}

/* "<int:name>" in the path of @route: what comes is a number. */
static bool is_converted(const struct bj_py *py, uint32_t route, const struct bj_py_text *name)
{
	const struct bj_node *n = &py->tree->nodes[route];
	char glob[96];

	if (n->end - n->start > BJ_PY_TEXT_MAX || name->len > 40)
		return false;
	(void)snprintf(glob, sizeof(glob), "*<int:%.*s>*|*<float:%.*s>*|*<uuid:%.*s>*",
		       (int)name->len, name->s, (int)name->len, name->s, (int)name->len, name->s);
	return has_text(py, route, glob);
}

/* Whether a parameter of a handler takes text: "name", "name: str", "name: str = Query(...)". */
static bool takes_text(const struct bj_py *py, uint32_t parameter)
{
	const uint32_t type = bj_node_field(py->tree, parameter, PYF_TYPE);
	const uint32_t value = bj_node_field(py->tree, parameter, PYF_VALUE);

	if (type && !has_text(py, type, "str|bytes|UploadFile|Any|dict|Optional[[]str]|str |*"))
		return false;
	return !value || py->tree->nodes[value].kind != PY_CALL ||
	       has_text(py, value, "Query(*|Form(*|Body(*|Path(*|Header(*|Cookie(*|File(*");
}

static void bind_parameter(struct bj_py *py, uint32_t definition, uint32_t name)
{
	const struct bj_py_text text = bj_py_identifier(py, name);
	struct bj_py_symbol *s = bj_py_symbol(py, py->body_scope[definition], &text, false);

	if (s)
		add(&s->set);
}

static uint32_t parameter_name(const struct bj_py *py, uint32_t parameter)
{
	if (py->tree->nodes[parameter].kind == PY_IDENTIFIER)
		return parameter;

	const uint32_t name = bj_node_field(py->tree, parameter, PYF_NAME);

	return name ? name : bj_node_kind(py->tree, parameter, PY_IDENTIFIER);
}

/* handler(event, context) of a cloud function. */
static bool is_event(const struct bj_py *py, uint32_t parameter, uint32_t name)
{
	const uint32_t next = py->tree->nodes[parameter].next;

	return has_text(py, name, "event") && next && has_text(py, next, "context|_context|_");
}

static void find_parameters(struct bj_py *py, uint32_t definition)
{
	const uint32_t list = bj_node_field(py->tree, definition, PYF_PARAMETERS);
	const uint32_t route = py->serves ? route_of(py, definition) : 0;
	uint32_t c = list ? bj_node_child(py->tree, list) : 0;

	for (; c; c = py->tree->nodes[c].next) {
		const uint32_t name = parameter_name(py, c);

		if (!name || has_text(py, name, "self|cls|request|req"))
			continue;

		const struct bj_py_text text = bj_py_identifier(py, name);

		if ((bj_py_is_handed(text.s, text.len) && !has_text(py, name, "event")) ||
		    is_event(py, c, name) ||
		    (route && takes_text(py, c) && !is_converted(py, route, &text)))
			bind_parameter(py, definition, name);
	}
}

/* --- tests that a value has to pass --- */

static void guard(struct bj_py *py, uint32_t node)
{
	const bool named = node && py->tree->nodes[node].kind == PY_IDENTIFIER;
	const struct bj_py_symbol *s = named ? bj_py_lookup(py, node) : NULL;

	if (s)
		py->symbols[s - py->symbols].guarded = true;
}

/* "name in NAMES", "'..' in name" */
static void guard_compared(struct bj_py *py, uint32_t node)
{
	const struct bj_node *nodes = py->tree->nodes;
	const uint32_t left = bj_node_child(py->tree, node);
	const uint32_t op = left ? nodes[left].next : 0;
	const uint32_t right = op ? nodes[op].next : 0;

	if (!right || !has_text(py, op, "in|not in"))
		return;
	if (nodes[right].kind != PY_STRING)
		guard(py, left);
	if (nodes[left].kind == PY_STRING && has_text(py, left, "*..*|?/?"))
		guard(py, right);
}

/* "https://", which says nothing of the host. */
static bool is_scheme(const struct bj_py *py, uint32_t node)
{
	return has_text(py, node, "*http*") && !has_text(py, node, "*.*");
}

/* "name = escape(name)" */
static void guard_cleaned(struct bj_py *py, uint32_t node)
{
	const uint32_t left = bj_node_field(py->tree, node, PYF_LEFT);
	const uint32_t right = bj_node_field(py->tree, node, PYF_RIGHT);
	const bool call = right && py->tree->nodes[right].kind == PY_CALL;
	const uint32_t arg = call ? bj_py_argument(py, right, 0, NULL) : 0;

	if (left && arg && py->tree->nodes[left].kind == PY_IDENTIFIER &&
	    py->tree->nodes[arg].kind == PY_IDENTIFIER &&
	    bj_py_lookup(py, left) == bj_py_lookup(py, arg) &&
	    has_text(py, bj_node_field(py->tree, right, PYF_FUNCTION),
		     "*escape*|*quote*|*secure_filename|int|float|bool|*clean*|*sanit*|*basename|"
		     "*valid*|*strip_tags*"))
		guard(py, left);
}

/* Whether something depends on what @call gives, or nothing does: "if f(x):", "f(x)". */
static bool decides(const struct bj_py *py, uint32_t call)
{
	switch (py->tree->nodes[py->tree->nodes[call].parent].kind) {
	case PY_IF_STATEMENT:
	case PY_ELIF_CLAUSE:
	case PY_WHILE_STATEMENT:
	case PY_ASSERT_STATEMENT:
	case PY_NOT_OPERATOR:
	case PY_BOOLEAN_OPERATOR:
	case PY_COMPARISON_OPERATOR:
	case PY_CONDITIONAL_EXPRESSION:
	case PY_PARENTHESIZED_EXPRESSION:
	case PY_EXPRESSION_STATEMENT:
	case PY_NAMED_EXPRESSION:
	case PY_ASSIGNMENT:
		return true;
	default:
		return false;
	}
}

/* "if name.isalnum()", "if is_allowed(name)", "validate(name)" */
static void guard_called(struct bj_py *py, uint32_t call)
{
	static const char *const looks[] = { "isalnum",        "isalpha",   "isdigit",
					     "isnumeric",      "isdecimal", "isidentifier",
					     "is_relative_to", NULL };
	static const char *const begins[] = { "startswith", NULL };
	static const char *const ends[] = { "endswith", NULL };
	static const char *const takers[] = { "urlparse", "urlsplit", NULL };
	const struct bj_node *nodes = py->tree->nodes;
	const uint32_t function = bj_node_field(py->tree, call, PYF_FUNCTION);
	const uint32_t attribute = function ? bj_node_field(py->tree, function, PYF_ATTRIBUTE) : 0;
	const uint32_t object = function ? bj_node_field(py->tree, function, PYF_OBJECT) : 0;
	const uint32_t args = bj_node_field(py->tree, call, PYF_ARGUMENTS);
	const uint32_t first = bj_py_argument(py, call, 0, NULL);
	const uint32_t name = attribute ? attribute : function;
	uint32_t c = args ? bj_node_child(py->tree, args) : 0;

	if (object && is_one_of(py, attribute, looks))
		guard(py, object);
	if (object && is_one_of(py, attribute, begins) && !is_scheme(py, first))
		guard(py,
		      nodes[object].kind == PY_CALL ? bj_py_argument(py, object, 0, NULL) : object);
	if (object && is_one_of(py, attribute, ends) && first && nodes[first].kind != PY_STRING)
		guard(py, object);
	/* Who takes an address apart looks at its host. */
	if (py->looks_at_host && is_one_of(py, name, takers))
		guard(py, first);
	if (name && decides(py, call) &&
	    has_text(py, name,
		     "*valid*|*allowed*|*is_safe*|*whitelist*|*permitted*|*sanitize*|"
		     "check_*|*has_allowed_host*|match|fullmatch"))
		for (; c; c = nodes[c].next)
			guard(py, c);
}

void bj_py_find_visitors(struct bj_py *py)
{
	const struct bj_tree *tree = py->tree;

	py->looks_at_host = memmem(tree->text, tree->size, ".netloc", 7) ||
			    memmem(tree->text, tree->size, ".hostname", 9);
	for (uint32_t i = 1; i < tree->n_nodes && !py->failed; i++)
		switch (tree->nodes[i].kind) {
		case PY_FUNCTION_DEFINITION:
			find_parameters(py, i);
			break;
		case PY_COMPARISON_OPERATOR:
			guard_compared(py, i);
			break;
		case PY_CALL:
			guard_called(py, i);
			break;
		case PY_ASSIGNMENT:
			guard_cleaned(py, i);
			break;
		default:
			break;
		}
}

/* --- where it comes from, and what carries it --- */

static bool is_request(const struct bj_py *py, uint32_t object)
{
	if (has_name(py, object, "flask.request|*.request|request"))
		return !has_name(py, object, "urllib.*|six.*");
	if (has_text(py, object, "self.request|self.req"))
		return true;
	if (!has_text(py, object, "request|req"))
		return false;

	const struct bj_py_symbol *s = py->tree->nodes[object].kind == PY_IDENTIFIER
					       ? bj_py_lookup((struct bj_py *)py, object)
					       : NULL;

	return !s || s->local_code;
}

static bool is_source(const struct bj_py *py, uint32_t object, uint32_t attribute)
{
	static const char *const plain[] = {
		"args",     "form",         "values",       "cookies",   "COOKIES",
		"GET",      "POST",         "FILES",        "files",     "get_json",
		"get_data", "query_params", "query_string", "matchdict", "match_info",
		"stream",   "json_body",    "form_data",    "arguments", NULL
	};
	static const char *const served[] = { "json",    "data",          "body",     "params",
					      "query",   "headers",       "META",     "PUT",
					      "DELETE",  "url",           "referrer", "environ",
					      "rel_url", "raw_post_data", NULL };
	static const char *const answered[] = { "path", "rfile", NULL };

	if (is_one_of(py, attribute, plain) || (py->serves && is_one_of(py, attribute, served)))
		return is_request(py, object);
	return py->answers && is_one_of(py, attribute, answered) && has_text(py, object, "self");
}

static bool any_argument(const struct bj_py *py, uint32_t call)
{
	const uint32_t args = bj_node_field(py->tree, call, PYF_ARGUMENTS);
	uint32_t c = args ? bj_node_child(py->tree, args) : 0;

	if (args && py->tree->nodes[args].kind == PY_GENERATOR_EXPRESSION)
		return bj_py_is_visitor(py, args);
	for (; c; c = py->tree->nodes[c].next)
		if (bj_py_is_visitor(py, c))
			return true;
	return false;
}

/* An argument of a function of the script becomes its parameter. */
static void hand_on(struct bj_py *py, uint32_t call, uint32_t scope)
{
	const struct bj_node *nodes = py->tree->nodes;
	const uint32_t definition = py->scopes[scope].node;
	const uint32_t list = bj_node_field(py->tree, definition, PYF_PARAMETERS);
	const uint32_t args = bj_node_field(py->tree, call, PYF_ARGUMENTS);
	uint32_t p = list ? bj_node_child(py->tree, list) : 0;
	uint32_t a = args ? bj_node_child(py->tree, args) : 0;

	if (p && has_text(py, p, "self|cls"))
		p = nodes[p].next;
	for (; a && p; a = nodes[a].next, p = nodes[p].next) {
		const uint32_t name = parameter_name(py, p);

		if (nodes[a].kind == PY_KEYWORD_ARGUMENT || nodes[a].kind == PY_LIST_SPLAT)
			return;
		if (name && bj_py_is_visitor(py, a))
			bind_parameter(py, definition, name);
	}
}

/* What the methods of such a text give that says nothing of it, or is a number. */
static bool is_lost(const struct bj_py *py, uint32_t call, uint32_t attribute)
{
	const uint32_t type = bj_py_argument(py, call, -1, "type");
	const uint32_t first = bj_py_argument(py, call, 0, NULL);

	/* name.replace("'", "''") */
	if (has_text(py, attribute, "replace") &&
	    has_text(py, first, "\"'\"|'\"'|'\\''|\"\\\"\"|'<'|\"<\"|'../'|\"../\"|'..'|\"..\""))
		return true;
	return has_text(py, attribute,
			"is*|startswith|endswith|count|find|index|save|close|hexdigest|digest|"
			"__len__|validate*") ||
	       has_text(py, type, "int|float|bool");
}

static bool is_carried(struct bj_py *py, uint32_t call)
{
	static const char functions[] =
		"builtins.str|builtins.bytes|builtins.bytearray|builtins.list|builtins.tuple|"
		"builtins.dict|builtins.reversed|builtins.iter|builtins.next|os.path.join|"
		"os.path.normpath|os.path.abspath|os.path.realpath|os.path.expanduser|"
		"os.path.dirname|posixpath.join|pathlib.Path|pathlib.PurePath|pathlib.PosixPath|"
		"urllib.parse.unquote*|urllib.parse.urljoin|urllib.parse.urlparse|"
		"urllib.parse.urlsplit|urllib.parse.parse_qs*|base64.*decode|json.loads|json.load|"
		"io.BytesIO|io.StringIO|codecs.decode|copy.copy|copy.deepcopy|"
		"string.Template|string.Template().*substitute|xmltodict.parse";
	static const char *const getters[] = { "get_argument", "get_arguments",
					       "get_query_argument", "get_body_argument", NULL };
	const uint32_t function = bj_node_field(py->tree, call, PYF_FUNCTION);
	const uint32_t attribute = function ? bj_node_field(py->tree, function, PYF_ATTRIBUTE) : 0;
	const uint32_t object = function ? bj_node_field(py->tree, function, PYF_OBJECT) : 0;

	if (!function)
		return false;
	if (has_name(py, function, "cgi.FieldStorage().*|cgi.parse") ||
	    (is_one_of(py, attribute, getters) && has_text(py, object, "self")))
		return true;
	if (bj_py_is_visitor(py, function))
		return !is_lost(py, call, attribute);
	if (!any_argument(py, call))
		return false;

	const struct bj_py_set callee = *bj_py_set(py, function);

	for (uint32_t i = 0; i < callee.n; i++)
		if (callee.v[i].kind == BJ_PY_FUNC && !callee.v[i].boxed)
			hand_on(py, call, callee.v[i].ref);
	return has_name(py, function, functions) ||
	       has_text(py, attribute,
			"format|format_map|join|replace|joinpath|substitute|"
			"safe_substitute");
}

static bool any_part(const struct bj_py *py, uint32_t string)
{
	const struct bj_tree *tree = py->tree;
	uint32_t c = bj_node_child(tree, string);

	for (; c; c = tree->nodes[c].next)
		if (tree->nodes[c].kind == PY_INTERPOLATION
			    ? bj_py_is_visitor(py, bj_node_field(tree, c, PYF_EXPRESSION))
			    : bj_py_is_visitor(py, c))
			return true;
	return false;
}

static void drop(struct bj_py_set *set)
{
	struct bj_py_set left = { 0 };

	for (uint32_t i = 0; i < set->n; i++)
		if (set->v[i].kind != BJ_PY_VISITOR)
			left.v[left.n++] = set->v[i];
	*set = left;
}

static bool is_guarded(struct bj_py *py, uint32_t node)
{
	const struct bj_py_symbol *s = bj_py_lookup(py, node);

	return s && s->guarded;
}

static bool is_of_visitor(const struct bj_py *py, uint32_t object, uint32_t attribute)
{
	return object && attribute &&
	       (bj_py_is_visitor(py, object) || is_source(py, object, attribute));
}

void bj_py_carry_visitor(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const struct bj_tree *tree = py->tree;
	bool carried = false;

	switch (tree->nodes[node].kind) {
	case PY_IDENTIFIER:
		if (has_visitor(set) && is_guarded(py, node))
			drop(set);
		return;
	case PY_ATTRIBUTE:
		carried = is_of_visitor(py, bj_node_field(tree, node, PYF_OBJECT),
					bj_node_field(tree, node, PYF_ATTRIBUTE));
		break;
	case PY_SUBSCRIPT:
		carried = bj_py_is_visitor(py, bj_node_field(tree, node, PYF_VALUE)) ||
			  has_name(py, bj_node_field(tree, node, PYF_VALUE), "cgi.FieldStorage()");
		break;
	case PY_CALL:
		carried = is_carried(py, node);
		if (!carried && bj_py_is_visitor(py, bj_node_field(tree, node, PYF_FUNCTION)))
			drop(set);
		break;
	case PY_STRING:
	case PY_CONCATENATED_STRING:
		carried = any_part(py, node);
		break;
	case PY_BINARY_OPERATOR:
		carried = bj_py_is_visitor(py, bj_node_field(tree, node, PYF_LEFT)) ||
			  bj_py_is_visitor(py, bj_node_field(tree, node, PYF_RIGHT));
		break;
	case PY_AUGMENTED_ASSIGNMENT:
		carried = bj_py_is_visitor(py, bj_node_field(tree, node, PYF_RIGHT));
		break;
	default:
		return;
	}
	if (!carried)
		return;
	add(set);
	if (tree->nodes[node].kind == PY_AUGMENTED_ASSIGNMENT) {
		const uint32_t left = bj_node_field(tree, node, PYF_LEFT);

		if (left)
			bj_py_bind(py, left, set);
	}
}

/* --- whether it comes first --- */

#define HEAD_MAX 16 /* steps towards the beginning of a text */

/* Whether a text that begins so has chosen its host, or its place on this one. */
static bool is_fixed(const char *s, size_t len)
{
	return bj_danger_globs("/|/[!-.0-~]*|*://[a-zA-Z0-9]*/*", s, len);
}

/* The part of a text that its beginning depends on; 0: it is fixed. */
static uint32_t step_back(const struct bj_py *py, uint32_t node)
{
	const struct bj_tree *tree = py->tree;
	const struct bj_node *n = &tree->nodes[node];
	const struct bj_py_text *text;
	uint32_t part = 0;

	if (n->kind == PY_BINARY_OPERATOR) {
		const uint32_t left = bj_node_field(tree, node, PYF_LEFT);
		const uint32_t right = bj_node_field(tree, node, PYF_RIGHT);
		const bool plus = has_text(py, bj_node_field(tree, node, PYF_OPERATOR), "+");

		text = left ? bj_py_const(py, left) : NULL;
		if (!text)
			return left;

		const char *mark = plus ? NULL : memchr(text->s, '%', text->len);

		return is_fixed(text->s, mark ? (size_t)(mark - text->s) : text->len) ? 0 : right;
	}
	if (n->kind == PY_CALL) {
		const uint32_t function = bj_node_field(tree, node, PYF_FUNCTION);
		const uint32_t object = function ? bj_node_field(tree, function, PYF_OBJECT) : 0;

		text = object ? bj_py_const(py, object) : NULL;

		const char *mark = text ? memchr(text->s, '{', text->len) : NULL;

		if (!mark)
			return node;
		return is_fixed(text->s, (size_t)(mark - text->s))
			       ? 0
			       : bj_py_argument(py, node, 0, NULL);
	}
	if (n->kind != PY_STRING)
		return node;
	part = bj_node_kind(tree, node, PY_INTERPOLATION);
	if (!part)
		return 0;

	const uint32_t content = bj_node_kind(tree, node, PY_STRING_CONTENT);
	const bool before = content && content < part;
	const uint32_t inner = bj_node_field(tree, part, PYF_EXPRESSION);

	if (before && is_fixed(tree->text + tree->nodes[content].start,
			       tree->nodes[part].start - tree->nodes[content].start))
		return 0;
	/* f"{BASE}/users/{name}" */
	return inner && bj_py_const(py, inner) ? 0 : inner;
}

bool bj_py_begins_visitor(const struct bj_py *py, uint32_t node)
{
	for (int n = 0; node && n < HEAD_MAX && bj_py_is_visitor(py, node); n++) {
		uint32_t next = step_back(py, node);

		if (next == node && py->tree->nodes[node].kind == PY_IDENTIFIER) {
			const struct bj_py_symbol *s = bj_py_lookup((struct bj_py *)py, node);

			next = s && s->value ? s->value : node;
		}
		if (next == node)
			return true;
		node = next;
	}
	return false;
}
