/* SPDX-License-Identifier: Apache-2.0 */

/* The one shape of a result, for the command line, HTTP and tools alike. Text that a script wrote
 * may be any bytes: what is not UTF-8 is replaced, so the object is always valid. It is printed for
 * every run, twice where runs are recorded, so it goes straight into a buffer. */

#include "base/cleanup.h"
#include "base/json.h"
#include "spec/finding_json.h"
#include "spec/names.h"

#include <jansson.h>
#include <string.h>

enum { FIRST_ROOM = 2048 }; /* of a result with little output */

static void number(struct bj_buf *b, const char *name, uint64_t v)
{
	bj_json_int(b, name, v > INT64_MAX ? INT64_MAX : (int64_t)v);
}

/* Microseconds as milliseconds with three decimals. */
static void millis(struct bj_buf *b, const char *name, uint64_t us)
{
	bj_json_fixed(b, name, us, 3);
}

static void strings(struct bj_buf *b, const char *name, char *const *list, size_t n)
{
	bj_json_open(b, name, '[');
	for (size_t i = 0; i < n; i++) {
		bj_json_next(b);
		if (list[i])
			bj_json_string(b, list[i], strlen(list[i]));
		else
			bj_buf_puts(b, "null");
	}
	bj_json_close(b, ']');
}

static void limits(struct bj_buf *b, const char *name, const struct bj_limits *l)
{
	bj_json_open(b, name, '{');
	number(b, "memory_bytes", l->memory);
	bj_json_fixed(b, "cpus", l->cpu_milli, 3);
	number(b, "pids", l->pids);
	bj_json_fixed(b, "timeout_seconds", l->timeout_ms, 3);
	number(b, "tmp_bytes", l->tmp_size);
	number(b, "max_output_bytes", l->max_output);
	number(b, "output_cap_bytes", l->output_cap);
	bj_json_close(b, '}');
}

static void isolation(struct bj_buf *b, const struct bj_result *r)
{
	bj_json_open(b, "isolation", '{');
	bj_json_open(b, "layers", '{');
	for (size_t i = 0; i < r->n_layers; i++)
		bj_json_flag(b, r->layers[i].name, r->layers[i].enforced);
	bj_json_close(b, '}');
	bj_json_text(b, "cgroup", r->cgroup ? r->cgroup : "none");
	bj_json_text(b, "uid", r->uid_mode ? r->uid_mode : "shared");
	number(b, "landlock_abi", r->landlock_abi);
	bj_json_close(b, '}');
}

static void fallback(struct bj_buf *b, const struct bj_result *r)
{
	if (!r->fallback_reason) {
		bj_json_null(b, "fallback");
		return;
	}
	bj_json_open(b, "fallback", '{');
	bj_json_text(b, "from", bj_backend_name(r->fallback_from));
	bj_json_text(b, "reason", r->fallback_reason);
	bj_json_close(b, '}');
}

/* Null: the host's own files. */
static void image(struct bj_buf *b, const struct bj_result *r)
{
	if (!r->image && !r->image_digest) {
		bj_json_null(b, "image");
		return;
	}
	bj_json_open(b, "image", '{');
	bj_json_text(b, "name", r->image);
	bj_json_text(b, "digest", r->image_digest);
	bj_json_close(b, '}');
}

static void meta(struct bj_buf *b, const struct bj_result *r)
{
	bj_json_open(b, "meta", '{');
	bj_json_text(b, "runtime", bj_backend_name(r->runtime));
	image(b, r);
	fallback(b, r);
	bj_json_text(b, "policy", bj_policy_name(r->policy));
	bj_json_flag(b, "trusted", r->trusted);
	bj_json_flag(b, "warm", r->warm);
	strings(b, "blocked_imports", r->blocked_imports, r->n_blocked_imports);
	bj_json_open(b, "truncated", '{');
	bj_json_flag(b, "stdout", r->out.truncated);
	bj_json_flag(b, "stderr", r->err.truncated);
	bj_json_close(b, '}');
	number(b, "stdout_bytes", r->out.total);
	number(b, "stderr_bytes", r->err.total);
	bj_json_open(b, "resource_limits", '{');
	limits(b, "asked", &r->asked);
	limits(b, "effective", &r->effective);
	bj_json_close(b, '}');
	bj_json_flag(b, "cleanup_success", r->cleanup_success);
	isolation(b, r);
	bj_json_open(b, "out", '{');
	number(b, "files", r->out_files);
	number(b, "bytes", r->out_bytes);
	number(b, "refused", r->out_refused);
	bj_json_close(b, '}');
	bj_json_close(b, '}');
}

/* Who decided what; null when nobody had to. */
static void decision(struct bj_buf *b, const struct bj_decision *d)
{
	if (d->kind == BJ_DECISION_NONE) {
		bj_json_null(b, "decision");
		return;
	}
	bj_json_open(b, "decision", '{');
	bj_json_text(b, "decision", bj_decision_name(d->kind));
	bj_json_text(b, "by", d->by);
	bj_json_text(b, "reason", d->reason);
	number(b, "decided_ms", d->decided_ms);
	bj_json_close(b, '}');
}

static void risk(struct bj_buf *b, const struct bj_result *r)
{
	bj_json_open(b, "risk", '{');
	bj_json_text(b, "level", bj_risk_name(r->risk));
	bj_json_text(b, "effective", bj_risk_name(r->effective_risk));
	strings(b, "reasons", r->risk_reasons, r->n_risk_reasons);
	bj_json_close(b, '}');
}

static void samples(struct bj_buf *b, const struct bj_sample *list, size_t n)
{
	bj_json_open(b, "samples", '[');
	for (size_t i = 0; i < n; i++) {
		bj_json_next(b);
		bj_buf_puts(b, "{");
		millis(b, "elapsed_ms", list[i].elapsed_us);
		millis(b, "cpu_ms", list[i].cpu_us);
		number(b, "memory_bytes", list[i].memory);
		bj_json_close(b, '}');
	}
	bj_json_close(b, ']');
}

static void usage(struct bj_buf *b, const struct bj_result *r)
{
	bj_json_open(b, "usage", '{');
	millis(b, "cpu_ms", r->cpu_us);
	number(b, "peak_memory_bytes", r->peak_memory);
	bj_json_fixed(b, "cost", r->cost_micros, 6);
	/* Most runs are over before the first one. */
	if (r->n_samples)
		samples(b, r->samples, r->n_samples);
	bj_json_close(b, '}');
}

/* Few runs have any. */
static void findings(struct bj_buf *b, const struct bj_result *r)
{
	json_t *list = r->n_findings ? bj_findings_to_json(r->findings, r->n_findings) : NULL;
	AUTO_FREE char *text = list ? json_dumps(list, JSON_COMPACT) : NULL;

	json_decref(list);
	bj_json_name(b, "findings");
	bj_buf_puts(b, text ? text : "[]");
	b->failed |= r->n_findings && !text;
}

static void output(struct bj_buf *b, const char *name, const struct bj_output *o)
{
	bj_json_text_n(b, name, o->data ? o->data : "", o->data ? o->size : 0);
}

static void how_it_ended(struct bj_buf *b, const struct bj_result *r)
{
	if (r->exit_code >= 0)
		bj_json_int(b, "exit_code", r->exit_code);
	else
		bj_json_null(b, "exit_code");
	if (r->signal)
		bj_json_int(b, "signal", r->signal);
	else
		bj_json_null(b, "signal");
	bj_json_flag(b, "timeout", r->timeout);
	bj_json_flag(b, "validation_failed", r->validation_failed);
	bj_json_text(b, "validation_error", r->validation_error);
	bj_json_text(b, "error", r->error);
}

char *bj_result_to_json(const struct bj_result *r)
{
	struct bj_buf b = { 0 };

	bj_buf_reserve(&b, FIRST_ROOM);
	bj_buf_puts(&b, "{");
	bj_json_text(&b, "id", r->id);
	bj_json_text(&b, "state", bj_state_name(r->state));
	/* A run that waits has no cause yet. */
	bj_json_text(&b, "cause", r->cause == BJ_CAUSE_NONE ? NULL : bj_cause_name(r->cause));
	bj_json_flag(&b, "success", r->success);
	bj_json_text(&b, "language", bj_language_name(r->language));
	output(&b, "stdout", &r->out);
	output(&b, "stderr", &r->err);
	how_it_ended(&b, r);
	findings(&b, r);
	risk(&b, r);
	decision(&b, &r->decision);
	bj_json_text(&b, "script_sha256", r->script_sha256);
	number(&b, "started_ms", r->started_unix_ms);
	millis(&b, "duration_ms", r->duration_us);
	usage(&b, r);
	meta(&b, r);
	bj_json_close(&b, '}');
	return bj_buf_take(&b);
}
