/* SPDX-License-Identifier: Apache-2.0 */
#include "check/sh_terms.h"

#include "grammar_bash.h"

/* The conditions of Bash rules. */

#define LOOK_MAX 64 /* commands looked at in one pipeline or substitution */

size_t bj_sh_normal_path(const char *s, size_t len, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] != '/' || !n || out[n - 1] != '/') {
			out[n++] = s[i];
		}
		/* What was just finished may be "." or "..". */
		const bool ends = i + 1 == len || s[i + 1] == '/';

		if (!ends || s[i] != '.')
			continue;
		if (n >= 2 && out[n - 2] == '/') {
			n--;
		} else if (n >= 3 && out[n - 2] == '.' && out[n - 3] == '/') {
			n -= 3;
			while (n && out[n - 1] != '/')
				n--;
			if (!n)
				out[n++] = '/';
		}
	}
	return n;
}

static bool in_list(const char *list, const char *s, size_t len)
{
	while (*list) {
		const char *bar = strchrnul(list, '|');

		if ((size_t)(bar - list) == len && !memcmp(list, s, len))
			return true;
		list = *bar ? bar + 1 : bar;
	}
	return false;
}

/* One word against "r|R|recursive": -rf has r, --recursive is recursive, -delete is delete. */
static bool has_flag(const struct bj_sh_field *f, const char *flags)
{
	const char *s = f->s + 1;
	const bool is_long = s[0] == '-';
	const char *name = is_long ? s + 1 : s;
	const size_t len = strcspn(name, "=");

	if (len > 1 && in_list(flags, name, len))
		return true;
	for (; !is_long && *s && *s != '='; s++)
		if (in_list(flags, s, 1))
			return true;
	return false;
}

struct look {
	const struct bj_sh_pass *p;
	const struct bj_sh_command *command;
	uint32_t node;
	const struct bj_danger_condition *condition; /* of the term; NULL: not known */
};

/* Whether @s fits one of @globs, which are those of the condition. Few of them have only letters
 * that @s has. */
static bool fits(const struct look *l, const char *globs, const char *s, size_t len)
{
	if (!l->condition)
		return bj_danger_globs(globs, s, len);

	const uint64_t letters = bj_danger_letters(s, len);
	const struct bj_danger_alternative *a = &bj_danger_alternatives[l->condition->first];

	for (const struct bj_danger_alternative *end = a + l->condition->n; a < end; a++)
		if (!(a->letters & ~letters) && bj_danger_glob(globs + a->start, a->len, s, len))
			return true;
	return false;
}

static bool term_flag(const struct look *l, const char *flags)
{
	const struct bj_sh_command *c = l->command;

	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++) {
		const struct bj_sh_field *f = &l->p->sh->fields[i];

		if (f->len == 2 && !memcmp(f->s, "--", 2))
			return false;
		if (f->len > 1 && f->s[0] == '-' && has_flag(f, flags))
			return true;
	}
	return false;
}

static bool term_no_flag(const struct look *l, const char *flags)
{
	return !term_flag(l, flags);
}

/* The positional word after @i; end: none. */
static uint32_t next_positional(const struct look *l, uint32_t i, bool *ended)
{
	const struct bj_sh_command *c = l->command;

	for (; i < c->fields + c->n_fields; i++) {
		const struct bj_sh_field *f = &l->p->sh->fields[i];

		if (!*ended && f->len == 2 && !memcmp(f->s, "--", 2)) {
			*ended = true;
			continue;
		}
		if (*ended || f->len < 2 || f->s[0] != '-')
			break;
	}
	return i;
}

static bool field_fits(const struct look *l, uint32_t i, const char *globs)
{
	const struct bj_sh_field *f = &l->p->sh->fields[i];
	char path[BJ_SH_WORD];

	if (memchr(f->s, '/', f->len)) {
		const size_t len = bj_sh_normal_path(f->s, f->len, path);

		if (fits(l, globs, path, len))
			return true;
		if (len == f->len && !memcmp(path, f->s, len))
			return false;
	}
	return fits(l, globs, f->s, f->len);
}

static bool term_arg(const struct look *l, const char *globs)
{
	const uint32_t end = l->command->fields + l->command->n_fields;
	bool ended = false;

	for (uint32_t i = next_positional(l, l->command->fields, &ended); i < end;
	     i = next_positional(l, i + 1, &ended))
		if (field_fits(l, i, globs))
			return true;
	return false;
}

static bool term_arg1(const struct look *l, const char *globs)
{
	bool ended = false;
	const uint32_t i = next_positional(l, l->command->fields, &ended);

	return i < l->command->fields + l->command->n_fields && field_fits(l, i, globs);
}

/* The last: where cp, mv, install and ln write. */
static bool term_last(const struct look *l, const char *globs)
{
	const uint32_t end = l->command->fields + l->command->n_fields;
	bool ended = false;
	uint32_t last = end;

	for (uint32_t i = next_positional(l, l->command->fields, &ended); i < end;
	     i = next_positional(l, i + 1, &ended))
		last = i;
	return last < end && field_fits(l, last, globs);
}

static bool term_bare(const struct look *l, const char *globs)
{
	bool ended = false;
	const uint32_t i = next_positional(l, l->command->fields, &ended);

	(void)globs;
	if (i >= l->command->fields + l->command->n_fields)
		return !l->command->filled;
	return !strcmp(l->p->sh->fields[i].s, "-") || !strcmp(l->p->sh->fields[i].s, "/dev/stdin");
}

static bool term_no_arg(const struct look *l, const char *globs)
{
	return !term_arg(l, globs);
}

static bool term_no_last(const struct look *l, const char *globs)
{
	return !term_last(l, globs);
}

static bool term_no_arg1(const struct look *l, const char *globs)
{
	return !term_arg1(l, globs);
}

static bool term_unless(const struct look *l, const char *names)
{
	return !bj_danger_globs(names, l->command->name, strlen(l->command->name));
}

/* Where an interpreter finds its program when not in a file: -c, -e and the like. */
static const struct {
	const char *names, *program, *with_value;
} interpreters[] = {
	{ "sh|bash|dash|zsh|ksh|ash|fish|su", "c", "oO" },
	{ "python*|pypy*", "cm", "WX" },
	{ "perl|ruby|node|php|lua", "eEnprF", "" },
};

/* The interpreter gets its program from its input: curl x | python3, but not curl x | python3 -c
 * TEXT. A text with {} or none at all is one that xargs fills from the input. */
static bool term_input(const struct look *l, const char *unused)
{
	const struct bj_sh_command *c = l->command;
	const uint32_t end = c->fields + c->n_fields;
	size_t k = 0;

	(void)unused;
	while (k < 3 && !bj_danger_globs(interpreters[k].names, c->name, strlen(c->name)))
		k++;
	for (uint32_t i = c->fields; i < end && k < 3; i++) {
		const struct bj_sh_field *f = &l->p->sh->fields[i];

		if (f->s[0] != '-' || f->len < 2)
			return bj_danger_globs("-|/dev/stdin|/dev/fd/0|/proc/self/fd/0|{}", f->s,
					       f->len);
		if (f->s[1] == '-' && f->s[2])
			continue;
		if (!k && strchr(f->s, 's'))
			return true;
		if (strpbrk(f->s + 1, interpreters[k].program))
			return i + 1 >= end || strstr(f[1].s, "{}") != NULL;
		i += f->len == 2 && strchr(interpreters[k].with_value, f->s[1]);
	}
	return !c->filled;
}

/* The word that a rule is about, or the target of its redirection. */
static bool term_other_than(const struct look *l, const char *globs)
{
	const struct bj_sh_command *c = l->command;
	const uint32_t to = c ? l->node : bj_node_field(l->p->tree, l->node, SHF_DESTINATION);
	char path[BJ_SH_WORD];
	uint32_t len = 0;
	const char *s = to ? bj_sh_fold(l->p->sh, to, &len) : "";

	return !bj_danger_globs(globs, path, bj_sh_normal_path(s, len, path));
}

/* "ssh|scp -i|-F": the word is what such a command gets by such an option. */
static bool term_not_for(const struct look *l, const char *rest)
{
	const struct bj_sh_command *c = l->command;
	const char *options = strchrnul(rest, ' ');
	char names[64] = "";

	if (!*options || (size_t)(options - rest) >= sizeof(names))
		return true;
	memcpy(names, rest, (size_t)(options - rest));
	if (!bj_danger_globs(names, c->name, strlen(c->name)))
		return true;
	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++) {
		const struct bj_sh_field *f = &l->p->sh->fields[i];

		if (f->node == l->node && i > c->fields)
			return !bj_danger_globs(options + 1, f[-1].s, f[-1].len);
	}
	return true;
}

/* Nothing is piped or redirected to it. */
static bool term_unfed(const struct look *l, const char *unused)
{
	const struct bj_node *nodes = l->p->tree->nodes;
	uint32_t node = l->command->node;

	(void)unused;
	for (int up = 0; node && up < 6; up++) {
		const uint32_t parent = nodes[node].parent;
		const uint16_t kind = nodes[parent].kind;

		if (kind == SH_REDIRECTED_STATEMENT ||
		    (kind == SH_PIPELINE && bj_node_child(l->p->tree, parent) != node))
			return false;
		if (bj_node_kind(l->p->tree, node, SH_HERESTRING_REDIRECT) ||
		    bj_node_kind(l->p->tree, node, SH_FILE_REDIRECT))
			return false;
		node = parent;
	}
	return true;
}

/* A word of the command, or a part of it between blanks: echo "/etc /usr". */
static bool fits_part(const struct look *l, const char *globs)
{
	const struct bj_sh_command *c = l->command;

	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++) {
		const struct bj_sh_field *f = &l->p->sh->fields[i];

		for (size_t at = 0; at < f->len; at++) {
			const size_t n = strcspn(f->s + at, " \t\n");

			if (n && fits(l, globs, f->s + at, n))
				return true;
			at += n;
		}
	}
	return false;
}

static bool term_word(const struct look *l, const char *globs)
{
	const struct bj_sh_command *c = l->command;

	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++)
		if (fits(l, globs, l->p->sh->fields[i].s, l->p->sh->fields[i].len))
			return true;
	return false;
}

static bool term_no_word(const struct look *l, const char *globs)
{
	return !term_word(l, globs);
}

/* Whether any command in [from, to) of the tree fits @names. */
static bool any_command(const struct bj_sh_pass *p, uint32_t from, uint32_t to, const char *names)
{
	uint32_t i = bj_sh_command_at(p->sh, from);

	for (int n = 0; i < p->sh->n_commands && n < LOOK_MAX; i++, n++) {
		const struct bj_sh_command *c = &p->sh->commands[i];

		if (c->node >= to)
			return false;
		if (bj_danger_globs(names, c->name, strlen(c->name)))
			return true;
	}
	return false;
}

/* The stage of a pipeline that @node is, or is wrapped in; 0: it is in none. */
static uint32_t stage_of(const struct bj_tree *tree, uint32_t node)
{
	for (int up = 0; node && up < 4; up++) {
		const uint32_t parent = tree->nodes[node].parent;
		const uint16_t kind = tree->nodes[parent].kind;

		if (kind == SH_PIPELINE)
			return node;
		if (kind != SH_REDIRECTED_STATEMENT && kind != SH_SUBSHELL &&
		    kind != SH_COMPOUND_STATEMENT && kind != SH_NEGATED_COMMAND &&
		    kind != SH_WHILE_STATEMENT && kind != SH_DO_GROUP)
			return 0;
		node = parent;
	}
	return 0;
}

bool bj_sh_piped_from(const struct bj_sh_pass *p, const struct bj_sh_command *command,
		      const char *names)
{
	const struct bj_node *nodes = p->tree->nodes;
	const uint32_t stage = stage_of(p->tree, command->node);
	uint32_t pipeline = stage ? nodes[stage].parent : 0;

	if (stage && any_command(p, pipeline, stage, names))
		return true;
	/* cat <<X | sh: the grammar hangs the rest of the pipeline below the here-document. */
	if (!pipeline)
		pipeline = command->node;

	const uint32_t heredoc = nodes[pipeline].parent;

	if (nodes[heredoc].kind != SH_HEREDOC_REDIRECT)
		return false;
	return any_command(p, nodes[heredoc].parent, heredoc, names);
}

static bool term_from(const struct look *l, const char *names)
{
	return bj_sh_piped_from(l->p, l->command, names);
}

static bool term_to(const struct look *l, const char *names)
{
	const uint32_t stage = stage_of(l->p->tree, l->command->node);

	if (!stage)
		return false;

	const struct bj_node *nodes = l->p->tree->nodes;

	return any_command(l->p, nodes[stage].after, nodes[nodes[stage].parent].after, names);
}

/* A word of the command holds $(NAME ...) or <(NAME ...). */
static bool term_holds(const struct look *l, const char *names)
{
	const struct bj_node *nodes = l->p->tree->nodes;
	const struct bj_sh_command *c = l->command;

	return any_command(l->p, c->node + 1, nodes[c->node].after, names);
}

/* All that the command gets is $(NAME ...). */
static bool term_not_only(const struct look *l, const char *names)
{
	const struct bj_sh *sh = l->p->sh;
	const struct bj_sh_command *c = l->command;
	const uint32_t inner = (uint32_t)(c - sh->commands) + 1;
	const uint32_t end = l->p->tree->nodes[c->node].after;

	return c->n_fields != 1 || strcmp(sh->fields[c->fields].s, "\x01()\x01") != 0 ||
	       inner >= sh->n_commands || sh->commands[inner].node >= end ||
	       !bj_danger_globs(names, sh->commands[inner].name,
				strlen(sh->commands[inner].name)) ||
	       (inner + 1 < sh->n_commands && sh->commands[inner + 1].node < end);
}

/* The statement around the command redirects from something that runs NAME: bash < <(curl x). */
static bool term_fed(const struct look *l, const char *names)
{
	const struct bj_node *nodes = l->p->tree->nodes;
	const uint32_t up = nodes[l->command->node].parent;

	return nodes[up].kind == SH_REDIRECTED_STATEMENT &&
	       any_command(l->p, nodes[l->command->node].after, nodes[up].after, names);
}

/* The command right before changed to such a directory: cd / && rm -rf *. */
static bool term_in(const struct look *l, const char *globs)
{
	const struct bj_sh *sh = l->p->sh;
	const uint32_t at = (uint32_t)(l->command - sh->commands);

	for (uint32_t i = at; i > 0 && i + 2 > at; i--) {
		const struct bj_sh_command *c = &sh->commands[i - 1];
		const struct look before = { .p = l->p, .command = c };

		/* "cd" alone goes home. */
		if (!strcmp(c->name, "cd") && !c->n_fields)
			return bj_danger_globs(globs, "~", 1);
		if (bj_danger_globs("cd|pushd", c->name, strlen(c->name)))
			return term_arg(&before, globs);
	}
	return false;
}

/* "find|ls /|/[*]": a command of such a name, with such a word, feeds it through a pipe. */
static bool term_feed(const struct look *l, const char *rest)
{
	const struct bj_sh *sh = l->p->sh;
	const uint32_t at = (uint32_t)(l->command - sh->commands);
	const char *globs = strchrnul(rest, ' ');
	char names[64] = "";

	if (!*globs || (size_t)(globs - rest) >= sizeof(names))
		return false;
	memcpy(names, rest, (size_t)(globs - rest));
	if (!bj_sh_piped_from(l->p, l->command, names))
		return false;
	for (uint32_t i = at; i > 0 && i + LOOK_MAX > at; i--) {
		const struct look before = { .p = l->p, .command = &sh->commands[i - 1] };

		if (bj_danger_globs(names, before.command->name, strlen(before.command->name)))
			return term_word(&before, globs + 1) || fits_part(&before, globs + 1);
	}
	return false;
}

static bool term_dynamic(const struct look *l, const char *globs)
{
	const struct bj_sh_command *c = l->command;

	(void)globs;
	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++)
		if (strchr(l->p->sh->fields[i].s, BJ_MARK_KNOWN) ||
		    strchr(l->p->sh->fields[i].s, BJ_MARK_UNSET))
			return true;
	return false;
}

/* For a redirection: what stands between its descriptor and its target. */
static bool term_output(const struct look *l, const char *unused)
{
	const struct bj_tree *tree = l->p->tree;
	const uint32_t to = bj_node_field(tree, l->node, SHF_DESTINATION);
	const struct bj_node *n = &tree->nodes[l->node];

	(void)unused;
	return to && memchr(tree->text + n->start, '>', tree->nodes[to].start - n->start);
}

/* For an assignment: its value. */
static bool term_value(const struct look *l, const char *globs)
{
	const uint32_t value = bj_node_field(l->p->tree, l->node, SHF_VALUE);
	uint32_t len = 0;
	const char *s = value ? bj_sh_fold(l->p->sh, value, &len) : "";

	return bj_danger_globs(globs, s, len);
}

#define PROBE_PARTS 4 /* a command and its redirections */

/* A redirection that only asks whether somebody listens: : > /dev/tcp/host/80, </dev/tcp/host/80.
 * The command beside it says nothing that is not written there, and nothing is read or left open.
 */
static bool term_probe(const struct look *l, const char *unused)
{
	const struct bj_tree *tree = l->p->tree;
	const struct bj_node *nodes = tree->nodes;
	const uint32_t up = nodes[l->node].parent;
	const uint32_t i = bj_sh_command_at(l->p->sh, up);
	bool fed = false; /* with nothing */
	int n = 0;

	(void)unused;
	if (nodes[up].kind != SH_REDIRECTED_STATEMENT)
		return false;
	/* Beside it errors are dropped, and no more. */
	for (uint32_t r = bj_node_child(tree, up); r; r = nodes[r].next) {
		const char *s = tree->text + nodes[r].start;
		const size_t len = nodes[r].end - nodes[r].start;

		fed |= len && s[0] == '<' && r != l->node;
		if (++n > PROBE_PARTS)
			return false;
		if (nodes[r].kind != SH_COMMAND && r != l->node &&
		    (nodes[r].kind != SH_FILE_REDIRECT || !memmem(s, len, "/dev/null", 9)) &&
		    !bj_danger_globs("2>&1", s, len))
			return false;
	}
	if (i >= l->p->sh->n_commands || l->p->sh->commands[i].node >= nodes[up].after)
		return true;

	const struct bj_sh_command *c = &l->p->sh->commands[i];
	const struct look beside = { .p = l->p, .command = c };

	return bj_danger_globs(fed ? "cat|:|true|echo|printf" : ":|true|echo|printf", c->name,
			       strlen(c->name)) &&
	       c->n_fields < 3 && !term_dynamic(&beside, "");
}

static bool term_no_probe(const struct look *l, const char *unused)
{
	return !term_probe(l, unused);
}

enum needs { REDIRECT, COMMAND, EITHER };

static const struct {
	enum needs needs;
	bool (*holds)(const struct look *l, const char *rest);
} terms[BJ_TERMS] = {
	[BJ_TERM_FLAG] = { COMMAND, term_flag },
	[BJ_TERM_NO_FLAG] = { COMMAND, term_no_flag },
	[BJ_TERM_ARG] = { COMMAND, term_arg },
	[BJ_TERM_ARG1] = { COMMAND, term_arg1 },
	[BJ_TERM_BARE] = { COMMAND, term_bare },
	[BJ_TERM_WORD] = { COMMAND, term_word },
	[BJ_TERM_NO_WORD] = { COMMAND, term_no_word },
	[BJ_TERM_FROM] = { COMMAND, term_from },
	[BJ_TERM_TO] = { COMMAND, term_to },
	[BJ_TERM_HOLDS] = { COMMAND, term_holds },
	[BJ_TERM_FED] = { COMMAND, term_fed },
	[BJ_TERM_DYNAMIC] = { COMMAND, term_dynamic },
	[BJ_TERM_LAST] = { COMMAND, term_last },
	[BJ_TERM_OUTPUT] = { REDIRECT, term_output },
	[BJ_TERM_VALUE] = { REDIRECT, term_value },
	[BJ_TERM_IN] = { COMMAND, term_in },
	[BJ_TERM_FEED] = { COMMAND, term_feed },
	[BJ_TERM_NOT_ONLY] = { COMMAND, term_not_only },
	[BJ_TERM_NO_ARG1] = { COMMAND, term_no_arg1 },
	[BJ_TERM_UNFED] = { COMMAND, term_unfed },
	[BJ_TERM_NO_ARG] = { COMMAND, term_no_arg },
	[BJ_TERM_NO_LAST] = { COMMAND, term_no_last },
	[BJ_TERM_UNLESS] = { COMMAND, term_unless },
	[BJ_TERM_INPUT] = { COMMAND, term_input },
	[BJ_TERM_NOT_FOR] = { COMMAND, term_not_for },
	[BJ_TERM_OTHER_THAN] = { EITHER, term_other_than },
	[BJ_TERM_PROBE] = { REDIRECT, term_probe },
	[BJ_TERM_NO_PROBE] = { REDIRECT, term_no_probe },
};

bool bj_sh_terms_hold(const struct bj_sh_pass *p, uint32_t rule,
		      const struct bj_sh_command *command, uint32_t node)
{
	const struct bj_danger_terms *all = &bj_danger_terms[rule];

	for (size_t i = 0; all->when[i]; i++) {
		const struct bj_danger_condition *condition = &all->conditions[i];
		const enum needs needs = terms[condition->term].needs;
		const struct look l = {
			.p = p, .command = command, .node = node, .condition = condition
		};

		if ((needs != EITHER && (needs == COMMAND) != (command != NULL)) ||
		    !terms[condition->term].holds(&l, all->when[i] + condition->rest))
			return false;
	}
	return true;
}
