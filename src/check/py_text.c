/* SPDX-License-Identifier: Apache-2.0 */
#include "check/py_decode.h"
#include "check/python.h"
#include "grammar_python.h"

#include <ctype.h>

/* Constant strings: literals and what operators and methods make of them. Bytes are treated as
 * strings: only ASCII names matter here. What grows past BJ_PY_TEXT_MAX is dropped. */

struct text {
	char s[BJ_PY_TEXT_MAX];
	size_t n;
	bool failed;
};

/* Only what says that it is empty: to clear all of it would cost more than most texts. */
static void text_begin(struct text *t)
{
	t->n = 0;
	t->failed = false;
}

static void text_add(struct text *t, const char *s, size_t n)
{
	if (t->failed || n > sizeof(t->s) - t->n) {
		t->failed = true;
		return;
	}
	memcpy(t->s + t->n, s, n);
	t->n += n;
}

static void text_char(struct text *t, uint32_t c)
{
	const char ch = (char)c;

	/* No name of interest has other characters; any stand-in breaks the match. */
	text_add(t, c < 0x80 ? &ch : "\xff", 1);
}

static void give(struct bj_py *py, const struct text *t, struct bj_py_set *set)
{
	if (!t->failed)
		bj_py_set_add(set, (struct bj_py_value){ .kind = BJ_PY_STR,
							 .ref = bj_py_intern(py, t->s, t->n) });
}

/* \N{LATIN SMALL LETTER A}: no other characters make a name of interest. */
static void add_named(struct text *t, const char *s, size_t n)
{
	static const char small[] = "\\N{LATIN SMALL LETTER ",
			  large[] = "\\N{LATIN CAPITAL LETTER ";
	const size_t n_small = sizeof(small) - 1, n_large = sizeof(large) - 1;

	if (n == n_small + 2 && !memcmp(s, small, n_small))
		text_char(t, (uint32_t)tolower((unsigned char)s[n_small]));
	else if (n == n_large + 2 && !memcmp(s, large, n_large))
		text_char(t, (uint32_t)(unsigned char)s[n_large]);
	else if (n == 12 && !memcmp(s, "\\N{LOW LINE}", 12))
		text_char(t, '_');
	else
		text_char(t, 0xff);
}

static void add_escape(struct text *t, const char *s, size_t n)
{
	static const char from[] = "abfnrtv0\\'\"", to[] = "\a\b\f\n\r\t\v\0\\'\"";
	char digits[9] = "";

	if (n < 2)
		return;
	if (s[1] == 'x' || s[1] == 'u' || s[1] == 'U') {
		memcpy(digits, s + 2, n - 2 < 8 ? n - 2 : 8);
		text_char(t, (uint32_t)strtoul(digits, NULL, 16));
	} else if (s[1] >= '0' && s[1] <= '7') {
		memcpy(digits, s + 1, n - 1 < 3 ? n - 1 : 3);
		text_char(t, (uint32_t)strtoul(digits, NULL, 8));
	} else if (s[1] == 'N') {
		add_named(t, s, n);
	} else if (s[1] == '\n' || s[1] == '\r') {
		return; /* a line that goes on */
	} else {
		const char *at = memchr(from, s[1], sizeof(from) - 1);

		if (at)
			text_add(t, &to[at - from], 1);
		else
			text_char(t, 0xff);
	}
}

static void add_content(const struct bj_py *py, struct text *t, uint32_t node)
{
	const struct bj_tree *tree = py->tree;
	uint32_t at = tree->nodes[node].start;
	uint32_t c = bj_node_child(tree, node);

	for (; c && !t->failed; c = tree->nodes[c].next) {
		const struct bj_node *e = &tree->nodes[c];

		text_add(t, tree->text + at, e->start - at);
		if (e->kind == PY_ESCAPE_SEQUENCE)
			add_escape(t, tree->text + e->start, e->end - e->start);
		else
			text_add(t, tree->text + e->start, 1); /* "{{" */
		at = e->end;
	}
	text_add(t, tree->text + at, tree->nodes[node].end - at);
}

/* The one constant of @node as text: a string, or a number in decimal. */
static bool constant(const struct bj_py *py, uint32_t node, struct text *t)
{
	const struct bj_py_set *set = bj_py_set(py, node);
	char digits[12];

	for (uint32_t i = 0; i < set->n; i++) {
		const struct bj_py_value *v = &set->v[i];

		if (v->boxed)
			continue;
		if (v->kind == BJ_PY_STR) {
			text_add(t, bj_py_text(py, v->ref)->s, bj_py_text(py, v->ref)->len);
			return true;
		}
		if (v->kind == BJ_PY_INT) {
			text_add(t, digits, (size_t)snprintf(digits, sizeof(digits), "%u", v->ref));
			return true;
		}
	}
	return false;
}

static bool integer(const struct bj_py *py, uint32_t node, uint32_t *ret)
{
	const struct bj_py_set *set = bj_py_set(py, node);

	for (uint32_t i = 0; i < set->n; i++)
		if (set->v[i].kind == BJ_PY_INT && !set->v[i].boxed) {
			*ret = set->v[i].ref;
			return true;
		}
	return false;
}

void bj_py_eval_string(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const struct bj_tree *tree = py->tree;
	struct text t;
	uint32_t c = bj_node_child(tree, node);

	text_begin(&t);
	for (; c; c = tree->nodes[c].next) {
		const bool far = tree->nodes[c].end - tree->nodes[c].start > 4 * BJ_PY_TEXT_MAX;

		t.failed |= far;
		if (tree->nodes[c].kind == PY_STRING_CONTENT && !t.failed)
			add_content(py, &t, c);
		if (tree->nodes[c].kind == PY_INTERPOLATION) {
			const uint32_t e = bj_node_field(tree, c, PYF_EXPRESSION);

			if (e && bj_py_holds_environ(py, e))
				bj_py_add_environ(py, 1, set);
			if (t.failed || !e || !constant(py, e, &t))
				return;
		}
	}
	if (t.failed)
		bj_py_set_add(set, (struct bj_py_value){ .kind = BJ_PY_LONG });
	give(py, &t, set);
}

void bj_py_eval_home(struct bj_py *py, const struct bj_py_text *key, struct bj_py_set *set)
{
	if (key->len == 4 && !memcmp(key->s, "HOME", 4))
		bj_py_set_add(set, (struct bj_py_value){ .kind = BJ_PY_STR,
							 .ref = bj_py_intern(py, "~", 1) });
}

void bj_py_eval_concat(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	struct text t;
	uint32_t c = bj_node_child(py->tree, node);

	text_begin(&t);
	for (; c && !t.failed; c = py->tree->nodes[c].next)
		if (py->tree->nodes[c].kind == PY_STRING && !constant(py, c, &t))
			return;
	give(py, &t, set);
}

static char operator_of(const struct bj_py *py, uint32_t node)
{
	const uint32_t op = bj_node_field(py->tree, node, PYF_OPERATOR);

	return op ? py->tree->text[py->tree->nodes[op].start] : 0;
}

/* "%s%c" % (a, b), and the same for "{}{}".format(a, b) with @mark '{'. @args are the values. */
static void format(struct bj_py *py, const struct bj_py_text *pattern, char mark, uint32_t args,
		   struct bj_py_set *set)
{
	struct text t;
	uint32_t value;

	text_begin(&t);
	for (uint32_t i = 0; i < pattern->len && !t.failed; i++) {
		if (pattern->s[i] != mark || i + 1 >= pattern->len) {
			text_add(&t, &pattern->s[i], 1);
			continue;
		}
		if (pattern->s[++i] == mark) {
			text_add(&t, &mark, 1);
			continue;
		}
		if (!args)
			return;
		if (mark == '%' && pattern->s[i] == 'c' && integer(py, args, &value))
			text_char(&t, value);
		else if (!constant(py, args, &t))
			return;
		while (mark == '{' && i < pattern->len && pattern->s[i] != '}')
			i++;
		args = py->tree->nodes[args].next;
	}
	give(py, &t, set);
}

static void repeat(struct bj_py *py, uint32_t left, uint32_t right, struct bj_py_set *set)
{
	const struct bj_py_text *s = bj_py_const(py, left);
	struct text t;
	uint32_t times;

	text_begin(&t);
	if (!s || !integer(py, right, &times))
		return;
	for (uint32_t i = 0; i < times && !t.failed; i++)
		text_add(&t, s->s, s->len);
	give(py, &t, set);
}

static void arithmetic(struct bj_py *py, char op, uint32_t left, uint32_t right,
		       struct bj_py_set *set)
{
	uint32_t a, b;

	if (!integer(py, left, &a) || !integer(py, right, &b))
		return;

	const uint32_t v = op == '+'             ? a + b
			   : op == '-'           ? a - b
			   : op == '*'           ? a * b
			   : op == '^'           ? a ^ b
			   : op == '|'           ? a | b
			   : op == '&'           ? a & b
			   : op == '<' && b < 32 ? a << b
			   : op == '>' && b < 32 ? a >> b
			   : op == '%' && b      ? a % b
			   : op == '/' && b      ? a / b
						 : 0;

	bj_py_set_add(set, (struct bj_py_value){ .kind = BJ_PY_INT, .ref = v });
}

void bj_py_eval_operator(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t left = bj_node_field(py->tree, node, PYF_LEFT);
	const uint32_t right = bj_node_field(py->tree, node, PYF_RIGHT);
	const char op = operator_of(py, node);
	struct text t;

	text_begin(&t);
	if (!left || !right)
		return;

	const struct bj_py_text *text = bj_py_const(py, left);

	if (!text) {
		arithmetic(py, op, left, right, set);
	} else if (op == '+') {
		if (bj_py_const(py, right) && constant(py, left, &t) && constant(py, right, &t))
			give(py, &t, set);
	} else if (op == '/') {
		/* Path('a') / 'b' */
		if (bj_py_const(py, right) && constant(py, left, &t)) {
			text_char(&t, '/');
			if (constant(py, right, &t))
				give(py, &t, set);
		}
	} else if (op == '*') {
		repeat(py, left, right, set);
	} else if (op == '%') {
		const bool many = py->tree->nodes[right].kind == PY_TUPLE;

		format(py, text, '%', many ? bj_node_child(py->tree, right) : right, set);
	}
}

/* A bound of a slice as an index of @len characters; @missing when it is not written. */
static long bound(const struct bj_py *py, uint32_t node, long missing)
{
	uint32_t v;

	if (!node)
		return missing;
	if (py->tree->nodes[node].kind == PY_UNARY_OPERATOR) {
		const uint32_t a = bj_node_field(py->tree, node, PYF_ARGUMENT);

		return a && integer(py, a, &v) ? -(long)v : missing;
	}
	return integer(py, node, &v) ? (long)v : missing;
}

/* The parts of "a:b:c": which child stands where is known by the colons in between. */
static void slice_parts(const struct bj_py *py, uint32_t node, uint32_t part[3])
{
	const struct bj_node *at = &py->tree->nodes[node];
	uint32_t c = bj_node_child(py->tree, node);
	unsigned k = 0;

	for (uint32_t i = at->start; i < at->end && k < 3; i++) {
		if (c && i == py->tree->nodes[c].start) {
			part[k] = c;
			i = py->tree->nodes[c].end - 1;
			c = py->tree->nodes[c].next;
		} else if (py->tree->text[i] == ':') {
			k++;
		}
	}
}

void bj_py_eval_slice(struct bj_py *py, uint32_t node, struct bj_py_set *set)
{
	const uint32_t object = bj_node_field(py->tree, node, PYF_VALUE);
	const uint32_t index = bj_node_field(py->tree, node, PYF_SUBSCRIPT);
	const struct bj_py_text *s = bj_py_const(py, object);
	struct text t;
	uint32_t part[3] = { 0 };

	text_begin(&t);
	if (!s)
		return;

	const long len = (long)s->len;

	if (py->tree->nodes[index].kind != PY_SLICE) {
		const long i = bound(py, index, len);
		const long at = i < 0 ? i + len : i;

		if (at >= 0 && at < len)
			text_add(&t, &s->s[at], 1);
		give(py, &t, set);
		return;
	}
	slice_parts(py, index, part);

	const long step = bound(py, part[2], 1);
	long from = bound(py, part[0], step < 0 ? len - 1 : 0);
	long to = bound(py, part[1], step < 0 ? -len - 1 : len);

	if (!step)
		return;
	from = from < 0 ? from + len : from;
	to = to < 0 ? to + len : to;
	for (long i = from; step > 0 ? i < to && i < len : i > to && i >= 0; i += step)
		if (i >= 0 && i < len)
			text_add(&t, &s->s[i], 1);
	give(py, &t, set);
}

/* The elements of a display, joined: "".join(["e", "v"]), "".join(map(chr, [101, 118])). */
static void join(struct bj_py *py, const struct bj_py_text *glue, uint32_t list, bool chars,
		 struct bj_py_set *set)
{
	struct text t;
	uint32_t c = bj_node_child(py->tree, list), value;
	uint32_t n = 0;

	/* A list may be joined again and again. */
	text_begin(&t);
	for (; c && !t.failed; c = py->tree->nodes[c].next, n++) {
		if (n && glue)
			text_add(&t, glue->s, glue->len);
		t.failed |= n > BJ_PY_TEXT_MAX;
		if (chars && integer(py, c, &value))
			text_char(&t, value);
		else if (!constant(py, c, &t))
			return;
	}
	give(py, &t, set);
}

static uint32_t first_argument(const struct bj_py *py, uint32_t call)
{
	return bj_py_argument(py, call, 0, NULL);
}

static bool is_display(const struct bj_py *py, uint32_t node)
{
	const uint16_t kind = py->tree->nodes[node].kind;

	return kind == PY_LIST || kind == PY_TUPLE || kind == PY_SET;
}

/* The display that @node is or, as a name, was bound to last; 0: none. */
static uint32_t display_of(struct bj_py *py, uint32_t node)
{
	const struct bj_py_symbol *s =
		py->tree->nodes[node].kind == PY_IDENTIFIER ? bj_py_lookup(py, node) : NULL;
	const uint32_t display = s ? s->value : node;

	return display && is_display(py, display) ? display : 0;
}

/* What stands for the sequence of a join: the display itself, the one in map(chr, [...]), in
 * reversed("...") or in (chr(c) for c in [...]). */
static void join_any(struct bj_py *py, const struct bj_py_text *glue, uint32_t arg,
		     struct bj_py_set *set)
{
	const uint16_t kind = py->tree->nodes[arg].kind;
	const struct bj_py_text *s = bj_py_const(py, arg);

	const uint32_t display = display_of(py, arg);

	if (display) {
		join(py, glue, display, false, set);
	} else if (s && !glue->len) {
		bj_py_set_add(set, (struct bj_py_value){ .kind = BJ_PY_STR,
							 .ref = bj_py_intern(py, s->s, s->len) });
	} else if (kind == PY_CALL) {
		const uint32_t list = bj_py_argument(py, arg, 1, NULL);

		if (list && display_of(py, list))
			join(py, glue, display_of(py, list), true, set);
	} else if (kind == PY_GENERATOR_EXPRESSION || kind == PY_LIST_COMPREHENSION) {
		const uint32_t clause = bj_node_kind(py->tree, arg, PY_FOR_IN_CLAUSE);
		const uint32_t list = clause ? bj_node_field(py->tree, clause, PYF_RIGHT) : 0;

		if (list && display_of(py, list))
			join(py, glue, display_of(py, list), true, set);
	}
}

static void replace(struct bj_py *py, const struct bj_py_text *s, uint32_t call,
		    struct bj_py_set *set)
{
	const uint32_t from = bj_py_argument(py, call, 0, NULL);
	const uint32_t to = bj_py_argument(py, call, 1, NULL);
	const struct bj_py_text *a = from ? bj_py_const(py, from) : NULL;
	const struct bj_py_text *b = to ? bj_py_const(py, to) : NULL;
	struct text t;

	text_begin(&t);
	if (!a || !a->len || !to)
		return;
	for (uint32_t i = 0; i < s->len && !t.failed;) {
		if (s->len - i >= a->len && memcmp(s->s + i, a->s, a->len) == 0) {
			if (b)
				text_add(&t, b->s, b->len);
			i += a->len;
		} else {
			text_add(&t, &s->s[i++], 1);
		}
	}
	give(py, &t, set);
}

static void change_case(struct bj_py *py, const struct bj_py_text *s, char how,
			struct bj_py_set *set)
{
	struct text t;

	text_begin(&t);
	for (uint32_t i = 0; i < s->len; i++) {
		const unsigned char c = (unsigned char)s->s[i];
		const char out = (char)(how == 'l'   ? tolower(c)
					: how == 'u' ? toupper(c)
					: islower(c) ? toupper(c)
						     : tolower(c));

		text_add(&t, &out, 1);
	}
	give(py, &t, set);
}

static void strip(struct bj_py *py, const struct bj_py_text *s, struct bj_py_set *set)
{
	struct text t;
	uint32_t from = 0, to = s->len;

	text_begin(&t);
	while (from < to && isspace((unsigned char)s->s[from]))
		from++;
	while (to > from && isspace((unsigned char)s->s[to - 1]))
		to--;
	text_add(&t, s->s + from, to - from);
	give(py, &t, set);
}

static void make(struct bj_py *py, bj_py_decoder *decode, const struct bj_py_text *s,
		 struct bj_py_set *set)
{
	struct text t;

	text_begin(&t);
	if (!decode || s->len > sizeof(t.s))
		return;
	t.n = decode(s->s, s->len, t.s);
	give(py, &t, set);
}

/* @s from or to the encoding that @codec names (0: UTF-8). One that is not known makes a text that
 * is not known either. */
static void recode(struct bj_py *py, const struct bj_py_text *s, uint32_t codec,
		   struct bj_py_set *set)
{
	const struct bj_py_text self = *s;
	const struct bj_py_text *name = codec ? bj_py_const(py, codec) : NULL;

	if (!codec)
		make(py, bj_py_decoder_of_codec("utf8", 4), &self, set);
	else if (name)
		make(py, bj_py_decoder_of_codec(name->s, name->len), &self, set);
}

bool bj_py_eval_method(struct bj_py *py, uint32_t call, struct bj_py_set *set)
{
	const uint32_t function = bj_node_field(py->tree, call, PYF_FUNCTION);

	if (!function || py->tree->nodes[function].kind != PY_ATTRIBUTE)
		return false;

	const uint32_t object = bj_node_field(py->tree, function, PYF_OBJECT);
	const uint32_t attribute = bj_node_field(py->tree, function, PYF_ATTRIBUTE);
	const bool empty =
		object && py->tree->nodes[object].kind == PY_STRING && !bj_py_const(py, object);
	static const struct bj_py_text nothing = { .s = "" };

	if (!object || !attribute)
		return false;

	const struct bj_py_text *s = empty ? &nothing : bj_py_const(py, object);

	if (!s)
		return false;

	const struct bj_py_text self = *s;
	const struct bj_py_text name = bj_py_identifier(py, attribute);
	const uint32_t arg = first_argument(py, call);

#define IS(text) (name.len == sizeof(text) - 1 && !memcmp(name.s, text, name.len))
	if (IS("join") && arg)
		join_any(py, &self, arg, set);
	else if (IS("format"))
		format(py, &self, '{', arg, set);
	else if (IS("replace"))
		replace(py, &self, call, set);
	else if (IS("lower") || IS("upper") || IS("swapcase") || IS("casefold"))
		change_case(py, &self, IS("casefold") ? 'l' : name.s[0], set);
	else if (IS("strip") && !arg)
		strip(py, &self, set);
	else if (IS("joinpath"))
		bj_py_eval_path(py, call, set);
	else if ((IS("decode") || IS("encode")) && self.len)
		recode(py, &self, bj_py_argument(py, call, 0, "encoding"), set);
	else if ((IS("expanduser") || IS("resolve") || IS("absolute") || IS("as_posix")) &&
		 self.len)
		bj_py_set_add(set,
			      (struct bj_py_value){ .kind = BJ_PY_STR,
						    .ref = bj_py_intern(py, self.s, self.len) });
#undef IS
	return true;
}

bool bj_py_eval_text_call(struct bj_py *py, uint32_t call, const char *name, struct bj_py_set *set)
{
	const uint32_t arg = first_argument(py, call);
	struct text t;
	uint32_t value;

	text_begin(&t);
	if (!arg)
		return false;
	if (bj_py_is(name, "builtins.chr") && integer(py, arg, &value)) {
		text_char(&t, value);
		give(py, &t, set);
		return true;
	}
	if ((bj_py_is(name, "builtins.bytes") || bj_py_is(name, "builtins.bytearray")) &&
	    is_display(py, arg)) {
		join(py, NULL, arg, true, set);
		return true;
	}

	const struct bj_py_text *s = bj_py_const(py, arg);
	bool takes_codec = false;
	bj_py_decoder *const decode = s ? bj_py_decoder_of_call(name, &takes_codec) : NULL;

	if (!decode)
		return false;

	const uint32_t codec = takes_codec ? bj_py_argument(py, call, 1, "encoding") : 0;

	if (codec)
		recode(py, s, codec, set);
	else
		make(py, decode, s, set);
	return true;
}

void bj_py_eval_path(struct bj_py *py, uint32_t call, struct bj_py_set *set)
{
	const uint32_t function = bj_node_field(py->tree, call, PYF_FUNCTION);
	const uint32_t object = function ? bj_node_field(py->tree, function, PYF_OBJECT) : 0;
	struct text t;

	text_begin(&t);
	/* Path.home().joinpath(".ssh") */
	if (object && bj_py_const(py, object) && !constant(py, object, &t))
		return;
	for (int i = 0; i < 8; i++) {
		const uint32_t arg = bj_py_argument(py, call, i, NULL);

		if (!arg)
			break;
		if (t.n)
			text_char(&t, '/');
		if (!bj_py_const(py, arg) || !constant(py, arg, &t))
			return;
	}
	if (t.n)
		give(py, &t, set);
}

void bj_py_eval_flag(const struct bj_py_text *name, const struct bj_py_set *left,
		     const struct bj_py *py, struct bj_py_set *set)
{
	static const struct {
		const char *name;
		uint32_t value;
	} flags[] = {
		{ "S_ISUID", 04000 }, { "S_ISGID", 02000 }, { "S_IRWXU", 0700 },
		{ "S_IRUSR", 0400 },  { "S_IWUSR", 0200 },  { "S_IXUSR", 0100 },
		{ "S_IRWXG", 070 },   { "S_IRGRP", 040 },   { "S_IWGRP", 020 },
		{ "S_IXGRP", 010 },   { "S_IRWXO", 07 },    { "S_IROTH", 04 },
		{ "S_IWOTH", 02 },    { "S_IXOTH", 01 },
	};

	if (!left->n || left->v[0].kind != BJ_PY_NAME ||
	    !bj_py_is(bj_py_text(py, left->v[0].ref)->s, "stat"))
		return;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (name->len == strlen(flags[i].name) &&
		    !memcmp(name->s, flags[i].name, name->len))
			bj_py_set_add(set, (struct bj_py_value){ .kind = BJ_PY_INT,
								 .ref = flags[i].value });
}
