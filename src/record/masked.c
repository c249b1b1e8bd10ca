/* SPDX-License-Identifier: Apache-2.0 */

/* What may be kept of a result: no secret, and no code where the settings keep none. */

#include "base/cleanup.h"
#include "record/known.h"
#include "record/record.h"
#include "spec/finding_json.h"

#include <string.h>

enum { LEAST_SECRET = 6 };

char *bj_record_mask(const struct bj_record *rec, const char *text, size_t size)
{
	/* A scan takes longer to set up than to do; and no name and value fit into so little. */
	if (rec->checker && size >= LEAST_SECRET) {
		char *masked = bj_checker_mask(rec->checker, text ? text : "", text ? size : 0);

		if (masked && text)
			bj_known_mask(rec->known, masked, size);
		return masked;
	}

	char *copy = malloc(size + 1);

	if (!copy)
		return NULL;
	if (size)
		memcpy(copy, text, size);
	copy[size] = '\0';
	return copy;
}

/* Replace the text @name of @object by one without secrets. */
static void mask_member(const struct bj_record *rec, json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	if (!json_is_string(value) || json_string_length(value) == 0)
		return;

	const size_t size = json_string_length(value);
	AUTO_FREE char *masked = bj_record_mask(rec, json_string_value(value), size);
	json_t *text = masked ? json_stringn(masked, size) : NULL;

	/* What cannot be written must not stay as it was, nor keep the rest from being written. */
	json_object_set_new(object, name, text ? text : json_null());
}

static void drop_member(json_t *object, const char *name)
{
	if (json_object_get(object, name))
		json_object_set_new(object, name, json_null());
}

/* Lines of the script stand in findings. */
static void drop_sources(json_t *object)
{
	json_t *findings = json_object_get(object, "findings"), *finding;
	size_t i;

	json_array_foreach(findings, i, finding) drop_member(finding, "source");
}

/* They also stand in what an interpreter says about its errors, so its words go too. */
static void drop_words(json_t *object, enum bj_cause cause)
{
	json_t *findings = json_object_get(object, "findings"), *finding;
	size_t i;

	json_array_foreach(findings, i, finding)
	{
		const char *layer = json_string_value(json_object_get(finding, "layer"));

		if (layer && strcmp(layer, "syntax") == 0)
			json_object_set_new(finding, "message", json_string("syntax error"));
	}
	json_object_set_new(object, "stdout", json_string(""));
	json_object_set_new(object, "stderr", json_string(""));
	if (cause == BJ_CAUSE_EXITED || cause == BJ_CAUSE_REJECTED) {
		drop_member(object, "error");
		drop_member(object, "validation_error");
	}
}

json_t *bj_record_result(const struct bj_record *rec, const struct bj_result *result, bool code)
{
	static const char *const texts[] = { "stdout", "stderr", "error", "validation_error" };
	json_t *object = bj_result_to_object(result);
	json_t *findings = json_object_get(object, "findings"), *finding;
	size_t i;

	for (i = 0; object && i < BJ_ARRAY_SIZE(texts); i++)
		mask_member(rec, object, texts[i]);
	json_array_foreach(findings, i, finding)
	{
		mask_member(rec, finding, "source");
		mask_member(rec, finding, "message");
	}
	if (result->decision.kind != BJ_DECISION_NONE)
		mask_member(rec, json_object_get(object, "decision"), "reason");
	if (!code)
		drop_sources(object);
	if (rec->settings->store_code == BJ_STORE_NEVER)
		drop_words(object, result->cause);
	return object;
}
