/* SPDX-License-Identifier: Apache-2.0 */
#include "check/shell_parts.h"
#include "grammar_bash.h"

/* The variables that a script sets, and what is known of their values. */

#define LOOP_WORDS 128 /* bytes of what several loops with one variable go through */

static uint32_t hash_name(const char *s, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h ? h : 1;
}

static struct bj_sh_variable *find_named(const struct bj_sh *sh, const char *s, size_t len)
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

struct bj_sh_variable *bj_sh_variable(const struct bj_sh *sh, const char *s, size_t len)
{
	struct bj_sh_variable *v = find_named(sh, s, len);
	struct bj_sh_variable *meant =
		v && v->refers && v->value ? find_named(sh, v->value, strlen(v->value)) : NULL;

	return meant ? meant : v;
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

static struct bj_sh_variable *add_variable_named(struct bj_sh *sh, const char *s, size_t len)
{
	if ((!sh->variables || sh->n_variables * 2 > sh->mask_variables) && !grow_variables(sh))
		return NULL;

	const uint32_t hash = hash_name(s, len);
	uint32_t at = hash & sh->mask_variables;

	while (sh->variables[at].name)
		at = (at + 1) & sh->mask_variables;
	sh->variables[at] = (struct bj_sh_variable){ .hash = hash, .name = bj_sh_keep(sh, s, len) };
	sh->n_variables++;
	return &sh->variables[at];
}

/* A variable keeps its constant only while nothing else is assigned to it. */
void bj_sh_assign(struct bj_sh *sh, const char *s, size_t len, const char *value)
{
	struct bj_sh_variable *v = bj_sh_variable(sh, s, len);

	if (v) {
		if (!v->value || !value || strcmp(v->value, value) != 0)
			v->value = NULL;
		v->words = NULL;
		return;
	}
	v = add_variable_named(sh, s, len);
	if (v)
		v->value = value;
}

static const char SPLIT[] = { BJ_SH_SPLIT, '\0' };

/* Whether the @len bytes at @word are one of the words in @all. */
static bool is_among(const char *all, const char *word, size_t len)
{
	for (const char *p = all; p; p = strchr(p, BJ_SH_SPLIT)) {
		p += *p == BJ_SH_SPLIT;
		if (strcspn(p, SPLIT) == len && memcmp(p, word, len) == 0)
			return true;
	}
	return false;
}

/* Those of @more that are not yet in @words, added to them as long as there is room: every command
 * that names the variable has all of them. */
static const char *join_words(struct bj_sh *sh, const char *words, const char *more)
{
	char all[LOOP_WORDS];
	size_t n = strlen(words);

	if (n >= sizeof(all))
		return words;
	memcpy(all, words, n + 1);
	while (*more) {
		const size_t len = strcspn(more, SPLIT);

		if (!is_among(all, more, len) && n + len + 2 <= sizeof(all))
			n += (size_t)snprintf(all + n, sizeof(all) - n, "%c%.*s", BJ_SH_SPLIT,
					      (int)len, more);
		more += len + (more[len] == BJ_SH_SPLIT);
	}
	return bj_sh_keep(sh, all, n);
}

void bj_sh_assign_words(struct bj_sh *sh, const char *s, size_t len, const char *words)
{
	struct bj_sh_variable *v = bj_sh_variable(sh, s, len);
	const bool known = v;
	const char *before = v ? v->words : NULL;

	/* Several loops with one variable: the words of all of them. */
	if (before && words)
		words = join_words(sh, before, words);
	bj_sh_assign(sh, s, len, NULL);
	v = bj_sh_variable(sh, s, len);
	if (v && (!known || before))
		v->words = words ? words : before;
}

void bj_sh_assign_hidden(struct bj_sh *sh, const char *s, size_t len)
{
	struct bj_sh_variable *v = bj_sh_variable(sh, s, len);

	if (v)
		v->hidden = true;
}

void bj_sh_assign_input(struct bj_sh *sh, const char *s, size_t len)
{
	struct bj_sh_variable *v = bj_sh_variable(sh, s, len);

	if (v)
		v->input = true;
}

/* $(<file) and "$(<file)" */
static bool is_file_text(const struct bj_tree *tree, uint32_t node)
{
	const uint32_t inner =
		tree->nodes[node].kind == SH_STRING ? bj_node_child(tree, node) : node;

	return inner && tree->nodes[inner].kind == SH_COMMAND_SUBSTITUTION &&
	       bj_node_kind(tree, inner, SH_FILE_REDIRECT) == inner + 1;
}

/* Whether a command inside @node decodes or fetches what it writes. */
static bool holds_hidden(const struct bj_tree *tree, uint32_t node)
{
	static const char names[] = "base64|base32|basenc|xxd|openssl|uudecode|rev|gpg|curl|wget|"
				    "fetch|lynx|w3m|dig|nslookup|nc|ncat";

	for (uint32_t i = node; i < tree->nodes[node].after && i < node + 64; i++)
		if (tree->nodes[i].kind == SH_COMMAND_NAME &&
		    bj_danger_globs(names, tree->text + tree->nodes[i].start,
				    tree->nodes[i].end - tree->nodes[i].start))
			return true;
	return is_file_text(tree, node);
}

/* NAME+=more */
static const char *appended(struct bj_sh *sh, const char *s, size_t len, const char *more)
{
	struct bj_sh_variable *v = bj_sh_variable(sh, s, len);
	char whole[BJ_SH_WORD];
	const size_t n = v && v->value ? strlen(v->value) : 0;
	const size_t n_more = more ? strlen(more) : 0;

	if (!v || !v->value || !more || n + n_more >= sizeof(whole))
		return NULL;
	memcpy(whole, v->value, n);
	memcpy(whole + n, more, n_more);
	return v->value = bj_sh_keep(sh, whole, n + n_more);
}

/* x=${x%y}, x="$x.z": what was known of it is made into something else. */
static bool updates_itself(const struct bj_tree *tree, uint32_t value, const char *s, size_t len)
{
	for (uint32_t i = value; i < tree->nodes[value].after && i < value + 8; i++)
		if (tree->nodes[i].kind == SH_VARIABLE_NAME &&
		    tree->nodes[i].end - tree->nodes[i].start == len &&
		    !memcmp(tree->text + tree->nodes[i].start, s, len))
			return true;
	return false;
}

/* declare -n, local -n */
static bool is_reference(const struct bj_tree *tree, uint32_t node)
{
	const uint32_t up = tree->nodes[node].parent;
	uint32_t c = tree->nodes[up].kind == SH_DECLARATION_COMMAND ? bj_node_child(tree, up) : 0;

	/* Options come first. */
	for (int n = 0; c && c != node && n < 4; n++, c = tree->nodes[c].next) {
		const char *s = tree->text + tree->nodes[c].start;

		if (tree->nodes[c].kind == SH_WORD && *s == '-' &&
		    memchr(s, 'n', tree->nodes[c].end - tree->nodes[c].start))
			return true;
	}
	return false;
}

static void read_assignment(struct bj_sh *sh, uint32_t node)
{
	const struct bj_tree *tree = sh->tree;
	const uint32_t name = bj_node_field(tree, node, SHF_NAME);
	const uint32_t value = bj_node_field(tree, node, SHF_VALUE);
	const char *text = value ? NULL : "";
	uint32_t len;

	if (!name || tree->nodes[name].kind != SH_VARIABLE_NAME)
		return;
	if (value) {
		text = tree->nodes[value].kind == SH_ARRAY ? bj_sh_fold_array(sh, value)
							   : bj_sh_fold(sh, value, &len);
		if (strchr(text, BJ_MARK_KNOWN) || strchr(text, BJ_MARK_UNSET))
			text = NULL;
	}

	const char *s = tree->text + tree->nodes[name].start;
	const size_t n = tree->nodes[name].end - tree->nodes[name].start;

	/* An array that grows is not followed. */
	if (s[n] == '+')
		text = value && tree->nodes[value].kind != SH_ARRAY ? appended(sh, s, n, text)
								    : NULL;
	if (value && text && updates_itself(tree, value, s, n)) {
		struct bj_sh_variable *v = bj_sh_variable(sh, s, n);

		if (v && v->value)
			v->value = text;
	}
	bj_sh_assign(sh, s, n, text);
	if (is_reference(tree, node) && find_named(sh, s, n))
		find_named(sh, s, n)->refers = true;
	if (value && !text && holds_hidden(tree, value))
		bj_sh_assign_hidden(sh, s, n);
}

/* for x in /bin /usr */
static void read_loop(struct bj_sh *sh, uint32_t node)
{
	const struct bj_tree *tree = sh->tree;
	const uint32_t v = bj_node_field(tree, node, SHF_VARIABLE);
	char words[BJ_SH_WORD];
	size_t n = 0;

	if (!v)
		return;
	for (uint32_t c = bj_node_child(tree, node); c; c = tree->nodes[c].next) {
		uint32_t len;
		const char *s;

		if (tree->nodes[c].field != SHF_VALUE)
			continue;
		s = bj_sh_fold(sh, c, &len);
		if (!len || n + len + 1 >= sizeof(words) || strchr(s, BJ_MARK_KNOWN) ||
		    strchr(s, BJ_MARK_UNSET))
			continue;
		if (n)
			words[n++] = BJ_SH_SPLIT;
		memcpy(words + n, s, len);
		n += len;
	}
	bj_sh_assign_words(sh, tree->text + tree->nodes[v].start,
			   tree->nodes[v].end - tree->nodes[v].start,
			   n ? bj_sh_keep(sh, words, n) : NULL);
}

static void assign_word(struct bj_sh *sh, uint32_t node, const char *value)
{
	bj_sh_assign(sh, sh->tree->text + sh->tree->nodes[node].start,
		     sh->tree->nodes[node].end - sh->tree->nodes[node].start, value);
}

/* read x, mapfile x, getopts x: set, to nothing that is known but <<< "text". */
static void read_read(struct bj_sh *sh, uint32_t node, uint32_t first)
{
	const struct bj_tree *tree = sh->tree;
	const uint32_t here = bj_node_kind(tree, node, SH_HERESTRING_REDIRECT);
	const uint32_t text = here ? bj_node_child(tree, here) : 0;
	const char *value = NULL;
	uint32_t len, last = 0, n = 0;

	for (uint32_t c = first; c; c = tree->nodes[c].next)
		if (tree->nodes[c].kind == SH_WORD && tree->text[tree->nodes[c].start] != '-') {
			last = c;
			n++;
		}
	if (text)
		value = bj_sh_fold(sh, text, &len);
	if (value && (strchr(value, BJ_MARK_KNOWN) || strchr(value, BJ_MARK_UNSET)))
		value = NULL;
	for (uint32_t c = first; c; c = tree->nodes[c].next)
		if (tree->nodes[c].kind == SH_WORD) {
			assign_word(sh, c, n == 1 && c == last ? value : NULL);
			if (c == last && !value)
				bj_sh_assign_input(sh, tree->text + tree->nodes[c].start,
						   tree->nodes[c].end - tree->nodes[c].start);
		}
}

/* printf -v x format words */
static void read_printf(struct bj_sh *sh, uint32_t node, uint32_t first)
{
	const struct bj_tree *tree = sh->tree;
	const uint32_t name = first ? tree->nodes[first].next : 0;

	if (!name || tree->nodes[first].end - tree->nodes[first].start != 2 ||
	    memcmp(tree->text + tree->nodes[first].start, "-v", 2) != 0)
		return;

	const char *made = bj_sh_printed(sh, node, 2);

	if (made && (strchr(made, BJ_MARK_KNOWN) || strchr(made, BJ_MARK_UNSET)))
		made = NULL;
	assign_word(sh, name, made);
}

/* set -- a b: the words of a script without functions, which have their own. */
static void read_set(struct bj_sh *sh, uint32_t first)
{
	const struct bj_tree *tree = sh->tree;
	char all[BJ_SH_WORD], name = '0';
	size_t n = 0;

	if (sh->n_functions || !first || tree->nodes[first].end - tree->nodes[first].start != 2 ||
	    memcmp(tree->text + tree->nodes[first].start, "--", 2) != 0)
		return;
	for (uint32_t c = tree->nodes[first].next; c && name < '9'; c = tree->nodes[c].next) {
		uint32_t len;
		const char *s = bj_sh_fold(sh, c, &len);

		if (strchr(s, BJ_MARK_KNOWN) || strchr(s, BJ_MARK_UNSET) ||
		    n + len + 1 >= sizeof(all))
			return;
		name++;
		bj_sh_assign(sh, &name, 1, s);
		if (n)
			all[n++] = BJ_SH_SPLIT;
		memcpy(all + n, s, len);
		n += len;
	}
	if (n) {
		const char *kept = bj_sh_keep(sh, all, n);

		bj_sh_assign(sh, "@", 1, kept);
		bj_sh_assign(sh, "*", 1, kept);
	}
}

/* : "${x:=text}" */
static void read_default(struct bj_sh *sh, uint32_t command)
{
	const struct bj_tree *tree = sh->tree;

	for (uint32_t i = command; i < tree->nodes[command].after && i < command + 64; i++) {
		const uint32_t name = tree->nodes[i].kind == SH_EXPANSION
					      ? bj_node_kind(tree, i, SH_VARIABLE_NAME)
					      : 0;
		const char *op = name && tree->nodes[name].end + 2 <= tree->nodes[i].end
					 ? tree->text + tree->nodes[name].end
					 : "";
		uint32_t len;

		if (*op != '=' && (op[0] != ':' || op[1] != '='))
			continue;

		const char *made = bj_sh_fold(sh, i, &len);

		if (len && !strchr(made, BJ_MARK_KNOWN) && !strchr(made, BJ_MARK_UNSET) &&
		    !bj_sh_variable(sh, tree->text + tree->nodes[name].start,
				    tree->nodes[name].end - tree->nodes[name].start))
			assign_word(sh, name, made);
	}
}

static inline bool is(const char *s, size_t len, const char *name)
{
	return len == strlen(name) && !memcmp(s, name, len);
}

static void read_other_names(struct bj_sh *sh, uint32_t node)
{
	const struct bj_tree *tree = sh->tree;

	if (tree->nodes[node].kind == SH_FOR_STATEMENT) {
		read_loop(sh, node);
		return;
	}

	const uint32_t name = bj_node_field(tree, node, SHF_NAME);

	if (!name)
		return;

	const char *s = tree->text + tree->nodes[name].start;
	const size_t len = tree->nodes[name].end - tree->nodes[name].start;
	const uint32_t first = tree->nodes[name].next;

	if (is(s, len, "read") || is(s, len, "mapfile") || is(s, len, "readarray") ||
	    is(s, len, "getopts"))
		read_read(sh, node, first);
	else if (is(s, len, "printf"))
		read_printf(sh, node, first);
	else if (is(s, len, "set"))
		read_set(sh, first);
	else if (is(s, len, ":") || is(s, len, "true"))
		read_default(sh, node);
}

void bj_sh_read_variables(struct bj_sh *sh)
{
	for (uint32_t i = 0; i < sh->n_marked && !sh->failed; i++) {
		const uint32_t node = sh->marked[i];
		const uint16_t kind = sh->tree->nodes[node].kind;

		if (kind == SH_VARIABLE_ASSIGNMENT)
			read_assignment(sh, node);
		else if (kind == SH_FOR_STATEMENT || kind == SH_COMMAND)
			read_other_names(sh, node);
	}
}
