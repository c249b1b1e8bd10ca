/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/rpc.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ID = 256, MAX_METHOD = 128 };

void bj_rpc_error_done(struct bj_rpc_error *error)
{
	json_decref(error->data);
	error->data = NULL;
}

json_t *bj_rpc_fail(struct bj_rpc_error *error, enum bj_rpc_code code, const char *fmt, ...)
{
	va_list ap;

	error->code = code;
	va_start(ap, fmt);
	vsnprintf(error->message, sizeof(error->message), fmt, ap);
	va_end(ap);
	bj_utf8_mend(error->message);
	return NULL;
}

json_t *bj_rpc_parse(const char *text, size_t size, struct bj_rpc_error *error)
{
	json_error_t why;
	json_t *message = json_loadb(
		text, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &why);

	if (!message)
		return bj_rpc_fail(error, BJ_RPC_PARSE, "the message is not JSON: %.150s",
				   why.text);
	return message;
}

const char *bj_rpc_text(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);
	const char *text = json_string_value(v);

	return text && strlen(text) == json_string_length(v) ? text : NULL;
}

static bool is_id(const json_t *id)
{
	return json_is_integer(id) || (json_is_string(id) && json_string_length(id) <= MAX_ID);
}

static enum bj_rpc_kind broken(struct bj_rpc_error *error, const char *what)
{
	bj_rpc_fail(error, BJ_RPC_INVALID, "%s", what);
	return BJ_RPC_BROKEN;
}

enum bj_rpc_kind bj_rpc_kind(const json_t *message, struct bj_rpc_error *error)
{
	const char *version = bj_rpc_text(message, "jsonrpc");
	const json_t *id = json_object_get(message, "id");
	const json_t *method = json_object_get(message, "method");
	const json_t *params = json_object_get(message, "params");

	if (!json_is_object(message))
		return broken(error, "a message is an object");
	if (!version || strcmp(version, "2.0") != 0)
		return broken(error, "jsonrpc must be \"2.0\"");
	if (id && !is_id(id))
		return broken(error, "an id is a whole number or a text of at most 256 bytes");
	if (!method) {
		if (id && (json_object_get(message, "result") || json_object_get(message, "error")))
			return BJ_RPC_RESPONSE;
		return broken(error, "a message has a method, or an id with a result or an error");
	}
	if (!bj_rpc_text(message, "method") || json_string_length(method) > MAX_METHOD)
		return broken(error, "a method is a text of at most 128 bytes");
	if (params && !json_is_object(params))
		return broken(error, "params must be an object");
	return id ? BJ_RPC_REQUEST : BJ_RPC_NOTIFICATION;
}

static json_t *id_or_null(const json_t *id)
{
	return id ? json_incref((json_t *)id) : json_null();
}

json_t *bj_rpc_result(const json_t *id, json_t *result_take)
{
	return json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", id_or_null(id), "result",
			 result_take);
}

json_t *bj_rpc_failure(const json_t *id, struct bj_rpc_error *error_take)
{
	json_t *object = json_pack("{s:i, s:s}", "code", (int)error_take->code, "message",
				   error_take->message);

	if (object && error_take->data)
		json_object_set(object, "data", error_take->data);
	bj_rpc_error_done(error_take);
	return json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", id_or_null(id), "error",
			 object);
}

json_t *bj_rpc_notice(const char *method, json_t *params_take)
{
	return json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method, "params",
			 params_take);
}
