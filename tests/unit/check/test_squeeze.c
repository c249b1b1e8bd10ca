/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "check/pieces.h"
#include "check/squeeze.h"
#include "check/tree.h"

#include <dirent.h>
#include <fcntl.h>

/* VALD-04: what is left out before the parse changes nothing: a script has the same calls, names,
 * strings and commands in the same places with and without it. */

/* A text of which nothing is left out. */
static void keep_all(const char *text, size_t size, struct bj_squeezed *ret)
{
	ret->text = bj_piece_new(size + 1);
	ret->places = bj_piece_new((size + 1) * sizeof(*ret->places));
	ret->size = size;
	assert_non_null(ret->text);
	assert_non_null(ret->places);
	memcpy(ret->text, text, size);
	ret->text[size] = '\0';
	for (size_t i = 0; i <= size; i++)
		ret->places[i] = (uint32_t)i;
}

/* Leaves, but no comments. */
static bool counts(const struct bj_tree *tree, uint32_t node)
{
	const struct bj_node *n = &tree->nodes[node];

	return !bj_node_child(tree, node) && n->end > n->start && tree->text[n->start] != '#';
}

static uint32_t next_that_counts(const struct bj_tree *tree, uint32_t node)
{
	while (node < tree->n_nodes && !counts(tree, node))
		node++;
	return node;
}

static void assert_same(const struct bj_tree *a, const struct bj_tree *b)
{
	uint32_t i = 0, k = 0;

	for (;; i++, k++) {
		i = next_that_counts(a, i);
		k = next_that_counts(b, k);
		if (i == a->n_nodes || k == b->n_nodes)
			break;
		assert_int_equal(a->nodes[i].kind, b->nodes[k].kind);
		assert_int_equal(a->nodes[i].field, b->nodes[k].field);
		assert_int_equal(a->nodes[i].start, b->nodes[k].start);
		/* A string may lose idle lines at its end. */
		if (a->text[b->nodes[k].end - 1] != '\n')
			assert_int_equal(a->nodes[i].end, b->nodes[k].end);
	}
	assert_true(i == a->n_nodes && k == b->n_nodes);
}

static bool has_error(const struct bj_tree *tree)
{
	for (uint32_t i = 0; i < tree->n_nodes; i++)
		if (tree->nodes[i].kind == BJ_NODE_ERROR || tree->nodes[i].missing)
			return true;
	return tree->gave_up;
}

static void compare(enum bj_language language, const char *text, size_t size)
{
	struct bj_tree whole = { .language = language, .text = text, .size = size };
	struct bj_tree squeezed;
	struct bj_squeezed all = { 0 };

	keep_all(text, size, &all);
	assert_int_equal(bj_tree_parse(&whole, &all, NULL), 0);
	assert_int_equal(bj_tree_init(&squeezed, language, text, size, NULL), 0);
	/* Where the parser guesses, it may guess in another way; but then both say so. */
	if (has_error(&whole) || has_error(&squeezed))
		assert_true(has_error(&whole));
	else
		assert_same(&whole, &squeezed);
	bj_tree_done(&whole);
	bj_tree_done(&squeezed);
	bj_squeezed_done(&all);
}

static void compare_file(const char *path, enum bj_language language)
{
	AUTO_BUF struct bj_buf text = { .max = 4 << 20 };
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(bj_fd_read_all(fd, &text), 0);
	if (text.size && text.size < 200000)
		compare(language, text.data, text.size);
}

static size_t compare_directory(const char *path, enum bj_language language, const char *end)
{
	AUTO_DIR DIR *dir = opendir(path);
	size_t n = 0;

	assert_non_null(dir);
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		const size_t len = strlen(e->d_name), tail = strlen(end);
		char file[1024];

		if (e->d_type != DT_REG || len < tail || strcmp(e->d_name + len - tail, end) != 0)
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
		compare_file(file, language);
		n++;
	}
	return n;
}

static void the_corpus_has_the_same_trees(void **state)
{
	(void)state;
	assert_true(compare_directory(UNIT_DIR "/../corpus/python", BJ_LANG_PYTHON, ".py") > 100);
	assert_true(compare_directory(UNIT_DIR "/../corpus/bash", BJ_LANG_BASH, ".sh") > 100);
}

static void the_standard_library_has_the_same_trees(void **state)
{
	(void)state;
	assert_true(compare_directory("/usr/lib/python3.11", BJ_LANG_PYTHON, ".py") > 100);
}

static void what_looks_idle_and_is_not_stays(void **state)
{
	static const struct {
		enum bj_language language;
		const char *text;
	} cases[] = {
		{ BJ_LANG_PYTHON, "x = '''\n# '''; eval('1')\ny = 1\n" },
		{ BJ_LANG_PYTHON, "x = f'''\n# {eval(1)}\n'''\n" },
		{ BJ_LANG_PYTHON, "x = 'a\\\n# b'\neval(x)\n" },
		{ BJ_LANG_PYTHON, "x = 1 + \\\n\n  eval(2)\n" },
		{ BJ_LANG_PYTHON, "if x:\n\ty = 1\n        z = 2\neval(y)\n" },
		{ BJ_LANG_PYTHON, "if x:\n    \\\n  y = 1\n    eval(y)\n" },
		{ BJ_LANG_PYTHON, "if x:\n  \f  y = 1\nelse:\n    eval(y)\n" },
		{ BJ_LANG_PYTHON, "if x:\n        a = 1\n        if y:\n           b = 2\n# c\n"
				  "        eval(a)\n" },
		{ BJ_LANG_PYTHON, "def f():\n  '''a\n\n        # b\n  '''\n  return eval(1)\n" },
		{ BJ_LANG_BASH, "cat <<'#'\n#\nrm -rf /\n" },
		{ BJ_LANG_BASH, "cat <<''\n\nrm -rf /\n" },
		{ BJ_LANG_BASH, "cat <<' #'\n #\nrm -rf /\n" },
		{ BJ_LANG_BASH, "cat <<E\n  E\n# $(rm -rf /)\nE\nrm x\n" },
		{ BJ_LANG_BASH, "cat <<-E\n\tE\nrm -rf /\n" },
		{ BJ_LANG_BASH, "echo 'a\n# '; rm -rf /\n" },
		{ BJ_LANG_BASH, "echo a\\\n  b\n" },
		{ BJ_LANG_BASH, "echo a \\\n\nrm -rf /\n" },
		{ BJ_LANG_BASH, "if a; then\n\n  # b\n    rm x\nfi\n" },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(cases); i++)
		compare(cases[i].language, cases[i].text, strlen(cases[i].text));
}

static void idle_lines_and_indents_go(void **state)
{
	const char python[] = "# one\n\nif x:\n        # two\n        y = 1\n                # z";
	struct bj_squeezed s;

	(void)state;
	assert_true(bj_squeeze(BJ_LANG_PYTHON, python, strlen(python), &s));
	assert_string_equal(s.text, "if x:\n y = 1\n  # z");
	assert_int_equal(s.places[7], strstr(python, "y = 1") - python);
	assert_int_equal(s.places[s.size], strlen(python));
	bj_squeezed_done(&s);
	assert_true(bj_squeeze(BJ_LANG_BASH, "\n# one\n\tls\n", 11, &s));
	assert_string_equal(s.text, "ls\n");
	bj_squeezed_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_corpus_has_the_same_trees),
		cmocka_unit_test(the_standard_library_has_the_same_trees),
		cmocka_unit_test(what_looks_idle_and_is_not_stays),
		cmocka_unit_test(idle_lines_and_indents_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
