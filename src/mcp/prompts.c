/* SPDX-License-Identifier: Apache-2.0 */

/* Prompts that teach a model to use the tools, and completion of what people type. */

#include "base/buf.h"
#include "base/cleanup.h"
#include "mcp/core.h"
#include "mcp/fixtures.h"

#include <string.h>

enum { PROMPT_ARGS = 3, MAX_ARG = 20000, MAX_VALUES = 100 };

#define SEALED                                                                                     \
	"Scripts run sealed off: there is no network, the working directory is empty and "         \
	"private, "                                                                                \
	"the system is read-only, and nothing is kept between calls. Put everything a script "     \
	"needs into the script itself, print what you want to see, and never write passwords, "    \
	"keys or tokens into it: such a script is refused.\n"

static const char *const LANGUAGES[] = { "python", "bash", NULL };

/* {name} stands for an argument. */
static const struct prompt {
	const char *name, *title, *help;
	struct {
		const char *name, *help;
		bool needed;
		const char *const *choices;
	} args[PROMPT_ARGS];
	const char *text;
} PROMPTS[] = {
	{ "write_script",
	  "Write and run a script",
	  "Write a script for a task, check it, run it, and improve it from what comes back.",
	  { { "task", "What the script shall do.", true, NULL },
	    { "language", "python or bash.", false, LANGUAGES } },
	  "Write a script that does this: {task}\nLanguage: {language} (python when none is "
	  "named).\n\n" SEALED
	  "First call check_script. Mend every line that it says blocks the script. Then call "
	  "execute_script with a timeout that fits the work. Read the first line of the answer: "
	  "it says what happened. When the script failed, was refused or was killed, follow the "
	  "hint, change the script, and run it again; stop after three attempts and say what is in "
	  "the way. A person may have to approve the script: explain in its first comment what it "
	  "does and why." },
	{ "fix_script",
	  "Mend a script",
	  "Find out why a script fails and mend it.",
	  { { "script", "The script that fails.", true, NULL },
	    { "problem", "What goes wrong, if known.", false, NULL },
	    { "language", "python or bash.", false, LANGUAGES } },
	  "This {language} script does not work:\n\n{script}\n\nWhat is known: {problem}\n\n" SEALED
	  "Run it with execute_script to see the failure for yourself, change as little as "
	  "possible, and run it again until it succeeds. Say what was wrong in one sentence." },
	{ "calculate",
	  "Calculate with Python",
	  "Answer a question by calculating instead of guessing.",
	  { { "question", "What to work out.", true, NULL } },
	  "Work this out with run_python_code, not in your head: {question}\n\n" SEALED
	  "Print intermediate values, check the result in a second way, then answer with the "
	  "number and its unit." },
};

/* --- prompts ---------------------------------------------------------------------------------- */

static json_t *to_prompt(const struct bj_mcp_call *call, const struct prompt *p)
{
	json_t *args = json_array(), *object;

	for (size_t i = 0; i < PROMPT_ARGS && p->args[i].name; i++)
		json_array_append_new(args, json_pack("{s:s, s:s, s:b}", "name", p->args[i].name,
						      "description", p->args[i].help, "required",
						      p->args[i].needed));
	object = json_pack("{s:s, s:s, s:o}", "name", p->name, "description", p->help, "arguments",
			   args);
	if (strcmp(call->version, "2025-06-18") >= 0)
		json_object_set_new(object, "title", json_string(p->title));
	return object;
}

json_t *bj_mcp_prompts_list(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	json_t *list;

	if (json_object_get(call->params, "cursor"))
		return bj_rpc_fail(error, BJ_RPC_PARAMS, "there is one page; leave cursor out");
	list = json_array();
	for (size_t i = 0; i < BJ_ARRAY_SIZE(PROMPTS); i++)
		json_array_append_new(list, to_prompt(call, &PROMPTS[i]));
	bj_mcp_fixture_list(call, "prompts", list);
	return json_pack("{s:o}", "prompts", list);
}

static const struct prompt *find_prompt(const char *name)
{
	for (size_t i = 0; name && i < BJ_ARRAY_SIZE(PROMPTS); i++)
		if (strcmp(PROMPTS[i].name, name) == 0)
			return &PROMPTS[i];
	return NULL;
}

static bool check_args(const struct prompt *p, const json_t *args, struct bj_rpc_error *error)
{
	for (size_t i = 0; i < PROMPT_ARGS && p->args[i].name; i++) {
		const json_t *v = json_object_get(args, p->args[i].name);

		if (!v && !p->args[i].needed)
			continue;
		if (bj_rpc_text(args, p->args[i].name) && json_string_length(v) <= MAX_ARG)
			continue;
		bj_rpc_fail(error, BJ_RPC_PARAMS, "%s: a text of at most %d bytes is needed",
			    p->args[i].name, MAX_ARG);
		return false;
	}
	return true;
}

/* The text with its arguments put in; what was not given stands as "not said". */
void bj_mcp_fill(const char *text, const json_t *args, struct bj_buf *to)
{
	for (const char *at = text; *at;) {
		const char *open = strchrnul(at, '{');
		const char *end = strchr(open, '}');
		char name[32];

		bj_buf_add(to, at, (size_t)(open - at));
		if (!*open || !end)
			return;
		snprintf(name, sizeof(name), "%.*s", (int)(end - open - 1), open + 1);

		const char *value = bj_rpc_text(args, name);

		bj_buf_puts(to, value ? value : "not said");
		at = end + 1;
	}
}

json_t *bj_mcp_prompts_get(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const char *name = bj_rpc_text(call->params, "name");
	const json_t *args = json_object_get(call->params, "arguments");
	const struct prompt *p = find_prompt(name);
	AUTO_BUF struct bj_buf text = { 0 };
	json_t *result = NULL;

	if (name && !p && call->mcp->fixtures && bj_mcp_fixture_prompt(call, name, &result, error))
		return result || !call->wanted ? result : bj_mcp_input_required(call);
	if (!p)
		return bj_rpc_fail(error, BJ_RPC_PARAMS, "there is no prompt %.60s",
				   name ? name : "without a name");
	if (!check_args(p, args, error))
		return NULL;
	bj_mcp_fill(p->text, args, &text);
	return json_pack("{s:s, s:[{s:s, s:{s:s, s:s}}]}", "description", p->help, "messages",
			 "role", "user", "content", "type", "text", "text",
			 text.data ? text.data : "");
}

/* --- completion ------------------------------------------------------------------------------- */

static void offer(json_t *values, const char *value, const char *typed)
{
	if (strncmp(value, typed, strlen(typed)) == 0 && json_array_size(values) < MAX_VALUES)
		json_array_append_new(values, json_string(value));
}

static void offer_choices(json_t *values, const struct prompt *p, const char *arg,
			  const char *typed)
{
	for (size_t i = 0; i < PROMPT_ARGS && p->args[i].name; i++)
		for (size_t j = 0; strcmp(p->args[i].name, arg) == 0 && p->args[i].choices &&
				   p->args[i].choices[j];
		     j++)
			offer(values, p->args[i].choices[j], typed);
}

static void offer_ids(struct bj_mcp_call *call, json_t *values, const char *typed)
{
	struct bj_mcp_host *host = &call->mcp->host;
	json_t *runs = host->list(host->ctx, bj_mcp_call_tenant(call), NULL, MAX_VALUES), *run;
	size_t i;

	json_array_foreach(json_object_get(runs, "executions"), i, run)
	{
		const char *id = bj_rpc_text(run, "id");

		if (id)
			offer(values, id, typed);
	}
	json_decref(runs);
}

json_t *bj_mcp_complete(struct bj_mcp_call *call, struct bj_rpc_error *error)
{
	const json_t *ref = json_object_get(call->params, "ref");
	const json_t *argument = json_object_get(call->params, "argument");
	const char *type = bj_rpc_text(ref, "type"), *arg = bj_rpc_text(argument, "name"),
		   *typed = bj_rpc_text(argument, "value");
	const struct prompt *p = find_prompt(bj_rpc_text(ref, "name"));
	const json_t *context = json_object_get(call->params, "context");
	const char *id = bj_rpc_text(json_object_get(context, "arguments"), "id");

	if (!type || !arg || !typed)
		return bj_rpc_fail(error, BJ_RPC_PARAMS,
				   "ref.type, argument.name and argument.value are needed");

	json_t *values = json_array();

	if (strcmp(type, "ref/prompt") == 0 && p)
		offer_choices(values, p, arg, typed);
	else if (strcmp(type, "ref/resource") == 0 && strcmp(arg, "id") == 0)
		offer_ids(call, values, typed);
	else if (strcmp(type, "ref/resource") == 0 && strcmp(arg, "name") == 0 && id)
		bj_mcp_artifacts_offer(call, id, offer, values, typed);
	return json_pack("{s:{s:o, s:b}}", "completion", "values", values, "hasMore", 0);
}
