/* SPDX-License-Identifier: Apache-2.0 */

/* The table in the forms that agents' programs read. */

#include "base/cleanup.h"
#include "spec/names.h"
#include "tool/tool.h"

#include <string.h>

static const char *const TYPE_NAMES[] = {
	[BJ_TOOL_TEXT] = "string",
	[BJ_TOOL_NUMBER] = "number",
	[BJ_TOOL_COUNT] = "integer",
};

static json_t *param_schema(const struct bj_tool_param *p)
{
	json_t *schema =
		json_pack("{s:s, s:s}", "type", TYPE_NAMES[p->type], "description", p->help);

	if (p->choices) {
		json_t *list = json_array();

		for (size_t i = 0; p->choices[i]; i++)
			json_array_append_new(list, json_string(p->choices[i]));
		json_object_set_new(schema, "enum", list);
	}
	if (p->type == BJ_TOOL_NUMBER)
		json_object_set_new(schema, "exclusiveMinimum", json_integer(0));
	return schema;
}

json_t *bj_tool_schema(const struct bj_tool *tool)
{
	json_t *properties = json_object(), *needed = json_array();

	for (size_t i = 0; i < BJ_TOOL_PARAMS && tool->params[i].name; i++) {
		const struct bj_tool_param *p = &tool->params[i];

		json_object_set_new(properties, p->name, param_schema(p));
		if (p->needed)
			json_array_append_new(needed, json_string(p->name));
	}
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
			 "required", needed, "additionalProperties", 0);
}

json_t *bj_tool_annotations(const struct bj_tool *tool)
{
	/* A jar has no network and nothing outlives it: what runs there reaches no open world. */
	return json_pack("{s:s, s:b, s:b, s:b, s:b}", "title", tool->title, "readOnlyHint",
			 tool->read_only, "destructiveHint", tool->runs, "idempotentHint",
			 tool->read_only, "openWorldHint", 0);
}

static json_t *as_mcp(const struct bj_tool *t)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "name", t->name, "title", t->title,
			 "description", t->help, "inputSchema", bj_tool_schema(t), "outputSchema",
			 json_loads(t->output, 0, NULL), "annotations", bj_tool_annotations(t));
}

/* Chat completions. */
static json_t *as_openai(const struct bj_tool *t)
{
	return json_pack("{s:s, s:{s:s, s:s, s:o}}", "type", "function", "function", "name",
			 t->name, "description", t->help, "parameters", bj_tool_schema(t));
}

/* There `strict` must be said; true would make every parameter a needed one. */
static json_t *as_responses(const struct bj_tool *t)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:b}", "type", "function", "name", t->name,
			 "description", t->help, "parameters", bj_tool_schema(t), "strict", 0);
}

static json_t *as_anthropic(const struct bj_tool *t)
{
	return json_pack("{s:s, s:s, s:o}", "name", t->name, "description", t->help, "input_schema",
			 bj_tool_schema(t));
}

static json_t *as_plain(const struct bj_tool *t)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:o, s:o}", "name", t->name, "title",
			 t->title, "description", t->help, "declared_risk", bj_risk_name(t->risk),
			 "runs", t->runs, "needs_approval", t->asks, "parameters",
			 bj_tool_schema(t), "output", json_loads(t->output, 0, NULL));
}

static json_t *(*const PRINTERS[])(const struct bj_tool *t) = { as_mcp, as_openai, as_responses,
								as_anthropic, as_plain };
const char *const bj_tool_formats[] = { "mcp",       "openai",      "openai-responses",
					"anthropic", "json-schema", NULL };

json_t *bj_tools_as(const char *format)
{
	json_t *list = json_array();
	size_t f = 0;

	while (bj_tool_formats[f] && strcmp(bj_tool_formats[f], format) != 0)
		f++;
	if (!bj_tool_formats[f] || !list) {
		json_decref(list);
		return NULL;
	}
	for (size_t i = 0; i < bj_tools_size; i++)
		json_array_append_new(list, PRINTERS[f](&bj_tools[i]));
	return list;
}
