/* SPDX-License-Identifier: Apache-2.0 */
#include "check/sh_terms.h"
#include "check/shell.h"
#include "grammar_bash.h"

/* Bash dangers: commands, redirections, assignments and words against the rules. */

static void hit(const struct bj_sh_pass *p, uint32_t rule, uint32_t node)
{
	bj_danger_hit(p->pass, rule, p->tree->nodes[node].start, p->tree->nodes[node].end);
}

static void special(const struct bj_sh_pass *p, const char *name, uint32_t node)
{
	bj_danger_special(p->pass, BJ_LANG_BASH, name, p->tree->nodes[node].start,
			  p->tree->nodes[node].end);
}

static void match_globs(const struct bj_sh_pass *p, enum bj_danger_on on, const char *s, size_t len,
			const struct bj_sh_command *command, uint32_t node)
{
	const uint64_t letters = bj_danger_letters(s, len);
	const struct bj_danger_key *end = &bj_bash_globs[bj_bash_globs_on[on].end];

	for (const struct bj_danger_key *key = &bj_bash_globs[bj_bash_globs_on[on].first];
	     key < end; key++) {
		if (bj_danger_lacks(key, letters))
			continue;
		if (bj_danger_glob(key->name, strlen(key->name), s, len) &&
		    bj_sh_terms_hold(p, key->rule, command, node))
			hit(p, key->rule, node);
	}
}

static void match_keys(const struct bj_sh_pass *p, enum bj_danger_on on, const char *name,
		       const struct bj_sh_command *command, uint32_t node)
{
	const struct bj_danger_key *key = bj_danger_find(bj_bash_keys, bj_bash_keys_at, name);

	for (; key && key < bj_bash_keys + bj_n_bash_keys && !strcmp(key->name, name); key++)
		if (key->on == on && bj_sh_terms_hold(p, key->rule, command, node))
			hit(p, key->rule, node);
}

static void match_words(const struct bj_sh_pass *p, const struct bj_sh_command *c)
{
	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++) {
		const struct bj_sh_field *f = &p->sh->fields[i];
		char path[BJ_SH_WORD];
		size_t len;

		if (!memchr(f->s, '/', f->len) && f->s[0] != '~')
			continue;
		len = bj_sh_normal_path(f->s, f->len, path);
		match_globs(p, BJ_ON_WORD, path, len, c, f->node);
	}
}

/* /b?n/r? is a name written so that no one reads it. */
static void match_hidden_name(const struct bj_sh_pass *p, const struct bj_sh_command *c)
{
	if (strpbrk(c->name, "\x01\x03 ") || !strcmp(c->name, "[[") || !c->name[1] || c->extra)
		return;
	if (strpbrk(c->name, "?*["))
		special(p, "glob-command", c->node);
}

/* $c, where c=$(echo ... | base64 -d); or "${c[@]}". What read takes counts when it is a whole
 * command: read -r tool; "$tool" --version asks for a name. */
static void match_hidden_variable(const struct bj_sh_pass *p, const struct bj_sh_command *c)
{
	const size_t len = strlen(c->name);

	if (len < 3 || c->name[0] != BJ_MARK_KNOWN || c->name[len - 1] != BJ_MARK_KNOWN)
		return;

	const struct bj_sh_variable *v =
		bj_sh_variable(p->sh, c->name + 1, strcspn(c->name + 1, "[\x01"));

	if (v && v->hidden)
		special(p, "hidden-command", c->node);
	else if (v && v->input && !v->value && !c->n_fields)
		special(p, "input-command", c->node);
}

/* bash <&3, bash <&"$fd": what runs comes from a descriptor. */
static void match_descriptor(const struct bj_sh_pass *p, const struct bj_sh_command *c)
{
	const struct bj_node *nodes = p->tree->nodes;

	if (nodes[nodes[c->node].parent].kind != SH_REDIRECTED_STATEMENT ||
	    !bj_danger_globs("sh|bash|dash|zsh|ksh|ash", c->name, strlen(c->name)))
		return;
	for (uint32_t r = nodes[c->node].next; r; r = nodes[r].next) {
		const char *s = p->tree->text + nodes[r].start;

		s += nodes[r].end - nodes[r].start > 2 && *s == '0';
		if (nodes[r].kind == SH_FILE_REDIRECT && nodes[r].end - nodes[r].start > 2 &&
		    !memcmp(s, "<&", 2) && ((s[2] >= '3' && s[2] <= '9') || strchr("$\"", s[2])))
			special(p, "shell-descriptor", c->node);
	}
}

#define LINE_MAX_BYTES 2048 /* of a command that a pattern of the user looks at as a whole */

static bool any_word(const struct bj_danger_use *use, bool whole,
		     bool (*test)(const void *ctx, const char *s, size_t len), const void *ctx)
{
	const struct bj_sh_pass *p = use->ctx;
	const struct bj_sh_command *c = &p->sh->commands[use->node];
	char line[LINE_MAX_BYTES];
	size_t n = strnlen(c->name, sizeof(line));

	memcpy(line, c->name, n);
	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++) {
		const struct bj_sh_field *f = &p->sh->fields[i];

		if (test(ctx, f->s, f->len))
			return true;
		if (n + f->len + 1 > sizeof(line))
			continue;
		line[n++] = ' ';
		memcpy(line + n, f->s, f->len);
		n += f->len;
	}
	return whole && test(ctx, line, n);
}

static void match_command(const struct bj_sh_pass *p, const struct bj_sh_command *c)
{
	if (!c->name[0])
		return;
	match_keys(p, BJ_ON_COMMAND, c->name, c, c->node);
	match_globs(p, BJ_ON_COMMAND, c->name, strlen(c->name), c, c->node);
	match_hidden_name(p, c);
	match_hidden_variable(p, c);
	match_descriptor(p, c);
	if (c->privileged)
		special(p, "privilege", c->node);
	if (c->path[0] == '/' &&
	    bj_danger_globs("/tmp/*|/var/tmp/*|/dev/shm/*", c->path, strlen(c->path)))
		special(p, "tmp-command", c->node);
	if (!c->extra)
		match_words(p, c);

	const struct bj_danger_use use = { .language = BJ_LANG_BASH,
					   .name = c->name,
					   .start = p->tree->nodes[c->node].start,
					   .end = p->tree->nodes[c->node].end,
					   .any = any_word,
					   .ctx = p,
					   .node = (uint32_t)(c - p->sh->commands) };

	bj_danger_extra(p->pass, &use);
}

static void match_redirect(const struct bj_sh_pass *p, uint32_t node)
{
	const uint32_t to = bj_node_field(p->tree, node, SHF_DESTINATION);
	char path[BJ_SH_WORD];
	uint32_t len;

	if (!to)
		return;

	const char *s = bj_sh_fold(p->sh, to, &len);
	/* for f in /var/log/a /var/log/b; do > "$f"; done */
	const char *words = s[0] == BJ_MARK_KNOWN ? bj_sh_loop_words(p->sh, to) : NULL;

	if (!words) {
		match_globs(p, BJ_ON_REDIRECT, path, bj_sh_normal_path(s, len, path), NULL, node);
		return;
	}
	while (*words) {
		const size_t n = strcspn(words, "\x02");

		match_globs(p, BJ_ON_REDIRECT, path, bj_sh_normal_path(words, n, path), NULL, node);
		words += n + (words[n] != '\0');
	}
}

static void match_assignment(const struct bj_sh_pass *p, uint32_t node)
{
	const uint32_t name = bj_node_field(p->tree, node, SHF_NAME);
	char text[64] = "";

	if (!name)
		return;

	const struct bj_node *n = &p->tree->nodes[name];

	if (n->end - n->start >= sizeof(text))
		return;
	memcpy(text, p->tree->text + n->start, n->end - n->start);
	match_keys(p, BJ_ON_ASSIGN, text, NULL, node);
}

bool bj_sh_in_background(const struct bj_tree *tree, uint32_t node)
{
	size_t i = tree->nodes[node].end;

	while (i < tree->size && (tree->text[i] == ' ' || tree->text[i] == '\t'))
		i++;
	return i < tree->size && tree->text[i] == '&' &&
	       (i + 1 >= tree->size || tree->text[i + 1] != '&');
}

/* A function that pipes itself into itself, or starts itself in the background: a fork bomb,
 * whatever it is called. */
static void match_function(const struct bj_sh_pass *p, uint32_t node)
{
	const struct bj_tree *tree = p->tree;
	const uint32_t name = bj_node_field(tree, node, SHF_NAME);
	uint32_t piped = 0, pipeline = 0;

	if (!name)
		return;

	const char *s = tree->text + tree->nodes[name].start;
	const size_t len = tree->nodes[name].end - tree->nodes[name].start;
	uint32_t c = bj_sh_command_at(p->sh, node);

	for (int n = 0; c < p->sh->n_commands && n < 256; c++, n++) {
		const struct bj_sh_command *call = &p->sh->commands[c];
		const uint32_t up = tree->nodes[call->node].parent;

		if (call->node >= tree->nodes[node].after)
			return;
		/* "command b" and /usr/bin/b are not the function. */
		if (strlen(call->path) != len || memcmp(call->path, s, len) != 0 ||
		    !strncmp(tree->text + tree->nodes[call->node].start, "command ", 8))
			continue;
		if (tree->nodes[up].kind == SH_PIPELINE) {
			piped = up == pipeline ? piped + 1 : 1;
			pipeline = up;
		}
		if (piped > 1 || bj_sh_in_background(tree, call->node) ||
		    (pipeline == up && bj_sh_in_background(tree, up))) {
			special(p, "fork-bomb", node);
			return;
		}
	}
}

static bool in_loop(const struct bj_tree *tree, uint32_t node)
{
	for (int up = 0; node && up < 8; up++) {
		node = tree->nodes[node].parent;
		if (tree->nodes[node].kind == SH_DO_GROUP)
			return true;
	}
	return false;
}

/* "$0 & $0" does the same with the whole script. */
static void match_self(const struct bj_sh_pass *p)
{
	uint32_t times = 0, at_once = 0;

	for (uint32_t i = 0; i < p->sh->n_commands; i++) {
		const struct bj_sh_command *c = &p->sh->commands[i];
		const uint32_t up = p->tree->nodes[c->node].parent;

		if (strcmp(c->name, "\x01"
				    "0"
				    "\x01") != 0)
			continue;
		times++;
		at_once += bj_sh_in_background(p->tree, c->node) ||
			   p->tree->nodes[up].kind == SH_PIPELINE;
		if (at_once && (times == 2 || in_loop(p->tree, c->node))) {
			special(p, "self-fork", c->node);
			return;
		}
	}
}

static void match_nodes(const struct bj_sh_pass *p)
{
	for (uint32_t i = 0; i < p->sh->n_marked; i++) {
		const uint32_t node = p->sh->marked[i];

		switch (p->tree->nodes[node].kind) {
		case SH_FILE_REDIRECT:
			match_redirect(p, node);
			break;
		case SH_VARIABLE_ASSIGNMENT:
			match_assignment(p, node);
			break;
		case SH_FUNCTION_DEFINITION:
			match_function(p, node);
			break;
		default:
			break;
		}
	}
}

int bj_dangers_bash(const struct bj_danger_pass *pass, const struct bj_tree *tree,
		    struct bj_err *err)
{
	struct bj_sh *sh = tree->sh;
	const struct bj_sh_pass p = { .pass = pass, .sh = sh, .tree = tree };

	for (uint32_t i = 0; i < sh->n_commands; i++)
		match_command(&p, &sh->commands[i]);
	match_nodes(&p);
	match_self(&p);
	bj_sh_flows(&p);
	if (sh->gave_up)
		bj_danger_special(pass, BJ_LANG_BASH, "gave-up", 0, tree->size);
	return bj_sh_nested(&p, err);
}
