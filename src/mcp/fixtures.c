/* SPDX-License-Identifier: Apache-2.0 */

/* What conformance.json describes, done. Test builds only. */

#include "mcp/fixtures.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "mcp/conformance.h"

#include <string.h>
#include <time.h>

enum { STEP_MS = 20, HANG_UP_MS = 100 };

static json_t *all(void)
{
	static json_t *fixtures; /* read once, in whichever thread comes first */
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	if (!fixtures)
		fixtures = json_loadb(bj_conformance, bj_conformance_size, 0, NULL);
	pthread_mutex_unlock(&lock);
	return fixtures;
}

static json_t *find(const char *what, const char *name)
{
	return json_object_get(json_object_get(all(), what), name);
}

void bj_mcp_fixture_list(const struct bj_mcp_call *call, const char *what, json_t *list)
{
	json_t *part = json_object_get(all(), what), *value;
	const char *key;
	size_t i;

	if (!call->mcp->fixtures)
		return;
	json_array_foreach(part, i, value) json_array_append(list, value);
	json_object_foreach(part, key, value)
		json_array_append(list, json_object_get(value, "definition"));
}

static void wait_ms(long ms)
{
	const struct timespec moment = { .tv_nsec = ms * 1000000L };

	nanosleep(&moment, NULL);
}

/* --- filling in ------------------------------------------------------------------------------- */

/* A copy of @v in which every {name} of a text is the argument of that name. */
static json_t *filled(const json_t *v, const json_t *args)
{
	json_t *copy = json_deep_copy(v), *value;
	const char *text = json_string_value(v), *key;
	size_t i;

	if (text && strchr(text, '{')) {
		AUTO_BUF struct bj_buf buf = { 0 };

		bj_mcp_fill(text, args, &buf);
		json_decref(copy);
		return json_string(buf.data);
	}
	json_object_foreach(copy, key, value) json_object_set_new(copy, key, filled(value, args));
	json_array_foreach(copy, i, value) json_array_set_new(copy, i, filled(value, args));
	return copy;
}

/* --- questions -------------------------------------------------------------------------------- */

/* Ask what one round asks. False: an answer is missing, with @error where that is the end. */
static bool ask_round(struct bj_mcp_call *call, const json_t *fixture, size_t round,
		      json_t *answers, struct bj_rpc_error *error)
{
	const bool declared = json_is_true(json_object_get(fixture, "only_declared"));
	const json_t *args = json_object_get(call->params, "arguments");
	json_t *asks = json_array_get(json_object_get(fixture, "asks"), round), *ask;
	const char *key;
	bool good = true;

	json_object_foreach(asks, key, ask)
	{
		json_t *answer;

		if (declared && !bj_mcp_client_has(call, bj_rpc_text(ask, "capability")))
			continue;
		answer = bj_mcp_client_ask(call, key, bj_rpc_text(ask, "method"),
					   filled(json_object_get(ask, "params"), args), error);
		if (answer)
			json_object_set_new(answers, key, answer);
		else
			good = false;
	}
	return good;
}

/* The answers to all rounds; NULL when one is missing. */
static json_t *ask_all(struct bj_mcp_call *call, const char *name, const json_t *fixture,
		       struct bj_rpc_error *error)
{
	const bool stateful = json_is_true(json_object_get(fixture, "state"));
	const char *state = bj_rpc_text(call->params, "requestState");
	const size_t rounds = json_array_size(json_object_get(fixture, "asks"));
	json_t *answers = json_object();
	char word[BJ_MCP_WORD] = "0";
	size_t round;

	if (stateful && state && !bj_mcp_state_read(call, name, state, word, error)) {
		json_decref(answers);
		return NULL;
	}
	for (round = strtoul(word, NULL, 10); round < rounds; round++)
		if (!ask_round(call, fixture, round, answers, error)) {
			snprintf(word, sizeof(word), "%zu", round);
			if (stateful)
				bj_mcp_state_write(call, name, word);
			json_decref(answers);
			return NULL;
		}
	return answers;
}

static json_t *tell_answers(const json_t *fixture, json_t *answers_take)
{
	AUTO_FREE char *dump = json_dumps(answers_take, JSON_COMPACT);
	AUTO_BUF struct bj_buf text = { 0 };

	bj_buf_printf(&text, "%s%s", bj_rpc_text(fixture, "text"), dump);
	json_decref(answers_take);
	return json_pack("{s:[{s:s, s:s}]}", "content", "type", "text", "text", text.data);
}

/* --- tools ------------------------------------------------------------------------------------ */

static json_int_t count_of(const json_t *fixture, const char *key)
{
	return json_integer_value(json_object_get(fixture, key));
}

/* What it does besides answering. */
static void act(struct bj_mcp_call *call, const json_t *fixture)
{
	const char *changed = bj_rpc_text(fixture, "changed");

	for (json_int_t i = 0; i < count_of(fixture, "log"); i++) {
		bj_mcp_log(call, BJ_MCP_INFO, "test", json_string("Tool execution goes on"));
		wait_ms(STEP_MS);
	}
	for (json_int_t i = 0; i < count_of(fixture, "progress"); i++) {
		bj_mcp_progress(call, 50.0 * (double)i, 100, "goes on");
		wait_ms(STEP_MS);
	}
	if (changed)
		bj_mcp_changed(call->mcp, changed, NULL);
	if (json_is_true(json_object_get(fixture, "hang_up")) && call->sink.hang_up) {
		call->sink.hang_up(call->sink.ctx);
		wait_ms(HANG_UP_MS);
	}
}

static bool lacks(struct bj_mcp_call *call, json_t *needs, struct bj_rpc_error *error)
{
	const char *key;
	json_t *value;

	if (json_object_get(needs, "extensions"))
		return !bj_mcp_tasks_known(call, error);
	json_object_foreach(needs, key, value) if (!bj_mcp_client_has(call, key))
	{
		bj_rpc_fail(error, BJ_RPC_CAPABILITY, "the client needs %s", key);
		error->data = json_pack("{s:O}", "requiredCapabilities", needs);
		return true;
	}
	return false;
}

json_t *bj_mcp_fixture_schema(const char *name)
{
	const json_t *definition = json_object_get(find("tools", name), "definition");

	return json_incref(json_object_get(definition, "inputSchema"));
}

int bj_mcp_fixture_patience(const char *name)
{
	const json_t *ms = json_object_get(find("tools", name), "patience_ms");

	return json_is_integer(ms) ? (int)json_integer_value(ms) : -1;
}

/* Wait as long as the argument or the fixture says; false: it was cancelled. */
static bool take_time(struct bj_mcp_call *call, const json_t *fixture)
{
	const json_t *asked =
		json_object_get(json_object_get(call->params, "arguments"), "seconds");
	const json_t *ms = json_object_get(fixture, "takes_ms");
	json_int_t left = json_is_true(ms) ? (json_int_t)(1000 * json_number_value(asked))
					   : json_integer_value(ms);

	for (; left > 0 && !bj_mcp_should_stop(call); left -= STEP_MS)
		wait_ms(STEP_MS);
	return left <= 0;
}

bool bj_mcp_fixture_tool(struct bj_mcp_call *call, const char *name, json_t **ret,
			 struct bj_rpc_error *error)
{
	const json_t *fixture = find("tools", name);
	json_t *answers;

	if (!fixture)
		return false;
	if (lacks(call, json_object_get(fixture, "needs"), error))
		return true;
	answers = json_object_get(fixture, "asks") ? ask_all(call, name, fixture, error) : NULL;
	if (json_object_get(fixture, "asks") && !answers)
		return true;
	if (!take_time(call, fixture) || json_is_true(json_object_get(fixture, "breaks"))) {
		bj_rpc_fail(error, BJ_RPC_INTERNAL, "it broke");
		json_decref(answers);
	} else if (answers) {
		*ret = tell_answers(fixture, answers);
	} else {
		act(call, fixture);
		*ret = filled(json_object_get(fixture, "result"),
			      json_object_get(call->params, "arguments"));
	}
	return true;
}

/* --- resources and prompts -------------------------------------------------------------------- */

bool bj_mcp_fixture_resource(struct bj_mcp_call *call, const char *uri, json_t **ret,
			     struct bj_rpc_error *error)
{
	const json_t *fixture = find("resources", uri);
	char id[64], text[160], rest;

	(void)call, (void)error;
	if (fixture) {
		*ret = json_pack("{s:[O]}", "contents", json_object_get(fixture, "contents"));
		return true;
	}
	if (sscanf(uri, "test://template/%63[^/]/dat%c", id, &rest) != 2 || rest != 'a')
		return false;
	snprintf(text, sizeof(text), "{\"id\":\"%s\",\"templateTest\":true}", id);
	*ret = json_pack("{s:[{s:s, s:s, s:s}]}", "contents", "uri", uri, "mimeType",
			 "application/json", "text", text);
	return true;
}

bool bj_mcp_fixture_prompt(struct bj_mcp_call *call, const char *name, json_t **ret,
			   struct bj_rpc_error *error)
{
	const json_t *fixture = find("prompts", name);
	const json_t *args = json_object_get(call->params, "arguments");
	json_t *answers;

	if (!fixture)
		return false;
	answers = ask_all(call, name, fixture, error);
	if (answers)
		*ret = json_pack("{s:o}", "messages",
				 filled(json_object_get(fixture, "messages"), args));
	json_decref(answers);
	return true;
}
