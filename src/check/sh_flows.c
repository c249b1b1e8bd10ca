/* SPDX-License-Identifier: Apache-2.0 */
#include "check/sh_terms.h"
#include "grammar_bash.h"

/* Dangers that take more than one command: what is downloaded and then run, and loops that start
 * processes without end. */

#define FILES_MAX 32 /* downloads that are remembered */

struct files {
	struct {
		const char *s;
		size_t len;
		bool by_address;
	} items[FILES_MAX];
	size_t n;
};

static void special(const struct bj_sh_pass *p, const char *name, uint32_t node)
{
	bj_danger_special(p->pass, BJ_LANG_BASH, name, p->tree->nodes[node].start,
			  p->tree->nodes[node].end);
}

static bool is_one_of(const char *names, const struct bj_sh_command *c)
{
	return bj_danger_globs(names, c->name, strlen(c->name));
}

static void plain_name(const char **s, size_t *len)
{
	while (*len > 2 && !memcmp(*s, "./", 2)) {
		*s += 2;
		*len -= 2;
	}
}

static void add_file(struct files *files, const char *s, size_t len)
{
	plain_name(&s, &len);
	if (!len || files->n == FILES_MAX || (len == 1 && s[0] == '-'))
		return;
	files->items[files->n].s = s;
	files->items[files->n].by_address = false;
	files->items[files->n++].len = len;
}

/* A file that goes by its address may stand in any directory: wget -P DIR. */
static bool has_file(const struct files *files, const char *s, size_t len)
{
	plain_name(&s, &len);

	const char *slash = memrchr(s, '/', len);
	const char *base = slash ? slash + 1 : s;
	const size_t n = len - (size_t)(base - s);

	for (size_t i = 0; i < files->n; i++) {
		const bool any = files->items[i].by_address;

		if (files->items[i].len == (any ? n : len) &&
		    !memcmp(files->items[i].s, any ? base : s, any ? n : len))
			return true;
	}
	return false;
}

/* wget URL writes to the last part of the address. */
static void add_base(struct files *files, const struct bj_sh_field *f)
{
	const char *slash = memrchr(f->s, '/', f->len);

	if (!memmem(f->s, f->len, "://", 3) || !slash)
		return;

	const size_t n = files->n;

	add_file(files, slash + 1, (size_t)(f->s + f->len - slash) - 1);
	if (files->n > n)
		files->items[n].by_address = true;
}

/* The files that a download writes: -o FILE, -O FILE of wget, > FILE, or by the address. */
static void add_downloads(const struct bj_sh_pass *p, const struct bj_sh_command *c,
			  struct files *files)
{
	const struct bj_node *nodes = p->tree->nodes;
	const bool curl = !strcmp(c->name, "curl");

	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++) {
		const struct bj_sh_field *f = &p->sh->fields[i];
		const bool named = bj_danger_globs(
			curl ? "-*o|--output" : "-*O|--output-document|-o|-r|-l", f->s, f->len);

		if (named && i + 1 < c->fields + c->n_fields)
			add_file(files, f[1].s, f[1].len);
		add_base(files, f);
	}
	if (nodes[nodes[c->node].parent].kind != SH_REDIRECTED_STATEMENT)
		return;
	for (uint32_t r = nodes[c->node].next; r; r = nodes[r].next) {
		const uint32_t to = bj_node_field(p->tree, r, SHF_DESTINATION);
		uint32_t len;

		if (nodes[r].kind == SH_FILE_REDIRECT && to) {
			const char *s = bj_sh_fold(p->sh, to, &len);

			add_file(files, s, len);
		}
	}
}

static bool runs_one(const struct bj_sh_pass *p, const struct bj_sh_command *c,
		     const struct files *files)
{
	if (has_file(files, c->path, strlen(c->path)))
		return true;
	if (!is_one_of("sh|bash|dash|zsh|ksh|ash|source|.|python*|perl|ruby|node|php", c))
		return false;
	for (uint32_t i = c->fields; i < c->fields + c->n_fields; i++)
		if (has_file(files, p->sh->fields[i].s, p->sh->fields[i].len))
			return true;
	return false;
}

static void match_downloads(const struct bj_sh_pass *p)
{
	static const char loaders[] =
		"curl|wget|aria2c|axel|fetch|tftp|ftpget|lwp-download|curlie|xh";
	static const char decoders[] = "base64|base32|basenc|xxd|uudecode|openssl";
	struct files files = { .n = 0 }, decoded = { .n = 0 };
	struct bj_sh_marks marks = { 0 };

	bj_sh_set_marks(&marks, loaders);
	bj_sh_set_marks(&marks, decoders);
	for (uint32_t i = 0; i < p->sh->n_commands; i++) {
		const struct bj_sh_command *c = &p->sh->commands[i];

		if (bj_sh_has_mark(&marks, c->name) && is_one_of(loaders, c))
			add_downloads(p, c, &files);
		else if (bj_sh_has_mark(&marks, c->name) && is_one_of(decoders, c))
			add_downloads(p, c, &decoded);
		else if (files.n && runs_one(p, c, &files))
			special(p, "download-run", c->node);
		else if (decoded.n && runs_one(p, c, &decoded))
			special(p, "decoded-run", c->node);
	}
}

/* "while true", "while :", "until false" and "for ((;;))" never end. Gives the first command of the
 * body; n_commands: it may end. */
static uint32_t endless_body(const struct bj_sh_pass *p, uint32_t loop)
{
	const struct bj_node *nodes = p->tree->nodes;
	const uint32_t i = bj_sh_command_at(p->sh, loop);
	const bool some = i < p->sh->n_commands && p->sh->commands[i].node < nodes[loop].after;
	const char *s = p->tree->text + nodes[loop].start;

	if (nodes[loop].kind == SH_C_STYLE_FOR_STATEMENT)
		return bj_node_field(p->tree, loop, SHF_CONDITION) ? p->sh->n_commands : i;
	return some && is_one_of(*s == 'u' ? "false" : "true|:", &p->sh->commands[i])
		       ? i + 1
		       : p->sh->n_commands;
}

/* A loop without end whose body starts something in the background and never waits. */
static void match_loop(const struct bj_sh_pass *p, uint32_t loop)
{
	const struct bj_node *nodes = p->tree->nodes;
	uint32_t started = 0, i = endless_body(p, loop);

	for (int n = 0; i < p->sh->n_commands && n < 64; i++, n++) {
		const struct bj_sh_command *c = &p->sh->commands[i];

		if (c->node >= nodes[loop].after)
			break;
		const uint32_t up = nodes[c->node].parent;

		if (bj_sh_in_background(p->tree, c->node) ||
		    (nodes[up].kind == SH_REDIRECTED_STATEMENT && bj_sh_in_background(p->tree, up)))
			started = c->node;
		else if (is_one_of("wait|read|sleep|break|exit|return|inotifywait", c))
			return;
	}
	if (started)
		special(p, "loop-fork", started);
}

/* Commands that give the path of a program. */
static bool gives_path(const struct bj_sh_pass *p, const struct bj_sh_command *c)
{
	static const char lookup[] = "command -";
	const struct bj_node *n = &p->tree->nodes[c->node];

	return is_one_of("which|type|realpath|readlink|npm|yarn|go|brew|getconf|xcrun|dirname|"
			 "basename|pyenv|rbenv|find|ls",
			 c) ||
	       (n->end - n->start > sizeof(lookup) &&
		!memcmp(p->tree->text + n->start, lookup, sizeof(lookup) - 1));
}

/* Whether a command inside command @at decodes what it writes, or gets it from the network. */
static bool holds_decoder(const struct bj_sh_pass *p, uint32_t at)
{
	const uint32_t end = p->tree->nodes[p->sh->commands[at].node].after;

	for (uint32_t i = at + 1; i < p->sh->n_commands && i < at + 8; i++) {
		if (p->sh->commands[i].node >= end)
			return false;
		if (is_one_of("base64|base32|basenc|xxd|rev|tr|openssl|uudecode|gpg|curl|wget|dig",
			      &p->sh->commands[i]))
			return true;
	}
	return false;
}

/* What runs is the output of a command: $(cat x). */
static void match_output(const struct bj_sh_pass *p, uint32_t at)
{
	const struct bj_sh_command *c = &p->sh->commands[at];
	const uint32_t next = at + 1;

	if (strcmp(c->name, "\x01()\x01") != 0 || c->extra)
		return;
	if (next < p->sh->n_commands &&
	    p->sh->commands[next].node < p->tree->nodes[c->node].after &&
	    gives_path(p, &p->sh->commands[next]))
		return;
	special(p, holds_decoder(p, at) ? "hidden-command" : "dynamic-command", c->node);
}

void bj_sh_flows(const struct bj_sh_pass *p)
{
	match_downloads(p);
	for (uint32_t i = 0; i < p->sh->n_commands; i++)
		match_output(p, i);
	for (uint32_t i = 0; i < p->sh->n_marked; i++) {
		const uint16_t kind = p->tree->nodes[p->sh->marked[i]].kind;

		if (kind == SH_WHILE_STATEMENT || kind == SH_C_STYLE_FOR_STATEMENT)
			match_loop(p, p->sh->marked[i]);
	}
}
