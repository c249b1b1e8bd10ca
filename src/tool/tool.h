/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <jansson.h>

/* The tools that an agent can discover and call, as one table: what each takes, what it gives, how
 * risky it is said to be. Every door that offers tools (MCP, HTTP, the command line) reads it, so
 * they cannot disagree. A call can only tighten what the settings allow: policy off, trust and the
 * backend are no parameters. */

enum bj_tool_type { BJ_TOOL_TEXT, BJ_TOOL_NUMBER, BJ_TOOL_COUNT };

struct bj_tool_param {
	const char *name;
	enum bj_tool_type type;
	bool needed;
	const char *const *choices; /* NULL-terminated; NULL: any text */
	const char *help;
};

enum { BJ_TOOL_PARAMS = 4 };

struct bj_tool_call;
struct bj_tool_answer;

struct bj_tool {
	const char *name, *title, *help;
	enum bj_risk risk; /* declared; the effective one is never lower */
	bool runs;         /* a script runs: this takes time, gives output, may need approval */
	bool asks;         /* each call waits for a person, unless approval.rules say otherwise */
	bool read_only;    /* nothing is changed anywhere */
	struct bj_tool_param params[BJ_TOOL_PARAMS]; /* up to the first without a name */
	const char *output;                          /* JSON Schema of the structured answer */
	int (*call)(const struct bj_tool_call *call, struct bj_tool_answer *ret,
		    struct bj_err *err);
};

extern const struct bj_tool bj_tools[];
extern const size_t bj_tools_size;

/* NULL: there is no such tool. */
const struct bj_tool *bj_tool_find(const char *name);

/* The JSON Schema of what @tool takes. NULL: no memory. */
json_t *bj_tool_schema(const struct bj_tool *tool);

/* What @tool is said to be, as MCP words it. */
json_t *bj_tool_annotations(const struct bj_tool *tool);

/* All tools in the form that @format names; NULL: there is no such format, or no memory. */
json_t *bj_tools_as(const char *format);
extern const char *const bj_tool_formats[]; /* NULL-terminated */

/* One call on its way. The door brings the engine and does the running: it knows about queues,
 * lists and who asks. */
struct bj_tool_call {
	const struct bj_tool *tool;
	const json_t *args; /* an object; NULL: none */
	const struct belljar *bj;
	size_t max_text; /* 0: as the settings say */
	int (*run)(void *ctx, struct bj_spec *spec, struct bj_result **ret, struct bj_err *err);
	/* Begin the run @id, which waited, if it was approved. NULL: somebody else does. */
	int (*resume)(void *ctx, const char *id, struct bj_result **ret, struct bj_err *err);
	void *ctx;
	const char *tenant; /* only runs of theirs are seen; NULL: all */
};

/* What came of it. @text is for a model: what happened first, never more than max_text bytes,
 * always UTF-8. @data is the same for a program. */
struct bj_tool_answer {
	bool failed; /* the script or the call did not succeed */
	char *text;
	json_t *data; /* NULL: the arguments were wrong, and @text says how */
};

/* Hold the arguments against the table, then call. 0 with *@ret, also where the script failed or
 * the arguments are wrong; negative only when belljar itself failed. The caller ends *@ret. */
int bj_tool_call(const struct bj_tool_call *call, struct bj_tool_answer *ret, struct bj_err *err);
void bj_tool_answer_done(struct bj_tool_answer *answer);

/* What read_result answers about the run @id, for a door that kept it. */
int bj_tool_recall(const struct bj_tool_call *call, const char *id, struct bj_tool_answer *ret,
		   struct bj_err *err);
