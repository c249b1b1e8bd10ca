/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/ledger.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/log.h"
#include "record/audit.h"
#include "record/quota.h"
#include "spec/names.h"

#include <string.h>
#include <unistd.h>

static struct bj_audit *audit_of(const struct belljar *bj)
{
	return bj->record.archive ? bj->record.archive->audit : NULL;
}

/* Who asks for what: the same in every line about a run. */
static json_t *describe(const struct belljar *bj, const struct bj_spec *spec)
{
	/* Agents name themselves, and could say anything. */
	AUTO_FREE char *actor =
		spec->actor ? bj_record_mask(&bj->record, spec->actor, strlen(spec->actor)) : NULL;
	json_t *data = json_pack("{s:s, s:s*, s:o*, s:s*, s:s, s:s}", "run", spec->id, "tenant",
				 spec->tenant, "actor", bj_audit_text(actor), "tool", spec->tool,
				 "language", bj_language_name(spec->language), "backend",
				 bj_backend_name(spec->backend));

	if (!spec->actor)
		json_object_set_new(data, "uid", json_integer(getuid()));
	return data;
}

static json_t *with(json_t *data, const char *name, json_t *value)
{
	json_object_set_new(data, name, value);
	return data;
}

/* --- quota ------------------------------------------------------------------------------------ */

/* Failing is no way out of a quota: the reservation stays until it can be settled. */
static void settle(struct bj_archive *ar, const struct bj_spec *spec, const struct bj_use *use)
{
	struct bj_err err = { 0 };

	if (bj_quota_settle(&ar->store, spec->tenant, spec->id, use, &err) == 0)
		return;
	ar->errors++;
	bj_log(BJ_LOG_ERROR, "%s", err.msg);
}

int bj_ledger_reserve(struct belljar *bj, const struct bj_spec *spec, unsigned int *ret_retry_s,
		      struct bj_err *err)
{
	struct bj_archive *ar = bj->record.archive;
	const struct bj_use worst = bj_use_worst(&spec->limits, &bj->settings->price);

	if (!ar || !spec->tenant)
		return 0;

	const int r = bj_quota_reserve(&ar->store, &ar->owner, spec->tenant, spec->id, &worst,
				       ret_retry_s, err);

	/* Over quota is an answer; all else is a store that fails, and then nothing runs. */
	if (r < 0 && !(r == -BJ_E_LIMIT && *ret_retry_s) && r != -BJ_E_DENIED)
		ar->errors++;
	return r;
}

void bj_ledger_release(struct belljar *bj, const struct bj_spec *spec)
{
	if (bj->record.archive)
		settle(bj->record.archive, spec, NULL);
}

uint64_t bj_ledger_estimate(const struct belljar *bj, const struct bj_spec *spec)
{
	return bj_use_worst(&spec->limits, &bj->settings->price).cost_micros;
}

/* --- beginning -------------------------------------------------------------------------------- */

static void refuse(struct bj_result *r, const char *why, unsigned int retry_s)
{
	r->cause = BJ_CAUSE_QUOTA;
	r->retry_after_s = retry_s;
	free(r->error);
	r->error = strdup(why);
	free(r->err.data);
	r->err.data = strdup(why);
	r->err.size = r->err.data ? strlen(why) : 0;
	r->err.total = r->err.size;
}

/* What makes the walls or the check weaker than they could be has a line of its own. */
static int note_bypass(struct belljar *bj, const struct bj_spec *spec, struct bj_err *err)
{
	const bool direct = spec->backend == BJ_BACKEND_DIRECT, off = spec->policy == BJ_POLICY_OFF;

	if (!spec->trust && !off && !direct)
		return 0;
	return bj_audit_append(
		audit_of(bj), "run.bypass",
		with(with(with(describe(bj, spec), "trust", json_boolean(spec->trust)), "policy",
			  json_string(bj_policy_name(spec->policy))),
		     "direct", json_boolean(direct)),
		err);
}

int bj_ledger_start(struct belljar *bj, const struct bj_spec *spec, const struct bj_result *r,
		    struct bj_err *err)
{
	json_t *data = with(describe(bj, spec), "script_sha256", json_string(r->script_sha256));

	with(data, "risk", json_string(bj_risk_name(r->effective_risk)));
	if (r->decision.kind != BJ_DECISION_NONE)
		with(data, "approved_by", bj_audit_text(r->decision.by ? r->decision.by : "?"));
	return bj_audit_append(audit_of(bj), "run.start", data, err);
}

int bj_ledger_begin(struct belljar *bj, const struct bj_spec *spec, struct bj_result *result,
		    struct bj_err *err)
{
	unsigned int retry_s = 0;
	int r;

	if (!bj->record.archive)
		return 1;
	r = bj_ledger_reserve(bj, spec, &retry_s, err);
	if (r == -BJ_E_LIMIT && retry_s > 0) {
		refuse(result, err->msg, retry_s);
		return 0;
	}
	if (r == 0)
		r = note_bypass(bj, spec, err);
	if (r < 0) {
		bj_ledger_release(bj, spec);
		return r;
	}
	return 1;
}

/* --- ending ----------------------------------------------------------------------------------- */

/* A run that was refused says by whom and why; one that ran, how it ended. */
static int note_end(struct belljar *bj, const struct bj_spec *spec, const struct bj_result *r,
		    struct bj_err *err)
{
	const bool ran = r->cause != BJ_CAUSE_REJECTED && r->cause != BJ_CAUSE_DENIED &&
			 r->cause != BJ_CAUSE_EXPIRED && r->cause != BJ_CAUSE_QUOTA;
	json_t *data = with(describe(bj, spec), "cause", json_string(bj_cause_name(r->cause)));

	with(data, "backend", json_string(bj_backend_name(r->runtime)));
	if (ran) {
		with(data, "exit_code",
		     r->exit_code >= 0 ? json_integer(r->exit_code) : json_null());
		with(data, "duration_ms", json_integer((json_int_t)(r->duration_us / 1000)));
		with(data, "cpu_ms", json_integer((json_int_t)(r->cpu_us / 1000)));
	} else {
		with(data, "script_sha256", json_string(r->script_sha256));
		/* Never its message: that may quote the script. */
		for (size_t i = 0; i < r->n_findings; i++)
			if (r->findings[i].blocks) {
				with(data, "rule", json_string(r->findings[i].rule));
				break;
			}
		if (r->decision.by)
			with(data, "by", bj_audit_text(r->decision.by));
	}
	return bj_audit_append(audit_of(bj), ran ? "run.finish" : "run.refuse", data, err);
}

static bool used_something(const struct bj_result *result)
{
	return result->duration_us > 0 || result->cpu_us > 0;
}

void bj_ledger_price(const struct belljar *bj, struct bj_result *result)
{
	if (used_something(result))
		result->cost_micros = bj_use_actual(result, &bj->settings->price).cost_micros;
}

/* A full disk keeps some room back for the ends of runs. */
static int note_end_surely(struct belljar *bj, const struct bj_spec *spec,
			   const struct bj_result *r, struct bj_err *err)
{
	if (note_end(bj, spec, r, err) == 0)
		return 0;
	bj_store_spend_reserve(&bj->record.archive->store);
	return note_end(bj, spec, r, err);
}

int bj_ledger_end(struct belljar *bj, const struct bj_spec *spec, const struct bj_result *result,
		  struct bj_err *err)
{
	struct bj_archive *ar = bj->record.archive;
	struct bj_use use;

	if (!ar)
		return 0;
	use = bj_use_actual(result, &bj->settings->price);
	/* What the local user used stands in the record. */
	if (spec->tenant && spec->tenant[0])
		settle(ar, spec, used_something(result) ? &use : NULL);
	return note_end_surely(bj, spec, result, err);
}

/* --- what happens between --------------------------------------------------------------------- */

int bj_ledger_fallback(struct belljar *bj, const struct bj_spec *spec, enum bj_backend_id to,
		       const char *reason, struct bj_err *err)
{
	return bj_audit_append(
		audit_of(bj), "run.fallback",
		with(with(describe(bj, spec), "to", json_string(bj_backend_name(to))), "reason",
		     bj_audit_text(reason)),
		err);
}

int bj_ledger_ask(struct belljar *bj, const struct bj_spec *spec, const struct bj_result *result,
		  struct bj_err *err)
{
	return bj_audit_append(
		audit_of(bj), "approval.ask",
		with(with(describe(bj, spec), "script_sha256", json_string(result->script_sha256)),
		     "risk", json_string(bj_risk_name(result->effective_risk))),
		err);
}

int bj_ledger_decide(struct belljar *bj, const char *id, bool approve, const char *by,
		     const char *reason, struct bj_err *err)
{
	return bj_audit_append(audit_of(bj), approve ? "approval.approve" : "approval.deny",
			       json_pack("{s:s, s:o*, s:o*}", "run", id, "actor", bj_audit_text(by),
					 "reason", bj_audit_text(reason)),
			       err);
}
