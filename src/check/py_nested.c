/* SPDX-License-Identifier: Apache-2.0 */
#include "check/py_nested.h"

#include "grammar_python.h"

/* Code that a Python script hands on as constant text: to an interpreter of its own, which is
 * checked as Python; or as the words of another program, which are checked as a command. */

#define COMMAND_MAX 2048

static const char *const runners[] = {
	"timeit.timeit",
	"timeit.repeat",
	"timeit.Timer",
	"cProfile.run",
	"profile.run",
	"pdb.run",
	"pdb.runeval",
	"bdb.Bdb().run",
	"trace.Trace().run",
	"code.interact",
	"cProfile.Profile().run",
	"code.InteractiveInterpreter().runsource",
	"code.InteractiveConsole().runsource",
	"code.InteractiveConsole().push",
};

static const char *const starters[] = {
	"subprocess.run",
	"subprocess.call",
	"subprocess.check_call",
	"subprocess.check_output",
	"subprocess.Popen",
	"asyncio.create_subprocess_exec",
	"os.execvp",
	"os.execv",
	"os.spawnvp",
};

static bool is_one_of(const char *const *names, size_t n, const struct bj_py *py,
		      const struct bj_py_set *set)
{
	for (uint32_t i = 0; i < set->n; i++) {
		if (set->v[i].kind != BJ_PY_NAME || set->v[i].boxed)
			continue;

		const char *s = bj_py_text(py, set->v[i].ref)->s;

		for (size_t k = 0; k < n; k++)
			if (s[0] == names[k][0] && !strcmp(s, names[k]))
				return true;
	}
	return false;
}

/* One word in single quotes; one of its own as '\''. */
static size_t add_word(char *out, size_t n, const struct bj_py_text *word)
{
	const size_t from = n;

	out[n++] = '\'';
	for (uint32_t i = 0; i < word->len; i++) {
		if (n + 8 > COMMAND_MAX)
			return from;
		if (word->s[i] == '\'') {
			memcpy(out + n, "'\\'", 3);
			n += 3;
		}
		out[n++] = word->s[i];
	}
	out[n++] = '\'';
	out[n++] = ' ';
	return n;
}

/* The words of ["rm", "-rf", path]; those that are not known are left out. */
static size_t words_of(const struct bj_py *py, uint32_t list, char *out)
{
	uint32_t c = bj_node_child(py->tree, list);
	size_t n = 0;

	for (; c; c = py->tree->nodes[c].next) {
		static const char *const self[] = { "sys.executable" };
		static const struct bj_py_text python = { .s = "python3", .len = 7 };
		const struct bj_py_text *word = bj_py_const(py, c);

		if (!word && is_one_of(self, 1, py, bj_py_set(py, c)))
			word = &python;
		if (word && n + 8 < COMMAND_MAX)
			n = add_word(out, n, word);
	}
	return n;
}

/* "rm -rf /".split(), shlex.split("rm -rf /"): the text that is taken apart; NULL: it is not. */
static const struct bj_py_text *split_text(const struct bj_py *py, uint32_t call)
{
	static const char *const splitter[] = { "shlex.split" };
	const uint32_t function = bj_node_field(py->tree, call, PYF_FUNCTION);
	const uint32_t attribute = function ? bj_node_field(py->tree, function, PYF_ATTRIBUTE) : 0;
	const uint32_t object = function ? bj_node_field(py->tree, function, PYF_OBJECT) : 0;
	const uint32_t arg = bj_py_argument(py, call, 0, NULL);

	if (arg && function && is_one_of(splitter, 1, py, bj_py_set(py, function)))
		return bj_py_const(py, arg);
	if (!attribute || !object || arg ||
	    py->tree->nodes[attribute].end - py->tree->nodes[attribute].start != 5 ||
	    memcmp(py->tree->text + py->tree->nodes[attribute].start, "split", 5) != 0)
		return NULL;
	return bj_py_const(py, object);
}

/* Only what is bad whoever starts it: the words of a command alone, no network and the like. */
static int check_words(const struct bj_danger_pass *pass, const struct bj_py *py, const char *text,
		       size_t n, uint32_t at, struct bj_err *err)
{
	struct bj_findings findings = { 0 };
	struct bj_danger_pass quiet = *pass;

	quiet.findings = &findings;
	quiet.n_extra = 0;

	const int r = bj_danger_nested(&quiet, py->tree, at, BJ_LANG_BASH, text, n, err);
	bool bad = false;

	for (size_t i = 0; i < findings.n; i++)
		bad |= findings.items[i].rule->severity >= BJ_SEV_HIGH &&
		       strcmp(findings.items[i].rule->id, "sh-gave-up") != 0;
	bj_findings_done(&findings);
	if (bad)
		bj_danger_special(pass, BJ_LANG_PYTHON, "command", py->tree->nodes[at].start,
				  py->tree->nodes[at].end);
	return r;
}

int bj_py_nested(const struct bj_danger_pass *pass, const struct bj_py *py, uint32_t call,
		 uint32_t function, struct bj_err *err)
{
	const struct bj_py_set *set = bj_py_set(py, function);
	const uint32_t arg = bj_py_argument(py, call, 0, "args");
	const uint32_t code = arg ? arg : bj_py_argument(py, call, 0, "stmt");

	if (code && is_one_of(runners, sizeof(runners) / sizeof(runners[0]), py, set)) {
		const struct bj_py_text *text = bj_py_const(py, code);

		return text ? bj_danger_nested(pass, py->tree, function, BJ_LANG_PYTHON, text->s,
					       text->len, err)
			    : 0;
	}
	if (!arg || !is_one_of(starters, sizeof(starters) / sizeof(starters[0]), py, set))
		return 0;

	const uint16_t kind = py->tree->nodes[arg].kind;
	const struct bj_py_text *whole = kind == PY_CALL ? split_text(py, arg) : NULL;
	char text[COMMAND_MAX];

	if (kind == PY_LIST || kind == PY_TUPLE)
		return check_words(pass, py, text, words_of(py, arg, text), function, err);
	return whole ? check_words(pass, py, whole->s, whole->len, function, err) : 0;
}
