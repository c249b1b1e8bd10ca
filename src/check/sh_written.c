/* SPDX-License-Identifier: Apache-2.0 */
#include "check/sh_terms.h"
#include "check/shell_parts.h"
#include "grammar_bash.h"

/* Files that a script writes and then runs, and makefiles: their text is code. */

static bool is_one_of(const char *names, const struct bj_sh_command *c)
{
	return bj_danger_globs(names, c->name, strlen(c->name));
}

#define WRITTEN_MAX 16 /* files with known text that are remembered */

/* A file that the script writes, and the command whose words or here-document are its text. */
struct written {
	const char *name;
	const struct bj_sh_command *by;
	uint32_t body;    /* 0: no here-document */
	const char *text; /* of a here-string; NULL: the words */
	bool made;        /* a make has read it */
};

/* The target of the redirection in @from and its next ones, and a here-document among them. */
static void read_redirects(const struct bj_sh_pass *p, uint32_t from, struct written *w)
{
	const struct bj_tree *tree = p->tree;
	uint32_t len;

	for (uint32_t r = from; r; r = tree->nodes[r].next) {
		const bool heredoc = tree->nodes[r].kind == SH_HEREDOC_REDIRECT;
		const uint32_t file = heredoc ? bj_node_kind(tree, r, SH_FILE_REDIRECT)
				      : tree->nodes[r].kind == SH_FILE_REDIRECT ? r
										: 0;
		const uint32_t to = file ? bj_node_field(tree, file, SHF_DESTINATION) : 0;

		if (heredoc)
			w->body = bj_node_kind(tree, r, SH_HEREDOC_BODY);
		if (to && tree->text[tree->nodes[file].start] == '>')
			w->name = bj_sh_fold(p->sh, to, &len);
	}
}

#define HERE_NODES 32 /* of a command that are looked at for it */

/* The folded text of <<< below @node; NULL: there is none. */
static const char *here_string(const struct bj_sh_pass *p, uint32_t node)
{
	const struct bj_node *nodes = p->tree->nodes;
	const uint32_t up = nodes[node].parent;
	const uint32_t from = nodes[up].kind == SH_REDIRECTED_STATEMENT ? up : node;
	uint32_t here = 0, len;

	for (uint32_t i = from; !here && i < nodes[from].after && i < from + HERE_NODES; i++)
		here = nodes[i].kind == SH_HERESTRING_REDIRECT ? i : 0;

	const uint32_t text = here ? bj_node_child(p->tree, here) : 0;

	return text ? bj_sh_fold(p->sh, text, &len) : NULL;
}

static bool is_writer(const char *name)
{
	static const char *const names[] = { "cat", "tee", "echo", "printf" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (name[0] == names[i][0] && !strcmp(name, names[i]))
			return true;
	return false;
}

/* cat >x.sh <<E, tee x.sh <<E, echo 'text' >x.sh. False: @c writes no text that is known. */
static bool writes(const struct bj_sh_pass *p, const struct bj_sh_command *c, struct written *w)
{
	const struct bj_node *nodes = p->tree->nodes;

	if (!is_writer(c->name) || (nodes[nodes[c->node].parent].kind != SH_REDIRECTED_STATEMENT &&
				    !here_string(p, c->node)))
		return false;
	*w = (struct written){ .by = c };
	if (nodes[nodes[c->node].parent].kind == SH_REDIRECTED_STATEMENT)
		read_redirects(p, nodes[c->node].next, w);
	if (c->name[0] == 't' && c->n_fields)
		w->name = p->sh->fields[c->fields + c->n_fields - 1].s;
	w->text = here_string(p, c->node);
	return w->name && w->name[0] &&
	       (w->body || w->text || c->name[0] == 'e' || c->name[0] == 'p');
}

static bool same_file(const char *a, const char *b)
{
	a += strncmp(a, "./", 2) ? 0 : 2;
	b += strncmp(b, "./", 2) ? 0 : 2;
	return !strcmp(a, b);
}

/* Whether the first line of the text of @w asks for Python. */
static bool asks_for_python(const struct bj_sh_pass *p, const struct written *w)
{
	const struct bj_node *body = &p->tree->nodes[w->body];
	const char *text = p->tree->text + body->start;
	const char *end = w->body ? memchr(text, '\n', body->end - body->start) : NULL;

	return end && text[0] == '#' && memmem(text, (size_t)(end - text), "python", 6);
}

/* Whether command @c runs the file of @w: by a shell, by Python or by itself. */
static bool runs_file(const struct bj_sh_pass *p, const struct bj_sh_command *c,
		      const struct written *w, bool *ret_python)
{
	const bool itself = same_file(c->path, w->name) && strchr(c->path, '/');

	if (!itself && !(c->n_fields && same_file(p->sh->fields[c->fields].s, w->name)))
		return false;
	*ret_python = is_one_of("python*", c) ||
		      bj_danger_globs("*.py", w->name, strlen(w->name)) ||
		      (itself && asks_for_python(p, w));
	return itself || is_one_of("sh|bash|dash|zsh|ksh|ash|source|.|python*", c);
}

static int check_written(const struct bj_sh_pass *p, const struct written *w,
			 const struct bj_sh_command *c, bool python, struct bj_err *err)
{
	const struct bj_node *body = &p->tree->nodes[w->body];
	char text[BJ_SH_WORD * 2];

	if (w->text)
		return bj_sh_check_text(p, python ? BJ_LANG_PYTHON : BJ_LANG_BASH, text,
					bj_sh_unmark(w->text, strlen(w->text), text, sizeof(text)),
					c->node, err);
	if (!w->body)
		return python ? 0 : bj_sh_check_joined(p, w->by, c->node, err);
	return bj_sh_check_text(p, python ? BJ_LANG_PYTHON : BJ_LANG_BASH,
				p->tree->text + body->start, body->end - body->start, c->node, err);
}

#define RECIPES 4096 /* bytes of them that are read */

/* The recipes of the makefile [@s, @len) as a script: of make's own variables nothing is known. */
static size_t recipes_of(const char *s, size_t len, char *out)
{
	size_t n = 0;

	for (size_t at = 0; at < len;) {
		const char *end = memchr(s + at, '\n', len - at);
		const size_t to = end ? (size_t)(end - s) : len;
		size_t i = at + 1;

		while (s[at] == '\t' && i < to && strchr("@-+ \t", s[i]))
			i++;
		for (; s[at] == '\t' && i < to && n + 2 < RECIPES; i++) {
			const char *close =
				i + 1 < to && s[i] == '$' && strchr("({", s[i + 1])
					? memchr(s + i, s[i + 1] == '(' ? ')' : '}', to - i)
					: NULL;

			if (close)
				i = (size_t)(close - s);
			else
				i += s[i] == '$' && i + 1 < to && s[i + 1] == '$';
			out[n++] = close ? 'x' : s[i];
		}
		if (s[at] == '\t' && n && n < RECIPES)
			out[n++] = '\n';
		at = to + 1;
	}
	return n;
}

static int check_recipes(const struct bj_sh_pass *p, const struct bj_sh_command *c, const char *s,
			 size_t len, struct bj_err *err)
{
	char text[RECIPES];

	return bj_sh_check_worst(p, c, text, recipes_of(s, len, text), err);
}

/* printf 'all:\n\trm -rf /\n' | make -f - */
static int check_piped_make(const struct bj_sh_pass *p, uint32_t at, struct bj_err *err)
{
	const struct bj_sh_command *before = at ? &p->sh->commands[at - 1] : NULL;
	char text[BJ_SH_WORD];

	if (!before || !is_one_of("echo|printf", before) || !before->n_fields ||
	    !bj_sh_piped_from(p, before + 1, "echo|printf"))
		return 0;

	const struct bj_sh_field *f = &p->sh->fields[before->fields + before->n_fields - 1];

	return check_recipes(p, before + 1, text, bj_sh_unescape(f->s, f->len, text, sizeof(text)),
			     err);
}

/* make -f - <<X: the text of its here-document or here-string. */
static int check_make_input(const struct bj_sh_pass *p, uint32_t at, struct bj_err *err)
{
	const struct bj_sh_command *c = &p->sh->commands[at];
	const struct bj_node *nodes = p->tree->nodes;
	const char *string = here_string(p, c->node);
	struct written w = { 0 };

	if (string)
		return check_recipes(p, c, string, strlen(string), err);
	if (nodes[nodes[c->node].parent].kind == SH_REDIRECTED_STATEMENT)
		read_redirects(p, nodes[c->node].next, &w);

	const struct bj_node *body = &nodes[w.body];

	return w.body ? check_recipes(p, c, p->tree->text + body->start, body->end - body->start,
				      err)
		      : check_piped_make(p, at, err);
}

/* The file that make reads; NULL: its input. The grammar loses a "-" right before a here-document.
 */
static const char *makefile_of(const struct bj_sh_pass *p, const struct bj_sh_command *c)
{
	const char *name = "Makefile";

	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++) {
		const struct bj_sh_field *f = &p->sh->fields[i];
		const bool last = i + 1 == c->fields + c->n_fields;

		if (bj_danger_globs("-f|-[a-eg-z]*f|--file|--makefile", f->s, f->len))
			name = last ? "-" : f[1].s;
		else if (bj_danger_globs("-f?*", f->s, f->len))
			name = f->s + 2;
		else if (bj_danger_globs("--file=*|--makefile=*", f->s, f->len))
			name = strchr(f->s, '=') + 1;
	}
	return bj_danger_globs("-|/dev/stdin|/dev/fd/0", name, strlen(name)) ? NULL : name;
}

/* make, of a makefile that the script writes or hands it. */
static int check_make(const struct bj_sh_pass *p, struct written *files, size_t n, uint32_t at,
		      struct bj_err *err)
{
	const struct bj_sh_command *c = &p->sh->commands[at];
	const char *name = makefile_of(p, c);
	int r = 0;

	if (!name)
		return check_make_input(p, at, err);
	for (size_t k = 0; k < n && r >= 0; k++) {
		const struct bj_node *body = &p->tree->nodes[files[k].body];

		const bool read = same_file(files[k].name, name) ||
				  (!strcmp(name, "Makefile") &&
				   bj_danger_globs("makefile|GNUmakefile", files[k].name,
						   strlen(files[k].name)));

		if (!read || files[k].made || !files[k].body)
			continue;
		files[k].made = true;
		r = check_recipes(p, c, p->tree->text + body->start, body->end - body->start, err);
	}
	return r;
}

/* cat >x.sh <<E ... E, then bash x.sh: the text is code. */
int bj_sh_written(const struct bj_sh_pass *p, struct bj_err *err)
{
	struct written files[WRITTEN_MAX];
	struct bj_sh_marks runners = { 0 };
	size_t n = 0;
	int r = 0;

	bj_sh_set_marks(&runners, "sh|bash|dash|zsh|ksh|ash|source|python");
	bj_sh_set_mark(&runners, ".");

	for (uint32_t i = 0; i < p->sh->n_commands && r >= 0; i++) {
		const struct bj_sh_command *c = &p->sh->commands[i];
		bool python;

		if (n < WRITTEN_MAX && writes(p, c, &files[n])) {
			n++;
			continue;
		}
		if (is_one_of("make|gmake", c)) {
			r = check_make(p, files, n, i, err);
			continue;
		}
		if (n == 0 || (!strchr(c->path, '/') && !bj_sh_has_mark(&runners, c->name)))
			continue;
		for (size_t k = 0; k < n && r >= 0; k++)
			if (runs_file(p, c, &files[k], &python))
				r = check_written(p, &files[k], c, python, err);
	}
	return r;
}
