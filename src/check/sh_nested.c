/* SPDX-License-Identifier: Apache-2.0 */
#include "check/sh_terms.h"
#include "grammar_bash.h"

/* Code inside code: what a script hands to a shell or to Python as constant text. */

/* What a command does with text. */
enum role { NONE, SHELL, PYTHON, EVAL, SOURCE, ENV, TRAP, ALIAS, WITH_C, REMOTE, CALLBACK, GIT };

static const struct {
	const char *name;
	enum role role;
} roles[] = {
	{ "sh", SHELL },          { "bash", SHELL },       { "dash", SHELL },
	{ "zsh", SHELL },         { "ksh", SHELL },        { "ash", SHELL },
	{ "mksh", SHELL },        { "su", SHELL },         { "python", PYTHON },
	{ "python2", PYTHON },    { "python3", PYTHON },   { "pypy", PYTHON },
	{ "pypy3", PYTHON },      { "eval", EVAL },        { "source", SOURCE },
	{ ".", SOURCE },          { "env", ENV },          { "trap", TRAP },
	{ "alias", ALIAS },       { "script", WITH_C },    { "flock", WITH_C },
	{ "runuser", WITH_C },    { "sg", WITH_C },        { "ssh", REMOTE },
	{ "docker", REMOTE },     { "podman", REMOTE },    { "kubectl", REMOTE },
	{ "oc", REMOTE },         { "mapfile", CALLBACK }, { "readarray", CALLBACK },
	{ "complete", CALLBACK }, { "parallel", SHELL },   { "git", GIT },
};

static enum role role_of(const struct bj_sh_marks *marks, const char *name)
{
	if (!bj_sh_has_mark(marks, name))
		return NONE;
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (roles[i].name[0] == name[0] && !strcmp(roles[i].name, name))
			return roles[i].role;
	return !strncmp(name, "python3.", strlen("python3.")) ? PYTHON : NONE;
}

static bool is_one_of(const char *names, const struct bj_sh_command *c)
{
	return bj_danger_globs(names, c->name, strlen(c->name));
}

int bj_sh_check_text(const struct bj_sh_pass *p, enum bj_language language, const char *text,
		     size_t size, uint32_t node, struct bj_err *err)
{
	return bj_danger_nested(p->pass, p->tree, node, language, text, size, err);
}

/* The word after -@option (-c, -lc and the like); 0: none. */
static uint32_t text_after(const struct bj_sh *sh, const struct bj_sh_command *c, char option)
{
	for (uint32_t i = c->fields; i + 1 < c->fields + c->n_fields; i++) {
		const struct bj_sh_field *f = &sh->fields[i];

		if (f->len > 1 && f->s[0] == '-' && f->s[1] != '-' && f->s[f->len - 1] == option)
			return i + 1;
	}
	return 0;
}

/* Folded text back as script: a mark becomes the expansion it stands for. */
size_t bj_sh_unmark(const char *s, size_t len, char *out, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 4 < room; i++) {
		const bool mark = s[i] == BJ_MARK_KNOWN || s[i] == BJ_MARK_UNSET;
		const char *end = mark ? memchr(s + i + 1, s[i], len - i - 1) : NULL;

		if (!end) {
			out[n++] = mark ? ' ' : s[i];
			continue;
		}

		const size_t name = (size_t)(end - s) - i - 1;

		memcpy(out + n, "$", 1);
		n++;
		if (name && s[i + 1] != '(' && s[i + 1] != '<' && n + name < room) {
			memcpy(out + n, s + i + 1, name);
			n += name;
		} else {
			out[n++] = '_';
		}
		i += name + 1;
	}
	return n;
}

static int check_field(const struct bj_sh_pass *p, enum bj_language language, uint32_t field,
		       uint32_t node, struct bj_err *err)
{
	const struct bj_sh_field *f = &p->sh->fields[field];
	char text[BJ_SH_WORD * 2];

	return bj_sh_check_text(p, language, text, bj_sh_unmark(f->s, f->len, text, sizeof(text)),
				node, err);
}

/* eval a b c: the words joined. */
int bj_sh_check_joined(const struct bj_sh_pass *p, const struct bj_sh_command *c, uint32_t node,
		       struct bj_err *err)
{
	char text[BJ_SH_WORD * 2];
	size_t n = 0;

	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++) {
		const struct bj_sh_field *f = &p->sh->fields[i];

		if (n + 1 >= sizeof(text) || (i == c->fields && f->s[0] == '-'))
			continue;
		n += bj_sh_unmark(f->s, f->len, text + n, sizeof(text) - n - 1);
		text[n++] = ' ';
	}
	return bj_sh_check_text(p, BJ_LANG_BASH, text, n, node, err);
}

/* echo 'rm -rf /' | sh */
static int check_piped(const struct bj_sh_pass *p, uint32_t at, struct bj_err *err)
{
	const struct bj_sh_command *c = &p->sh->commands[at];

	if (!at || !bj_sh_piped_from(p, c, "echo|printf"))
		return 0;

	const struct bj_sh_command *before = &p->sh->commands[at - 1];

	return is_one_of("echo|printf", before) ? bj_sh_check_joined(p, before, c->node, err) : 0;
}

static bool is_quoted_heredoc(const struct bj_tree *tree, uint32_t body)
{
	if (tree->nodes[body].kind != SH_HEREDOC_BODY)
		return false;

	const uint32_t start = bj_node_kind(tree, tree->nodes[body].parent, SH_HEREDOC_START);

	return start && strchr("'\"\\", tree->text[tree->nodes[start].start]);
}

/* bash <<< "$x": a line that the shell gets is an expansion, which @mark begins, and no more. */
static void match_fed(const struct bj_sh_pass *p, const struct bj_sh_command *c, const char *s,
		      size_t len, char mark)
{
	static const char name[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"
				   "{}\x01\x03";
	size_t from = 0;

	if (!is_one_of("sh|bash|dash|zsh|ksh|ash", c))
		return;
	while (from < len) {
		const char *end = memchr(s + from, '\n', len - from);
		const size_t to = end ? (size_t)(end - s) : len;
		size_t i = from + 1;

		while (i < to && strchr(name, s[i]))
			i++;
		if (s[from] == mark && i == to && to > from + 1) {
			bj_danger_special(p->pass, BJ_LANG_BASH, "shell-fed",
					  p->tree->nodes[c->node].start,
					  p->tree->nodes[c->node].end);
			return;
		}
		from = to + 1;
	}
}

/* bash <<X ... X, python3 - <<X ... X, bash <<< 'text' */
static int check_here(const struct bj_sh_pass *p, const struct bj_sh_command *c,
		      enum bj_language language, struct bj_err *err)
{
	const struct bj_tree *tree = p->tree;
	uint32_t up = tree->nodes[c->node].parent;
	uint32_t r = tree->nodes[c->node].next;
	uint32_t here = bj_node_kind(tree, c->node, SH_HERESTRING_REDIRECT);

	if (here && bj_node_child(tree, here)) {
		uint32_t len;
		const char *s = bj_sh_fold(p->sh, bj_node_child(tree, here), &len);
		char text[BJ_SH_WORD * 2];

		match_fed(p, c, s, len, BJ_MARK_KNOWN);
		match_fed(p, c, s, len, BJ_MARK_UNSET);
		return bj_sh_check_text(p, language, text, bj_sh_unmark(s, len, text, sizeof(text)),
					c->node, err);
	}
	if (tree->nodes[up].kind != SH_REDIRECTED_STATEMENT)
		return 0;
	for (; r; r = tree->nodes[r].next) {
		const uint32_t body = tree->nodes[r].kind == SH_HEREDOC_REDIRECT
					      ? bj_node_kind(tree, r, SH_HEREDOC_BODY)
					      : 0;

		if (body) {
			const char *s = tree->text + tree->nodes[body].start;
			const size_t len = tree->nodes[body].end - tree->nodes[body].start;

			if (!is_quoted_heredoc(tree, body))
				match_fed(p, c, s, len, '$');
			return bj_sh_check_text(p, language, s, len, c->node, err);
		}
	}
	return 0;
}

/* bash <(echo 'rm -rf /') */
static int check_substituted(const struct bj_sh_pass *p, uint32_t at, struct bj_err *err)
{
	const struct bj_sh_command *c = &p->sh->commands[at];

	for (uint32_t i = at + 1; i < p->sh->n_commands && i < at + 4; i++) {
		const struct bj_sh_command *inner = &p->sh->commands[i];

		if (inner->node >= p->tree->nodes[c->node].after)
			return 0;
		if (is_one_of("echo|printf", inner))
			return bj_sh_check_joined(p, inner, c->node, err);
	}
	return 0;
}

static int check_source(const struct bj_sh_pass *p, uint32_t at, struct bj_err *err)
{
	const int r = check_here(p, &p->sh->commands[at], BJ_LANG_BASH, err);

	return r < 0 ? r : check_substituted(p, at, err);
}

/* env -S 'rm -rf /' */
static int check_env(const struct bj_sh_pass *p, const struct bj_sh_command *c, struct bj_err *err)
{
	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++) {
		const struct bj_sh_field *f = &p->sh->fields[i];

		if (f->len == 2 && !memcmp(f->s, "-S", 2) && i + 1 < c->fields + c->n_fields)
			return check_field(p, BJ_LANG_BASH, i + 1, c->node, err);
	}
	return 0;
}

static int check_shell(const struct bj_sh_pass *p, uint32_t at, enum bj_language language,
		       struct bj_err *err)
{
	const struct bj_sh_command *c = &p->sh->commands[at];
	const uint32_t text = text_after(p->sh, c, 'c');

	if (text)
		return check_field(p, language, text, c->node, err);

	int r = check_here(p, c, language, err);

	if (r >= 0 && language == BJ_LANG_BASH)
		r = check_substituted(p, at, err);
	return r < 0 || language != BJ_LANG_BASH ? r : check_piped(p, at, err);
}

#define CALL_TEXT 4096 /* of a function with the words of its call */
#define CALLS_MAX 32   /* that are looked into in one script */

/* Whether the words of @c hold a path that a function may do harm to. */
static bool has_path(const struct bj_sh *sh, const struct bj_sh_command *c)
{
	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++)
		if (sh->fields[i].s[0] == '/' || sh->fields[i].s[0] == '~')
			return true;
	return false;
}

/* "set -- WORDS", then the body of the function; 0: it does not fit. */
static size_t call_text(const struct bj_sh_pass *p, const struct bj_sh_command *c, uint32_t body,
			char *out)
{
	const struct bj_node *b = &p->tree->nodes[body];
	size_t n = 0;

	memcpy(out, "set --", 6);
	n = 6;
	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++) {
		const struct bj_sh_field *f = &p->sh->fields[i];

		if (n + f->len + 4 > CALL_TEXT || strpbrk(f->s, "'\x01\x03"))
			return 0;
		memcpy(out + n, " '", 2);
		memcpy(out + n + 2, f->s, f->len);
		out[n + 2 + f->len] = '\'';
		n += f->len + 3;
	}
	if (n + 1 + b->end - b->start > CALL_TEXT)
		return 0;
	out[n++] = '\n';
	memcpy(out + n, p->tree->text + b->start, b->end - b->start);
	return n + b->end - b->start;
}

/* Of @text, which runs for @c, only the worst is told. */
int bj_sh_check_worst(const struct bj_sh_pass *p, const struct bj_sh_command *c, const char *text,
		      size_t n, struct bj_err *err)
{
	struct bj_findings findings = { 0 };
	struct bj_danger_pass quiet = *p->pass;
	struct bj_sh_pass inner = *p;
	int r;

	if (!n || n > *p->pass->nested_left || p->pass->nested)
		return 0;
	quiet.findings = &findings;
	quiet.n_extra = 0;
	inner.pass = &quiet;
	r = bj_sh_check_text(&inner, BJ_LANG_BASH, text, n, c->node, err);
	for (size_t i = 0; i < findings.n; i++)
		if (findings.items[i].rule->severity == BJ_SEV_CRITICAL)
			bj_danger_hit(p->pass, (uint32_t)(findings.items[i].rule - bj_danger_rules),
				      p->tree->nodes[c->node].start, p->tree->nodes[c->node].end);
	bj_findings_done(&findings);
	return r;
}

/* clean() { rm -rf "$1"; }; clean /: what the body does by itself is told there. */
static int check_call(const struct bj_sh_pass *p, const struct bj_sh_command *c,
		      const struct bj_sh_function *f, struct bj_err *err)
{
	char text[CALL_TEXT];

	return bj_sh_check_worst(p, c, text, call_text(p, c, f->body, text), err);
}

static int check_calls(const struct bj_sh_pass *p, struct bj_err *err)
{
	int r = 0, left = CALLS_MAX;

	for (uint32_t i = 0; i < p->sh->n_commands && p->sh->n_functions && r >= 0; i++) {
		const struct bj_sh_command *c = &p->sh->commands[i];
		const struct bj_sh_function *f =
			has_path(p->sh, c) ? bj_sh_function(p->sh, c->name) : NULL;

		if (f && left-- > 0)
			r = check_call(p, c, f, err);
	}
	return r;
}

/* watch 'ls | sh', parallel 'rm -rf': a shell runs the words of these. */
static bool is_text_command(const struct bj_sh_command *c)
{
	return strchr(c->name, ' ') != NULL;
}

/* alias x='text' */
static int check_alias(const struct bj_sh_pass *p, const struct bj_sh_command *c,
		       struct bj_err *err)
{
	const char *value = c->n_fields ? strchr(p->sh->fields[c->fields].s, '=') : NULL;

	char text[BJ_SH_WORD * 2];

	return value ? bj_sh_check_text(
			       p, BJ_LANG_BASH, text,
			       bj_sh_unmark(value + 1, strlen(value + 1), text, sizeof(text)),
			       c->node, err)
		     : 0;
}

/* ssh host 'rm -rf /', kubectl exec x -- sh -c 'rm -rf /': another machine runs it. */
static int check_remote(const struct bj_sh_pass *p, const struct bj_sh_command *c,
			struct bj_err *err)
{
	char text[BJ_SH_WORD * 2];
	int r = 0;

	for (uint32_t i = c->fields; i < c->fields + c->n_fields && r >= 0; i++) {
		const struct bj_sh_field *f = &p->sh->fields[i];

		if (f->s[0] != '-' && memchr(f->s, ' ', f->len))
			r = bj_sh_check_worst(p, c, text,
					      bj_sh_unmark(f->s, f->len, text, sizeof(text)), err);
	}
	return r;
}

/* git -c core.pager='rm -rf ~' log, git config alias.x '!rm -rf ~': git hands it to a shell. */
static int check_git(const struct bj_sh_pass *p, const struct bj_sh_command *c, struct bj_err *err)
{
	char text[BJ_SH_WORD * 2];
	int r = 0;

	for (uint32_t i = c->fields; i < c->fields + c->n_fields && r >= 0; i++) {
		const struct bj_sh_field *f = &p->sh->fields[i];
		const char *value = f->s[0] == '!' ? f->s + 1 : NULL;

		if (strchr("acdps", f->s[0]) && strchr(f->s, '=') &&
		    bj_danger_globs(
			    "core.*=*|alias.*=!*|diff.external=*|pager.*=*|sequence.editor=*|"
			    "credential.helper=!*",
			    f->s, f->len)) {
			value = strchr(f->s, '=') + 1;
			value += *value == '!';
		}
		if (value)
			r = bj_sh_check_worst(
				p, c, text, bj_sh_unmark(value, strlen(value), text, sizeof(text)),
				err);
	}
	return r;
}

static int check_command(const struct bj_sh_pass *p, const struct bj_sh_marks *marks, uint32_t at,
			 struct bj_err *err)
{
	const struct bj_sh_command *c = &p->sh->commands[at];
	const enum role role = role_of(marks, c->name);
	const uint32_t text = role == WITH_C     ? text_after(p->sh, c, 'c')
			      : role == CALLBACK ? text_after(p->sh, c, 'C')
						 : 0;

	if (text)
		return check_field(p, BJ_LANG_BASH, text, c->node, err);
	if (is_text_command(c))
		return check_field(p, BJ_LANG_BASH, c->fields - 1, c->node, err);
	switch (role) {
	case SHELL:
		return check_shell(p, at, BJ_LANG_BASH, err);
	case PYTHON:
		return check_shell(p, at, BJ_LANG_PYTHON, err);
	case EVAL:
		return bj_sh_check_joined(p, c, c->node, err);
	case REMOTE:
		return check_remote(p, c, err);
	case GIT:
		return check_git(p, c, err);
	case SOURCE:
		return check_source(p, at, err);
	case ENV:
		return check_env(p, c, err);
	case TRAP:
		return c->n_fields > 1 ? check_field(p, BJ_LANG_BASH, c->fields, c->node, err) : 0;
	case ALIAS:
		return check_alias(p, c, err);
	default:
		return 0;
	}
}

/* The end of the command that is written at @at, "`...`" or "$(...)"; @at: there is none; SIZE_MAX:
 * it does not end. *@ret is where its text begins. */
static size_t written_command(const char *s, size_t len, size_t at, size_t *ret)
{
	const bool quotes = s[at] == '`';
	size_t depth = 1, i = at + (quotes ? 1 : 2);

	if (!quotes && (s[at] != '$' || at + 1 >= len || s[at + 1] != '('))
		return at;
	*ret = i;
	for (; i < len; i++) {
		if (s[i] == '\\')
			i++;
		else if (quotes ? s[i] == '`' : s[i] == ')' && --depth == 0)
			return i;
		else if (s[i] == '(')
			depth++;
	}
	return SIZE_MAX;
}

/* The grammar takes some text for a plain word that bash looks for commands in: "${1:-`ls`}". */
static int check_leaf(const struct bj_sh_pass *p, uint32_t node, struct bj_err *err)
{
	const struct bj_node *n = &p->tree->nodes[node];
	const char *s = p->tree->text + n->start;
	const size_t len = n->end - n->start;
	size_t start;

	if (n->kind == SH_RAW_STRING || n->kind == SH_ANSI_C_STRING || n->kind == SH_COMMENT ||
	    n->kind == SH_HEREDOC_START || n->kind == SH_HEREDOC_END)
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\\') {
			i++;
			continue;
		}
		if (s[i] != '$' && s[i] != '`')
			continue;

		const size_t end = written_command(s, len, i, &start);

		/* Looking on behind every one would take too long for who has many. */
		if (end == SIZE_MAX)
			return 0;

		const int r = end == i ? 0
				       : bj_sh_check_text(p, BJ_LANG_BASH, s + start, end - start,
							  node, err);

		if (r < 0)
			return r;
		i = end;
	}
	return 0;
}

/* "${a/`ls`/b}": the pattern is no node at all. */
static bool is_odd_expansion(const struct bj_tree *tree, uint32_t node)
{
	const struct bj_node *n = &tree->nodes[node];

	return n->kind == SH_EXPANSION && n->end - n->start < BJ_SH_WORD &&
	       memchr(tree->text + n->start, '`', n->end - n->start);
}

/* The first byte of @tree's text from @at on that is @c; its size: there is none. @before is what
 * this gave for an earlier @at. */
static size_t next_byte(const struct bj_tree *tree, char c, size_t at, size_t before)
{
	const char *found;

	if (before >= at && before != SIZE_MAX)
		return before;
	found = memchr(tree->text + at, c, tree->size - at);
	return found ? (size_t)(found - tree->text) : tree->size;
}

/* `a \`b\``: a level of backslashes less is what the inner shell reads. */
static int check_backquotes(const struct bj_sh_pass *p, uint32_t node, struct bj_err *err)
{
	const struct bj_node *n = &p->tree->nodes[node];
	const char *s = p->tree->text + n->start;
	const size_t len = n->end - n->start;
	char text[BJ_SH_WORD * 2];
	size_t to = 0;

	if (s[0] != '`' || len < 4 || len > sizeof(text) || !memmem(s, len, "\\`", 2))
		return 0;
	for (size_t i = 1; i + 1 < len; i++) {
		i += s[i] == '\\' && strchr("`\\$", s[i + 1]);
		text[to++] = s[i];
	}
	return bj_sh_check_text(p, BJ_LANG_BASH, text, to, node, err);
}

static int check_leaves(const struct bj_sh_pass *p, struct bj_err *err)
{
	size_t dollar = SIZE_MAX, quote = SIZE_MAX,
	       mark = 0; /* the next ones that may begin a command */
	const uint32_t n_nodes = p->tree->n_nodes;
	int r = 0;

	for (uint32_t i = 0; i < n_nodes && r >= 0; i++) {
		const struct bj_node *n = &p->tree->nodes[i];

		/* A node begins where the one before does, or behind that. */
		if (!i || n->start > mark) {
			dollar = next_byte(p->tree, '$', n->start, dollar);
			quote = next_byte(p->tree, '`', n->start, quote);
			mark = dollar < quote ? dollar : quote;
		}
		if (n->end > mark && (!bj_node_child(p->tree, i) || is_odd_expansion(p->tree, i)) &&
		    !is_quoted_heredoc(p->tree, i))
			r = check_leaf(p, i, err);
		else if (n->kind == SH_COMMAND_SUBSTITUTION)
			r = check_backquotes(p, i, err);
	}
	return r;
}

int bj_sh_nested(const struct bj_sh_pass *p, struct bj_err *err)
{
	struct bj_sh_marks marks = { 0 };
	int r = 0;

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		bj_sh_set_mark(&marks, roles[i].name);
	for (uint32_t i = 0; i < p->sh->n_commands && r >= 0; i++)
		r = check_command(p, &marks, i, err);
	if (r >= 0)
		r = check_calls(p, err);
	if (r >= 0)
		r = bj_sh_written(p, err);
	return r < 0 ? r : check_leaves(p, err);
}
