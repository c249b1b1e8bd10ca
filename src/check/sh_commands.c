/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "check/shell_parts.h"
#include "grammar_bash.h"

#include <ctype.h>
#include <errno.h>

#define LOOPED 1000 /* fields of loops, and one for every eight bytes of the script */

/* The commands of a script: their words, and the name that is left behind sudo, env and others. */

static void *grow(struct bj_sh *sh, void **items, uint32_t *n, uint32_t *room, size_t size)
{
	if (*n == *room) {
		const uint32_t more = *room ? *room * 2 : 64;
		void *grown = realloc(*items, more * size);

		if (!grown) {
			sh->failed = true;
			return NULL;
		}
		*items = grown;
		*room = more;
	}

	void *place = (char *)*items + (size_t)*n * size;

	memset(place, 0, size);
	(*n)++;
	return place;
}

static bool add_field(struct bj_sh *sh, const char *s, uint32_t len, uint32_t node)
{
	struct bj_sh_field *f =
		grow(sh, (void **)&sh->fields, &sh->n_fields, &sh->room_fields, sizeof(*f));

	if (!f)
		return false;
	*f = (struct bj_sh_field){ .s = s, .len = len, .node = node };
	return true;
}

/* Whether the words of a loop can take the place of its variable: a row of commands, each with all
 * of them, is too much to read. */
static bool may_loop(struct bj_sh *sh)
{
	sh->gave_up |= sh->looped > LOOPED + sh->tree->size / 8;
	return !sh->gave_up;
}

#define BRACES_MAX 32 /* words that one pair of braces makes */

/* /{bin,etc} is /bin and /etc. */
static bool add_braces(struct bj_sh *sh, const char *s, uint32_t len, uint32_t node)
{
	const struct bj_node *n = &sh->tree->nodes[node];
	const char *text = sh->tree->text + n->start;
	const size_t written = n->end - n->start < BJ_SH_WORD ? n->end - n->start : BJ_SH_WORD;
	size_t at = 0, from = 1, times = 0;
	const size_t size = memchr(s, '{', len) && memchr(text, '{', written)
				    ? bj_sh_find_braces(text, written, &at)
				    : 0;
	const char *group = size ? memmem(s, len, text + at, size) : NULL;

	if (!group || len > BJ_SH_WORD)
		return false;

	const size_t before = (size_t)(group - s), after = len - before - size;

	for (size_t i = 1; i < size && times < BRACES_MAX; i++) {
		char word[BJ_SH_WORD];

		if (group[i] != ',' && i + 1 < size)
			continue;
		memcpy(word, s, before);
		memcpy(word + before, group + from, i - from);
		memcpy(word + before + i - from, group + size, after);

		const size_t all = before + i - from + after;
		const char *kept = bj_sh_keep(sh, word, all);

		if (sh->failed)
			return true;
		add_field(sh, kept, (uint32_t)all, node);
		from = i + 1;
		times++;
	}
	return true;
}

/* One word may be several fields: rm${IFS}-rf${IFS}/, or "$d" in "for d in /bin /usr". */
static void add_word(struct bj_sh *sh, uint32_t node)
{
	const char *words = may_loop(sh) ? bj_sh_loop_words(sh, node) : NULL;
	uint32_t len = words ? (uint32_t)strlen(words) : 0;
	char *s = words ? (char *)bj_sh_keep(sh, words, len) : (char *)bj_sh_fold(sh, node, &len);
	uint32_t from = 0;

	for (uint32_t i = 0; i <= len; i++) {
		if (i < len && s[i] != BJ_SH_SPLIT)
			continue;
		if (i == len || s[i] == BJ_SH_SPLIT) {
			const bool whole = from == 0 && i == len;

			if (i < len)
				s[i] = '\0';
			if (whole && add_braces(sh, s, len, node))
				return;
			if (i > from || whole) {
				add_field(sh, s + from, i - from, node);
				sh->looped += words != NULL;
			}
			from = i + 1;
		}
	}
}

/* Programs that run the rest of their words. */
static const struct prefix {
	const char *name;
	const char *with_value; /* options that take the next word */
	uint32_t skip;          /* words of its own before the command */
	bool assignments;       /* NAME=value words are its own */
} prefixes[] = {
	{ "sudo", "ughpCTrtRD", 0, true },  { "doas", "uC", 0, true },
	{ "env", "uCS", 0, true },          { "command", "", 0, false },
	{ "builtin", "", 0, false },        { "exec", "a", 0, false },
	{ "nohup", "", 0, false },          { "nice", "n", 0, false },
	{ "ionice", "cnp", 0, false },      { "time", "fo", 0, false },
	{ "timeout", "sk", 1, false },      { "setsid", "", 0, false },
	{ "stdbuf", "ioe", 0, false },      { "busybox", "", 0, false },
	{ "toybox", "", 0, false },         { "xargs", "aEdILnPs", 0, false },
	{ "parallel", "jIaN", 0, false },   { "strace", "eopPs", 0, false },
	{ "unshare", "RSGw", 0, false },    { "chroot", "", 1, false },
	{ "flock", "wE", 1, false },        { "watch", "n", 0, false },
	{ "torsocks", "", 0, false },       { "proxychains", "f", 0, false },
	{ "eatmydata", "", 0, false },      { "catchsegv", "", 0, false },
	{ "chronic", "", 0, false },        { "caffeinate", "t", 0, false },
	{ "unbuffer", "", 0, false },       { "rlwrap", "", 0, false },
	{ "systemd-run", "puM", 0, false }, { "runuser", "ug", 0, false },
	{ "then", "", 0, false },           { "do", "", 0, false },
	{ "coproc", "", 0, false },         { "{", "", 0, false },
	{ "sshpass", "pfeP", 0, false },    { "taskset", "", 1, false },
	{ "chrt", "TPD", 1, false },        { "choom", "n", 0, false },
	{ "setarch", "", 1, false },        { "numactl", "NCmi", 0, false },
	{ "pkexec", "", 0, false },         { "firejail", "", 0, false },
	{ "fakeroot", "iso", 0, false },    { "setpriv", "", 0, false },
	{ "gosu", "", 1, false },           { "su-exec", "", 1, false },
	{ "cpulimit", "lpe", 0, false },    { "prlimit", "", 0, false },
	{ "valgrind", "", 0, false },       { "tini", "", 0, false },
};

/* r${NONE}m is rm: in a name, what nothing sets is nothing, and so are the words of a script that
 * gets none. */
static const char *without_unset(struct bj_sh *sh, const char *s)
{
	static const char none[] = { BJ_MARK_KNOWN, '@', BJ_MARK_KNOWN, '\0' };
	char out[BJ_SH_WORD];
	size_t n = 0;

	for (const char *at = s; *at && n + 1 < sizeof(out); at++) {
		const char *end = *at == BJ_MARK_UNSET ? strchr(at + 1, BJ_MARK_UNSET) : NULL;

		if (!end && !strncmp(at, none, 3))
			end = at + 2;
		if (end)
			at = end;
		else
			out[n++] = *at;
	}
	return n ? bj_sh_keep(sh, out, n) : s;
}

static const char *base_name(const char *s)
{
	const char *slash = strrchr(s, '/');

	return slash && slash[1] ? slash + 1 : s;
}

static void mark_prefixes(struct bj_sh *sh)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		bj_sh_set_mark(&sh->prefixes, prefixes[i].name);
}

static const struct prefix *find_prefix(const struct bj_sh *sh, const char *name)
{
	if (!bj_sh_has_mark(&sh->prefixes, name))
		return NULL;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (prefixes[i].name[0] == name[0] && !strcmp(prefixes[i].name, name))
			return &prefixes[i];
	return NULL;
}

const struct bj_sh_function *bj_sh_function(const struct bj_sh *sh, const char *name)
{
	for (uint32_t i = 0; i < sh->n_functions; i++)
		if (sh->functions[i].name[0] == name[0] && !strcmp(sh->functions[i].name, name))
			return &sh->functions[i];
	return NULL;
}

static bool is_assignment(const char *s)
{
	const size_t n =
		strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

	return n && s[n] == '=';
}

/* How many fields from @at on belong to prefix @p itself. */
static uint32_t prefix_words(const struct bj_sh *sh, const struct prefix *p, uint32_t at,
			     uint32_t end)
{
	uint32_t i = at + 1, skip = p->skip;

	while (i < end) {
		const char *s = sh->fields[i].s;

		if (!strcmp(s, "--")) {
			i++;
			break;
		}
		if (s[0] == '-' && s[1]) {
			const bool takes = s[1] != '-' && !s[2] && strchr(p->with_value, s[1]);

			i += takes ? 2 : 1;
		} else if (p->assignments && is_assignment(s)) {
			i++;
		} else if (skip) {
			skip--;
			i++;
		} else {
			break;
		}
	}
	return (i < end ? i : end) - at;
}

static void keep_command(struct bj_sh *sh, const struct bj_sh_command *command)
{
	struct bj_sh_command *c =
		grow(sh, (void **)&sh->commands, &sh->n_commands, &sh->room_commands, sizeof(*c));

	if (c)
		*c = *command;
}

static void add_command(struct bj_sh *sh, uint32_t node, uint32_t from, uint32_t end, bool extra)
{
	const char *name = "";
	bool privileged = false, filled = false;

	/* A name that an expansion begins is a variable, not letters around one. */
	if (from < end && isalpha((unsigned char)sh->fields[from].s[0]) &&
	    strpbrk(sh->fields[from].s, "\x01\x03")) {
		sh->fields[from].s = without_unset(sh, sh->fields[from].s);
		sh->fields[from].len = (uint32_t)strlen(sh->fields[from].s);
	}

	for (int n = 0; from < end && n < 16; n++) {
		name = base_name(sh->fields[from].s);

		const struct prefix *p = find_prefix(sh, name);
		const struct bj_sh_function *f = p ? NULL : bj_sh_function(sh, name);

		if (!p && !(f && f->runs))
			break;

		uint32_t words = p ? prefix_words(sh, p, from, end) : 1 + f->shifts;

		/* coproc NAME { command; } */
		if (!strcmp(name, "coproc") && from + 2 < end &&
		    !strcmp(sh->fields[from + 2].s, "{"))
			words = 2;

		/* The prefix alone is a command as well: "sudo" with nothing, "env". */
		if (from + words >= end)
			break;
		privileged |= !strcmp(name, "sudo") || !strcmp(name, "doas");
		filled |= !strcmp(name, "xargs") || !strcmp(name, "parallel");
		/* These are worth a rule of their own. */
		if (!strcmp(name, "unshare") || !strcmp(name, "chroot") ||
		    !strcmp(name, "strace")) {
			const struct bj_sh_command own = { .node = node,
							   .name = name,
							   .path = name,
							   .fields = from + 1,
							   .n_fields = words - 1,
							   .extra = true };

			keep_command(sh, &own);
		}
		from += words;
		name = base_name(sh->fields[from].s);
	}

	const struct bj_sh_command command = {
		.node = node,
		.name = from < end ? name : "",
		.path = from < end ? sh->fields[from].s : "",
		.privileged = privileged,
		.filled = filled,
		.fields = from < end ? from + 1 : end,
		.n_fields = from < end ? end - from - 1 : 0,
		.extra = extra,
	};

	keep_command(sh, &command);
}

/* find / -exec rm -rf {} \; runs rm. */
static void add_exec(struct bj_sh *sh, uint32_t node)
{
	const struct bj_sh_command c = sh->commands[sh->n_commands - 1];

	if (strcmp(c.name, "find") != 0 && strcmp(c.name, "fd") != 0)
		return;
	for (uint32_t i = c.fields; i < c.fields + c.n_fields; i++)
		if (bj_danger_globs("-exec|-execdir|-ok|-okdir|-x", sh->fields[i].s,
				    sh->fields[i].len)) {
			add_command(sh, node, i + 1, c.fields + c.n_fields, true);
			return;
		}
}

/* "rm >log -rf /": the grammar hangs words behind a redirection below it. */
static void add_late_words(struct bj_sh *sh, uint32_t command, uint32_t from)
{
	const struct bj_node *nodes = sh->tree->nodes;

	if (nodes[nodes[command].parent].kind != SH_REDIRECTED_STATEMENT)
		return;
	for (uint32_t r = nodes[command].next; r; r = nodes[r].next) {
		bool target = nodes[r].kind == SH_FILE_REDIRECT;

		for (uint32_t c = bj_node_child(sh->tree, r); c; c = nodes[c].next) {
			if (sh->n_fields - from >= BJ_SH_FIELDS)
				return;
			if (nodes[c].field == SHF_ARGUMENT ||
			    (nodes[c].field == SHF_DESTINATION && !target))
				add_word(sh, c);
			target &= nodes[c].field != SHF_DESTINATION;
		}
	}
}

static void read_command(struct bj_sh *sh, uint32_t node)
{
	const struct bj_tree *tree = sh->tree;
	const uint32_t from = sh->n_fields;
	const bool unset = tree->nodes[node].kind == SH_UNSET_COMMAND;

	if (unset)
		add_field(sh, "unset", sizeof("unset") - 1, node);
	for (uint32_t c = bj_node_child(tree, node); c; c = tree->nodes[c].next) {
		const uint16_t kind = tree->nodes[c].kind;

		if (sh->n_fields - from >= BJ_SH_FIELDS)
			break;
		if (kind == SH_VARIABLE_ASSIGNMENT || kind == SH_FILE_REDIRECT ||
		    kind == SH_HERESTRING_REDIRECT || kind == SH_HEREDOC_REDIRECT ||
		    kind == SH_COMMENT)
			continue;
		if (kind == SH_COMMAND_NAME || tree->nodes[c].field == SHF_ARGUMENT || unset)
			add_word(sh, c);
	}
	add_late_words(sh, node, from);
	add_command(sh, node, from, sh->n_fields, false);
	if (sh->n_commands)
		add_exec(sh, node);
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
	return false;
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
	bj_sh_assign(sh, s, n, text);
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
}

static uint32_t shifts_in(const struct bj_tree *tree, uint32_t body)
{
	uint32_t n = 0;

	for (uint32_t i = body; i < tree->nodes[body].after && i < body + 128; i++)
		n += tree->nodes[i].kind == SH_COMMAND_NAME &&
		     tree->nodes[i].end - tree->nodes[i].start == 5 &&
		     !memcmp(tree->text + tree->nodes[i].start, "shift", 5);
	return n;
}

static void read_function(struct bj_sh *sh, uint32_t node)
{
	const struct bj_tree *tree = sh->tree;
	const uint32_t name = bj_node_field(tree, node, SHF_NAME);
	const uint32_t body = bj_node_field(tree, node, SHF_BODY);

	if (!name || !body || sh->n_functions == BJ_SH_FUNCTIONS)
		return;
	sh->functions[sh->n_functions++] = (struct bj_sh_function){
		.name = bj_sh_keep(sh, tree->text + tree->nodes[name].start,
				   tree->nodes[name].end - tree->nodes[name].start),
		.body = body,
		.shifts = shifts_in(tree, body),
	};
}

/* "$@" as a command: the function around it runs its words. */
static void read_runner(struct bj_sh *sh, uint32_t name)
{
	const struct bj_tree *tree = sh->tree;
	const char *s = tree->text + tree->nodes[name].start;
	const size_t len = tree->nodes[name].end - tree->nodes[name].start;
	uint32_t up = name;

	if (!is(s, len, "\"$@\"") && !is(s, len, "$@") && !is(s, len, "$*") &&
	    !is(s, len, "\"$*\""))
		return;
	for (int n = 0; up && n < 16; n++, up = tree->nodes[up].parent)
		for (uint32_t i = 0; i < sh->n_functions; i++)
			sh->functions[i].runs |= sh->functions[i].body == up;
}

static void read_functions(struct bj_sh *sh)
{
	for (uint32_t i = 0; i < sh->tree->n_nodes && !sh->failed; i++) {
		if (sh->tree->nodes[i].kind == SH_FUNCTION_DEFINITION)
			read_function(sh, i);
		else if (sh->tree->nodes[i].kind == SH_COMMAND_NAME && sh->n_functions)
			read_runner(sh, i);
	}
}

static void read_variables(struct bj_sh *sh)
{
	for (uint32_t i = 0; i < sh->tree->n_nodes && !sh->failed; i++) {
		const uint16_t kind = sh->tree->nodes[i].kind;

		if (kind == SH_VARIABLE_ASSIGNMENT)
			read_assignment(sh, i);
		else if (kind == SH_FOR_STATEMENT || kind == SH_COMMAND)
			read_other_names(sh, i);
	}
}

int bj_sh_init(struct bj_sh *sh, const struct bj_tree *tree, struct bj_err *err)
{
	*sh = (struct bj_sh){ .tree = tree };
	mark_prefixes(sh);
	read_functions(sh);
	read_variables(sh);
	for (uint32_t i = 0; i < tree->n_nodes && !sh->failed; i++)
		if (tree->nodes[i].kind == SH_COMMAND || tree->nodes[i].kind == SH_UNSET_COMMAND)
			read_command(sh, i);
	if (sh->failed) {
		bj_sh_done(sh);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the script");
	}
	return 0;
}

void bj_sh_done(struct bj_sh *sh)
{
	bj_sh_free_chunks(sh);
	free(sh->variables);
	free(sh->fields);
	free(sh->commands);
	*sh = (struct bj_sh){ 0 };
}

uint32_t bj_sh_command_at(const struct bj_sh *sh, uint32_t from)
{
	uint32_t lo = 0, hi = sh->n_commands;

	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (sh->commands[mid].node < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
