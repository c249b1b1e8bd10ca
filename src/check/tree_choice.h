/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the quick parser does where the tables leave a choice: it looks ahead. Part of tree_core.c.
 *
 * Every way to go on is tried on a stack of states alone, a ghost, token by token. A way that comes
 * to a token for which its table has nothing to do is over; tree-sitter would drop that reading as
 * well. When all that is left began with the same action, that action is the one. tree-sitter picks
 * one of two readings itself only when both have come to the same stack of states; so where two
 * ghosts that began differently have, nothing is decided here. Nor is it where there is anything
 * rare, or after a few tokens. Then tree-sitter reads on, as if nobody had looked ahead. */

#define GHOSTS      6  /* as many readings as tree-sitter follows */
#define GHOST_DEPTH 64 /* states of its own */
#define GHOST_SIGHT 48 /* tokens that one choice looks ahead */
#define GHOST_SHARE 2  /* work on ghosts in a text, times its size: that stays linear */

struct ghost {
	uint32_t root;  /* the number of the action that it began with */
	uint32_t below; /* entries of the array that lie below its own, up to here */
	uint32_t n;
	TSStateId own[GHOST_DEPTH];
	bool extra[GHOST_DEPTH];
	TSStateId state;
	uint32_t at; /* byte of the text */
	Subtree external;
};

struct ghosts {
	struct ghost all[GHOSTS];
	uint32_t n;
	bool lost; /* nothing can be decided */
};

static void ghost_push(struct ghosts *s, struct ghost *g, TSStateId state, bool extra)
{
	if (g->n == GHOST_DEPTH) {
		s->lost = true;
		return;
	}
	g->own[g->n] = state;
	g->extra[g->n++] = extra;
	g->state = state;
}

/* Whether what was on top belongs to no rule. */
static bool ghost_pop(struct quick *q, struct ghosts *s, struct ghost *g)
{
	if (g->n)
		return g->extra[--g->n];
	if (g->below == q->base && !quick_pull(q)) {
		s->lost = true;
		return false;
	}
	return ts_subtree_extra(q->entries[--g->below].tree);
}

static TSStateId ghost_state(const struct quick *q, const struct ghost *g, uint32_t depth)
{
	const uint32_t from = g->below + g->n - depth;

	return depth < g->n ? g->own[g->n - 1 - depth] : q->entries[from - 1].state;
}

static void ghost_reduce(struct quick *q, struct ghosts *s, struct ghost *g,
			 const TSParseAction *action)
{
	uint32_t above = 0;
	bool any = false;

	if (!action->reduce.child_count)
		s->lost = true;
	for (uint32_t left = action->reduce.child_count; left && !s->lost;) {
		const bool extra = ghost_pop(q, s, g);

		any |= !extra;
		above += !any;
		left -= !extra;
	}
	if (s->lost)
		return;

	const TSStateId state =
		ts_language_lookup(q->language, ghost_state(q, g, 0), action->reduce.symbol);

	ghost_push(s, g, state, false);
	while (above--)
		ghost_push(s, g, state, true);
}

static void ghost_shift(struct ghosts *s, struct ghost *g, const TSParseAction *action,
			Subtree token)
{
	const bool extra = action->shift.extra;

	ghost_push(s, g, extra ? g->state : action->shift.state, extra);
	g->at += quick_bytes(token);
	if (ts_subtree_has_external_tokens(token))
		g->external = token;
}

/* The grammar of Bash does not take back that a here-document began. */
static bool ghost_sees_heredoc(const struct quick *q, uint32_t at)
{
	while (at < q->size && q->text[at] && strchr(" \t\r\n\v\f\\", q->text[at]))
		at++;
	return at < q->size && ((unsigned char)q->text[at] >= 0x80 ||
				(q->text[at] == '<' && q->text[at + 1] == '<'));
}

static Subtree ghost_lex(struct quick *q, const struct ghost *g)
{
	q->state = g->state;
	q->at = g->at;
	q->external = g->external;
	q->ghost_work += QUICK_TOKEN;
	return quick_lex(q);
}

/* The things to do for @symbol but to shift as part of a repetition. Returns their number. */
static uint32_t ghost_actions(const struct quick *q, TSStateId state, TSSymbol symbol,
			      const TSParseAction *ret[GHOSTS])
{
	const TSParseActionEntry *entry =
		&q->language->parse_actions[ts_language_lookup(q->language, state, symbol)];
	uint32_t n = 0;

	for (uint32_t i = 1; i <= entry->entry.count; i++)
		if (entry[i].action.type != TSParseActionTypeShift ||
		    !entry[i].action.shift.repetition) {
			if (n < GHOSTS)
				ret[n] = &entry[i].action;
			n++;
		}
	return n;
}

static bool ghost_feed(struct quick *q, struct ghosts *s, uint32_t at, Subtree token);

/* Do @action with ghost @at, and all that follows until it has taken @token. False: it is over. */
static bool ghost_act(struct quick *q, struct ghosts *s, uint32_t at, const TSParseAction *action,
		      Subtree token)
{
	if (action->type == TSParseActionTypeShift) {
		ghost_shift(s, &s->all[at], action, token);
		return true;
	}
	if (action->type != TSParseActionTypeReduce) {
		s->lost = true;
		return true;
	}
	ghost_reduce(q, s, &s->all[at], action);
	return s->lost || ghost_feed(q, s, at, token);
}

/* A ghost for every thing that ghost @at can do. Those that are over have no place. */
static bool ghost_split(struct quick *q, struct ghosts *s, uint32_t at,
			const TSParseAction *const *actions, uint32_t n, Subtree token)
{
	const struct ghost before = s->all[at];

	if (s->n + n - 1 > GHOSTS) {
		s->lost = true;
		return true;
	}
	for (uint32_t i = 1; i < n && !s->lost; i++) {
		const uint32_t new = s->n++;

		s->all[new] = before;
		if (!ghost_act(q, s, new, actions[i], token))
			s->all[new].root = UINT32_MAX;
	}
	return s->lost || ghost_act(q, s, at, actions[0], token);
}

static bool ghost_feed(struct quick *q, struct ghosts *s, uint32_t at, Subtree token)
{
	const TSSymbol symbol = ts_subtree_symbol(token);
	const TSParseAction *actions[GHOSTS];
	const uint32_t n = ghost_actions(q, s->all[at].state, symbol, actions);

	if (n == 1)
		return ghost_act(q, s, at, actions[0], token);
	if (n > GHOSTS || (n == 0 && ts_subtree_is_keyword(token) &&
			   symbol != q->language->keyword_capture_token))
		s->lost = true; /* a keyword may still be a word */
	if (s->lost)
		return true;
	return n && ghost_split(q, s, at, actions, n, token);
}

static bool ghosts_same(const struct quick *q, const struct ghost *a, const struct ghost *b)
{
	const uint32_t n = a->below + a->n;
	const uint32_t shared = a->below < b->below ? a->below : b->below;

	if (a->at != b->at || n != b->below + b->n)
		return false;
	for (uint32_t depth = 0; depth < n - shared; depth++)
		if (ghost_state(q, a, depth) != ghost_state(q, b, depth))
			return false;
	return true;
}

/* Whether two that began differently have come to the same. */
static bool ghosts_met(const struct quick *q, const struct ghosts *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (s->all[i].root != s->all[k].root &&
			    ghosts_same(q, &s->all[i], &s->all[k]))
				return true;
	return false;
}

/* Forget those that are over. */
static void ghosts_drop(struct ghosts *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->all[i].root != UINT32_MAX)
			s->all[n++] = s->all[i];
	s->n = n;
}

static bool ghosts_agree(const struct ghosts *s)
{
	for (uint32_t i = 1; i < s->n; i++)
		if (s->all[i].root != s->all[0].root)
			return false;
	return s->n != 0;
}

/* Nothing that @g allows is at this place. tree-sitter looks for anything else then, which it may
 * or may not have a use for. Whether it has none. */
static bool ghost_is_over(struct quick *q, const struct ghost *g)
{
	const TSParseAction *actions[GHOSTS];

	if (q->language->lex_modes[g->state].lex_state == (uint16_t)-1)
		return false;

	const Subtree token = quick_lex_in(q, q->language->lex_modes[ERROR_STATE]);

	return !token.ptr || (quick_bytes(token) && !ts_subtree_is_keyword(token) &&
			      !ghost_actions(q, g->state, ts_subtree_symbol(token), actions));
}

/* Let the one that is furthest behind take a token. */
static void ghosts_step(struct quick *q, struct ghosts *s)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i < s->n; i++)
		if (s->all[i].at < s->all[last].at)
			last = i;

	struct ghost *g = &s->all[last];

	if (!q->python && ghost_sees_heredoc(q, g->at)) {
		s->lost = true;
		return;
	}

	const Subtree token = ghost_lex(q, g);

	if (!token.ptr && !ghost_is_over(q, g)) {
		s->lost = true;
		return;
	}
	if (!token.ptr || !ghost_feed(q, s, last, token))
		s->all[last].root = UINT32_MAX;
	ghosts_drop(s);
	s->lost |= ghosts_met(q, s);
}

/* Whether the grammar's own scanner can be taken ahead and back again. */
static bool ghosts_may_scan(const struct quick *q)
{
	enum { HEREDOCS = 3 };

	if (q->python)
		return true;
	if (!q->external.ptr)
		return false;

	const ExternalScannerState *state = ts_subtree_external_scanner_state(q->external);

	return state->length > HEREDOCS && ts_external_scanner_state_data(state)[HEREDOCS] == 0;
}

/* Set up one for each of the @n actions that there are, and let them take @token. */
static void ghosts_begin(struct quick *q, struct ghosts *s, const TSParseAction *const *actions,
			 uint32_t n, Subtree token)
{
	s->n = n;
	s->lost = false;
	for (uint32_t i = 0; i < n; i++) {
		struct ghost *g = &s->all[i];

		g->root = i;
		g->below = q->n;
		g->n = 0;
		g->state = q->state;
		g->at = q->at;
		g->external = q->external;
	}
	for (uint32_t i = 0; i < n && !s->lost; i++)
		if (!ghost_act(q, s, i, actions[i], token))
			s->all[i].root = UINT32_MAX;
	ghosts_drop(s);
	s->lost |= ghosts_met(q, s);
}

/* The one thing to do for @token that leads anywhere. NULL: that cannot be said. */
static const TSParseAction *quick_choose(struct quick *q, Subtree token)
{
	const TSParseAction *actions[GHOSTS];
	const uint32_t n = ghost_actions(q, q->state, ts_subtree_symbol(token), actions);
	const TSStateId state = q->state;
	const uint32_t at = q->at;
	const Subtree external = q->external;
	struct ghosts s;

	if (n < 2 || n > GHOSTS || !ghosts_may_scan(q) ||
	    q->ghost_work > (uint64_t)q->size * GHOST_SHARE)
		return NULL;

	const uint32_t work = q->work;

	ghosts_begin(q, &s, actions, n, token);
	for (uint32_t i = 0; i < GHOST_SIGHT * n && !s.lost && !ghosts_agree(&s); i++)
		ghosts_step(q, &s);
	q->ghost_work += q->work - work;
	q->state = state;
	q->at = at;
	q->external = external;
	q->is_set = false;
	return !s.lost && ghosts_agree(&s) ? actions[s.all[0].root] : NULL;
}
