/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "check/pieces.h"
#include "check/shell_parts.h"
#include "grammar_bash.h"

#include <ctype.h>
#include <errno.h>

#define MARKED_KINDS 512 /* more than the grammar has */

#define LOOPED 1000 /* fields of loops, and one for every eight bytes of the script */

/* The commands of a script: their words, and the name that is left behind sudo, env and others. */

static void *grow(struct bj_sh *sh, void **items, uint32_t *n, uint32_t *room, size_t size)
{
	if (*n == *room) {
		void *grown = bj_piece_grow(*items, room, size);

		if (!grown) {
			sh->failed = true;
			return NULL;
		}
		*items = grown;
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

/* A word of plain letters is one field. False: @node is something else. */
static bool add_plain_word(struct bj_sh *sh, uint32_t node)
{
	static const bool special[256] = { ['\\'] = true,
					   ['{'] = true,
					   [BJ_MARK_KNOWN] = true,
					   [BJ_MARK_UNSET] = true,
					   [BJ_SH_SPLIT] = true };
	const struct bj_node *n = &sh->tree->nodes[node];
	const char *s = sh->tree->text + n->start;
	const uint32_t len = n->end - n->start;

	if (n->kind == SH_COMMAND_NAME) {
		const uint32_t child = bj_node_child(sh->tree, node);

		/* It is all of the name, or begins elsewhere. */
		if (!child || n[1].kind != SH_WORD || n[1].start != n->start || n[1].end != n->end)
			return false;
	} else if (n->kind != SH_WORD) {
		return false;
	}
	if (len >= BJ_SH_WORD)
		return false;
	for (uint32_t i = 0; i < len; i++)
		if (special[(unsigned char)s[i]])
			return false;
	add_field(sh, bj_sh_keep(sh, s, len), len, node);
	return true;
}

/* "/$d" in "for d in bin etc": a path for each. False: @s is something else, or there were too many
 * of them. */
static bool add_loop_paths(struct bj_sh *sh, const char *s, uint32_t len, uint32_t node)
{
	const char *mark = s[0] == '/' || s[0] == '~' ? memchr(s, BJ_MARK_KNOWN, len) : NULL;
	const char *end = mark ? strchr(mark + 1, BJ_MARK_KNOWN) : NULL;
	const struct bj_sh_variable *v =
		end ? bj_sh_variable(sh, mark + 1, (size_t)(end - mark) - 1) : NULL;
	const char *words = v && !strpbrk(end + 1, "\x01\x03") ? v->words : NULL;
	const size_t before = mark ? (size_t)(mark - s) : 0;

	if (!words || sh->paths > LOOPED + sh->tree->size / 16)
		return false;

	while (*words) {
		const size_t n = strcspn(words, "\x02");
		char path[BJ_SH_WORD];
		const int all = snprintf(path, sizeof(path), "%.*s%.*s%s", (int)before, s, (int)n,
					 words, end + 1);

		if (all > 0 && (size_t)all < sizeof(path)) {
			add_field(sh, bj_sh_keep(sh, path, (size_t)all), (uint32_t)all, node);
			sh->paths++;
		}
		words += n + (words[n] != '\0');
	}
	return true;
}

/* One word may be several fields: rm${IFS}-rf${IFS}/, or "$d" in "for d in /bin /usr". */
static void add_word(struct bj_sh *sh, uint32_t node)
{
	if (may_loop(sh) && add_plain_word(sh, node))
		return;

	const char *words = !sh->gave_up ? bj_sh_loop_words(sh, node) : NULL;
	uint32_t len = words ? (uint32_t)strlen(words) : 0;
	char *s = words ? (char *)bj_sh_keep(sh, words, len) : (char *)bj_sh_fold(sh, node, &len);
	for (uint32_t from = 0, i; from <= len; from = i + 1) {
		char *split = memchr(s + from, BJ_SH_SPLIT, len - from);

		i = split ? (uint32_t)(split - s) : len;

		const bool whole = from == 0 && i == len;

		if (split)
			*split = '\0';
		if (whole && (add_braces(sh, s, len, node) || add_loop_paths(sh, s, len, node)))
			return;
		if (i > from || whole) {
			add_field(sh, s + from, i - from, node);
			sh->looped += words != NULL;
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

/* The name that a command goes by: $SHELL and $BASH are a shell, whichever. */
static const char *command_name(const char *s)
{
	static const char *const shells[] = { "SHELL", "BASH" };
	const bool mark = *s == BJ_MARK_KNOWN || *s == BJ_MARK_UNSET;

	for (size_t i = 0; mark && i < sizeof(shells) / sizeof(shells[0]); i++) {
		const size_t len = strlen(shells[i]);

		if (!strncmp(s + 1, shells[i], len) && s[len + 1] == *s && !s[len + 2])
			return "bash";
	}
	return base_name(s);
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
		name = command_name(sh->fields[from].s);

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
		name = command_name(sh->fields[from].s);
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

/* xargs rm <<< "/ /home": the words that xargs adds. */
static void add_fed_words(struct bj_sh *sh, uint32_t command, uint32_t from)
{
	uint32_t here, text, len;

	if (from >= sh->n_fields || sh->fields[from].s[0] != 'x' ||
	    strcmp(sh->fields[from].s, "xargs") != 0)
		return;
	here = bj_node_kind(sh->tree, command, SH_HERESTRING_REDIRECT);
	text = here ? bj_node_child(sh->tree, here) : 0;
	if (!text)
		return;

	const char *s = bj_sh_fold(sh, text, &len);

	for (uint32_t i = 0; i < len && sh->n_fields - from < BJ_SH_FIELDS; i++) {
		const uint32_t n = (uint32_t)strcspn(s + i, " \t\n");

		if (n)
			add_field(sh, bj_sh_keep(sh, s + i, n), n, command);
		i += n;
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
	add_fed_words(sh, node, from);
	add_command(sh, node, from, sh->n_fields, false);
	if (sh->n_commands)
		add_exec(sh, node);
}

static inline bool is(const char *s, size_t len, const char *name)
{
	return len == strlen(name) && !memcmp(s, name, len);
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
	for (uint32_t i = 0; i < sh->n_marked && !sh->failed; i++) {
		const uint32_t node = sh->marked[i];

		if (sh->tree->nodes[node].kind == SH_FUNCTION_DEFINITION)
			read_function(sh, node);
		else if (sh->tree->nodes[node].kind == SH_COMMAND_NAME && sh->n_functions)
			read_runner(sh, node);
	}
}

/* The nodes that the rules look at, so that nobody goes through all of them more than once. */
static void mark_nodes(struct bj_sh *sh)
{
	static const bool marked[MARKED_KINDS] = {
		[SH_COMMAND] = true,         [SH_UNSET_COMMAND] = true,
		[SH_COMMAND_NAME] = true,    [SH_FUNCTION_DEFINITION] = true,
		[SH_FOR_STATEMENT] = true,   [SH_VARIABLE_ASSIGNMENT] = true,
		[SH_WHILE_STATEMENT] = true, [SH_C_STYLE_FOR_STATEMENT] = true,
		[SH_FILE_REDIRECT] = true,
	};
	const uint32_t n = sh->tree->n_nodes;

	sh->marked = calloc(n + 1, sizeof(*sh->marked));
	sh->failed = !sh->marked;
	for (uint32_t i = 0; i < n && sh->marked; i++) {
		const uint16_t kind = sh->tree->nodes[i].kind;

		sh->marked[sh->n_marked] = i;
		sh->n_marked += kind < MARKED_KINDS && marked[kind];
	}
}

int bj_sh_new(const struct bj_tree *tree, struct bj_sh **ret, struct bj_err *err)
{
	struct bj_sh *sh = calloc(1, sizeof(*sh));

	if (!sh)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the script");
	sh->tree = tree;
	mark_prefixes(sh);
	mark_nodes(sh);
	read_functions(sh);
	bj_sh_read_variables(sh);
	for (uint32_t i = 0; i < sh->n_marked && !sh->failed; i++) {
		const uint16_t kind = tree->nodes[sh->marked[i]].kind;

		if (kind == SH_COMMAND || kind == SH_UNSET_COMMAND)
			read_command(sh, sh->marked[i]);
	}
	if (sh->failed) {
		bj_sh_free(sh);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the script");
	}
	*ret = sh;
	return 0;
}

void bj_sh_free(struct bj_sh *sh)
{
	if (!sh)
		return;
	bj_sh_free_chunks(sh);
	free(sh->marked);
	free(sh->variables);
	bj_piece_free(sh->fields);
	bj_piece_free(sh->commands);
	free(sh);
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
