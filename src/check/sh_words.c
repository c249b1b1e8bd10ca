/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "check/shell_parts.h"
#include "grammar_bash.h"

#include <ctype.h>

/* Words of the shell as the shell would see them after quote removal. */

#define CHUNK_SIZE 8192
#define NESTED_MAX 6

struct bj_sh_chunk {
	struct bj_sh_chunk *next;
	size_t used, size;
	char data[];
};

struct word {
	char s[BJ_SH_WORD];
	size_t n;
};

static void add(struct word *w, const char *s, size_t n)
{
	const size_t room = sizeof(w->s) - 1 - w->n;

	if (n > room)
		n = room;
	memcpy(w->s + w->n, s, n);
	w->n += n;
}

static void add_char(struct word *w, char c)
{
	/* The marks are ours: a script cannot write them. */
	if (c == BJ_MARK_KNOWN || c == BJ_MARK_UNSET || c == BJ_SH_SPLIT)
		c = '?';
	add(w, &c, 1);
}

static void add_mark(struct word *w, char mark, const char *name, size_t len)
{
	add(w, &mark, 1);
	add(w, name, len);
	add(w, &mark, 1);
}

static const char *keep(struct bj_sh *sh, const char *s, size_t len)
{
	struct bj_sh_chunk *chunk = sh->chunks;

	if (!chunk || chunk->size - chunk->used < len + 1) {
		const size_t room = len + 1 > CHUNK_SIZE ? len + 1 : CHUNK_SIZE;

		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk) {
			sh->failed = true;
			return "";
		}
		*chunk = (struct bj_sh_chunk){ .next = sh->chunks, .size = room };
		sh->chunks = chunk;
	}

	char *data = chunk->data + chunk->used;

	memcpy(data, s, len);
	data[len] = '\0';
	chunk->used += len + 1;
	return data;
}

void bj_sh_free_chunks(struct bj_sh *sh)
{
	while (sh->chunks) {
		struct bj_sh_chunk *next = sh->chunks->next;

		free(sh->chunks);
		sh->chunks = next;
	}
}

static void fold(struct bj_sh *sh, uint32_t node, bool quoted, unsigned depth, struct word *w);

static void add_plain(struct word *w, const char *s, size_t len, bool quoted)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\\' && i + 1 < len) {
			i++;
			if (s[i] == '\n')
				continue;
			if (quoted && !strchr("\\\"$`", s[i]))
				add_char(w, '\\');
		}
		add_char(w, s[i]);
	}
}

static size_t add_number(struct word *w, const char *s, size_t len, int base, size_t most)
{
	char digits[9] = "";
	size_t n = 0;

	while (n < most && n < len && n < 8 && isxdigit((unsigned char)s[n])) {
		digits[n] = s[n];
		n++;
	}
	add_char(w, (char)strtoul(digits, NULL, base));
	return n;
}

/* $'...' */
static void add_ansi(struct word *w, const char *s, size_t len)
{
	static const char from[] = "abeEfnrtv\\'\"?", to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";

	for (size_t i = 0; i < len; i++) {
		if (s[i] != '\\' || i + 1 >= len) {
			add_char(w, s[i]);
			continue;
		}
		i++;

		const char *at = memchr(from, s[i], sizeof(from) - 1);

		if (at)
			add_char(w, to[at - from]);
		else if (s[i] == 'x' || s[i] == 'u' || s[i] == 'U')
			i += add_number(w, s + i + 1, len - i - 1, 16,
					s[i] == 'x'   ? 2
					: s[i] == 'u' ? 4
						      : 8);
		else if (s[i] >= '0' && s[i] <= '7')
			i += add_number(w, s + i, len - i, 8, 3) - 1;
	}
}

static uint32_t hash_name(const char *s, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h ? h : 1;
}

static struct bj_sh_variable *find_variable(const struct bj_sh *sh, const char *s, size_t len)
{
	const uint32_t hash = hash_name(s, len);
	uint32_t at = hash & sh->mask_variables;

	if (!sh->variables)
		return NULL;
	while (sh->variables[at].name) {
		struct bj_sh_variable *v = &sh->variables[at];

		if (v->hash == hash && !strncmp(v->name, s, len) && !v->name[len])
			return v;
		at = (at + 1) & sh->mask_variables;
	}
	return NULL;
}

static bool grow_variables(struct bj_sh *sh)
{
	const uint32_t size = sh->variables ? (sh->mask_variables + 1) * 2 : 64;
	struct bj_sh_variable *bigger = calloc(size, sizeof(*bigger));

	if (!bigger) {
		sh->failed = true;
		return false;
	}
	for (uint32_t i = 0; sh->variables && i <= sh->mask_variables; i++) {
		uint32_t at = sh->variables[i].hash & (size - 1);

		if (!sh->variables[i].name)
			continue;
		while (bigger[at].name)
			at = (at + 1) & (size - 1);
		bigger[at] = sh->variables[i];
	}
	free(sh->variables);
	sh->variables = bigger;
	sh->mask_variables = size - 1;
	return true;
}

/* A variable keeps its constant only while nothing else is assigned to it. */
void bj_sh_assign(struct bj_sh *sh, const char *s, size_t len, const char *value)
{
	struct bj_sh_variable *v = find_variable(sh, s, len);

	if (v) {
		if (!v->value || !value || strcmp(v->value, value) != 0)
			v->value = NULL;
		return;
	}
	if ((!sh->variables || sh->n_variables * 2 > sh->mask_variables) && !grow_variables(sh))
		return;

	const uint32_t hash = hash_name(s, len);
	uint32_t at = hash & sh->mask_variables;

	while (sh->variables[at].name)
		at = (at + 1) & sh->mask_variables;
	sh->variables[at] = (struct bj_sh_variable){ hash, keep(sh, s, len), value };
	sh->n_variables++;
}

static bool is_set_by_shell(const char *s, size_t len)
{
	static const char *const names[] = { "PWD",    "OLDPWD", "USER",  "SHELL",  "TMPDIR",
					     "PATH",   "UID",    "EUID",  "RANDOM", "HOSTNAME",
					     "LINENO", "PPID",   "REPLY", "TERM",   "LANG" };

	if (!isalpha((unsigned char)s[0]) && s[0] != '_')
		return true; /* $1, $@, $? */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], s, len))
			return true;
	return false;
}

static void add_variable(struct bj_sh *sh, const char *s, size_t len, bool quoted, struct word *w)
{
	const struct bj_sh_variable *v = find_variable(sh, s, len);

	if (len == 3 && !memcmp(s, "IFS", 3) && !v) {
		const char split = BJ_SH_SPLIT;

		add(w, quoted ? " " : &split, 1);
	} else if (len == 4 && !memcmp(s, "HOME", 4) && !v) {
		add_char(w, '~');
	} else if (!v) {
		add_mark(w, is_set_by_shell(s, len) ? BJ_MARK_KNOWN : BJ_MARK_UNSET, s, len);
	} else if (!v->value) {
		add_mark(w, BJ_MARK_KNOWN, s, len);
	} else {
		const struct bj_sh_variable *ifs = find_variable(sh, "IFS", 3);
		const char *at = ifs && ifs->value && *ifs->value ? ifs->value : " \t\n";

		for (const char *p = v->value; *p; p++) {
			const char c = !quoted && strchr(at, *p) ? BJ_SH_SPLIT : *p;

			add(w, &c, 1);
		}
	}
}

/* "${a[@]}": all elements of an array. */
static bool fold_elements(struct bj_sh *sh, uint32_t node, struct word *w)
{
	const struct bj_tree *tree = sh->tree;
	const uint32_t subscript = bj_node_kind(tree, node, SH_SUBSCRIPT);
	const uint32_t name = subscript ? bj_node_field(tree, subscript, SHF_NAME) : 0;
	const uint32_t index = subscript ? bj_node_field(tree, subscript, SHF_INDEX) : 0;

	if (!name || !index || !strchr("@*", tree->text[tree->nodes[index].start]))
		return false;

	const struct bj_sh_variable *v =
		find_variable(sh, tree->text + tree->nodes[name].start,
			      tree->nodes[name].end - tree->nodes[name].start);

	if (!v || !v->value)
		return false;
	add(w, v->value, strlen(v->value));
	return true;
}

/* ${name}, ${name:-default}; everything else is not followed. */
static void fold_expansion(struct bj_sh *sh, uint32_t node, bool quoted, unsigned depth,
			   struct word *w)
{
	const struct bj_tree *tree = sh->tree;
	uint32_t name = bj_node_kind(tree, node, SH_VARIABLE_NAME);
	const struct bj_node *at = &tree->nodes[node];

	if (!name)
		name = bj_node_kind(tree, node, SH_SPECIAL_VARIABLE_NAME);
	if (!name && fold_elements(sh, node, w))
		return;
	if (!name) {
		add_mark(w, BJ_MARK_KNOWN, "", 0);
		return;
	}

	const char *s = tree->text + tree->nodes[name].start;
	const size_t len = tree->nodes[name].end - tree->nodes[name].start;
	const char *rest = s + len;
	const uint32_t value = tree->nodes[name].next;

	if (at->kind == SH_SIMPLE_EXPANSION || *rest == '}') {
		if (s[-1] == '#' || s[-1] == '!')
			add_mark(w, BJ_MARK_KNOWN, s, len);
		else
			add_variable(sh, s, len, quoted, w);
		return;
	}
	/* "${HOME:?}" is HOME or nothing. */
	if (rest[0] == ':' && rest[1] == '?' && len == 4 && !memcmp(s, "HOME", 4)) {
		add_variable(sh, s, len, quoted, w);
		return;
	}
	if ((rest[0] == '-' || (rest[0] == ':' && rest[1] == '-')) && !find_variable(sh, s, len) &&
	    !is_set_by_shell(s, len)) {
		uint32_t last = value;

		while (last && tree->nodes[last].next)
			last = tree->nodes[last].next;
		if (last)
			fold(sh, last, quoted, depth + 1, w);
		return;
	}
	add_mark(w, BJ_MARK_KNOWN, s, len);
}

/* $(echo rm) is rm; other output is not known. */
static void fold_substitution(struct bj_sh *sh, uint32_t node, bool quoted, unsigned depth,
			      struct word *w)
{
	const struct bj_tree *tree = sh->tree;
	const uint32_t command = bj_node_child(tree, node);
	const uint32_t name =
		command && tree->nodes[command].kind == SH_COMMAND && !tree->nodes[command].next
			? bj_node_field(tree, command, SHF_NAME)
			: 0;
	struct word first = { .n = 0 };

	if (name)
		fold(sh, name, false, depth + 1, &first);
	first.s[first.n] = '\0';
	if (strcmp(first.s, "echo") != 0 && strcmp(first.s, "printf") != 0) {
		add_mark(w, BJ_MARK_KNOWN, "()", 2);
		return;
	}

	bool any = false;

	for (uint32_t c = tree->nodes[name].next; c; c = tree->nodes[c].next) {
		struct word arg = { .n = 0 };

		fold(sh, c, quoted, depth + 1, &arg);
		if (arg.n && (arg.s[0] == '-' || (arg.s[0] == '%' && first.s[0] == 'p')))
			continue;
		if (any)
			add(w, quoted ? " " : "\x02", 1);
		add(w, arg.s, arg.n);
		any = true;
	}
}

/* A double-quoted string: what lies between its parts is text as well. */
static void fold_string(struct bj_sh *sh, uint32_t node, unsigned depth, struct word *w)
{
	const struct bj_tree *tree = sh->tree;
	uint32_t at = tree->nodes[node].start + 1;
	const uint32_t end = tree->nodes[node].end - 1;

	for (uint32_t c = bj_node_child(tree, node); c; c = tree->nodes[c].next) {
		if (tree->nodes[c].kind == SH_STRING_CONTENT || tree->nodes[c].start < at)
			continue;
		add_plain(w, tree->text + at, tree->nodes[c].start - at, true);
		fold(sh, c, true, depth + 1, w);
		at = tree->nodes[c].end;
	}
	if (end > at)
		add_plain(w, tree->text + at, end - at, true);
}

static void fold_parts(struct bj_sh *sh, uint32_t node, bool quoted, unsigned depth, struct word *w)
{
	for (uint32_t c = bj_node_child(sh->tree, node); c; c = sh->tree->nodes[c].next)
		fold(sh, c, quoted, depth + 1, w);
}

static void fold(struct bj_sh *sh, uint32_t node, bool quoted, unsigned depth, struct word *w)
{
	const struct bj_node *at = &sh->tree->nodes[node];
	const char *s = sh->tree->text + at->start;
	const size_t len = at->end - at->start;

	if (depth > NESTED_MAX) {
		add_mark(w, BJ_MARK_KNOWN, "", 0);
		return;
	}
	switch (at->kind) {
	case SH_RAW_STRING:
		for (size_t i = 1; i + 1 < len; i++)
			add_char(w, s[i]);
		break;
	case SH_ANSI_C_STRING:
		if (len > 3)
			add_ansi(w, s + 2, len - 3);
		break;
	case SH_STRING:
		fold_string(sh, node, depth, w);
		break;
	case SH_TRANSLATED_STRING:
	case SH_CONCATENATION:
	case SH_COMMAND_NAME:
		fold_parts(sh, node, quoted, depth, w);
		break;
	case SH_SIMPLE_EXPANSION:
	case SH_EXPANSION:
		fold_expansion(sh, node, quoted, depth, w);
		break;
	case SH_COMMAND_SUBSTITUTION:
		fold_substitution(sh, node, quoted, depth, w);
		break;
	case SH_PROCESS_SUBSTITUTION:
		add_mark(w, BJ_MARK_KNOWN, "<()", 3);
		break;
	case SH_ARITHMETIC_EXPANSION:
		add_mark(w, BJ_MARK_KNOWN, "(())", 4);
		break;
	default:
		add_plain(w, s, len, quoted);
	}
}

const char *bj_sh_fold_array(struct bj_sh *sh, uint32_t node)
{
	const char split = BJ_SH_SPLIT;
	struct word w = { .n = 0 };

	for (uint32_t c = bj_node_child(sh->tree, node); c; c = sh->tree->nodes[c].next) {
		if (w.n)
			add(&w, &split, 1);
		fold(sh, c, false, 1, &w);
	}
	return keep(sh, w.s, w.n);
}

const char *bj_sh_fold(struct bj_sh *sh, uint32_t node, uint32_t *ret_len)
{
	struct word w = { .n = 0 };

	fold(sh, node, false, 0, &w);
	*ret_len = (uint32_t)w.n;
	return keep(sh, w.s, w.n);
}
