/* SPDX-License-Identifier: Apache-2.0 */

/* Tools that look at what was recorded: the result of a run that had to wait, and what runs left.
 */

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/utf8.h"
#include "engine/engine.h"
#include "record/artifact.h"
#include "record/history.h"
#include "spec/names.h"
#include "tool/run.h"
#include "tool/text.h"

#include <errno.h>
#include <string.h>

enum { MAX_FINDINGS = 64, ID = 32, NAME = 255 };

/* --- a result out of its record --------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static enum bj_cause cause_of(const json_t *object)
{
	const char *name = text_of(object, "cause");

	for (int i = BJ_CAUSE_EXITED; name && i <= BJ_CAUSE_INFRASTRUCTURE; i++)
		if (strcmp(bj_cause_name((enum bj_cause)i), name) == 0)
			return (enum bj_cause)i;
	return BJ_CAUSE_NONE;
}

static struct bj_output output_of(const json_t *object, const char *key)
{
	const json_t *text = json_object_get(object, key);
	char total[32];

	snprintf(total, sizeof(total), "%s_bytes", key);

	const json_t *bytes = json_object_get(json_object_get(object, "meta"), total);
	const size_t size = json_string_length(text);

	return (struct bj_output){ .data = (char *)json_string_value(text),
				   .size = size,
				   .total = json_is_integer(bytes)
						    ? (uint64_t)json_integer_value(bytes)
						    : size };
}

static size_t findings_of(const json_t *object, struct bj_finding *findings)
{
	const json_t *list = json_object_get(object, "findings");
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(list) && n < MAX_FINDINGS; i++) {
		const json_t *f = json_array_get(list, i);
		const char *severity = text_of(f, "severity");

		if (!text_of(f, "rule") || !text_of(f, "message"))
			continue;
		findings[n++] = (struct bj_finding){
			.rule = (char *)text_of(f, "rule"),
			.message = (char *)text_of(f, "message"),
			.severity = (enum bj_severity)(severity ? bj_severity_from_name(severity)
								: BJ_SEV_INFO),
			.line = (uint32_t)json_integer_value(json_object_get(f, "line")),
			.blocks = json_is_true(json_object_get(f, "blocks")),
		};
	}
	return n;
}

/* As much of the result object as a model is told; all of it is borrowed from @object. */
static void read_result(const json_t *object, struct bj_finding *findings, struct bj_result *ret)
{
	const json_t *code = json_object_get(object, "exit_code");

	*ret = (struct bj_result){
		.state = BJ_FINISHED,
		.cause = cause_of(object),
		.success = json_is_true(json_object_get(object, "success")),
		.exit_code = json_is_integer(code) ? (int)json_integer_value(code) : -1,
		.error = (char *)text_of(object, "error"),
		.out = output_of(object, "stdout"),
		.err = output_of(object, "stderr"),
		.findings = findings,
		.n_findings = findings_of(object, findings),
		.duration_us = (uint64_t)(1000 * json_number_value(
							 json_object_get(object, "duration_ms"))),
	};
}

/* --- runs ------------------------------------------------------------------------------------- */

/* The record of the run that the arguments name; NULL: there is none for this caller, and the
 * answer is made. */
static json_t *find(const struct bj_tool_call *call, const char *id, struct bj_tool_answer *ret)
{
	struct bj_err err = { 0 };
	json_t *record = call->bj->record.archive && strlen(id) <= ID
				 ? bj_history_show(&call->bj->record, id, &err)
				 : NULL;
	const char *tenant = text_of(record, "tenant");

	/* Runs of others are not there. */
	if (record && call->tenant && (!tenant || strcmp(tenant, call->tenant) != 0)) {
		json_decref(record);
		record = NULL;
	}
	if (!record && err.code && err.code != BJ_E_NOT_FOUND)
		bj_tool_refuse(ret, "%s", err.msg);
	else if (!record)
		bj_tool_refuse(ret, "there is no run %.40s", id);
	return record;
}

/* There is no result: not yet, or it never comes. */
static int answer_without(const char *id, const char *state, struct bj_tool_answer *ret)
{
	const bool lost = strcmp(state, bj_state_name(BJ_INTERRUPTED)) == 0;
	const char *why = "has not ended yet. Ask again later.";

	if (strcmp(state, bj_state_name(BJ_PENDING)) == 0)
		why = "still waits for a person's approval. Ask again later.";
	else if (lost)
		why = "was interrupted: belljar died before it ended, and there is no result.\n"
		      "Hint: it may have begun; send the script again.";
	*ret = (struct bj_tool_answer){ .failed = lost,
					.data = json_pack("{s:s, s:s, s:n}", "id", id, "state",
							  state, "result") };
	if (asprintf(&ret->text, "Run %s %s\n", id, why) < 0)
		ret->text = NULL;
	return 0;
}

static int answer_record(const struct bj_tool_call *call, const json_t *record, const char *id,
			 struct bj_tool_answer *ret, struct bj_err *err)
{
	const char *state = text_of(record, "state");
	json_t *object = json_object_get(record, "result");
	struct bj_finding findings[MAX_FINDINGS];
	struct bj_result result;
	struct bj_buf text = { 0 };

	if (!state || strcmp(state, "finished") != 0 || !json_is_object(object))
		return answer_without(id, state ? state : bj_state_name(BJ_PENDING), ret);
	read_result(object, findings, &result);
	bj_tool_text(&result, bj_tool_max_text(call), &text);
	*ret = (struct bj_tool_answer){ .failed = !result.success,
					.text = bj_buf_take(&text),
					.data = json_pack("{s:s, s:s, s:O}", "id", id, "state",
							  "finished", "result", object) };
	return ret->text && ret->data ? 0 : bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory");
}

int bj_tool_recall(const struct bj_tool_call *call, const char *id, struct bj_tool_answer *ret,
		   struct bj_err *err)
{
	json_t *record = find(call, id, ret);
	const char *state = text_of(record, "state");
	struct bj_result *result = NULL;
	struct bj_err ignored = { 0 };
	int r = 0;

	if (!record)
		return 0;
	/* Where no service looks after what was approved, it begins when somebody asks for it. */
	if (state && strcmp(state, "pending") == 0 && call->resume &&
	    call->resume(call->ctx, id, &result, &ignored) == 0) {
		bj_result_free(result);
		json_decref(record);
		record = find(call, id, ret);
	}
	if (record)
		r = answer_record(call, record, id, ret, err);
	json_decref(record);
	return r;
}

int bj_tool_read_result(const struct bj_tool_call *call, struct bj_tool_answer *ret,
			struct bj_err *err)
{
	return bj_tool_recall(call, text_of(call->args, "id"), ret, err);
}

/* --- artifacts -------------------------------------------------------------------------------- */

int bj_tool_list_artifacts(const struct bj_tool_call *call, struct bj_tool_answer *ret,
			   struct bj_err *err)
{
	const char *id = text_of(call->args, "id");
	json_t *record = find(call, id, ret), *list, *item;
	struct bj_buf text = { .max = bj_tool_max_text(call) };
	size_t i;

	if (!record)
		return 0;
	json_decref(record);
	list = bj_artifact_list(call->bj->record.archive, id);
	bj_buf_printf(&text, "Run %s left %zu artifacts.\n", id, json_array_size(list));
	json_array_foreach(list, i, item)
		bj_buf_printf(&text, "%s: %lld bytes\n", text_of(item, "name"),
			      (long long)json_integer_value(json_object_get(item, "bytes")));
	text.failed = false; /* what does not fit is in the list for programs */
	*ret = (struct bj_tool_answer){ .text = bj_buf_take(&text),
					.data = json_pack("{s:s, s:o}", "id", id, "artifacts",
							  list) };
	return ret->data ? 0 : bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory");
}

/* The bytes of @fd from @offset on, as many as fit. */
static int read_part(int fd, json_int_t offset, size_t room, struct bj_buf *ret, struct bj_err *err)
{
	char *to = bj_buf_reserve(ret, room);
	const ssize_t n = to ? pread(fd, to, room, offset) : -1;

	if (n < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "the artifact cannot be read");
	ret->size += (size_t)n;
	return 0;
}

static int answer_part(const char *name, const struct bj_buf *part, json_int_t offset, off_t whole,
		       struct bj_tool_answer *ret, struct bj_err *err)
{
	size_t n = 0;
	AUTO_FREE char *good = bj_utf8_repair(part->data, part->size, &n);
	const json_int_t next = offset + (json_int_t)part->size;
	AUTO_BUF struct bj_buf text = { 0 };

	if (!good)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory");
	bj_buf_printf(&text, "%s, bytes %lld to %lld of %lld%s\n", name, (long long)offset,
		      (long long)next, (long long)whole,
		      next < whole ? "; ask again with that offset for more" : "");
	bj_tool_add_cut(&text, part->data, part->size, part->size, 4 * part->size + 64);
	*ret = (struct bj_tool_answer){
		.text = bj_buf_take(&text),
		.data = json_pack("{s:s, s:I, s:I, s:b, s:s%}", "name", name, "offset", offset,
				  "bytes", (json_int_t)whole, "more", next < whole, "text", good, n)
	};
	return ret->data ? 0 : bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory");
}

int bj_tool_read_artifact(const struct bj_tool_call *call, struct bj_tool_answer *ret,
			  struct bj_err *err)
{
	const char *id = text_of(call->args, "id"), *name = text_of(call->args, "name");
	const json_int_t offset = json_integer_value(json_object_get(call->args, "offset"));
	json_t *record = find(call, id, ret);
	AUTO_BUF struct bj_buf part = { 0 };
	struct bj_err why = { 0 };
	off_t whole;

	if (!record)
		return 0;
	json_decref(record);
	if (strlen(name) > NAME)
		return bj_tool_refuse(ret, "name is longer than %d bytes", NAME);

	AUTO_FD int fd = bj_artifact_open(call->bj->record.archive, id, name, &why);

	if (fd < 0)
		return bj_tool_refuse(ret, "%s", why.msg);
	whole = lseek(fd, 0, SEEK_END);
	if (whole < 0 || offset > whole)
		return bj_tool_refuse(ret, "the artifact ends at byte %lld", (long long)whole);
	/* Bytes that are no UTF-8 take three when they are replaced. */
	if (read_part(fd, offset, bj_tool_max_text(call) / 4, &part, err) < 0)
		return -err->code;
	return answer_part(name, &part, offset, whole, ret, err);
}
