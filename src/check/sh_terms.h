/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/shell.h"

/* Inside the Bash danger pass. */

struct bj_sh_pass {
	const struct bj_danger_pass *pass;
	struct bj_sh *sh;
	const struct bj_tree *tree;
};

/* Whether all conditions of @rule hold for @command (NULL for a redirection or an assignment,
 * which is @node). */
bool bj_sh_terms_hold(const struct bj_sh_pass *p, uint32_t rule,
		      const struct bj_sh_command *command, uint32_t node);

/* "/etc//x/../passwd" as "/etc/passwd", into @out of BJ_SH_WORD bytes. Returns the length. */
size_t bj_sh_normal_path(const char *s, size_t len, char *out);

/* Whether a command that feeds @command through pipes fits @names. */
bool bj_sh_piped_from(const struct bj_sh_pass *p, const struct bj_sh_command *command,
		      const char *names);

/* Whether a single "&" comes after @node. */
bool bj_sh_in_background(const struct bj_tree *tree, uint32_t node);

/* Dangers of several commands together. */
void bj_sh_flows(const struct bj_sh_pass *p);

/* Check what the script hands to a shell or to Python as constant text. */
int bj_sh_nested(const struct bj_sh_pass *p, struct bj_err *err);

/* Check text that command or word @node runs as a script of its own. */
int bj_sh_check_text(const struct bj_sh_pass *p, enum bj_language language, const char *text,
		     size_t size, uint32_t node, struct bj_err *err);

/* The same for the words of @c, joined; and for @text, which runs for @c, of which only the worst
 * is told. */
int bj_sh_check_joined(const struct bj_sh_pass *p, const struct bj_sh_command *c, uint32_t node,
		       struct bj_err *err);
int bj_sh_check_worst(const struct bj_sh_pass *p, const struct bj_sh_command *c, const char *text,
		      size_t n, struct bj_err *err);

/* Folded text back as script: a mark becomes the expansion it stands for. */
size_t bj_sh_unmark(const char *s, size_t len, char *out, size_t room);

/* Check the files that the script writes and then runs. */
int bj_sh_written(const struct bj_sh_pass *p, struct bj_err *err);
