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
