/* SPDX-License-Identifier: Apache-2.0 */

/* What the server asks of the client: elicitation, sampling, roots.
 *
 * Until 2025-11-25 a question is a request of its own, and the call waits for the response. From
 * 2026-07-28 on a question goes into the result of the call, and the client sends the call again
 * with the answers. */

#include "base/cleanup.h"
#include "mcp/core.h"

#include <poll.h>
#include <string.h>
#include <time.h>

enum { LOOK_MS = 20 };

bool bj_mcp_client_has(const struct bj_mcp_call *call, const char *capability)
{
	const json_t *have = json_object_get(call->capabilities, capability);

	/* An elicitation without details, or with forms, is one with forms. */
	if (strcmp(capability, "elicitation") == 0 && json_object_size(have) > 0)
		return json_object_get(have, "form") != NULL;
	return json_is_object(have);
}

void bj_mcp_client_name(const json_t *info, char name[BJ_MCP_CLIENT])
{
	const char *given = bj_rpc_text(info, "name");

	snprintf(name, BJ_MCP_CLIENT, "%.60s", given && given[0] ? given : "an MCP client");
	/* It goes into records and onto terminals. */
	for (char *p = name; *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
			*p = '?';
}

/* --- answers in the request ------------------------------------------------------------------- */

static json_t *take_given(struct bj_mcp_call *call, const char *key, const char *method,
			  json_t *params_take)
{
	json_t *given = json_object_get(json_object_get(call->params, "inputResponses"), key);

	if (json_is_object(given)) {
		json_decref(params_take);
		return json_incref(given);
	}
	if (!call->wanted)
		call->wanted = json_object();
	json_object_set_new(call->wanted, key,
			    json_pack("{s:s, s:o}", "method", method, "params", params_take));
	return NULL;
}

/* --- answers as responses --------------------------------------------------------------------- */

bool bj_mcp_should_stop(const struct bj_mcp_call *call)
{
	struct pollfd p = { .fd = call->cancel_fd, .events = POLLIN };

	return call->cancelled || poll(&p, 1, 0) > 0;
}

static void unlink_ask(struct bj_mcp_session *s, const struct bj_mcp_ask *ask)
{
	struct bj_mcp_ask **at = &s->asks;

	while (*at && *at != ask)
		at = &(*at)->next;
	if (*at)
		*at = ask->next;
}

/* Wait for the response, with the session's lock. A client that goes away shows at cancel_fd. */
static void wait_answer(struct bj_mcp_call *call, struct bj_mcp_ask *ask)
{
	struct bj_mcp_session *s = call->session;

	while (!ask->answer && !s->ended && !bj_mcp_should_stop(call)) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&s->changed, &s->lock, &until);
	}
}

static json_t *wait_response(struct bj_mcp_call *call, const char *method, json_t *params_take,
			     struct bj_rpc_error *error)
{
	struct bj_mcp_session *s = call->session;
	struct bj_mcp_ask ask = { 0 };
	json_t *result = NULL;

	pthread_mutex_lock(&s->lock);
	ask.id = ++s->last_ask;
	ask.next = s->asks;
	s->asks = &ask;
	pthread_mutex_unlock(&s->lock);
	bj_mcp_send(call, json_pack("{s:s, s:I, s:s, s:o}", "jsonrpc", "2.0", "id", ask.id,
				    "method", method, "params", params_take));
	pthread_mutex_lock(&s->lock);
	wait_answer(call, &ask);
	unlink_ask(s, &ask);
	pthread_mutex_unlock(&s->lock);
	if (ask.answer)
		result = json_incref(json_object_get(ask.answer, "result"));
	if (!result)
		bj_rpc_fail(error, BJ_RPC_INTERNAL, "the client did not answer %s", method);
	json_decref(ask.answer);
	return result;
}

json_t *bj_mcp_client_ask(struct bj_mcp_call *call, const char *key, const char *method,
			  json_t *params_take, struct bj_rpc_error *error)
{
	return call->modern ? take_given(call, key, method, params_take)
			    : wait_response(call, method, params_take, error);
}

void bj_mcp_client_answered(struct bj_mcp_session *s, const json_t *message)
{
	const json_t *id = json_object_get(message, "id");

	pthread_mutex_lock(&s->lock);
	for (struct bj_mcp_ask *ask = s->asks; ask; ask = ask->next)
		if (json_is_integer(id) && ask->id == json_integer_value(id) && !ask->answer)
			ask->answer = json_incref((json_t *)message);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}
