/* SPDX-License-Identifier: Apache-2.0 */

/* The one shape of a result, for the command line, HTTP and tools alike. Text that a script wrote
 * may be any bytes: what is not UTF-8 is replaced, so the object is always valid. */

#include "base/cleanup.h"
#include "base/utf8.h"
#include "spec/finding_json.h"
#include "spec/names.h"

#include <jansson.h>
#include <string.h>

static json_t *text_n(const char *text, size_t size)
{
	size_t n = 0;
	AUTO_FREE char *good = bj_utf8_repair(text ? text : "", text ? size : 0, &n);

	return good ? json_stringn_nocheck(good, n) : NULL;
}

/* NULL is null. */
static json_t *text(const char *s)
{
	return s ? text_n(s, strlen(s)) : json_null();
}

static json_t *number(uint64_t v)
{
	return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

/* Microseconds as milliseconds with three decimals. */
static json_t *millis(uint64_t us)
{
	return json_real((double)us / 1000.0);
}

static json_t *strings(char *const *list, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, text(list[i]));
	return array;
}

static json_t *limits(const struct bj_limits *l)
{
	return json_pack("{s:o, s:f, s:I, s:f, s:o, s:o, s:o}", "memory_bytes", number(l->memory),
			 "cpus", (double)l->cpu_milli / 1000.0, "pids", (json_int_t)l->pids,
			 "timeout_seconds", (double)l->timeout_ms / 1000.0, "tmp_bytes",
			 number(l->tmp_size), "max_output_bytes", number(l->max_output),
			 "output_cap_bytes", number(l->output_cap));
}

static json_t *isolation(const struct bj_result *r)
{
	json_t *layers = json_object();

	for (size_t i = 0; i < r->n_layers; i++)
		json_object_set_new(layers, r->layers[i].name, json_boolean(r->layers[i].enforced));
	return json_pack("{s:o, s:s, s:s, s:I}", "layers", layers, "cgroup",
			 r->cgroup ? r->cgroup : "none", "uid",
			 r->uid_mode ? r->uid_mode : "shared", "landlock_abi",
			 (json_int_t)r->landlock_abi);
}

static json_t *fallback(const struct bj_result *r)
{
	if (!r->fallback_reason)
		return json_null();
	return json_pack("{s:s, s:o}", "from", bj_backend_name(r->fallback_from), "reason",
			 text(r->fallback_reason));
}

/* Null: the host's own files. */
static json_t *image(const struct bj_result *r)
{
	if (!r->image && !r->image_digest)
		return json_null();
	return json_pack("{s:o, s:o}", "name", text(r->image), "digest", text(r->image_digest));
}

static json_t *meta(const struct bj_result *r)
{
	return json_pack("{s:s, s:o, s:o, s:s, s:b, s:b, s:o, s:{s:b, s:b}, s:o, s:o, s:{s:o, "
			 "s:o}, s:b, s:o, "
			 "s:{s:I, s:o, s:I}}",
			 "runtime", bj_backend_name(r->runtime), "image", image(r), "fallback",
			 fallback(r), "policy", bj_policy_name(r->policy), "trusted", r->trusted,
			 "warm", r->warm, "blocked_imports",
			 strings(r->blocked_imports, r->n_blocked_imports), "truncated", "stdout",
			 r->out.truncated, "stderr", r->err.truncated, "stdout_bytes",
			 number(r->out.total), "stderr_bytes", number(r->err.total),
			 "resource_limits", "asked", limits(&r->asked), "effective",
			 limits(&r->effective), "cleanup_success", r->cleanup_success, "isolation",
			 isolation(r), "out", "files", (json_int_t)r->out_files, "bytes",
			 number(r->out_bytes), "refused", (json_int_t)r->out_refused);
}

/* Who decided what; null when nobody had to. */
static json_t *decision(const struct bj_decision *d)
{
	if (d->kind == BJ_DECISION_NONE)
		return json_null();
	return json_pack("{s:s, s:o, s:o, s:o}", "decision", bj_decision_name(d->kind), "by",
			 text(d->by), "reason", text(d->reason), "decided_ms",
			 number(d->decided_ms));
}

/* A run that waits has no cause yet. */
static json_t *cause(const struct bj_result *r)
{
	return r->cause == BJ_CAUSE_NONE ? json_null() : json_string(bj_cause_name(r->cause));
}

static json_t *risk(const struct bj_result *r)
{
	return json_pack("{s:s, s:s, s:o}", "level", bj_risk_name(r->risk), "effective",
			 bj_risk_name(r->effective_risk), "reasons",
			 strings(r->risk_reasons, r->n_risk_reasons));
}

static json_t *samples_json(const struct bj_sample *samples, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "elapsed_ms",
						      millis(samples[i].elapsed_us), "cpu_ms",
						      millis(samples[i].cpu_us), "memory_bytes",
						      number(samples[i].memory)));
	return list;
}

static json_t *usage(const struct bj_result *r)
{
	json_t *object =
		json_pack("{s:o, s:o, s:f}", "cpu_ms", millis(r->cpu_us), "peak_memory_bytes",
			  number(r->peak_memory), "cost", (double)r->cost_micros / 1e6);

	/* Most runs are over before the first one. */
	if (r->n_samples)
		json_object_set_new(object, "samples", samples_json(r->samples, r->n_samples));
	return object;
}

json_t *bj_result_to_object(const struct bj_result *r)
{
	return json_pack("{s:o, s:s, s:o, s:b, s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o, "
			 "s:o, s:o, s:s, s:o, s:o, s:o, s:o}",
			 "id", text(r->id), "state", bj_state_name(r->state), "cause", cause(r),
			 "success", r->success, "language", bj_language_name(r->language), "stdout",
			 text_n(r->out.data, r->out.size), "stderr",
			 text_n(r->err.data, r->err.size), "exit_code",
			 r->exit_code >= 0 ? json_integer(r->exit_code) : json_null(), "signal",
			 r->signal ? json_integer(r->signal) : json_null(), "timeout", r->timeout,
			 "validation_failed", r->validation_failed, "validation_error",
			 text(r->validation_error), "error", text(r->error), "findings",
			 bj_findings_to_json(r->findings, r->n_findings), "risk", risk(r),
			 "decision", decision(&r->decision), "script_sha256", r->script_sha256,
			 "started_ms", number(r->started_unix_ms), "duration_ms",
			 millis(r->duration_us), "usage", usage(r), "meta", meta(r));
}

char *bj_result_to_json(const struct bj_result *result)
{
	json_t *object = bj_result_to_object(result);
	char *line = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;

	json_decref(object);
	return line;
}
