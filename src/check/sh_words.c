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
	if (w->n < sizeof(w->s) - 1)
		w->s[w->n++] = c;
}

static void add_mark(struct word *w, char mark, const char *name, size_t len)
{
	add(w, &mark, 1);
	add(w, name, len);
	add(w, &mark, 1);
}

const char *bj_sh_keep(struct bj_sh *sh, const char *s, size_t len)
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

/* How many bytes at @s stand for themselves in a word. */
static size_t plain_bytes(const char *s, size_t len)
{
	static const bool other[256] = {
		['\\'] = true, [BJ_MARK_KNOWN] = true, [BJ_MARK_UNSET] = true, [BJ_SH_SPLIT] = true
	};
	size_t n = 0;

	while (n < len && !other[(unsigned char)s[n]])
		n++;
	return n;
}

static void add_plain(struct word *w, const char *s, size_t len, bool quoted)
{
	const size_t plain = plain_bytes(s, len);

	add(w, s, plain);
	for (size_t i = plain; i < len; i++) {
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

static void add_raw(struct word *w, const char *s, size_t len)
{
	while (len) {
		const size_t plain = plain_bytes(s, len);

		add(w, s, plain);
		if (plain < len)
			add_char(w, s[plain]);
		s += plain + (plain < len);
		len -= plain + (plain < len);
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

const char *bj_sh_loop_words(struct bj_sh *sh, uint32_t node)
{
	const struct bj_tree *tree = sh->tree;
	const struct bj_node *nodes = tree->nodes;
	uint32_t inner = node;

	if (nodes[inner].kind == SH_STRING) {
		inner = bj_node_child(tree, node);
		/* "$x" and nothing else */
		if (!inner || nodes[inner].next || nodes[inner].start != nodes[node].start + 1 ||
		    nodes[inner].end != nodes[node].end - 1)
			return NULL;
	}
	if (nodes[inner].kind != SH_SIMPLE_EXPANSION && nodes[inner].kind != SH_EXPANSION)
		return NULL;

	const uint32_t name = bj_node_child(tree, inner);
	const struct bj_sh_variable *v =
		name && nodes[name].kind == SH_VARIABLE_NAME && !nodes[name].next
			? bj_sh_variable(sh, tree->text + nodes[name].start,
					 nodes[name].end - nodes[name].start)
			: NULL;

	return v ? v->words : NULL;
}

static bool is_set_by_shell(const char *s, size_t len)
{
	static const char *const names[] = { "PWD",    "OLDPWD", "USER",  "SHELL",  "TMPDIR",
					     "PATH",   "UID",    "EUID",  "RANDOM", "HOSTNAME",
					     "LINENO", "PPID",   "REPLY", "TERM",   "LANG" };

	if (len == 0 || (!isalpha((unsigned char)s[0]) && s[0] != '_'))
		return true; /* $1, $@, $?, or a name that is missing */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], s, len))
			return true;
	return false;
}

/* A value that is known; unquoted, it makes as many fields as it has words. */
static void add_value(struct bj_sh *sh, const char *value, bool quoted, struct word *w)
{
	const struct bj_sh_variable *ifs = bj_sh_variable(sh, "IFS", 3);
	const char *at = ifs && ifs->value && *ifs->value ? ifs->value : " \t\n";

	for (const char *p = value; *p; p++) {
		const char c = !quoted && strchr(at, *p) ? BJ_SH_SPLIT : *p;

		add(w, &c, 1);
	}
}

static void add_variable(struct bj_sh *sh, const char *s, size_t len, bool quoted, struct word *w)
{
	const struct bj_sh_variable *v = bj_sh_variable(sh, s, len);

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
		add_value(sh, v->value, quoted, w);
	}
}

/* "${a[@]}": all elements of an array. */
static bool fold_elements(struct bj_sh *sh, uint32_t node, struct word *w)
{
	const struct bj_tree *tree = sh->tree;
	const uint32_t subscript = bj_node_kind(tree, node, SH_SUBSCRIPT);
	const uint32_t name = subscript ? bj_node_field(tree, subscript, SHF_NAME) : 0;
	const uint32_t index = subscript ? bj_node_field(tree, subscript, SHF_INDEX) : 0;

	if (!name || !index)
		return false;

	const struct bj_sh_variable *v =
		bj_sh_variable(sh, tree->text + tree->nodes[name].start,
			       tree->nodes[name].end - tree->nodes[name].start);
	const char *which = tree->text + tree->nodes[index].start;
	const char *from = v ? v->value : NULL;

	if (!from || !strchr("@*0123456789", *which))
		return false;
	if (*which == '@' || *which == '*') {
		add(w, from, strlen(from));
		return true;
	}
	for (unsigned long i = strtoul(which, NULL, 10); i > 0 && from; i--) {
		from = strchr(from, BJ_SH_SPLIT);
		from = from ? from + 1 : NULL;
	}
	if (from)
		add(w, from, strcspn(from, "\x02"));
	return from != NULL;
}

/* "${!name}": the variable that another one names. */
static bool fold_indirect(struct bj_sh *sh, const char *s, size_t len, bool quoted, struct word *w)
{
	const struct bj_sh_variable *v = bj_sh_variable(sh, s, len);
	const struct bj_sh_variable *to =
		v && v->value ? bj_sh_variable(sh, v->value, strlen(v->value)) : NULL;

	if (!to || !to->value)
		return false;
	add_value(sh, to->value, quoted, w);
	return true;
}

/* "${name:1:2}" and its like, of a constant. */
static bool fold_operated(struct bj_sh *sh, const char *s, size_t len, const char *rest,
			  size_t rest_len, bool quoted, struct word *w)
{
	const struct bj_sh_variable *v = bj_sh_variable(sh, s, len);
	char made[BJ_SH_WORD];
	size_t n;

	if (!v || !v->value || memchr(rest, '$', rest_len) || memchr(rest, '`', rest_len) ||
	    memchr(rest, '"', rest_len) || memchr(rest, '\'', rest_len) ||
	    memchr(rest, '\\', rest_len) || !bj_sh_operate(v->value, rest, rest_len, made, &n))
		return false;
	made[n] = '\0';
	add_value(sh, made, quoted, w);
	return true;
}

/* "${HOME:0:1}" is a slash that is not written. */
static bool is_hidden_slash(struct bj_sh *sh, const char *s, size_t len, const char *rest)
{
	static const char *const paths[] = { "HOME", "PATH", "PWD", "OLDPWD", "SHELL", "BASH" };

	if (strncmp(rest, ":0:1}", 5) != 0 || bj_sh_variable(sh, s, len))
		return false;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (strlen(paths[i]) == len && !memcmp(paths[i], s, len))
			return true;
	return false;
}

/* The '-' of ":-" and "-", which @left bytes at @rest begin with; '\0': the script ends there. */
static char operator_at(const char *rest, size_t left)
{
	const size_t i = left && rest[0] == ':';

	return i < left ? rest[i] : '\0';
}

/* "${name:-default}", "${name:?}" and "${name:=x}" of a constant are the constant. */
static bool fold_guarded(struct bj_sh *sh, const char *s, size_t len, char op, bool quoted,
			 struct word *w)
{
	const struct bj_sh_variable *v = bj_sh_variable(sh, s, len);

	if (!v || !v->value || !*v->value || (op != '-' && op != '?' && op != '='))
		return false;
	add_value(sh, v->value, quoted, w);
	return true;
}

/* ${name}, ${name:-default}, and operators on constants; everything else is not followed. */
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

	const size_t left = (size_t)(tree->text + at->end - rest);
	const char op = operator_at(rest, left);

	if (at->kind == SH_SIMPLE_EXPANSION || !left || *rest == '}') {
		if (s[-1] == '!' && fold_indirect(sh, s, len, quoted, w))
			return;
		if (s[-1] == '#' || s[-1] == '!')
			add_mark(w, BJ_MARK_KNOWN, s, len);
		else
			add_variable(sh, s, len, quoted, w);
		return;
	}
	if (s[-1] == '{' && at->end > at->start + 3 &&
	    fold_operated(sh, s, len, rest, (size_t)(tree->text + at->end - 1 - rest), quoted, w))
		return;
	if (s[-1] == '{' && fold_guarded(sh, s, len, op, quoted, w))
		return;
	if (s[-1] == '{' && left >= 5 && is_hidden_slash(sh, s, len, rest)) {
		add_char(w, '/');
		return;
	}
	/* "${HOME:?}" is HOME or nothing. */
	if (rest[0] == ':' && op == '?' && len == 4 && !memcmp(s, "HOME", 4)) {
		add_variable(sh, s, len, quoted, w);
		return;
	}
	if ((op == '-' || op == '=') && !bj_sh_variable(sh, s, len) && !is_set_by_shell(s, len)) {
		uint32_t last = value;

		while (last && tree->nodes[last].next)
			last = tree->nodes[last].next;
		if (last)
			fold(sh, last, quoted, depth + 1, w);
		return;
	}
	add_mark(w, BJ_MARK_KNOWN, s, len);
}

#define ARGS_MAX 8 /* of echo and printf */

/* The words behind the name of a command, folded. */
static size_t fold_arguments(struct bj_sh *sh, uint32_t name, unsigned depth,
			     struct word args[ARGS_MAX])
{
	size_t n = 0;

	for (uint32_t c = sh->tree->nodes[name].next; c && n < ARGS_MAX;
	     c = sh->tree->nodes[c].next) {
		if (sh->tree->nodes[c].field != SHF_ARGUMENT)
			continue;
		args[n].n = 0;
		fold(sh, c, false, depth + 1, &args[n]);
		args[n].s[args[n].n] = '\0';
		n++;
	}
	return n;
}

static void add_printed(struct word *w, const struct word *args, size_t n, bool quoted)
{
	const char *texts[ARGS_MAX];
	char made[BJ_SH_WORD];

	for (size_t i = 1; i < n; i++)
		texts[i - 1] = args[i].s;

	const size_t len = bj_sh_printf(args[0].s, texts, n - 1, made, sizeof(made));

	for (size_t i = 0; i < len; i++) {
		const char c = !quoted && isspace((unsigned char)made[i]) ? BJ_SH_SPLIT : made[i];

		add(w, &c, 1);
	}
}

static void add_echoed(struct word *w, const struct word *args, size_t n, bool quoted)
{
	bool escapes = false;
	size_t i = 0;

	for (; i < n && args[i].s[0] == '-' && strspn(args[i].s + 1, "neE") == args[i].n - 1; i++)
		escapes |= strchr(args[i].s, 'e') != NULL;
	for (bool first = true; i < n; i++, first = false) {
		char made[BJ_SH_WORD];
		const size_t len =
			escapes ? bj_sh_unescape(args[i].s, args[i].n, made, sizeof(made))
				: args[i].n;

		if (!escapes)
			memcpy(made, args[i].s, len);
		if (!first)
			add(w, quoted ? " " : "\x02", 1);
		for (size_t k = 0; k < len; k++) {
			const char c = !quoted && made[k] == ' ' ? BJ_SH_SPLIT : made[k];

			add(w, &c, 1);
		}
	}
}

/* $(echo rm) is rm, $(printf '\x72\x6d') and $(which rm) as well; other output is not known. */
static void fold_substitution(struct bj_sh *sh, uint32_t node, bool quoted, unsigned depth,
			      struct word *w)
{
	const struct bj_tree *tree = sh->tree;
	const uint32_t command = bj_node_child(tree, node);
	const uint32_t name =
		command && tree->nodes[command].kind == SH_COMMAND && !tree->nodes[command].next
			? bj_node_field(tree, command, SHF_NAME)
			: 0;
	struct word first, args[ARGS_MAX];

	first.n = 0;
	if (name)
		fold(sh, name, false, depth + 1, &first);
	first.s[first.n] = '\0';

	const bool echo = !strcmp(first.s, "echo"), print = !strcmp(first.s, "printf");
	const bool where = bj_danger_globs("which|command|type", first.s, first.n);
	const size_t n = echo || print || where ? fold_arguments(sh, name, depth, args) : 0;

	if (echo)
		add_echoed(w, args, n, quoted);
	else if (print && n && args[0].s[0] != '-')
		add_printed(w, args, n, quoted);
	else if (where && n && args[n - 1].s[0] != '-' &&
		 (n == 1 ? first.s[0] == 'w' : n == 2 && args[0].s[0] == '-'))
		add(w, args[n - 1].s, args[n - 1].n);
	else
		add_mark(w, BJ_MARK_KNOWN, "()", 2);
}

const char *bj_sh_printed(struct bj_sh *sh, uint32_t command, size_t skip)
{
	const uint32_t name = bj_node_field(sh->tree, command, SHF_NAME);
	struct word args[ARGS_MAX], w = { .n = 0 };
	const size_t n = name ? fold_arguments(sh, name, 0, args) : 0;

	if (n <= skip)
		return NULL;
	add_printed(&w, args + skip, n - skip, true);
	return bj_sh_keep(sh, w.s, w.n);
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
		add_raw(w, s + 1, len > 2 ? len - 2 : 0);
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
	struct word w;

	w.n = 0;
	for (uint32_t c = bj_node_child(sh->tree, node); c; c = sh->tree->nodes[c].next) {
		if (w.n)
			add(&w, &split, 1);
		fold(sh, c, false, 1, &w);
	}
	return bj_sh_keep(sh, w.s, w.n);
}

const char *bj_sh_fold(struct bj_sh *sh, uint32_t node, uint32_t *ret_len)
{
	struct word w;

	w.n = 0;
	fold(sh, node, false, 0, &w);
	*ret_len = (uint32_t)w.n;
	return bj_sh_keep(sh, w.s, w.n);
}
