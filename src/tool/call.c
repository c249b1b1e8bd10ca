/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "engine/engine.h"
#include "spec/finding_json.h"
#include "spec/names.h"
#include "tool/run.h"
#include "tool/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int bj_tool_refuse(struct bj_tool_answer *ret, const char *fmt, ...)
{
	va_list ap;
	char *text = NULL;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		bj_utf8_mend(text);
	*ret = (struct bj_tool_answer){ .failed = true, .text = text };
	return 0;
}

void bj_tool_answer_done(struct bj_tool_answer *answer)
{
	free(answer->text);
	json_decref(answer->data);
	*answer = (struct bj_tool_answer){ 0 };
}

/* --- arguments -------------------------------------------------------------------------------- */

static size_t count_params(const struct bj_tool *tool)
{
	size_t n = 0;

	while (n < BJ_TOOL_PARAMS && tool->params[n].name)
		n++;
	return n;
}

/* True, and the answer is made, when there is an argument that the table does not have. */
static bool refuse_unknown(const struct bj_tool_call *call, struct bj_tool_answer *ret)
{
	const struct bj_tool *tool = call->tool;
	const char *names[BJ_TOOL_PARAMS];
	const size_t n = count_params(tool);
	const char *key;
	json_t *value;

	for (size_t i = 0; i < n; i++)
		names[i] = tool->params[i].name;
	json_object_foreach((json_t *)call->args, key, value)
	{
		size_t i = 0;

		while (i < n && strcmp(names[i], key) != 0)
			i++;
		if (i < n)
			continue;

		const char *near = bj_nearest(key, names, n);

		bj_tool_refuse(ret, "%s has no parameter %.60s; %s%s", tool->name, key,
			       near ? "did you mean " : "remove it", near ? near : "");
		return true;
	}
	return false;
}

static bool is_choice(const struct bj_tool_param *p, const char *text)
{
	for (size_t i = 0; p->choices[i]; i++)
		if (strcmp(p->choices[i], text) == 0)
			return true;
	return false;
}

static void refuse_choice(const struct bj_tool_param *p, const json_t *v,
			  struct bj_tool_answer *ret)
{
	AUTO_BUF struct bj_buf list = { 0 };
	const char *text = json_string_value(v);

	for (size_t i = 0; p->choices[i]; i++)
		bj_buf_printf(&list, "%s'%s'", i ? " or " : "", p->choices[i]);
	bj_tool_refuse(ret, "Invalid %s: %.60s. Must be %s", p->name, text ? text : "not a text",
		       list.data);
}

/* One argument against its line of the table; false, and the answer is made, when it is wrong. */
static bool fits(const struct bj_tool_param *p, const json_t *v, struct bj_tool_answer *ret)
{
	if (!v || json_is_null(v)) {
		if (p->needed)
			bj_tool_refuse(ret, "%s is missing: %s", p->name, p->help);
		return !p->needed;
	}
	if (p->choices) {
		const char *text = json_string_value(v);
		const bool good = text && is_choice(p, text);

		if (!good)
			refuse_choice(p, v, ret);
		return good;
	}
	if (p->type == BJ_TOOL_TEXT && (!json_is_string(v) || json_string_length(v) == 0)) {
		bj_tool_refuse(ret, "%s must be a text that is not empty", p->name);
		return false;
	}
	if (p->type == BJ_TOOL_NUMBER && (!json_is_number(v) || json_number_value(v) <= 0)) {
		bj_tool_refuse(ret, "%s must be a number greater than zero", p->name);
		return false;
	}
	if (p->type == BJ_TOOL_COUNT && (!json_is_integer(v) || json_integer_value(v) < 0)) {
		bj_tool_refuse(ret, "%s must be a whole number, zero or more", p->name);
		return false;
	}
	return true;
}

int bj_tool_call(const struct bj_tool_call *call, struct bj_tool_answer *ret, struct bj_err *err)
{
	if (call->args && !json_is_object(call->args))
		return bj_tool_refuse(ret, "the arguments must be an object");
	if (refuse_unknown(call, ret))
		return 0;
	for (size_t i = 0; i < count_params(call->tool); i++) {
		const struct bj_tool_param *p = &call->tool->params[i];

		if (!fits(p, json_object_get(call->args, p->name), ret))
			return 0;
	}
	return call->tool->call(call, ret, err);
}

/* --- runs ------------------------------------------------------------------------------------- */

static int set_timeout(const struct bj_tool_call *call, struct bj_spec *spec, struct bj_err *err)
{
	const json_t *v = json_object_get(call->args, "timeout");
	struct bj_settings asked = { 0 };
	char text[64];
	int r;

	if (!v || json_is_null(v))
		return 0;
	snprintf(text, sizeof(text), "%.3f", json_number_value(v));
	r = bj_settings_set_number(&asked, "limits.timeout", text, err);
	if (r == 0)
		spec->limits.timeout_ms = asked.limits.timeout_ms;
	return r;
}

static void fill_spec(const struct bj_tool_call *call, const char *script_name,
		      enum bj_language language, struct bj_spec *spec)
{
	const json_t *script = json_object_get(call->args, script_name);

	bj_spec_init(call->bj, language, spec);
	spec->script = json_string_value(script);
	spec->script_size = json_string_length(script);
	spec->tool = call->tool->name;
	spec->declared_risk = call->tool->risk;
}

static enum bj_language language_of(const struct bj_tool_call *call)
{
	const char *name = json_string_value(json_object_get(call->args, "script_type"));
	const int language = name ? bj_language_from_name(name) : -1;

	return language < 0 ? BJ_LANG_PYTHON : (enum bj_language)language;
}

size_t bj_tool_max_text(const struct bj_tool_call *call)
{
	return call->max_text ? call->max_text : call->bj->settings->tool_max_text;
}

static int no_memory(struct bj_err *err)
{
	return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for the answer of a tool");
}

static int answer_run(const struct bj_tool_call *call, const struct bj_result *result,
		      struct bj_tool_answer *ret, struct bj_err *err)
{
	struct bj_buf text = { 0 };
	AUTO_FREE char *object = bj_result_to_json(result);
	json_t *data = object ? json_loads(object, JSON_ALLOW_NUL, NULL) : NULL;

	bj_tool_text(result, bj_tool_max_text(call), &text);

	char *taken = bj_buf_take(&text);

	if (!data || !taken) {
		json_decref(data);
		free(taken);
		return no_memory(err);
	}
	*ret = (struct bj_tool_answer){ .failed = !result->success && result->state != BJ_PENDING,
					.text = taken,
					.data = data };
	return 0;
}

static int run_script(const struct bj_tool_call *call, const char *script_name,
		      enum bj_language language, struct bj_tool_answer *ret, struct bj_err *err)
{
	struct bj_spec spec;
	struct bj_result *result = NULL;
	struct bj_err wrong = { 0 };

	fill_spec(call, script_name, language, &spec);
	if (set_timeout(call, &spec, &wrong) < 0)
		return bj_tool_refuse(ret, "timeout: %s", wrong.msg);

	int r = call->run(call->ctx, &spec, &result, err);

	if (r == 0)
		r = answer_run(call, result, ret, err);
	bj_result_free(result);
	return r;
}

int bj_tool_execute(const struct bj_tool_call *call, struct bj_tool_answer *ret, struct bj_err *err)
{
	return run_script(call, "script_content", language_of(call), ret, err);
}

int bj_tool_run_python(const struct bj_tool_call *call, struct bj_tool_answer *ret,
		       struct bj_err *err)
{
	return run_script(call, "code", BJ_LANG_PYTHON, ret, err);
}

/* --- check ------------------------------------------------------------------------------------ */

static int answer_check(const struct bj_tool_call *call, const struct bj_result *r,
			struct bj_tool_answer *ret, struct bj_err *err)
{
	struct bj_buf text = { 0 };
	json_t *reasons = json_array();
	json_t *data;

	for (size_t i = 0; i < r->n_risk_reasons; i++)
		json_array_append_new(reasons, json_string(r->risk_reasons[i]));
	data = json_pack("{s:b, s:s?, s:o, s:{s:s, s:o}}", "valid", !r->validation_failed, "error",
			 r->validation_error, "findings",
			 bj_findings_to_json(r->findings, r->n_findings), "risk", "level",
			 bj_risk_name(r->risk), "reasons", reasons);
	bj_tool_check_text(r, bj_tool_max_text(call), &text);

	char *taken = bj_buf_take(&text);

	if (!data || !taken) {
		json_decref(data);
		free(taken);
		return no_memory(err);
	}
	*ret = (struct bj_tool_answer){ .text = taken, .data = data };
	return 0;
}

int bj_tool_check(const struct bj_tool_call *call, struct bj_tool_answer *ret, struct bj_err *err)
{
	struct bj_spec spec;
	struct bj_result *result = NULL;

	fill_spec(call, "script_content", language_of(call), &spec);
	spec.check_only = true;

	int r = call->run(call->ctx, &spec, &result, err);

	if (r == 0 && result->cause == BJ_CAUSE_INFRASTRUCTURE) {
		r = bj_err_set(err, BJ_E_SYSTEM, 0, "%.200s",
			       result->error ? result->error : "the check could not be made");
		err->errnum = result->retry_after_s ? EMFILE : 0; /* the message says so already */
	}
	if (r == 0)
		r = answer_check(call, result, ret, err);
	bj_result_free(result);
	return r;
}
