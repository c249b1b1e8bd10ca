/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "check/pieces.h"
#include "check/tree.h"
#include "check/tree_memory.h"

#include <fcntl.h>
#include <glob.h>
#include <tree_sitter/api.h>

/* VALD-04: texts without errors are parsed by bj_tree_read(), all others by tree-sitter alone. Both
 * make the same tree of every script of the corpus and of the Python library (a tenth of it, all
 * with BELLJAR_FULL=1), and bj_tree_read() gives up exactly where tree-sitter sees an error. */

#define LONG_NS 10000000000

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_bash(void);

static uint32_t *same_places(size_t size)
{
	uint32_t *places = calloc(size + 1, sizeof(*places));

	assert_non_null(places);
	for (size_t i = 0; i <= size; i++)
		places[i] = (uint32_t)i;
	return places;
}

static bool same_trees(const struct bj_tree *a, const struct bj_tree *b)
{
	if (a->n_nodes != b->n_nodes)
		return false;
	for (uint32_t i = 0; i < a->n_nodes; i++) {
		const struct bj_node *x = &a->nodes[i], *y = &b->nodes[i];

		if (x->kind != y->kind || x->field != y->field || x->missing != y->missing ||
		    x->start != y->start || x->end != y->end || x->parent != y->parent ||
		    x->next != y->next || x->after != y->after)
			return false;
	}
	return true;
}

/* The next node in the order of the text. False: there is none. */
static bool step(TSTreeCursor *cursor)
{
	if (ts_tree_cursor_goto_first_child(cursor))
		return true;
	while (!ts_tree_cursor_goto_next_sibling(cursor))
		if (!ts_tree_cursor_goto_parent(cursor))
			return false;
	return true;
}

/* Whether @tree has the nodes that tree-sitter's own cursor finds, but for punctuation. */
static bool same_as_cursor(const TSTree *parsed, const struct bj_tree *tree)
{
	TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(parsed));
	uint32_t n = 0;
	bool same = true;

	do {
		const TSNode node = ts_tree_cursor_current_node(&cursor);
		const TSFieldId field = ts_tree_cursor_current_field_id(&cursor);

		if (!ts_node_is_named(node) && !field && !ts_node_child_count(node) &&
		    !ts_node_is_missing(node))
			continue;
		same = n < tree->n_nodes && tree->nodes[n].kind == ts_node_symbol(node) &&
		       tree->nodes[n].field == field &&
		       tree->nodes[n].start == ts_node_start_byte(node) &&
		       tree->nodes[n].end == ts_node_end_byte(node);
		n++;
	} while (same && step(&cursor));
	ts_tree_cursor_delete(&cursor);
	return same && n == tree->n_nodes;
}

/* Whether both parsers agree on @text; *@ret_clean: it has no error. */
static bool agree(enum bj_language language, const char *text, size_t size, bool *ret_clean)
{
	AUTO_FREE uint32_t *places = same_places(size);
	struct bj_tree quick = { 0 }, wrong = { 0 }, plain = { 0 };
	struct bj_tree_memory memory;
	bool same;

	bj_tree_memory_begin(&memory);

	TSParser *parser = ts_parser_new();

	assert_true(ts_parser_set_language(
		parser, language == BJ_LANG_PYTHON ? tree_sitter_python() : tree_sitter_bash()));

	bool late = true;
	const TSTree *read = bj_tree_read(parser, text, (uint32_t)size, LONG_NS, NULL, &late);
	const TSTree *mended = bj_tree_read_wrong(parser, text, (uint32_t)size, LONG_NS);

	ts_parser_reset(parser);

	const TSTree *parsed = ts_parser_parse_string(parser, NULL, text, (uint32_t)size);

	*ret_clean = !ts_node_has_error(ts_tree_root_node(parsed));
	same = *ret_clean == (read != NULL) && !late;
	assert_true(bj_tree_flatten(parsed, places, &plain));
	assert_true(bj_tree_flatten(mended, places, &wrong));
	same &= same_trees(&wrong, &plain);
	if (same && read) {
		assert_true(bj_tree_flatten(read, places, &quick));
		same = same_trees(&quick, &plain) && same_as_cursor(parsed, &plain);
	}
	bj_tree_memory_end(&memory);
	bj_piece_free(quick.nodes);
	bj_piece_free(wrong.nodes);
	bj_piece_free(plain.nodes);
	return same;
}

struct count {
	size_t files, clean, wrong;
};

/* Whether @text, read again after @other up to which both are the same, gives the tree that it
 * gives alone. */
static bool agree_again(const char *other, size_t other_size, const char *text, size_t size,
			bool *ret_clean)
{
	AUTO_FREE uint32_t *places = same_places(size);
	struct bj_tree again = { 0 }, alone = { 0 };
	struct bj_tree_marks *marks = NULL;
	struct bj_tree_memory memory;
	bool late, same;
	uint32_t n = 0;

	while (n < size && n < other_size && text[n] == other[n])
		n++;
	bj_tree_memory_begin(&memory);

	TSParser *parser = ts_parser_new();

	assert_true(bj_tree_set_language(parser, BJ_LANG_BASH));
	(void)bj_tree_read(parser, other, (uint32_t)other_size, LONG_NS, &marks, &late);

	const TSTree *a =
		bj_tree_read_again(parser, text, (uint32_t)size, LONG_NS, marks, n, &late);
	const TSTree *b = bj_tree_read(parser, text, (uint32_t)size, LONG_NS, NULL, &late);

	*ret_clean = b != NULL;
	same = (a != NULL) == (b != NULL);
	if (a && b) {
		assert_true(bj_tree_flatten(a, places, &again));
		assert_true(bj_tree_flatten(b, places, &alone));
		same = same_trees(&again, &alone);
	}
	bj_tree_memory_end(&memory);
	bj_piece_free(again.nodes);
	bj_piece_free(alone.nodes);
	return same;
}

static void try_file(const char *path, enum bj_language language, struct count *count)
{
	AUTO_BUF struct bj_buf text = { .max = 4 << 20 };
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool clean = false;

	if (fd < 0 || bj_fd_read_all(fd, &text) < 0)
		return;
	count->files++;
	if (!agree(language, text.data ? text.data : "", text.size, &clean)) {
		print_error("%s is read differently\n", path);
		count->wrong++;
	}
	count->clean += clean;
}

static void try_glob(const char *pattern, enum bj_language language, size_t step,
		     struct count *count)
{
	glob_t found = { 0 };

	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i += step)
			try_file(found.gl_pathv[i], language, count);
	globfree(&found);
}

static void every_script_gives_the_same_tree(void **state)
{
	const size_t step = getenv("BELLJAR_FULL") ? 1 : 10;
	struct count count = { 0 };

	(void)state;
	try_glob(UNIT_DIR "/../corpus/python/*", BJ_LANG_PYTHON, 1, &count);
	try_glob(UNIT_DIR "/../corpus/bash/*", BJ_LANG_BASH, 1, &count);
	try_glob(UNIT_DIR "/../fuzz/corpus/tree/*", BJ_LANG_PYTHON, 1, &count);
	try_glob(UNIT_DIR "/../fuzz/corpus/tree/*", BJ_LANG_BASH, 1, &count);
	try_glob("/usr/lib/python3*/*.py", BJ_LANG_PYTHON, step, &count);
	try_glob("/usr/lib/python3*/*/*.py", BJ_LANG_PYTHON, step, &count);
	try_glob("/usr/bin/*sh", BJ_LANG_BASH, step, &count);
	try_glob("/usr/bin/*[a-z]ep", BJ_LANG_BASH, step, &count);
	try_glob("/var/lib/dpkg/info/*.*inst", BJ_LANG_BASH, step, &count);
	print_message("%zu files, %zu without errors\n", count.files, count.clean);
	assert_true(count.clean > 500);
	assert_int_equal(count.wrong, 0);
}

/* A part of a text taken out, put in somewhere else, or both. */
static size_t mutate(char *text, size_t size, uint32_t *seed)
{
	size_t numbers[3];

	for (size_t i = 0; i < BJ_ARRAY_SIZE(numbers); i++) {
		*seed = *seed * 1664525u + 1013904223u;
		numbers[i] = *seed >> 8;
	}

	const size_t n = 1 + numbers[0] % 12;
	const size_t from = numbers[1] % (size - n), to = numbers[2] % (size - n);
	char part[12];

	memcpy(part, text + from, n);
	if (numbers[0] & 4096) {
		memmove(text + from, text + from + n, size - from - n);
		size -= n;
	}
	if (numbers[0] & 8192) {
		memmove(text + to + n, text + to, size - to);
		memcpy(text + to, part, n);
		size += n;
	}
	return size;
}

static void mutate_glob(const char *pattern, enum bj_language language, size_t times,
			struct count *count)
{
	glob_t found = { 0 };
	uint32_t seed = 1;

	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		AUTO_BUF struct bj_buf text = { .max = 4 << 20 };
		AUTO_FD int fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0 || bj_fd_read_all(fd, &text) < 0 || text.size < 32)
			continue;
		for (size_t k = 0; k < times; k++) {
			AUTO_FREE char *copy = malloc(text.size + 64);
			bool clean = false;

			assert_non_null(copy);
			memcpy(copy, text.data, text.size);

			const size_t size = mutate(copy, text.size, &seed);

			copy[size] = '\0';
			count->files++;
			if (!agree(language, copy, size, &clean)) {
				print_error("%s is read differently: %s\n", found.gl_pathv[i],
					    copy);
				count->wrong++;
			}
			count->clean += clean;
		}
	}
	globfree(&found);
}

static void changed_scripts_give_the_same_tree(void **state)
{
	const size_t times = getenv("BELLJAR_FULL") ? 30 : 1;
	struct count count = { 0 };

	(void)state;
	mutate_glob(UNIT_DIR "/../corpus/python/*", BJ_LANG_PYTHON, times, &count);
	mutate_glob(UNIT_DIR "/../corpus/bash/*", BJ_LANG_BASH, times, &count);
	print_message("%zu changed texts, %zu without errors\n", count.files, count.clean);
	assert_true(count.clean > 200);
	assert_int_equal(count.wrong, 0);
}

/* The scripts of the corpus in rows, each changed somewhere, and the change taken back. */
static void what_is_read_again_gives_the_same_tree(void **state)
{
	const size_t times = getenv("BELLJAR_FULL") ? 60 : 6;
	AUTO_BUF struct bj_buf text = { .max = 1 << 20 };
	struct count count = { 0 };
	glob_t found = { 0 };
	uint32_t seed = 7;

	(void)state;
	assert_int_equal(glob(UNIT_DIR "/../corpus/bash/*", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		AUTO_FD int fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC);

		assert_true(fd >= 0);
		if (i % 8 == 0)
			text.size = 0;
		assert_true(bj_fd_read_all(fd, &text) >= 0);
		bj_buf_add(&text, "\n", 1);
		for (size_t k = 0; k < times && text.size > 32; k++) {
			AUTO_FREE char *copy = malloc(text.size + 64);
			bool clean;

			assert_non_null(copy);
			memcpy(copy, text.data, text.size);

			const size_t size = mutate(copy, text.size, &seed);

			copy[size] = '\0';
			count.files += 2;
			count.wrong += !agree_again(copy, size, text.data, text.size, &clean);
			count.clean += clean;
			count.wrong += !agree_again(text.data, text.size, copy, size, &clean);
			count.clean += clean;
		}
	}
	globfree(&found);
	print_message("%zu texts read again, %zu without errors\n", count.files, count.clean);
	assert_true(count.clean > 200);
	assert_int_equal(count.wrong, 0);
}

#define LONG                                                                                       \
	"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefgh"

static const struct {
	enum bj_language language;
	const char *text;
} AMBIGUOUS[] = {
	{ BJ_LANG_PYTHON, "print(1)\nprint (2), 3\nprint >>f, 1\nexec('a')\nexec 'a' in b\n" },
	{ BJ_LANG_PYTHON, "(a, b) = c\n(a, b)\n[a, b] = [c]\n(a.b, *c), d = e\n" },
	{ BJ_LANG_PYTHON, "match = 1\nmatch x:\n    case [1, *_]:\n        pass\nmatch(x)\n" },
	{ BJ_LANG_PYTHON, "type X = int\ntype(x)\ntype = 1\n" },
	{ BJ_LANG_PYTHON, "with (a as b, c): pass\nwith (a, b): pass\nwith (a): pass\n" },
	{ BJ_LANG_PYTHON, "x = lambda a, (b, c)=1: a\nawait x\nasync def f(): await g\n" },
	{ BJ_LANG_PYTHON, "if a:\n  # b\n  c\n# d\nelse:\n  e # f\n\n\n\"\"\"g\"\"\"" },
	{ BJ_LANG_PYTHON, "f'{a!r:>{b}}' rb'\\x' u'' f'{{}}'\n" },
	{ BJ_LANG_PYTHON, "" },
	{ BJ_LANG_PYTHON, "\xef\xbb\xbf"
			  "a = '\xc3\xa9'" },
	{ BJ_LANG_BASH, "a=(1 2) b[1]=2 c+=3; ((a++)); (( a | b )) && [[ a =~ b(c)d ]]\n" },
	{ BJ_LANG_BASH, "cat <<A <<-'B' | x\n$a `b`\nA\n\tc\n\tB\nfoo() { bar; } >x 2>&1\n" },
	{ BJ_LANG_BASH, "case $a in (b|c) d;; *) e;& esac; for ((i=0;i<3;i++)); do :; done\n" },
	{ BJ_LANG_BASH, "function a { b; }; a() ( b ); coproc x { y; }; ! time a | b |& c & d\n" },
	{ BJ_LANG_BASH,
	  "echo \"$(a \"${b:-$(c)}\")\" $((1 + (2))) ${a[@]/b/c} $'\\n' <(a) >(b)\n" },
	/* Plain text of strings is stepped over, but for its last byte. */
	{ BJ_LANG_PYTHON, "a = 'b'\nc = ''\nd = 'ef'\n'''g\n\nh'i\n'''\nj = '''k'''\nb'l\\m'\n" },
	{ BJ_LANG_PYTHON,
	  "f'a{b}c' f'd{{e}}f' rf'''g\n{h!r}i''' \"j'k\" 'l\"m`n' u'o\xc3\xa9p'\n" },
	{ BJ_LANG_PYTHON,
	  "a = 'b\\\nc' 'd' \\\n 'e'\nf'{a:{b}c}d'\n# g\nif h: # i\n  # j\n  'k'\n" },
	/* The scanner asks whether a line begins. */
	{ BJ_LANG_BASH, "cat <<A\nA b\n A\nb A\n$c d\nA\ncat <<-B\n\tB c\n\t$d\n\tB\ne\n" },
	/* Tokens longer than fit into one word; bytes that the lexer's table does not know. */
	{ BJ_LANG_BASH, "# " LONG LONG LONG LONG "\na=\xc3\xa9q; c" LONG LONG LONG LONG "\n" },
	{ BJ_LANG_PYTHON,
	  LONG LONG LONG LONG " = " LONG " + caf\xc3\xa9\n# \xc3\xa9\nif_ = iffy\n" },
	/* Here the quick parser looks ahead. */
	{ BJ_LANG_BASH, "x=$a\nf() { g; }\nf ( ) { g; }\nf (a)\nf ()\n(g)\n$(f (a; b))\n" },
	{ BJ_LANG_BASH, "x=$a\nif [ $# -eq 0 ]; then a; fi\n[ $b -gt 1 ] || c\n[ d -a -e f ]\n" },
	{ BJ_LANG_BASH,
	  "x=$a\na | b | c -d\ne > f\na | b |& c | d && e\na|b|c <<E | d | e\nf\nE\n" },
	{ BJ_LANG_BASH,
	  "x=$a\n>f a b >g\n<<E b | c | d\nE\na >b >c | d | e >f\nx=1 y=2 z\nx=1 y=2\n" },
	{ BJ_LANG_PYTHON, "a, b = b, a\na, b\nfor a, b in c: d\na, (b, *c), [d] = e\n*a, b = c\n" },
	{ BJ_LANG_PYTHON,
	  "print(*a, b)\nf(*a, **b)\n[*a, b] = [*c, d]\nprint((a), b)\nexec(a)(b)\n" },
	{ BJ_LANG_PYTHON,
	  "print(\n  a,  # b\n  c)\na, b = (  # c\n  d)\n[a, b]\n[a, b] = c\n() = a\n" },
	{ BJ_LANG_BASH, "" },
	{ BJ_LANG_BASH, "# only\n" },
};

static void what_is_ambiguous_gives_the_same_tree(void **state)
{
	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(AMBIGUOUS); i++) {
		bool clean;

		if (!agree(AMBIGUOUS[i].language, AMBIGUOUS[i].text, strlen(AMBIGUOUS[i].text),
			   &clean))
			fail_msg("read differently: %s", AMBIGUOUS[i].text);
	}
}

/* The scanner of Python's grammar forgets more of an indentation than 255, and deep nesting. */
static void deep_texts_give_the_same_tree(void **state)
{
	static const unsigned indents[] = { 300, 44, 255, 256, 257, 512 };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(indents); i++)
		for (size_t k = 0; k < BJ_ARRAY_SIZE(indents); k++) {
			AUTO_BUF struct bj_buf text = { .max = 1 << 16 };
			bool clean;

			bj_buf_printf(&text, "if a:\n%*sb\n%*sif c:\n%*sd = 'e'\n%*sf\ng\n",
				      (int)indents[i], "", (int)indents[i], "", (int)indents[k], "",
				      (int)indents[i], "");
			if (!agree(BJ_LANG_PYTHON, text.data, text.size, &clean))
				fail_msg("read differently: %s", text.data);
		}
	for (unsigned depth = 1; depth < 400; depth += 57) {
		AUTO_BUF struct bj_buf text = { .max = 1 << 16 };
		bool clean;

		for (unsigned i = 0; i < depth; i++)
			bj_buf_printf(&text, "f%c{", "'\""[i % 2]);
		bj_buf_printf(&text, "a");
		for (unsigned i = depth; i-- > 0;)
			bj_buf_printf(&text, "}%c", "'\""[i % 2]);
		assert_true(agree(BJ_LANG_PYTHON, text.data, text.size, &clean));
	}
}

/* What the tables say is remembered for both languages in one place. */
static void languages_are_told_apart(void **state)
{
	(void)state;
	assert_int_not_equal(ts_language_state_count(tree_sitter_python()),
			     ts_language_state_count(tree_sitter_bash()));
}

/* A parse that meets an error leaves the parser as new. */
static void an_error_gives_up_and_nothing_stays(void **state)
{
	struct bj_tree_memory memory;
	bool late = true;

	(void)state;
	bj_tree_memory_begin(&memory);

	TSParser *parser = ts_parser_new();

	assert_true(ts_parser_set_language(parser, tree_sitter_python()));
	assert_null(bj_tree_read(parser, "a = (1", 6, LONG_NS, NULL, &late));
	assert_null(bj_tree_read(parser, "a = ?", 5, LONG_NS, NULL, &late));
	assert_non_null(bj_tree_read(parser, "a = 1", 5, LONG_NS, NULL, &late));
	assert_false(late);
	bj_tree_memory_end(&memory);
}

static void a_parse_that_is_late_gives_up(void **state)
{
	struct bj_tree_memory memory;
	const size_t size = 1000000;
	AUTO_FREE char *text = malloc(size);
	bool late = false;

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < size; i++)
		text[i] = "a = 1\n"[i % 6];
	bj_tree_memory_begin(&memory);

	TSParser *parser = ts_parser_new();

	assert_true(ts_parser_set_language(parser, tree_sitter_python()));
	assert_null(bj_tree_read(parser, text, (uint32_t)size, 1, NULL, &late));
	assert_true(late);
	bj_tree_memory_end(&memory);
}

/* The first look at the clock is after so much work: a comment in front of the text moves it
 * through the text, token by token. Whatever was half read, the parser is as new. */
static void be_late_anywhere(const TSLanguage *language, const char *unit)
{
	enum { COMMENT = 600, UNITS = 120 };
	AUTO_BUF struct bj_buf text = { 0 };

	for (int i = 0; i < COMMENT; i++)
		bj_buf_add(&text, "#", 1);
	bj_buf_add(&text, "\n", 1);
	for (int i = 0; i < UNITS; i++)
		bj_buf_add(&text, unit, strlen(unit));
	for (size_t less = 0; less < COMMENT; less++) {
		const char *from = text.data + less;
		const uint32_t size = (uint32_t)(text.size - less);
		struct bj_tree_memory memory;
		bool late = false;

		bj_tree_memory_begin(&memory);

		TSParser *parser = ts_parser_new();

		assert_true(ts_parser_set_language(parser, language));
		assert_null(bj_tree_read(parser, from, size, 0, NULL, &late));
		assert_true(late);
		ts_parser_reset(parser);

		const TSTree *parsed = ts_parser_parse_string(parser, NULL, from, size);

		assert_false(ts_node_has_error(ts_tree_root_node(parsed)));
		ts_parser_reset(parser);
		bj_tree_memory_end(&memory);
	}
}

static void a_parse_may_be_late_anywhere(void **state)
{
	(void)state;
	be_late_anywhere(tree_sitter_python(), "if a.b:\n    a.b.sort()\n    if c:\n"
					       "        print('d :', f'{a.b}')\nprint(e)\n");
	be_late_anywhere(tree_sitter_bash(),
			 "if [ -n \"$a\" ]; then\n  b <<X | c \"${d%e}\"\nf $g\nX\n"
			 "fi\nfor i in 1 2; do h $(j $i) && k; done\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_script_gives_the_same_tree),
		cmocka_unit_test(changed_scripts_give_the_same_tree),
		cmocka_unit_test(what_is_read_again_gives_the_same_tree),
		cmocka_unit_test(what_is_ambiguous_gives_the_same_tree),
		cmocka_unit_test(deep_texts_give_the_same_tree),
		cmocka_unit_test(languages_are_told_apart),
		cmocka_unit_test(an_error_gives_up_and_nothing_stays),
		cmocka_unit_test(a_parse_that_is_late_gives_up),
		cmocka_unit_test(a_parse_may_be_late_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
