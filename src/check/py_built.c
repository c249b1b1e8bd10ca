/* SPDX-License-Identifier: Apache-2.0 */
#include "check/py_match.h"
#include "grammar_python.h"

#include <ctype.h>

/* Texts that a script puts together and others take apart: SQL with a value of data in it ("...
 * where name = '" + name + "'"), a page with what a visitor sent. The text is looked at as it is
 * written. The name of a table or a list of columns is mostly the script's own, so only the place
 * of a value counts. */

#define BUILT_MAX 1024 /* bytes of such a text that are looked at */

struct written {
	const char *s;
	size_t n;
};

static bool word_at(const struct written *w, size_t at, const char *word)
{
	const size_t len = strlen(word);

	return at + len <= w->n && strncasecmp(w->s + at, word, len) == 0;
}

static bool has_word(const struct written *w, size_t to, const char *word)
{
	for (size_t i = 0; i < to; i++)
		if (word_at(w, i, word))
			return true;
	return false;
}

/* Where the text itself begins, behind prefix, quotes and blanks. */
static size_t begin_of(const struct written *w)
{
	size_t i = 0;

	while (i + 1 < w->n && i < 3 && isalpha((unsigned char)w->s[i]) && w->s[i + 1] &&
	       strchr("\"'fFrRbBuU", w->s[i + 1]))
		i++;
	while (i < w->n && (strchr("\"'(\\", w->s[i]) || isspace((unsigned char)w->s[i])))
		i++;
	return i;
}

/* A statement of SQL: its first word and the one that must follow. */
static bool is_sql(const struct written *w)
{
	static const struct {
		const char *first, *second;
	} statements[] = {
		{ "select ", " from " },     { "insert into ", "values" },  { "update ", " set " },
		{ "delete from ", "where" }, { "replace into ", "values" }, { "with ", " from " },
	};
	const size_t at = begin_of(w);

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		if (word_at(w, at, statements[i].first) &&
		    (has_word(w, w->n, statements[i].second) || has_word(w, w->n, " from\n") ||
		     has_word(w, w->n, "\nfrom ")))
			return true;
	return false;
}

/* "<p>", not "<Name of an object". */
static bool is_page(const struct written *w)
{
	const size_t at = begin_of(w);

	return at + 1 < w->n && w->s[at] == '<' &&
	       (islower((unsigned char)w->s[at + 1]) || w->s[at + 1] == '!');
}

/* Whether what stands at @at is a value: behind "=", "like '%", or in the list of "values" or "in".
 */
static bool is_value(const struct written *w, size_t at)
{
	while (at && (strchr("'\"%\\", w->s[at - 1]) || isspace((unsigned char)w->s[at - 1])))
		at--;
	if (!at)
		return false;
	if (strchr("=<>", w->s[at - 1]))
		return true;
	if (strchr("(,", w->s[at - 1]))
		return has_word(w, at, "values");
	return at >= 4 && strncasecmp(w->s + at - 4, "like", 4) == 0;
}

/* Question marks for parameters, or a number. */
static bool is_harmless(const struct written *w, size_t at)
{
	static const char *const words[] = { "int(",   "float(",   "len(",   "placeholder",
					     "qmarks", "question", "marks",  "params",
					     "','",    "', '",     "\", \"", "\",\"" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (word_at(w, at, words[i]))
			return true;
	return false;
}

/* Whether data goes where a value belongs: "{x}", "%s" before a "%", or a string that ends there.
 */
static bool has_value(const struct written *w, uint16_t kind)
{
	for (size_t i = 0; i + 1 < w->n; i++) {
		const char c = w->s[i], next = w->s[i + 1];
		size_t to = i + 1;

		if (c == next && (c == '{' || c == '%')) {
			i++;
			continue;
		}
		if (c == '{' && kind != PY_BINARY_OPERATOR && !is_harmless(w, i + 1) &&
		    is_value(w, i))
			return true;
		if (kind != PY_BINARY_OPERATOR || !is_value(w, i))
			continue;
		if (c == '%' && strchr("sdi(", next))
			return true;
		while (to < w->n && strchr("'\" \n\t", w->s[to]))
			to++;
		if (!strchr("'\"", c) || to + 1 >= w->n || w->s[to] != '+')
			continue;
		to += w->s[to + 1] == ' ' ? 2 : 1;
		if (!is_harmless(w, to))
			return true;
	}
	return false;
}

/* The first literal of "a" + b + c, or the object of "...".format(x); 0: there is none. */
static uint32_t literal_of(const struct bj_tree *tree, uint32_t node)
{
	for (int n = 0; n < 16; n++)
		switch (tree->nodes[node].kind) {
		case PY_BINARY_OPERATOR:
			node = bj_node_field(tree, node, PYF_LEFT);
			break;
		case PY_PARENTHESIZED_EXPRESSION:
			node = bj_node_child(tree, node);
			break;
		case PY_STRING:
		case PY_CONCATENATED_STRING:
			return node;
		default:
			return 0;
		}
	return 0;
}

/* What @node is put together from as it is written; false: it is none of that. */
static bool is_built(const struct bj_py_match *p, uint32_t node)
{
	const struct bj_tree *tree = p->tree;
	const struct bj_node *n = &tree->nodes[node];
	const uint32_t function = n->kind == PY_CALL ? bj_node_field(tree, node, PYF_FUNCTION) : 0;

	if (n->kind == PY_CALL) {
		const uint32_t attribute =
			function ? bj_node_field(tree, function, PYF_ATTRIBUTE) : 0;

		return attribute && bj_py_node_is(tree, attribute, "format") &&
		       literal_of(tree, bj_node_field(tree, function, PYF_OBJECT));
	}
	if (tree->nodes[n->parent].kind == PY_BINARY_OPERATOR ||
	    tree->nodes[n->parent].kind == PY_CONCATENATED_STRING)
		return false;
	if (n->kind == PY_STRING)
		return bj_node_kind(tree, node, PY_INTERPOLATION);
	if (n->kind == PY_CONCATENATED_STRING)
		return true;
	return literal_of(tree, node);
}

/* An argument of cursor.execute() is told there. */
static bool is_told(const struct bj_py_match *p, uint32_t node)
{
	const struct bj_node *nodes = p->tree->nodes;
	const uint32_t list = nodes[node].parent, call = nodes[list].parent;
	const uint32_t function = nodes[list].kind == PY_ARGUMENT_LIST
					  ? bj_node_field(p->tree, call, PYF_FUNCTION)
					  : 0;
	const uint32_t attribute = function ? bj_node_field(p->tree, function, PYF_ATTRIBUTE) : 0;

	return attribute && bj_py_fits_source(p, attribute,
					      "execute|executemany|executescript|raw|read_sql|"
					      "read_sql_query|text|extra");
}

void bj_py_match_built(const struct bj_py_match *p, uint32_t node)
{
	const struct bj_node *n = &p->tree->nodes[node];
	const size_t size = n->end - n->start;
	const struct written w = { .s = p->tree->text + n->start,
				   .n = size < BUILT_MAX ? size : BUILT_MAX };
	const bool string = n->kind == PY_STRING;

	if (!size)
		return;
	/* Most strings have nothing in them. */
	if (string && w.n > sizeof("'{.__mro__'") - 1 && memchr(w.s, '{', w.n) &&
	    bj_danger_globs("*{*.__globals__*|*{*.__subclasses__*|*{*.__mro__*", w.s, w.n))
		bj_danger_special(p->pass, BJ_LANG_PYTHON, "format-text", n->start, n->end);
	if (string && !strchr("fFrR", w.s[0]))
		return;
	if (!is_built(p, node) || bj_py_const(p->py, node))
		return;
	if (bj_py_is_visitor(p->py, node) && is_page(&w))
		bj_danger_special(p->pass, BJ_LANG_PYTHON, "page", n->start, n->end);
	if (is_sql(&w) && !is_told(p, node) &&
	    (bj_py_is_visitor(p->py, node) || has_value(&w, n->kind)))
		bj_danger_special(p->pass, BJ_LANG_PYTHON, "sql-text", n->start, n->end);
}
