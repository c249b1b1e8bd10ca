/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Places of a text to begin at once more. Part of tree_core.c.
 *
 * A text with an error is mended and read again (sh_mend.h), and most often only a few bytes of it
 * are another then. So the quick parser now and then writes down where it is: its array, the top of
 * the graph below it, and how much of the text all that depends on. A text that begins with the
 * same bytes leads to the same place, so reading can begin there. What is written down holds the
 * trees and the graph's node itself; they go with the memory of the parse. */

#define MARKS      40  /* more than a text has */
#define MARK_BYTES 64  /* at least between two of them, */
#define MARK_PART  32  /* and a part of the text */
#define MARK_DEPTH 256 /* entries of the array; a deeper one is not written down */

struct quick_mark {
	uint32_t at, seen;
	uint32_t n;
	struct quick_entry *entries;
	StackNode *below;
	Subtree external;
};

struct bj_tree_marks {
	struct quick_mark all[MARKS];
	uint32_t n;
};

static uint32_t quick_mark_step(const struct quick *q)
{
	return MARK_BYTES + q->size / MARK_PART;
}

/* What the text up to here depends on. quick_bash_is_idle() looks at blanks, a sign or two and a
 * name behind the last byte that a lexer looked at, and nobody writes that down. */
static uint32_t quick_seen(const struct quick *q)
{
	uint32_t at = q->seen ? q->seen - 1 : 0;

	while (sh_byte(q, at) == SH_BLANK)
		at++;
	for (int i = 0; i < 2; i++)
		at += at < q->size && q->text[at] && strchr("-$*?@<{", q->text[at]);
	at = sh_name_end(q, at);
	return at + 1 > q->seen ? at + 1 : q->seen;
}

static __attribute__((noinline)) void quick_mark(struct quick *q)
{
	const uint32_t n = q->n - q->base;

	q->next_mark = q->at + quick_mark_step(q);
	if (n > MARK_DEPTH || q->marks->n == MARKS)
		return;

	struct quick_mark *mark = &q->marks->all[q->marks->n++];

	*mark = (struct quick_mark){ .at = q->at,
				     .seen = quick_seen(q),
				     .n = n,
				     .entries = ts_malloc((n + 1) * sizeof(*mark->entries)),
				     .below = array_get(&q->parser->stack->heads, 0)->node,
				     .external = q->external };
	memcpy(mark->entries, &q->entries[q->base], n * sizeof(*mark->entries));
	for (uint32_t i = 0; i < n; i++)
		ts_subtree_retain(mark->entries[i].tree);
	stack_node_retain(mark->below);
	if (q->external.ptr)
		ts_subtree_retain(q->external);
}

/* Let a parser that is as new begin at the last mark that depends on the first @same bytes only. */
static void quick_resume(struct quick *q, const struct bj_tree_marks *marks, uint32_t same)
{
	Stack *stack = q->parser->stack;
	StackHead *head = array_get(&stack->heads, 0);
	StackNode *bottom = head->node;
	uint32_t i = marks->n;

	while (i && marks->all[i - 1].seen > same)
		i--;
	if (!i)
		return;

	const struct quick_mark *mark = &marks->all[i - 1];

	stack_node_retain(mark->below);
	head->node = mark->below;
	stack_node_release(bottom, &stack->node_pool, stack->subtree_pool);
	for (uint32_t k = 0; k < mark->n; k++) {
		ts_subtree_retain(mark->entries[k].tree);
		ts_stack_push(stack, 0, quick_whole(q, &mark->entries[k]), false,
			      mark->entries[k].state);
	}
	ts_stack_set_last_external_token(stack, 0, mark->external);
}
