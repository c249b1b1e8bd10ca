/* SPDX-License-Identifier: Apache-2.0 */

/* What a client keeps for us between two requests of the stateless era: a word, signed, with what
 * it is about and until when it holds. Nobody else can make one, and it fits nothing else. */

#include "base/clock.h"
#include "mcp/core.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { HOLDS_MS = 600000, MAC = 32 };

static void sign(const struct bj_mcp *mcp, const char *about, const char *word, uint64_t until,
		 char hex[2 * MAC + 1])
{
	unsigned char mac[MAC];
	char facts[BJ_MCP_WORD + 64];
	crypto_generichash_state state;

	snprintf(facts, sizeof(facts), "%s.%" PRIu64 ".", word, until);
	crypto_generichash_init(&state, mcp->key, sizeof(mcp->key), MAC);
	crypto_generichash_update(&state, (const unsigned char *)facts, strlen(facts));
	crypto_generichash_update(&state, (const unsigned char *)about, strlen(about));
	crypto_generichash_final(&state, mac, MAC);
	sodium_bin2hex(hex, 2 * MAC + 1, mac, MAC);
}

void bj_mcp_state_write(struct bj_mcp_call *call, const char *about, const char *word)
{
	const uint64_t until = bj_clock_unix_ms() + HOLDS_MS;
	char hex[2 * MAC + 1], text[sizeof(hex) + BJ_MCP_WORD + 64];

	sign(call->mcp, about, word, until, hex);
	snprintf(text, sizeof(text), "%s.%" PRIu64 ".%s", word, until, hex);
	json_decref(call->state);
	call->state = json_string(text);
}

bool bj_mcp_state_read(struct bj_mcp_call *call, const char *about, const char *text,
		       char ret_word[BJ_MCP_WORD], struct bj_rpc_error *error)
{
	char word[BJ_MCP_WORD], given[2 * MAC + 1], right[2 * MAC + 1], rest;
	uint64_t until;

	if (sscanf(text, "%63[0-9a-zA-Z_-].%" SCNu64 ".%64[0-9a-f]%c", word, &until, given,
		   &rest) == 3 &&
	    strlen(given) == sizeof(given) - 1) {
		sign(call->mcp, about, word, until, right);
		if (sodium_memcmp(given, right, sizeof(given) - 1) == 0 &&
		    until > bj_clock_unix_ms()) {
			memcpy(ret_word, word, sizeof(word));
			return true;
		}
	}
	bj_rpc_fail(error, BJ_RPC_PARAMS, "requestState is not ours, or too old");
	return false;
}

json_t *bj_mcp_input_required(struct bj_mcp_call *call)
{
	json_t *result = json_pack("{s:s, s:O}", "resultType", "input_required", "inputRequests",
				   call->wanted);

	if (call->state)
		json_object_set(result, "requestState", call->state);
	return result;
}
