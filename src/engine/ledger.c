/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/ledger.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/json.h"
#include "base/log.h"
#include "record/audit.h"
#include "record/quota.h"
#include "spec/names.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static struct bj_audit *audit_of(const struct belljar *bj)
{
	return bj->record.archive ? bj->record.archive->audit : NULL;
}

/* Who asks for what: the same in every line about a run. The object stays open: more may follow. */
static void describe(const struct belljar *bj, const struct bj_spec *spec,
		     enum bj_backend_id backend, struct bj_buf *ret)
{
	/* Agents name themselves, and could say anything. */
	AUTO_FREE char *actor =
		spec->actor ? bj_record_mask(&bj->record, spec->actor, strlen(spec->actor)) : NULL;

	bj_buf_puts(ret, "{");
	bj_json_text(ret, "run", spec->id);
	if (spec->tenant)
		bj_json_text(ret, "tenant", spec->tenant);
	if (actor)
		bj_json_text(ret, "actor", actor);
	if (spec->tool)
		bj_json_text(ret, "tool", spec->tool);
	bj_json_text(ret, "language", bj_language_name(spec->language));
	bj_json_text(ret, "backend", bj_backend_name(backend));
	if (!spec->actor)
		bj_json_int(ret, "uid", getuid());
}

/* End the object and write it down. */
static int note(const struct belljar *bj, const char *kind, struct bj_buf *data, struct bj_err *err)
{
	bj_json_close(data, '}');
	if (data->failed)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM,
				  "no memory for a line of the audit log");
	return bj_audit_append_text(audit_of(bj), kind, data->data, err);
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

	AUTO_BUF struct bj_buf data = { 0 };

	if (!spec->trust && !off && !direct)
		return 0;
	describe(bj, spec, spec->backend, &data);
	bj_json_flag(&data, "trust", spec->trust);
	bj_json_text(&data, "policy", bj_policy_name(spec->policy));
	bj_json_flag(&data, "direct", direct);
	return note(bj, "run.bypass", &data, err);
}

int bj_ledger_start(struct belljar *bj, const struct bj_spec *spec, const struct bj_result *r,
		    struct bj_err *err)
{
	AUTO_BUF struct bj_buf data = { 0 };

	describe(bj, spec, spec->backend, &data);
	bj_json_text(&data, "script_sha256", r->script_sha256);
	bj_json_text(&data, "risk", bj_risk_name(r->effective_risk));
	if (r->decision.kind != BJ_DECISION_NONE)
		bj_json_text(&data, "approved_by", r->decision.by ? r->decision.by : "?");
	return note(bj, "run.start", &data, err);
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
	AUTO_BUF struct bj_buf data = { 0 };

	describe(bj, spec, r->runtime, &data);
	bj_json_text(&data, "cause", bj_cause_name(r->cause));
	if (ran) {
		if (r->exit_code >= 0)
			bj_json_int(&data, "exit_code", r->exit_code);
		else
			bj_json_null(&data, "exit_code");
		bj_json_int(&data, "duration_ms", (int64_t)(r->duration_us / 1000));
		bj_json_int(&data, "cpu_ms", (int64_t)(r->cpu_us / 1000));
	} else {
		bj_json_text(&data, "script_sha256", r->script_sha256);
		/* Never its message: that may quote the script. */
		for (size_t i = 0; i < r->n_findings; i++)
			if (r->findings[i].blocks) {
				bj_json_text(&data, "rule", r->findings[i].rule);
				break;
			}
		if (r->decision.by)
			bj_json_text(&data, "by", r->decision.by);
	}
	return note(bj, ran ? "run.finish" : "run.refuse", &data, err);
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
	const int rc = note_end(bj, spec, r, err);

	if (rc != -BJ_E_LIMIT)
		return rc;
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
	AUTO_BUF struct bj_buf data = { 0 };

	describe(bj, spec, spec->backend, &data);
	bj_json_text(&data, "to", bj_backend_name(to));
	bj_json_text(&data, "reason", reason);
	return note(bj, "run.fallback", &data, err);
}

int bj_ledger_ask(struct belljar *bj, const struct bj_spec *spec, const struct bj_result *result,
		  struct bj_err *err)
{
	AUTO_BUF struct bj_buf data = { 0 };

	describe(bj, spec, spec->backend, &data);
	bj_json_text(&data, "script_sha256", result->script_sha256);
	bj_json_text(&data, "risk", bj_risk_name(result->effective_risk));
	return note(bj, "approval.ask", &data, err);
}

int bj_ledger_decide(struct belljar *bj, const char *id, bool approve, const char *by,
		     const char *reason, struct bj_err *err)
{
	return bj_audit_append(audit_of(bj), approve ? "approval.approve" : "approval.deny",
			       json_pack("{s:s, s:o*, s:o*}", "run", id, "actor", bj_audit_text(by),
					 "reason", bj_audit_text(reason)),
			       err);
}
