/* SPDX-License-Identifier: Apache-2.0 */
#include "check/sarif.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "check/rules.h"
#include "spec/names.h"

#include <ctype.h>
#include <jansson.h>

static const char *level_of(enum bj_severity severity)
{
	static const char *const LEVELS[] = {
		[BJ_SEV_INFO] = "note",  [BJ_SEV_LOW] = "note",       [BJ_SEV_MEDIUM] = "warning",
		[BJ_SEV_HIGH] = "error", [BJ_SEV_CRITICAL] = "error",
	};

	return LEVELS[severity];
}

/* A path as a URI reference: what is not plain is percent-encoded, byte by byte. */
static char *uri_of(const char *name)
{
	struct bj_buf buf = { 0 };

	if (strcmp(name, "-") == 0)
		name = "stdin";
	else if (name[0] == '/')
		bj_buf_puts(&buf, "file://");
	for (const char *c = name; *c; c++)
		if (isalnum((unsigned char)*c) || strchr("-._~/", *c))
			bj_buf_add(&buf, c, 1);
		else
			bj_buf_printf(&buf, "%%%02X", (unsigned char)*c);
	return bj_buf_take(&buf);
}

static json_t *rule_to_json(const struct bj_rule *rule)
{
	return json_pack("{s:s, s:{s:s}, s:{s:s}, s:{s:s, s:[s]}}", "id", rule->id,
			 "shortDescription", "text", rule->message, "defaultConfiguration", "level",
			 level_of(rule->severity), "properties", "severity",
			 bj_severity_name(rule->severity), "tags", rule->layer);
}

static json_t *region_of(const struct bj_finding *f)
{
	json_t *region = json_pack("{s:i}", "startLine", (int)(f->line ? f->line : 1));

	if (f->column)
		json_object_set_new(region, "startColumn", json_integer(f->column));
	if (f->column && f->end_column >= f->column)
		json_object_set_new(region, "endColumn", json_integer(f->end_column));
	if (f->source)
		json_object_set_new(region, "snippet", json_pack("{s:s}", "text", f->source));
	return region;
}

static json_t *result_of(const char *name, const struct bj_finding *f)
{
	AUTO_FREE char *uri = uri_of(name);

	if (!uri)
		return NULL;
	return json_pack("{s:s, s:s, s:{s:s}, s:[{s:{s:{s:s}, s:o}}], s:{s:s, s:b}}", "ruleId",
			 f->rule, "level", level_of(f->severity), "message", "text", f->message,
			 "locations", "physicalLocation", "artifactLocation", "uri", uri, "region",
			 region_of(f), "properties", "layer", f->layer, "blocks", f->blocks);
}

static json_t *results_of(const struct bj_sarif_file *files, size_t n)
{
	json_t *results = json_array();

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < files[i].report->n_findings; k++)
			if (json_array_append_new(
				    results,
				    result_of(files[i].name, &files[i].report->findings[k])) < 0) {
				json_decref(results);
				return NULL;
			}
	return results;
}

static json_t *rules_of(const struct bj_checker *checker)
{
	AUTO_FREE const struct bj_rule **rules = NULL;
	size_t n = 0;

	if (bj_rules_list(checker, &rules, &n, NULL) < 0)
		return NULL;

	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(list, rule_to_json(rules[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

/* That a file could not be checked is no result: it is told of the run of the tool. */
static json_t *notification_of(const struct bj_sarif_file *file)
{
	size_t n;
	AUTO_FREE char *uri = uri_of(file->name);
	AUTO_FREE char *why = bj_utf8_repair(file->failure, strlen(file->failure), &n);

	if (!uri || !why)
		return NULL;

	json_t *note = json_pack("{s:s, s:{s:s}}", "level", "error", "message", "text", why);

	/* An empty name is none, and the reason. */
	if (uri[0])
		json_object_set_new(note, "locations",
				    json_pack("[{s:{s:{s:s}}}]", "physicalLocation",
					      "artifactLocation", "uri", uri));
	return note;
}

static json_t *invocation_of(const struct bj_sarif_file *files, size_t n)
{
	json_t *notes = json_array();

	for (size_t i = 0; i < n; i++)
		if (files[i].failure &&
		    json_array_append_new(notes, notification_of(&files[i])) < 0) {
			json_decref(notes);
			return NULL;
		}
	if (json_array_size(notes) > 0)
		return json_pack("{s:b, s:o}", "executionSuccessful", 0,
				 "toolExecutionNotifications", notes);
	json_decref(notes);
	return json_pack("{s:b}", "executionSuccessful", 1);
}

char *bj_sarif_log(const struct bj_checker *checker, const struct bj_sarif_file *files, size_t n)
{
	json_t *log =
		json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:[o], s:s, s:o}]}", "$schema",
			  "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0",
			  "runs", "tool", "driver", "name", "belljar", "version", bj_version(),
			  "rules", rules_of(checker), "invocations", invocation_of(files, n),
			  "columnKind", "unicodeCodePoints", "results", results_of(files, n));

	if (!log)
		return NULL;

	char *text = json_dumps(log, JSON_INDENT(1));

	json_decref(log);
	return text;
}
