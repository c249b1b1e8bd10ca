/* SPDX-License-Identifier: Apache-2.0 */

/* The gate between check and run. A script that the check blocks never comes here: nobody can
 * approve it. The rules of the settings say whether a run is allowed, denied or asked about; an
 * approval that still holds for the very same run lets it through without asking again. */

#include "engine/gate.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "engine/ledger.h"
#include "record/approval.h"

#include <string.h>

/* Rules that somebody adds must not open what was shut: the defaults follow them. */
static const char *const DEFAULTS[] = { BJ_RULE_SCRIPTS, BJ_RULE_API, BJ_RULE_TOOLS };

/* The first of @rules that fits; NULL: none does. */
static const char *find_rule(const char *const *rules, size_t n, const struct bj_spec *spec,
			     enum bj_risk risk, enum bj_gate *ret)
{
	for (size_t i = 0; i < n; i++) {
		struct bj_approval_rule rule;

		/* The settings hold only rules that can be read; one that cannot opens nothing. */
		const bool known = bj_rule_read(rules[i], &rule);

		if (known && !bj_rule_fits(&rule, spec, risk))
			continue;
		*ret = known ? rule.gate : BJ_GATE_DENY;
		return rules[i];
	}
	return NULL;
}

enum bj_gate bj_gate_rule(const struct bj_settings *settings, const struct bj_spec *spec,
			  enum bj_risk risk, const char **ret_rule)
{
	const struct bj_strings *rules = &settings->approval.rules;
	enum bj_gate gate = BJ_GATE_ALLOW;

	*ret_rule = find_rule((const char *const *)rules->items, rules->n, spec, risk, &gate);
	/* No rule at all is a word of its own: nothing waits. */
	if (!*ret_rule && rules->n > 0)
		*ret_rule = find_rule(DEFAULTS, BJ_ARRAY_SIZE(DEFAULTS), spec, risk, &gate);
	return gate;
}

bool bj_gate_minds_own(const struct bj_settings *settings)
{
	const struct bj_strings *rules = &settings->approval.rules;

	for (size_t i = 0; i < rules->n; i++) {
		struct bj_approval_rule rule;

		if (!bj_rule_read(rules->items[i], &rule) ||
		    (rule.gate != BJ_GATE_ALLOW && !rule.tool[0] &&
		     (!rule.through[0] || strcmp(rule.through, "own") == 0)))
			return true;
	}
	return false;
}

/* --- ending it here --------------------------------------------------------------------------- */

static void say(struct bj_result *r, char *text_take)
{
	free(r->error);
	r->error = text_take;
	if (!text_take)
		return;
	free(r->err.data);
	r->err.data = strdup(text_take);
	r->err.size = r->err.data ? strlen(text_take) : 0;
	r->err.total = r->err.size;
}

static void deny(struct bj_result *r, const char *by, const char *reason)
{
	char *text = NULL;

	r->cause = BJ_CAUSE_DENIED;
	if (asprintf(&text, "denied by %s%s%s", by, reason ? ": " : "", reason ? reason : "") < 0)
		text = NULL;
	say(r, text);
}

/* --- asking ----------------------------------------------------------------------------------- */

/* 1: a person decided here and now; 0: nobody could be asked. */
static int ask_in_place(struct belljar *bj, const struct bj_spec *spec, struct bj_result *r,
			const char *rule, struct bj_err *err)
{
	AUTO_FREE char *last = bj_approval_last(&bj->record, spec);
	const struct bj_question question = {
		.spec = spec, .found = r, .rule = rule, .last_approved = last
	};
	bool approved = false;
	char *by = NULL, *reason = NULL;

	if (!spec->on_ask || spec->on_ask(spec->ask_ctx, &question, &approved, &by, &reason) <= 0)
		return 0;
	r->decision =
		(struct bj_decision){ .kind = approved ? BJ_DECISION_APPROVED : BJ_DECISION_DENIED,
				      .by = by,
				      .reason = reason,
				      .decided_ms = bj_clock_unix_ms() };

	AUTO_FREE char *masked =
		reason ? bj_record_mask(&bj->record, reason, strlen(reason)) : NULL;
	int rc = bj_approval_note(&bj->record, spec, rule, &r->decision, err);

	if (rc == 0)
		rc = bj_ledger_decide(bj, spec->id, approved, by, masked, err);
	if (rc == 0 && !approved)
		deny(r, by ? by : "somebody", reason);
	return rc < 0 ? rc : 1;
}

/* A person's own run does not wait in the background: it says how to approve it, and ends. */
static int leave_question(struct belljar *bj, const struct bj_spec *spec, struct bj_result *r,
			  const char *rule, enum bj_gate_answer *ret, struct bj_err *err)
{
	const bool once = !spec->tool && spec->through == BJ_THROUGH_OWN;
	const int rc = bj_approval_ask(&bj->record, spec, r, rule, once, err);
	char *text = NULL;

	if (rc < 0)
		return rc;
	if (!once) {
		r->state = BJ_PENDING;
		r->cause = BJ_CAUSE_NONE;
		*ret = BJ_GATE_WAIT;
		return 0;
	}
	r->cause = BJ_CAUSE_DENIED;
	if (asprintf(&text,
		     "this run needs approval: `belljar approve %s`, then run it again (rule: %s)",
		     spec->id, rule) < 0)
		text = NULL;
	say(r, text);
	*ret = BJ_GATE_NO;
	return 0;
}

static int ask(struct belljar *bj, const struct bj_spec *spec, struct bj_result *r,
	       const char *rule, enum bj_gate_answer *ret, struct bj_err *err)
{
	int rc;

	if (!bj->record.archive) {
		r->cause = BJ_CAUSE_DENIED;
		say(r, strdup("this run needs approval, which is kept with the records; set "
			      "record.enabled to true"));
		*ret = BJ_GATE_NO;
		return 0;
	}
	rc = bj_approval_holds(&bj->record, spec, &r->decision, err);
	if (rc == 0)
		rc = ask_in_place(bj, spec, r, rule, err);
	if (rc < 0)
		return rc;
	if (rc == 0)
		return leave_question(bj, spec, r, rule, ret, err);
	*ret = r->decision.kind == BJ_DECISION_APPROVED ? BJ_GATE_GO : BJ_GATE_NO;
	return 0;
}

int bj_gate_ask(struct belljar *bj, const struct bj_spec *spec, struct bj_result *result,
		enum bj_gate_answer *ret, struct bj_err *err)
{
	const char *rule = NULL;
	const enum bj_gate gate = bj_gate_rule(bj->settings, spec, result->effective_risk, &rule);

	*ret = BJ_GATE_GO;
	if (gate == BJ_GATE_ASK)
		return ask(bj, spec, result, rule, ret, err);
	if (gate == BJ_GATE_DENY) {
		deny(result, "the settings", rule);
		*ret = BJ_GATE_NO;
	}
	return 0;
}
