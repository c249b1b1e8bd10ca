/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation: the life of one run.
 *
 *	check   every layer but syntax reads the text; a blocking finding ends it here, and nothing
 *		was started for it
 *	gate    the approval rules let it go, deny it, or have it wait for a person
 *	begin   a row in the records: what cannot be recorded does not run
 *	run     the backend starts the interpreter in its jar, which parses the script before its
 *		first line and says what it found
 *	result  one value: what was found, what happened, what was enforced; recorded before it is
 *		answered
 *
 * bj_run() may be called from many threads; runs share nothing but the launcher and the rules. */

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/utf8.h"
#include "engine/backends.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "engine/ledger.h"
#include "engine/pin.h"
#include "engine/valid.h"
#include "record/approval.h"
#include "record/artifact.h"
#include "record/held.h"
#include "record/known.h"
#include "spec/names.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void new_id(char id[33])
{
	unsigned char bytes[16];

	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(id, 33, bytes, sizeof(bytes));
}

/* An id stands in file names, records and addresses. */
static bool is_plain_id(const struct bj_spec *spec)
{
	const char *end = memchr(spec->id, 0, sizeof(spec->id));

	return end && strspn(spec->id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789-_") == (size_t)(end - spec->id);
}

static void step(const struct bj_spec *spec, const char *name)
{
	if (spec->on_step)
		spec->on_step(spec->step_ctx, name);
}

static void hash_script(const struct bj_spec *spec, char hex[65])
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, (const unsigned char *)spec->script, spec->script_size);
	sodium_bin2hex(hex, 65, hash, sizeof(hash));
}

static struct bj_result *new_result(const struct bj_spec *spec)
{
	struct bj_result *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	memcpy(r->id, spec->id, sizeof(r->id));
	r->state = BJ_RUNNING;
	r->exit_code = -1;
	r->language = spec->language;
	r->runtime = spec->backend;
	r->policy = spec->policy;
	r->trusted = spec->trust;
	r->asked = r->effective = spec->limits;
	if (spec->timeout_asked_ms)
		r->asked.timeout_ms = spec->timeout_asked_ms;
	r->cleanup_success = true;
	r->started_unix_ms = bj_clock_unix_ms();
	hash_script(spec, r->script_sha256);
	return r;
}

/* --- check ------------------------------------------------------------------------------------ */

static enum bj_layer_mode import_mode(const struct bj_settings *settings,
				      enum bj_backend_id backend)
{
	static const enum bj_layer_mode modes[] = {
		[BJ_IMPORTS_BLOCK] = BJ_LAYER_BLOCK,
		[BJ_IMPORTS_WARN] = BJ_LAYER_WARN,
		[BJ_IMPORTS_OFF] = BJ_LAYER_OFF,
	};

	if (settings->imports != BJ_IMPORTS_AUTO)
		return modes[settings->imports];
	/* In a jar the kernel is the wall; without one the list is all there is. */
	return backend == BJ_BACKEND_DIRECT ? BJ_LAYER_BLOCK : BJ_LAYER_WARN;
}

struct bj_check_request bj_engine_check_request(const struct bj_settings *settings,
						enum bj_backend_id backend, enum bj_policy policy,
						bool trust)
{
	const struct bj_strings *list = &settings->blocked_imports;

	return (struct bj_check_request){
		.policy = policy,
		.trust = trust,
		.imports = import_mode(settings, backend),
		.blocked_imports = list->n ? (const char *const *)list->items : NULL,
		.max_chars = settings->max_script_chars,
		.max_bytes = settings->max_script_bytes,
	};
}

static struct bj_check_request check_request(const struct belljar *bj, const struct bj_spec *spec)
{
	struct bj_check_request request =
		bj_engine_check_request(bj->settings, spec->backend, spec->policy, spec->trust);

	request.language = spec->language;
	request.text = spec->script;
	request.size = spec->script_size;
	return request;
}

void bj_engine_take_report(struct bj_result *r, struct bj_report *ret)
{
	*ret = (struct bj_report){
		.findings = BJ_TAKE_PTR(r->findings),
		.n_findings = r->n_findings,
		.blocked = r->validation_failed,
		.error = BJ_TAKE_PTR(r->validation_error),
		.risk = r->risk,
		.risk_reasons = BJ_TAKE_PTR(r->risk_reasons),
		.n_risk_reasons = r->n_risk_reasons,
		.blocked_imports = BJ_TAKE_PTR(r->blocked_imports),
		.n_blocked_imports = r->n_blocked_imports,
	};
	r->n_findings = r->n_risk_reasons = r->n_blocked_imports = 0;
}

/* Move what the check found into the result. */
static void take_report(struct bj_report *report, struct bj_result *r)
{
	r->findings = report->findings;
	r->n_findings = report->n_findings;
	r->risk = report->risk;
	r->risk_reasons = report->risk_reasons;
	r->n_risk_reasons = report->n_risk_reasons;
	r->blocked_imports = report->blocked_imports;
	r->n_blocked_imports = report->n_blocked_imports;
	r->validation_failed = report->blocked;
	r->validation_error = report->error;
	*report = (struct bj_report){ 0 };
}

/* The tool's own risk counts as much as the script's: the higher one decides. What an agent wrote
 * is medium at least, however it looks. */
static enum bj_risk effective_risk(const struct bj_spec *spec, enum bj_risk own)
{
	enum bj_risk risk = spec->tool && spec->declared_risk > own ? spec->declared_risk : own;

	if ((spec->tool || spec->through == BJ_THROUGH_API) && risk < BJ_RISK_MEDIUM)
		risk = BJ_RISK_MEDIUM;
	return risk;
}

/* Refused: nothing ran, and the message is on stderr too, where every agent looks. */
static void reject(struct bj_result *r)
{
	r->cause = BJ_CAUSE_REJECTED;
	r->exit_code = -1;
	r->signal = 0;
	r->success = false;
	r->timeout = false;
	free(r->out.data);
	free(r->err.data);
	r->out = r->err = (struct bj_output){ 0 };
	if (!r->validation_error)
		return;
	free(r->error);
	r->error = strdup(r->validation_error);
	r->err.data = strdup(r->validation_error);
	r->err.size = r->err.data ? strlen(r->err.data) : 0;
	r->err.total = r->err.size;
}

/* --- result ----------------------------------------------------------------------------------- */

enum { ERROR_EXCERPT = 400 };

/* A script that is killed well below its own limit found none left of what all share. Only the peak
 * of a cgroup is that of all its processes. */
static void explain_oom(const struct bj_result *r, char *text, size_t size)
{
	const bool known = r->runtime == BJ_BACKEND_NATIVE && r->peak_memory > 0 && r->cgroup &&
			   strcmp(r->cgroup, "none") != 0;
	const unsigned long long most = r->effective.memory >> 20, peak = r->peak_memory >> 20;

	if (known && r->peak_memory < r->effective.memory / 4 * 3)
		snprintf(text, size,
			 "Execution failed: no memory was left at %llu MiB of the %llu MiB that "
			 "the script may have: all runs together used it up; run fewer at once",
			 peak, most);
	else
		snprintf(text, size,
			 "Execution failed: the script used more than %llu MiB of memory", most);
}

/* One sentence about a run that did not succeed. */
static void explain(struct bj_result *r)
{
	char text[ERROR_EXCERPT + 64];
	const struct bj_limits *lim = &r->effective;

	switch (r->cause) {
	case BJ_CAUSE_TIMEOUT:
		snprintf(text, sizeof(text), "Code execution timed out after %gs",
			 (double)lim->timeout_ms / 1000.0);
		break;
	case BJ_CAUSE_OOM:
		explain_oom(r, text, sizeof(text));
		break;
	case BJ_CAUSE_PIDS:
		snprintf(text, sizeof(text),
			 "Execution failed: the script started more than %u "
			 "processes and threads",
			 lim->pids);
		break;
	case BJ_CAUSE_OUTPUT:
		snprintf(text, sizeof(text),
			 "Execution failed: the script wrote more than %llu "
			 "bytes",
			 (unsigned long long)lim->output_cap);
		break;
	case BJ_CAUSE_SECCOMP:
		snprintf(text, sizeof(text),
			 "Execution failed: the script made a system call that "
			 "the seccomp profile kills");
		break;
	case BJ_CAUSE_SIGNAL:
		snprintf(text, sizeof(text), "Execution failed: killed by signal %d (%s)",
			 r->signal, strsignal(r->signal));
		break;
	case BJ_CAUSE_CANCELLED:
		snprintf(text, sizeof(text), "Execution cancelled");
		break;
	case BJ_CAUSE_EXITED:
		if (r->success)
			return;
		if (r->err.size)
			snprintf(text, sizeof(text), "Execution failed: %.*s", ERROR_EXCERPT,
				 r->err.data);
		else
			snprintf(text, sizeof(text), "Execution failed: exit status %d",
				 r->exit_code);
		break;
	default:
		return;
	}
	r->error = strdup(text);
}

static int run_backend(struct belljar *bj, const struct bj_spec *spec, struct bj_result *r,
		       struct bj_verdict *verdict, struct bj_err *ret_failed)
{
	struct bj_err err = { 0 };
	const int rc = bj_backends_run(bj, spec->backend, spec, r, verdict, &err);

	if (rc < 0) {
		r->cause = BJ_CAUSE_INFRASTRUCTURE;
		r->no_interpreter = err.code == BJ_E_NOT_FOUND;
		r->retry_after_s = bj_err_lacks_fds(&err) ? 1 : 0;
		r->error = strdup(err.msg);
		*ret_failed = err;
	}
	return rc;
}

/* Let it through the gate and write down that it begins. 1, or 0 when it does not begin now. */
static int may_begin(struct belljar *bj, const struct bj_spec *spec, struct bj_report *report,
		     struct bj_result *r, struct bj_err *err)
{
	enum bj_gate_answer answer = BJ_GATE_GO;

	/* A person who is asked sees what was found. */
	take_report(report, r);

	step(spec, "approve");

	int rc = bj_gate_ask(bj, spec, r, &answer, err);

	if (rc == 0 && r->state == BJ_PENDING)
		rc = bj_ledger_ask(bj, spec, r, err);
	if (rc < 0 || answer != BJ_GATE_GO)
		return rc;
	rc = bj_ledger_begin(bj, spec, r, err);
	if (rc <= 0)
		return rc;
	if (bj->record.archive && bj_record_begin(&bj->record, spec, r, BJ_RUNNING, err) < 0)
		return -err->code;
	bj_engine_take_report(r, report);
	return 1;
}

/* A run on its way to the backend, and the line about it in the audit log, which is written while
 * the jar comes up. The record of its beginning is there before. */
struct beginning {
	struct belljar *bj;
	const struct bj_spec *spec;
	const struct bj_result *result;
	bool noted;
	struct bj_err err; /* why there is no such line */
};

static int note_beginning(void *ctx, struct bj_err *err)
{
	struct beginning *b = ctx;
	const int r = bj_ledger_start(b->bj, b->spec, b->result, &b->err);

	b->noted = true;
	if (r < 0)
		*err = b->err;
	return r;
}

/* Ask the backend, with the line about the start in the log when it answers. Negative: there is no
 * such line, so nobody hears how it ended. *@ret_failed: the backend could not run it. */
static int run_noted(struct belljar *bj, const struct bj_spec *asked, struct bj_result *r,
		     struct bj_verdict *verdict, struct bj_err *ret_failed, struct bj_err *err)
{
	struct bj_spec spec = *asked;
	struct beginning beginning = { .bj = bj, .spec = asked, .result = r };

	if (!spec.check_only) {
		spec.on_launched = note_beginning;
		spec.launched_ctx = &beginning;
	}
	run_backend(bj, &spec, r, verdict, ret_failed);
	if (!spec.check_only && !beginning.noted)
		note_beginning(&beginning, &beginning.err); /* it did not get that far */
	if (!beginning.err.code)
		return 0;
	*err = beginning.err;
	return -err->code;
}

/* *@ret_failed is filled when the backend could not run it. */
static int check_and_run(struct belljar *bj, const struct bj_spec *spec, struct bj_result *r,
			 struct bj_err *ret_failed, struct bj_err *err)
{
	step(spec, "check");

	const struct bj_check_request request = check_request(bj, spec);
	struct bj_report report = { 0 };
	struct bj_verdict verdict = { 0 };
	int rc = bj_check(bj->checker, &request, &report, err);

	if (rc < 0)
		return rc; /* a script that could not be checked does not run */
	r->effective_risk = effective_risk(spec, report.risk);
	if (!report.blocked && !spec->check_only) {
		rc = may_begin(bj, spec, &report, r, err);
		if (rc <= 0)
			return rc;
	}

	step(spec, "run");
	/* The checker could not read all of it: the interpreter is asked, and nothing runs. */
	struct bj_spec ask = *spec;

	if (report.unparsed)
		ask.check_only = true;
	rc = 0;
	if (!report.blocked || report.unparsed)
		rc = run_noted(bj, &ask, r, &verdict, ret_failed, err);
	if (rc == 0 && !ret_failed->code && verdict.syntax)
		rc = bj_report_add_syntax(bj->checker, &request, &report, verdict.line,
					  verdict.column, verdict.message, err);
	take_report(&report, r);
	bj_report_done(&report);
	if (rc < 0)
		return rc;
	r->effective_risk = effective_risk(spec, r->risk);
	if (r->validation_failed)
		reject(r);
	else
		explain(r);
	return 0;
}

/* Run it in the backend of @spec, or, when that is not there and the settings say so, in the next
 * one. Everything starts anew then: a backend with weaker walls has a stricter check. */
static int run_with_fallback(struct belljar *bj, struct bj_spec *spec,
			     struct bj_result **ret_result, struct bj_err *err)
{
	const enum bj_backend_id first = spec->backend;
	AUTO_FREE char *reason = NULL;

	for (;;) {
		struct bj_err failed = { 0 };
		struct bj_result *result = new_result(spec);
		enum bj_backend_id next;

		*ret_result = result;
		if (!result)
			return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for a result");

		const int r = check_and_run(bj, spec, result, &failed, err);

		if (r < 0 || !failed.code ||
		    !bj_backends_next(bj, first, spec->backend, &failed, &next)) {
			result->fallback_from = first;
			result->fallback_reason = BJ_TAKE_PTR(reason);
			return r;
		}
		bj_log(BJ_LOG_WARN, "falling back from %s to %s: %s",
		       bj_backend_name(spec->backend), bj_backend_name(next), failed.msg);
		if (!reason)
			reason = strdup(failed.msg);
		bj_result_free(result);
		*ret_result = NULL;

		const int noted = bj_ledger_fallback(bj, spec, next, failed.msg, err);

		if (noted < 0)
			return noted;
		spec->backend = next;
	}
}

/* What goes beyond the result is kept too, when the settings say so. What cannot be kept is said,
 * and the run counts all the same. */
static bool keep_artifacts(const struct bj_record *rec, const struct bj_spec *spec,
			   const struct bj_result *result, struct bj_spool *spool, bool files,
			   struct bj_artifact *ret)
{
	struct bj_err err = { 0 };
	const int r = bj_artifact_keep(rec, spec, result, spool, files, ret, &err);

	/* Where belljar itself failed there is a message already, and for the same reason. */
	if (r < 0)
		bj_log(result->cause == BJ_CAUSE_INFRASTRUCTURE ? BJ_LOG_DEBUG : BJ_LOG_WARN, "%s",
		       err.msg);
	return r > 0;
}

static bool has_secrets(const struct bj_result *r)
{
	for (size_t i = 0; i < r->n_findings; i++)
		if (strcmp(r->findings[i].layer, "secrets") == 0)
			return true;
	return false;
}

/* Artifacts first: the record names them. */
static int keep_both(const struct bj_record *rec, const struct bj_spec *spec,
		     const struct bj_result *result, struct bj_spool *spool, bool files,
		     struct bj_err *err)
{
	struct bj_artifact artifact = { .lock = -1 };
	const bool kept = keep_artifacts(rec, spec, result, spool, files, &artifact);
	const int r = bj_record_finish(rec, spec, result, kept ? &artifact : NULL, err);

	if (r < 0 && kept)
		bj_artifact_remove(rec->archive, artifact.name);
	if (artifact.lock >= 0)
		close(artifact.lock);
	return r;
}

/* The end of a run is on record before anybody hears of it. */
static int keep_result(struct belljar *bj, const struct bj_spec *spec, struct bj_result *result,
		       struct bj_spool *spool, bool files, struct bj_err *err)
{
	if (result->state == BJ_PENDING) {
		bj_ledger_release(bj, spec); /* it takes its share when it begins */
		return 0;
	}
	result->state = BJ_FINISHED;
	if (!bj->record.archive || spec->check_only)
		return 0;

	step(spec, "record");
	bj_ledger_price(bj, result);

	struct bj_known known;
	struct bj_record rec = bj->record;
	struct bj_err unheard = { 0 };

	bj_known_find(bj->checker, spec, has_secrets(result), &known);
	rec.known = &known;

	const int r = keep_both(&rec, spec, result, spool, files, err);

	bj_known_done(&known);
	return bj_ledger_end(bj, spec, result, r < 0 ? &unheard : err) < 0 && r == 0 ? -err->code
										     : r;
}

/* A word is enough to go by: a wrong guess costs time and nothing else. */
static bool names_heavy_module(const struct bj_settings *settings, const struct bj_spec *spec)
{
	const struct bj_strings *list = &settings->warm_heavy;

	if (spec->language != BJ_LANG_PYTHON)
		return false;
	for (size_t i = 0; i < list->n; i++)
		if (memmem(spec->script, spec->script_size, list->items[i], strlen(list->items[i])))
			return true;
	return false;
}

/* Fill in what the caller left open and hold it against the settings. */
static int complete(const struct belljar *bj, struct bj_spec *spec, struct bj_err *err)
{
	if (!spec->id[0])
		new_id(spec->id);
	if (!is_plain_id(spec))
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "an id has at most 32 letters, digits, dashes and underscores");

	spec->heavy = spec->script && names_heavy_module(bj->settings, spec);

	const int place = bj_pin_place(bj->settings, spec->image, err);

	if (place < 0)
		return place;
	spec->image_place = (unsigned char)place;
	/* In full, with the digest, also when nobody asked for one: what is decided about this run
	 * is decided about these bytes. */
	spec->image = bj_pin_at(bj->settings, (size_t)place);
	if (!spec->image)
		spec->image = BJ_PIN_HOST;

	const uint64_t clamped = bj_settings_clamp_timeout(bj->settings, spec->limits.timeout_ms);

	if (clamped != spec->limits.timeout_ms && !spec->timeout_asked_ms)
		spec->timeout_asked_ms = spec->limits.timeout_ms;
	spec->limits.timeout_ms = clamped;
	return bj_valid_spec(spec, err);
}

int bj_run(struct belljar *bj, const struct bj_spec *asked, struct bj_result **ret_result,
	   struct bj_err *err)
{
	struct bj_spec spec = *asked;
	struct bj_spool spool;
	struct bj_result *result = NULL;
	int r = complete(bj, &spec, err);

	if (r < 0)
		return r;

	AUTO_FD int files = bj_artifact_files(&bj->record, &spec);

	bj_spool_init(&spool, bj->record.archive ? bj->record.archive->artifacts : -1, asked,
		      bj->settings->record.artifact_bytes);
	if (bj->record.archive && bj->settings->store_code != BJ_STORE_NEVER) {
		spec.on_event = bj_spool_event;
		spec.event_ctx = &spool;
	}
	if (files >= 0)
		spec.out_dir_fd = files;
	r = run_with_fallback(bj, &spec, &result, err);
	if (r == 0)
		r = keep_result(bj, &spec, result, &spool, files >= 0, err);
	if (files >= 0 && (r < 0 || result->state == BJ_PENDING))
		bj_artifact_drop(&bj->record, &spec);
	bj_spool_done(&spool);
	if (r < 0) {
		bj_ledger_release(bj, &spec);
		bj_result_free(result);
		return r;
	}
	*ret_result = result;
	return 0;
}

int bj_engine_enqueue(struct belljar *bj, const struct bj_spec *asked, struct bj_err *err)
{
	struct bj_spec spec = *asked;
	struct bj_result *result;
	int r = complete(bj, &spec, err);

	if (r < 0 || !bj->record.archive)
		return r;
	result = new_result(&spec);
	if (!result)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for a result");
	r = bj_record_begin(&bj->record, &spec, result, BJ_QUEUED, err);
	bj_result_free(result);
	return r;
}

/* --- approval --------------------------------------------------------------------------------- */

static int need_records(const struct belljar *bj, struct bj_err *err)
{
	if (bj->record.archive)
		return 0;
	return bj_err_set(err, BJ_E_NOT_FOUND, 0,
			  "no decisions are kept here; set record.enabled to true");
}

int bj_decide(struct belljar *bj, const char *id, bool approve, const char *by, const char *reason,
	      struct bj_err *err)
{
	int r = need_records(bj, err);

	if (r < 0)
		return r;

	AUTO_FREE char *masked =
		reason ? bj_record_mask(&bj->record, reason, strlen(reason)) : NULL;

	/* A command line may hold any bytes. */
	if (masked)
		bj_utf8_mend(masked);
	return bj_approval_decide(&bj->record, id, approve, by, masked, err);
}

/* The settings may have changed since a person looked at it. */
static int still_holds(struct belljar *bj, const struct bj_spec *spec, struct bj_err *err)
{
	struct bj_decision decision = { 0 };
	const int r = bj_approval_holds(&bj->record, spec, &decision, err);

	free(decision.by);
	free(decision.reason);
	if (r == 0)
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "the settings changed since run %.32s was approved; ask again",
				  spec->id);
	return r < 0 ? r : 0;
}

void bj_engine_unqueue(struct belljar *bj, const struct bj_spec *spec, enum bj_cause cause,
		       const char *message)
{
	struct bj_result *result = bj_engine_failure(bj, message);
	struct bj_err err = { 0 };

	if (result && bj->record.archive) {
		result->cause = cause;
		if (bj_record_finish(&bj->record, spec, result, NULL, &err) < 0)
			bj_log(BJ_LOG_ERROR, "%s", err.msg);
	}
	bj_result_free(result);
}

int bj_resume(struct belljar *bj, const char *id, const struct bj_spec *hooks,
	      struct bj_result **ret_result, struct bj_err *err)
{
	AUTO_BUF struct bj_buf order = { 0 };
	struct bj_held held = { .stdin_fd = -1 };
	int r = need_records(bj, err);

	if (r == 0)
		r = bj_approval_claim(&bj->record, id, &order, err);
	if (r == 0)
		r = bj_err_set(err, BJ_E_DENIED, 0,
			       "run %.32s is not approved, or it has begun already", id);
	if (r < 0)
		return r;
	r = bj_held_unpack(order.data, order.size, &held, err);
	held.spec.seccomp = bj->filter ? bj->filter->data : NULL;
	held.spec.seccomp_size = bj->filter ? bj->filter->size : 0;
	held.spec.cancel_fd = hooks ? hooks->cancel_fd : -1;
	held.spec.on_event = hooks ? hooks->on_event : NULL;
	held.spec.event_ctx = hooks ? hooks->event_ctx : NULL;
	held.spec.on_step = hooks ? hooks->on_step : NULL;
	held.spec.step_ctx = hooks ? hooks->step_ctx : NULL;
	held.spec.samples = hooks && hooks->samples;
	if (r == 0)
		r = still_holds(bj, &held.spec, err);
	if (r == 0)
		r = bj_run(bj, &held.spec, ret_result, err);
	if (r < 0) {
		snprintf(held.spec.id, sizeof(held.spec.id), "%s", id);
		/* What was taken and cannot run must not stay queued for ever. */
		bj_engine_unqueue(bj, &held.spec, BJ_CAUSE_INFRASTRUCTURE, err->msg);
	}
	bj_held_done(&held);
	return r;
}
