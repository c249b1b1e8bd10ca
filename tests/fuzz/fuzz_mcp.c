/* SPDX-License-Identifier: Apache-2.0 */

/* Messages of an MCP client, one a line, into one session. There is no engine, so nothing runs;
 * everything else of a request is read, and whatever comes back must be a message. */

#include "fuzz.h"

#include "mcp/mcp.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { MAX_LINES = 64 };

static struct belljar *enter(void *ctx, void **ret_token)
{
	(void)ctx, (void)ret_token;
	return NULL;
}

static void leave(void *ctx, void *token)
{
	(void)ctx, (void)token;
}

static int run(void *ctx, void *token, struct bj_spec *spec, struct bj_result **ret,
	       struct bj_err *err)
{
	(void)ctx, (void)token, (void)spec, (void)ret, (void)err;
	abort();
}

static json_t *list(void *ctx, const char *tenant, const char *before, unsigned int limit)
{
	(void)ctx, (void)tenant, (void)limit;
	return before ? NULL
		      : json_pack("{s:[{s:s, s:s}], s:n}", "executions", "id", "0123", "state",
				  "finished", "next");
}

static json_t *find(void *ctx, const char *tenant, const char *id)
{
	(void)ctx, (void)tenant;
	return strcmp(id, "0123") == 0 ? json_pack("{s:s}", "id", id) : NULL;
}

static void check(void *ctx, const json_t *message)
{
	struct bj_rpc_error error = { 0 };

	(void)ctx;
	/* An answer to what has no id is one with a null, which no client sends. */
	if (json_is_null(json_object_get(message, "id")))
		return;
	if (bj_rpc_kind(message, &error) == BJ_RPC_BROKEN)
		abort();

	char *text = json_dumps(message, JSON_COMPACT);

	if (!text || strchr(text, '\n'))
		abort();
	free(text);
}

static void release(void *ctx)
{
	--*(int *)ctx;
}

static void take(struct bj_mcp_session *s, const char *line, size_t size, int gone)
{
	static int open;
	const struct bj_mcp_sink sink = { .send = check, .release = release, .ctx = &open };
	struct bj_rpc_error error = { 0 };
	json_t *message = bj_rpc_parse(line, size, &error);
	const enum bj_rpc_kind kind = message ? bj_rpc_kind(message, &error) : BJ_RPC_BROKEN;

	if (kind == BJ_RPC_REQUEST) {
		open++;

		struct bj_mcp_call *call = bj_mcp_call_new(s, message, &sink, gone);

		if (call)
			bj_mcp_call_run(call);
		if (open != 0)
			abort(); /* every sink is let go, once */
	} else if (kind != BJ_RPC_BROKEN) {
		bj_mcp_take(s, message);
	} else if (!error.code || !error.message[0]) {
		abort();
	}
	json_decref(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct bj_mcp_host host = {
		.enter = enter, .leave = leave, .run = run, .list = list, .find = find
	};
	struct bj_mcp *mcp = bj_mcp_new(&host, false);
	struct bj_mcp_session *s = mcp ? bj_mcp_session_new(mcp) : NULL;
	/* Nobody waits for an answer: what listens stops at once. */
	const int gone = eventfd(1, EFD_CLOEXEC);
	const char *at = (const char *)data, *end = at + size;

	if (!s || gone < 0)
		abort();
	for (int i = 0; i < MAX_LINES && at < end; i++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		take(s, at, (size_t)(stop - at), gone);
		at = stop + 1;
	}
	close(gone);
	bj_mcp_session_end(s);
	bj_mcp_session_unref(s);
	bj_mcp_free(mcp);
	return 0;
}
