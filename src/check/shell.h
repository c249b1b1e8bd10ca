/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/danger_rules.h"
#include "check/tree.h"

/* What the commands of a Bash script are once quotes, escapes, constant variables and prefixes
 * such as sudo and env are taken away. */

#define BJ_SH_FIELDS 64  /* words of one command that are looked at */
#define BJ_SH_WORD   512 /* longer words are cut */

struct bj_sh_field {
	const char *s;
	uint32_t len;
	uint32_t node; /* where the word is in the tree */
};

struct bj_sh_command {
	uint32_t node;     /* of the command in the tree */
	const char *name;  /* base name after all prefixes; "" when it is not known */
	const char *path;  /* the same as it is written */
	bool privileged;   /* behind sudo or doas */
	bool filled;       /* behind xargs or parallel: more words come from the input */
	uint32_t n_fields; /* what comes after the name */
	uint32_t fields;   /* index into bj_sh->fields */
	bool extra;        /* made from words of another command: find -exec, xargs */
};

struct bj_sh_variable {
	uint32_t hash;
	const char *name;
	const char *value; /* NULL: not a constant */
	const char *words; /* of a loop over it, parted by BJ_SH_SPLIT; NULL: none */
	bool hidden;       /* it holds what was decoded or came from the network */
	bool input;        /* read takes lines of the input into it */
	bool refers;       /* declare -n: its value is the name of the variable that is meant */
};

/* A function of the script. */
struct bj_sh_function {
	const char *name;
	uint32_t body;
	uint32_t shifts; /* words that it takes off */
	bool runs;       /* it runs "$@" */
};

#define BJ_SH_FUNCTIONS 64 /* more are not followed */

/* What tells most names apart from those of a short list, by three letters: whoever looks for many
 * names in a list marks the list first. */
struct bj_sh_marks {
	uint64_t bits[16];
};

/* A bar ends a name in a list. */
static inline unsigned bj_sh_letter(const char *name, unsigned before)
{
	return before && *name != '|' ? (unsigned char)*name : 0;
}

static inline uint64_t *bj_sh_mark(struct bj_sh_marks *marks, const char *name, uint64_t *ret_bit)
{
	const unsigned first = (unsigned char)name[0];
	const unsigned second = bj_sh_letter(name + 1, first);
	const unsigned third = bj_sh_letter(name + 2, second);
	const unsigned place = (first * 37 + second * 5 + third) & 1023;

	*ret_bit = UINT64_C(1) << (place & 63);
	return &marks->bits[place / 64];
}

static inline void bj_sh_set_mark(struct bj_sh_marks *marks, const char *name)
{
	uint64_t bit;
	uint64_t *word = bj_sh_mark(marks, name, &bit);

	*word |= bit;
}

/* Mark all of a list with bars in between; none of them is a single letter. */
static inline void bj_sh_set_marks(struct bj_sh_marks *marks, const char *names)
{
	for (const char *name = names; name; name = strchr(name, '|')) {
		name += *name == '|';
		bj_sh_set_mark(marks, name);
	}
}

/* False: @name is not in the list. */
static inline bool bj_sh_has_mark(const struct bj_sh_marks *marks, const char *name)
{
	uint64_t bit;
	const uint64_t *word = bj_sh_mark((struct bj_sh_marks *)marks, name, &bit);

	return *word & bit;
}

struct bj_sh {
	const struct bj_tree *tree;
	uint32_t *marked;  /* nodes that rules look at: commands, their names, loops, functions, */
	uint32_t n_marked; /* assignments and redirections */
	struct bj_sh_chunk *chunks;
	struct bj_sh_variable *variables; /* open hash table */
	uint32_t n_variables, mask_variables;
	struct bj_sh_function functions[BJ_SH_FUNCTIONS];
	uint32_t n_functions;
	struct bj_sh_field *fields;
	uint32_t n_fields, room_fields;
	struct bj_sh_command *commands; /* in the order of the text */
	uint32_t n_commands, room_commands;
	struct bj_sh_marks prefixes; /* such as sudo and env */
	uint32_t looped;             /* fields that come from loops */
	uint32_t paths;              /* the same that are only a part of their word */
	bool gave_up;                /* there were too many of them: not all is read */
	bool failed;
};

/* The variable [@s, @len); NULL: the script does not set it. */
struct bj_sh_variable *bj_sh_variable(const struct bj_sh *sh, const char *s, size_t len);

const struct bj_sh_function *bj_sh_function(const struct bj_sh *sh, const char *name);

int bj_sh_new(const struct bj_tree *tree, struct bj_sh **ret, struct bj_err *err);
void bj_sh_free(struct bj_sh *sh); /* NULL is fine */

/* The text of word @node, folded; marks stand for what is not known. It lives as long as @sh.
 * @split: fields that an unquoted expansion makes are parted by BJ_SH_SPLIT. */
#define BJ_SH_SPLIT '\x02'
const char *bj_sh_fold(struct bj_sh *sh, uint32_t node, uint32_t *ret_len);

/* The words of a loop, parted by BJ_SH_SPLIT, whose variable is all that word @node is; NULL: it is
 * something else. */
const char *bj_sh_loop_words(struct bj_sh *sh, uint32_t node);

/* The first command at or after node @from; n_commands: none. */
uint32_t bj_sh_command_at(const struct bj_sh *sh, uint32_t from);
