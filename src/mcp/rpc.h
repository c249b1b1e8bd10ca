/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* JSON-RPC 2.0 as the Model Context Protocol uses it: ids are texts or whole numbers, and keep
 * their type. */

enum bj_rpc_code {
	BJ_RPC_PARSE = -32700,
	BJ_RPC_INVALID = -32600,
	BJ_RPC_METHOD = -32601,
	BJ_RPC_PARAMS = -32602,
	BJ_RPC_INTERNAL = -32603,
	BJ_RPC_BUSY = -32000,
	BJ_RPC_SESSION = -32001,
	BJ_RPC_NO_RESOURCE = -32002,
	BJ_RPC_HEADERS = -32020,
	BJ_RPC_CAPABILITY = -32021,
	BJ_RPC_VERSION = -32022,
};

struct bj_rpc_error {
	enum bj_rpc_code code;
	char message[256];
	json_t *data; /* owned; NULL: none */
};

void bj_rpc_error_done(struct bj_rpc_error *error);

/* Fill @error; always NULL, so that a failure is one statement in a function that returns a
 * result. */
json_t *bj_rpc_fail(struct bj_rpc_error *error, enum bj_rpc_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Read one message, or a batch. NULL with @error. */
json_t *bj_rpc_parse(const char *text, size_t size, struct bj_rpc_error *error);

enum bj_rpc_kind { BJ_RPC_REQUEST, BJ_RPC_NOTIFICATION, BJ_RPC_RESPONSE, BJ_RPC_BROKEN };

/* What @message is; BROKEN with @error. */
enum bj_rpc_kind bj_rpc_kind(const json_t *message, struct bj_rpc_error *error);

/* Messages. @id is borrowed, NULL: null; the rest is taken. NULL: no memory. */
json_t *bj_rpc_result(const json_t *id, json_t *result_take);
json_t *bj_rpc_failure(const json_t *id, struct bj_rpc_error *error_take);
json_t *bj_rpc_notice(const char *method, json_t *params_take);

/* A member of @object that is a text without NUL bytes; NULL: it is none. */
const char *bj_rpc_text(const json_t *object, const char *key);
