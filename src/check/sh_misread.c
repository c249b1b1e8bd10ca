/* SPDX-License-Identifier: Apache-2.0 */
#include "check/sh_misread.h"

#include "grammar_bash.h"

#include <string.h>

/* The grammar reads some texts without an error and in another way than bash: as if a line that is
 * nothing but a backslash joined those around it, "$" at the end of a line took the next word for
 * its name, a comment could begin in the middle of a word, a here-document ended where bash joins
 * lines first, and "{fd}" before a redirection were the name of a command. A command would hide
 * there. */

static bool is_escaped(const char *text, size_t from, size_t at)
{
	size_t n = 0;

	while (at - n > from && text[at - n - 1] == '\\')
		n++;
	return n % 2;
}

/* Whether a line ends in [@from, @to) that is not joined with the next one; behind an operator it
 * may. */
static bool ends_line(const char *text, size_t from, size_t to)
{
	for (size_t i = from; i < to && !strchr("|&", text[i]); i++)
		if (text[i] == '\\')
			i++;
		else if (text[i] == '\n')
			return true;
	return false;
}

/* Whether a line ends between the parts of @node, but in front of a here-document's text. What
 * stands before the name of a command may be on lines of its own: the name is the right one. */
static bool is_torn(const struct bj_tree *tree, uint32_t node)
{
	bool named = tree->nodes[node].kind != SH_COMMAND;
	size_t from = tree->nodes[node].start;

	for (uint32_t c = bj_node_child(tree, node); c; c = tree->nodes[c].next) {
		const struct bj_node *n = &tree->nodes[c];

		if (n->kind == SH_HEREDOC_BODY)
			return false;
		if (named && n->start > from && ends_line(tree->text, from, n->start))
			return true;
		named |= n->kind == SH_COMMAND_NAME;
		from = n->end;
	}
	return false;
}

/* "{fd}<file command": the shell chooses the number, and that is no name. */
static bool is_no_name(const struct bj_tree *tree, uint32_t node)
{
	const struct bj_node *n = &tree->nodes[node];

	return n->start < n->end && tree->text[n->start] == '{' && n->end < tree->size &&
	       strchr("<>", tree->text[n->end]);
}

/* "word\", and on the next line "#": the word goes on. */
static bool is_no_comment(const struct bj_tree *tree, uint32_t node)
{
	const char *text = tree->text;
	const size_t start = tree->nodes[node].start;
	size_t at = start - 1;

	if (start < 3 || text[at] != '\n' || !is_escaped(text, 0, at))
		return false;
	if (node && tree->nodes[node - 1].kind == SH_COMMENT && tree->nodes[node - 1].end >= at)
		return false;
	return !strchr(" \t\n;&|()<>", text[at - 2]);
}

/* Whether a line of the here-document @node ends it that is made of several, or is a part of one.
 */
static bool ends_elsewhere(const struct bj_tree *tree, uint32_t node)
{
	const uint32_t start = bj_node_kind(tree, node, SH_HEREDOC_START);
	const uint32_t body = bj_node_kind(tree, node, SH_HEREDOC_BODY);
	const char *text = tree->text;

	if (!start || !body || tree->nodes[start].start == tree->nodes[start].end ||
	    strpbrk("'\"\\", (char[]){ text[tree->nodes[start].start], 0 }))
		return false;

	const char *word = text + tree->nodes[start].start;
	const size_t size = tree->nodes[start].end - tree->nodes[start].start;
	const size_t end = tree->nodes[body].end;
	size_t made = 0; /* bytes of the word that the line has; SIZE_MAX: it has others */
	bool joined = false;

	for (size_t i = tree->nodes[body].start; i < end; i++) {
		if (text[i] == '\n' && is_escaped(text, tree->nodes[body].start, i)) {
			joined = true;
			continue;
		}
		if (text[i] == '\n') {
			if (joined && made == size)
				return true;
			joined = false;
			made = 0;
		} else if (text[i] == '\\' && i + 1 < end && text[i + 1] == '\n' &&
			   !is_escaped(text, tree->nodes[body].start, i)) {
			continue;
		} else if (text[i] != '\t' || made) {
			made = made < size && text[i] == word[made] ? made + 1 : SIZE_MAX;
		}
	}
	return joined;
}

bool bj_sh_is_misread(const struct bj_tree *tree, uint32_t node)
{
	switch (tree->nodes[node].kind) {
	case SH_COMMAND:
	case SH_DECLARATION_COMMAND:
	case SH_UNSET_COMMAND:
	case SH_FILE_REDIRECT:
	case SH_HERESTRING_REDIRECT:
	case SH_VARIABLE_ASSIGNMENT:
	case SH_CONCATENATION:
	case SH_SIMPLE_EXPANSION:
		return is_torn(tree, node);
	case SH_COMMAND_NAME:
		return is_no_name(tree, node);
	case SH_COMMENT:
		return is_no_comment(tree, node);
	case SH_HEREDOC_REDIRECT:
		return is_torn(tree, node) || ends_elsewhere(tree, node);
	default:
		return false;
	}
}
