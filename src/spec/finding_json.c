/* SPDX-License-Identifier: Apache-2.0 */
#include "spec/finding_json.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "spec/names.h"

#include <string.h>

/* NULL is null. */
static json_t *text(const char *s)
{
	size_t n = 0;
	AUTO_FREE char *good = s ? bj_utf8_repair(s, strlen(s), &n) : NULL;

	if (!s)
		return json_null();
	return good ? json_stringn_nocheck(good, n) : NULL;
}

static json_t *finding(const struct bj_finding *f)
{
	return json_pack("{s:o, s:o, s:s, s:o, s:I, s:I, s:I, s:b, s:o}", "layer", text(f->layer),
			 "rule", text(f->rule), "severity", bj_severity_name(f->severity),
			 "message", text(f->message), "line", (json_int_t)f->line, "column",
			 (json_int_t)f->column, "end_column", (json_int_t)f->end_column, "blocks",
			 f->blocks, "source", text(f->source));
}

json_t *bj_findings_to_json(const struct bj_finding *findings, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < n; i++)
		if (json_array_append_new(array, finding(&findings[i])) < 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}
