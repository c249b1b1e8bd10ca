/* SPDX-License-Identifier: Apache-2.0 */
#include "check/joined.h"

#include "base/err.h"
#include "check/python.h"
#include "check/shell.h"
#include "grammar_bash.h"
#include "grammar_python.h"

#include <errno.h>
#include <limits.h>

enum {
	SHORTEST = 12,  /* what is shorter than any token is not gathered */
	PIECE = 4,      /* a piece of a secret that must not be shown */
	WORDS_MAX = 32, /* of one list */
	LEFT_AT_LEAST = 4096,
	SHOWN_MAX = 4096, /* bytes of a node that are looked through; nodes may lie in nodes */
};

static void add(struct bj_joined *joined, uint32_t node, const char *s, size_t len)
{
	if (len < SHORTEST || len >= joined->left || joined->failed)
		return;
	if (joined->n == joined->room) {
		const size_t room = joined->room ? joined->room * 2 : 16;
		struct bj_joined_text *items = reallocarray(joined->items, room, sizeof(*items));

		if (!items) {
			joined->failed = true;
			return;
		}
		joined->items = items;
		joined->room = room;
	}
	joined->items[joined->n++] = (struct bj_joined_text){ node, joined->text.size };
	bj_buf_add(&joined->text, s, len);
	bj_buf_puts(&joined->text, "\n");
	joined->left -= len + 1;
	joined->failed |= joined->text.failed;
}

/* Whether the bytes at @node show the text as it is: then it was looked at. */
static bool shows(const struct bj_tree *tree, uint32_t node, const char *s, size_t len)
{
	const struct bj_node *n = &tree->nodes[node];

	return n->end - n->start <= SHOWN_MAX &&
	       memmem(tree->text + n->start, n->end - n->start, s, len) != NULL;
}

/* --- Python ----------------------------------------------------------------------------------- */

static void add_constants(struct bj_joined *joined, const struct bj_py *py, uint32_t node)
{
	const struct bj_py_set *set = bj_py_set(py, node);

	for (uint32_t i = 0; i < set->n; i++) {
		const struct bj_py_text *text = set->v[i].kind == BJ_PY_STR && !set->v[i].boxed
							? bj_py_text(py, set->v[i].ref)
							: NULL;

		if (text && text->len >= SHORTEST && !shows(py->tree, node, text->s, text->len))
			add(joined, node, text->s, text->len);
	}
}

/* ["mysql", "-u", "root", "-p..."]: the words of a command, if one of them is an option. */
static void add_words(struct bj_joined *joined, const struct bj_py *py, uint32_t list)
{
	char line[BJ_PY_TEXT_MAX];
	size_t n = 0, words = 0;
	bool option = false;

	for (uint32_t c = bj_node_child(py->tree, list); c && words < WORDS_MAX;
	     c = py->tree->nodes[c].next) {
		const struct bj_py_text *word = bj_py_const(py, c);

		if (!word || n + word->len + 1 > sizeof(line))
			continue;
		memcpy(line + n, word->s, word->len);
		n += word->len;
		line[n++] = ' ';
		option |= words && word->s[0] == '-';
		words++;
	}
	if (option && words > 1)
		add(joined, list, line, n);
}

static void find_python(struct bj_joined *joined, const struct bj_tree *tree)
{
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		switch (tree->nodes[i].kind) {
		case PY_BINARY_OPERATOR:
			/* Of a + b + c, all of it. */
			if (tree->nodes[tree->nodes[i].parent].kind == PY_BINARY_OPERATOR)
				break;
			add_constants(joined, tree->py, i);
			break;
		case PY_AUGMENTED_ASSIGNMENT:
		case PY_CALL:
		case PY_CONCATENATED_STRING:
		case PY_STRING:
		case PY_SUBSCRIPT:
			add_constants(joined, tree->py, i);
			break;
		case PY_LIST:
		case PY_TUPLE:
			add_words(joined, tree->py, i);
			break;
		default:
			break;
		}
	}
}

/* --- Bash ------------------------------------------------------------------------------------- */

static void add_shell(struct bj_joined *joined, const struct bj_tree *tree, uint32_t node,
		      const char *s, size_t len)
{
	if (len >= SHORTEST && !shows(tree, node, s, len))
		add(joined, node, s, len);
}

static void add_assigned(struct bj_joined *joined, const struct bj_tree *tree, uint32_t node)
{
	const uint32_t name = bj_node_field(tree, node, SHF_NAME);
	const struct bj_node *n = &tree->nodes[name];
	const struct bj_sh_variable *v =
		name ? bj_sh_variable(tree->sh, tree->text + n->start, n->end - n->start) : NULL;

	if (v && v->value)
		add_shell(joined, tree, node, v->value, strlen(v->value));
}

static void find_bash(struct bj_joined *joined, const struct bj_tree *tree)
{
	const struct bj_sh *sh = tree->sh;

	for (uint32_t i = 0; i < sh->n_marked; i++)
		if (tree->nodes[sh->marked[i]].kind == SH_VARIABLE_ASSIGNMENT)
			add_assigned(joined, tree, sh->marked[i]);
	for (uint32_t i = 0; i < sh->n_fields; i++) {
		const struct bj_sh_field *f = &sh->fields[i];

		if (f->len >= SHORTEST && tree->nodes[f->node].kind != SH_WORD)
			add_shell(joined, tree, f->node, f->s, f->len);
	}
}

/* --- both ------------------------------------------------------------------------------------- */

int bj_joined_find(const struct bj_tree *tree, struct bj_joined *ret, struct bj_err *err)
{
	struct bj_joined joined = { .left = tree->size + LEFT_AT_LEAST };

	if (tree->language == BJ_LANG_PYTHON)
		find_python(&joined, tree);
	else
		find_bash(&joined, tree);
	if (joined.failed) {
		bj_joined_done(&joined);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot look for secrets");
	}
	*ret = joined;
	return 0;
}

void bj_joined_done(struct bj_joined *joined)
{
	bj_buf_done(&joined->text);
	free(joined->items);
	*joined = (struct bj_joined){ 0 };
}

const struct bj_joined_text *bj_joined_at(const struct bj_joined *joined, size_t at)
{
	size_t lo = 0, hi = joined->n;

	while (hi - lo > 1) {
		const size_t mid = lo + (hi - lo) / 2;

		if (joined->items[mid].start <= at)
			lo = mid;
		else
			hi = mid;
	}
	return &joined->items[lo];
}

static bool is_constant(const struct bj_tree *tree, uint32_t node)
{
	const uint16_t kind = tree->nodes[node].kind;

	return tree->language == BJ_LANG_PYTHON
		       ? kind == PY_STRING_CONTENT
		       : kind == SH_WORD || kind == SH_RAW_STRING || kind == SH_STRING_CONTENT;
}

void bj_joined_pieces(const struct bj_tree *tree, const char *s, size_t len,
		      const struct bj_rule *rule, struct bj_spans *spans)
{
	for (uint32_t i = 0; i < tree->n_nodes && !spans->failed; i++) {
		size_t start = tree->nodes[i].start, end = tree->nodes[i].end;

		if (!is_constant(tree, i))
			continue;
		if (end - start > 2 && tree->text[start] == '\'') {
			start++;
			end--;
		}
		if (end - start >= PIECE && end - start <= len &&
		    memmem(s, len, tree->text + start, end - start))
			bj_spans_add(spans, &(struct bj_span){ rule, start, end, UINT_MAX });
	}
}
