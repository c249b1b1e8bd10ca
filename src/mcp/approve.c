/* SPDX-License-Identifier: Apache-2.0 */

/* Approval by the person at the client, where the client can ask. */

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "mcp/core.h"
#include "record/record.h"
#include "spec/names.h"
#include "tool/text.h"

#include <string.h>

enum { SCRIPT_SHOWN = 4000, FINDINGS_SHOWN = 10, REASON_MAX = 500 };

static void add_findings(const struct bj_result *found, struct bj_buf *to)
{
	for (size_t i = 0; i < found->n_findings && i < FINDINGS_SHOWN; i++) {
		if (found->findings[i].line)
			bj_buf_printf(to, "line %u: ", found->findings[i].line);
		bj_buf_printf(to, "%s\n", found->findings[i].message);
	}
	if (found->n_findings > FINDINGS_SHOWN)
		bj_buf_printf(to, "and %zu more findings\n", found->n_findings - FINDINGS_SHOWN);
}

/* What the person reads before deciding. Secrets are masked. */
static void describe(const struct bj_question *q, const struct belljar *bj, struct bj_buf *to)
{
	const struct bj_result *found = q->found;
	AUTO_FREE char *script = bj_record_mask(&bj->record, q->spec->script, q->spec->script_size);

	bj_buf_printf(to,
		      "An agent wants to run this %s script through %s, sealed off, for at "
		      "most %g s.\nRisk: %s. It waits because of the rule: %s\n",
		      bj_language_name(q->spec->language), q->spec->tool ? q->spec->tool : "a tool",
		      (double)q->spec->limits.timeout_ms / 1e3, bj_risk_name(found->effective_risk),
		      q->rule);
	for (size_t i = 0; i < found->n_risk_reasons; i++)
		bj_buf_printf(to, "- %s\n", found->risk_reasons[i]);
	add_findings(found, to);
	bj_buf_puts(to, "\n");
	if (script)
		bj_tool_add_cut(to, script, strlen(script), strlen(script), SCRIPT_SHOWN);
}

/* The same with nothing hidden in it. */
static void show(const struct bj_question *q, const struct belljar *bj, struct bj_buf *to)
{
	struct bj_visible visible = { .judged = true };
	AUTO_BUF struct bj_buf text = { 0 };

	describe(q, bj, &text);
	bj_visible_add(&visible, to, text.data, text.size);
	bj_visible_end(&visible, to);
}

static json_t *form(const char *message)
{
	return json_pack("{s:s, s:{s:s, s:{s:{s:s, s:s, s:s, s:b}, s:{s:s, s:s, s:s, s:i}}, "
			 "s:[s]}}",
			 "message", message, "requestedSchema", "type", "object", "properties",
			 "approve", "type", "boolean", "title", "Approve", "description",
			 "Run this script now", "default", 0, "reason", "type", "string", "title",
			 "Reason", "description", "Why, for the record and for the agent",
			 "maxLength", REASON_MAX, "required", "approve");
}

/* What came of the question: true with *@ret_approved; false: the person did not decide. */
static bool read_answer(const json_t *answer, bool *ret_approved, char **ret_reason)
{
	const char *action = bj_rpc_text(answer, "action");
	const json_t *content = json_object_get(answer, "content");
	const char *reason = bj_rpc_text(content, "reason");

	if (!action || strcmp(action, "cancel") == 0)
		return false;
	*ret_approved =
		strcmp(action, "accept") == 0 && json_is_true(json_object_get(content, "approve"));
	if (reason && reason[0])
		*ret_reason = strndup(reason, REASON_MAX);
	if (*ret_reason)
		bj_utf8_mend(*ret_reason); /* the cut may go through a character */
	return true;
}

int bj_mcp_ask_person(struct bj_mcp_call *call, const struct belljar *bj,
		      const struct bj_question *question, bool *ret_approved, char **ret_by,
		      char **ret_reason)
{
	struct bj_rpc_error error = { 0 };
	AUTO_BUF struct bj_buf text = { 0 };
	json_t *answer;
	bool decided;

	/* A task of a session goes on without its client; one of its own keeps the question. */
	if ((call->task && !call->modern) || !bj_mcp_client_has(call, "elicitation"))
		return 0;
	show(question, bj, &text);
	/* A stateless request asks by its answer: the run waits meanwhile, for others too. */
	if (call->modern) {
		call->wanted =
			json_pack("{s:{s:s, s:o}}", "approval", "method", "elicitation/create",
				  "params", form(text.data ? text.data : ""));
		return 0;
	}
	answer = bj_mcp_client_ask(call, "approval", "elicitation/create",
				   form(text.data ? text.data : ""), &error);
	bj_rpc_error_done(&error);
	decided = answer && read_answer(answer, ret_approved, ret_reason);
	json_decref(answer);
	if (decided && asprintf(ret_by, "the person at %s", call->client) < 0)
		*ret_by = NULL;
	return decided ? 1 : 0;
}

int bj_mcp_take_decision(struct bj_mcp_call *call, struct belljar *bj, const char *about,
			 char ret_id[BJ_MCP_WORD], struct bj_rpc_error *error)
{
	const json_t *answer =
		json_object_get(json_object_get(call->params, "inputResponses"), "approval");
	const char *state = bj_rpc_text(call->params, "requestState");
	AUTO_FREE char *reason = NULL;
	AUTO_FREE char *by = NULL;
	struct bj_err err = { 0 };
	bool approved = false;

	if (!call->modern || !state)
		return 0;
	if (!bj_mcp_state_read(call, about, state, ret_id, error))
		return -1;
	if (!json_is_object(answer) || !read_answer(answer, &approved, &reason))
		return 1; /* not decided here: the run still waits, and says so */
	if (asprintf(&by, "the person at %s", call->client) < 0)
		by = NULL;
	/* Somebody else may have been faster: then theirs holds. */
	bj_decide(bj, ret_id, approved, by ? by : "an MCP client", reason, &err);
	return 1;
}
