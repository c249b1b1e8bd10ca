/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/mcp_rules.h"

#include "base/cleanup.h"
#include "mcp/mcp.h"
#include "serve/auth.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define CODED        "=?base64?"
#define CODED_END    "?="

enum { HOST_MAX = 256, NAME_MAX_SIZE = 8192 };

/* --- hosts ------------------------------------------------------------------------------------ */

void bj_mcp_rules_init(struct bj_mcp_rules *rules)
{
	*rules = (struct bj_mcp_rules){ 0 };
	pthread_mutex_init(&rules->lock, NULL);
}

void bj_mcp_rules_done(struct bj_mcp_rules *rules)
{
	free(rules->allowed);
	free(rules->listen);
	pthread_mutex_destroy(&rules->lock);
}

/* HOST of HOST:PORT; brackets of an IPv6 address stay. */
static bool host_part(const char *text, char host[HOST_MAX])
{
	const char *bracket = text[0] == '[' ? strchr(text, ']') : NULL;
	const size_t n = bracket ? (size_t)(bracket + 1 - text) : strcspn(text, ":/");

	if (n == 0 || n >= HOST_MAX)
		return false;
	memcpy(host, text, n);
	host[n] = '\0';
	return true;
}

void bj_mcp_rules_set(struct bj_mcp_rules *rules, const char *allowed, const char *listen)
{
	char host[HOST_MAX];

	pthread_mutex_lock(&rules->lock);
	free(rules->allowed);
	free(rules->listen);
	rules->allowed = allowed && host_part(allowed, host) ? strdup(host) : NULL;
	rules->listen = listen && host_part(listen, host) ? strdup(host) : NULL;
	pthread_mutex_unlock(&rules->lock);
}

static bool is_ours(struct bj_mcp_rules *rules, const char *text)
{
	static const char *const local[] = { "localhost", "127.0.0.1", "[::1]" };
	char host[HOST_MAX];
	bool ours = false;

	if (!host_part(text, host))
		return false;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(local); i++)
		ours |= strcasecmp(host, local[i]) == 0;
	pthread_mutex_lock(&rules->lock);
	ours |= rules->allowed && strcasecmp(host, rules->allowed) == 0;
	ours |= rules->listen && strcasecmp(host, rules->listen) == 0;
	pthread_mutex_unlock(&rules->lock);
	return ours;
}

bool bj_mcp_rules_host(struct bj_mcp_rules *rules, const struct bj_request *req)
{
	const char *host = req->header(req->ctx, "Host");
	const char *origin = req->header(req->ctx, "Origin");
	const char *name = origin ? strstr(origin, "://") : NULL;

	if (host && !is_ours(rules, host))
		return false;
	return !origin || (name && is_ours(rules, name + 3));
}

/* --- media types ------------------------------------------------------------------------------ */

bool bj_mcp_rules_wants_events(const struct bj_request *req)
{
	return bj_request_wants(req, BJ_TYPE_EVENTS, NULL) > 0;
}

bool bj_mcp_rules_post(const struct bj_request *req, struct bj_rpc_error *error)
{
	if (!bj_request_has(req, "Content-Type", BJ_TYPE_JSON)) {
		bj_rpc_fail(error, BJ_RPC_INVALID, "send application/json");
		return false;
	}
	if (!bj_mcp_rules_wants_events(req) || bj_request_wants(req, BJ_TYPE_JSON, NULL) <= 0) {
		bj_rpc_fail(error, BJ_RPC_BUSY,
			    "accept both application/json and text/event-stream");
		return false;
	}
	return true;
}

/* --- what headers repeat of the body ---------------------------------------------------------- */

static const char *body_version(const json_t *message)
{
	return bj_rpc_text(json_object_get(json_object_get(message, "params"), "_meta"),
			   META_VERSION);
}

bool bj_mcp_rules_version(const struct bj_request *req, const json_t *message,
			  struct bj_rpc_error *error)
{
	const char *version = req->header(req->ctx, "MCP-Protocol-Version");
	json_t *list;

	if (!version || bj_mcp_version_known(version))
		return true;
	/* A header that says something else than the body is another mistake. */
	if (body_version(message) && strcmp(body_version(message), version) != 0)
		return true;
	list = json_array();
	for (size_t i = 0; bj_mcp_versions[i]; i++)
		json_array_append_new(list, json_string(bj_mcp_versions[i]));
	bj_rpc_fail(error, BJ_RPC_VERSION, "Unsupported protocol version");
	error->data = json_pack("{s:o, s:s}", "supported", list, "requested", version);
	return false;
}

static bool mismatch(struct bj_rpc_error *error, const char *header)
{
	bj_rpc_fail(error, BJ_RPC_HEADERS,
		    "Header mismatch: %s is missing or says something else than the body", header);
	return false;
}

/* Whether @text is @value, or its base64 between the marks; blanks around it do not count. */
static bool says(const char *text, const char *value)
{
	const size_t open = strlen(CODED), close = strlen(CODED_END);
	unsigned char bytes[NAME_MAX_SIZE];
	AUTO_FREE char *header = strdup(text + strspn(text, " \t"));
	size_t n = header ? strlen(header) : 0, size = 0;

	if (!header)
		return false;
	while (n > 0 && strchr(" \t", header[n - 1]))
		header[--n] = '\0';
	if (n < open + close || strncmp(header, CODED, open) != 0 ||
	    strcmp(header + n - close, CODED_END) != 0)
		return strcmp(header, value) == 0;
	if (sodium_base642bin(bytes, sizeof(bytes), header + open, n - open - close, NULL, &size,
			      NULL, sodium_base64_VARIANT_ORIGINAL) < 0)
		return false;
	return size == strlen(value) && memcmp(bytes, value, size) == 0;
}

static const char *name_of(const json_t *message)
{
	static const struct {
		const char *method, *key;
	} named[] = { { "tools/call", "name" },     { "prompts/get", "name" },
		      { "resources/read", "uri" },  { "tasks/get", "taskId" },
		      { "tasks/update", "taskId" }, { "tasks/cancel", "taskId" } };
	const char *method = bj_rpc_text(message, "method");

	for (size_t i = 0; method && i < BJ_ARRAY_SIZE(named); i++)
		if (strcmp(named[i].method, method) == 0)
			return bj_rpc_text(json_object_get(message, "params"), named[i].key);
	return NULL;
}

bool bj_mcp_rules_headers(const struct bj_request *req, const json_t *message,
			  struct bj_rpc_error *error)
{
	const char *version = req->header(req->ctx, "MCP-Protocol-Version");
	const char *method = req->header(req->ctx, "Mcp-Method");
	const char *name = req->header(req->ctx, "Mcp-Name");
	const char *in_body = body_version(message), *named = name_of(message);
	const char *asked = bj_rpc_text(message, "method");

	/* A body without a revision is told so by the call itself. */
	if (!version || (in_body && strcmp(version, in_body) != 0))
		return mismatch(error, "MCP-Protocol-Version");
	if (!method || !asked || !says(method, asked))
		return mismatch(error, "Mcp-Method");
	if (named && (!name || !says(name, named)))
		return mismatch(error, "Mcp-Name");
	return true;
}

/* An argument as it stands in a header; NULL: it has no such form. The caller frees it. */
static char *argument_text(const json_t *v)
{
	char *text = NULL;

	if (json_is_string(v))
		return strdup(json_string_value(v));
	if (json_is_boolean(v))
		return strdup(json_is_true(v) ? "true" : "false");
	if (json_is_integer(v) &&
	    asprintf(&text, "%" JSON_INTEGER_FORMAT, json_integer_value(v)) < 0)
		return NULL;
	return text;
}

bool bj_mcp_rules_params(const struct bj_request *req, const json_t *message, const json_t *schema,
			 struct bj_rpc_error *error)
{
	const json_t *args = json_object_get(json_object_get(message, "params"), "arguments");
	const char *name;
	json_t *property;

	json_object_foreach(json_object_get(schema, "properties"), name, property)
	{
		const char *suffix = bj_rpc_text(property, "x-mcp-header");
		AUTO_FREE char *value = argument_text(json_object_get(args, name));
		const char *given;
		char header[HOST_MAX];

		if (!suffix)
			continue;
		snprintf(header, sizeof(header), "Mcp-Param-%s", suffix);
		given = req->header(req->ctx, header);
		if (!given && !value)
			continue;
		if (!given || !value || !says(given, value))
			return mismatch(error, header);
	}
	return true;
}

/* --- who -------------------------------------------------------------------------------------- */

const char *bj_mcp_rules_owner(const struct bj_request *req, const char **ret_tenant)
{
	*ret_tenant = bj_auth_tenant(req->caller);
	if (!req->caller)
		return "";
	/* Keys without a name are not one owner: each has its public part. */
	return req->caller->name[0] ? req->caller->name : req->caller->key;
}

bool bj_mcp_rules_fixtures(void)
{
#ifdef BJ_FAULTS
	return getenv("BELLJAR_CONFORMANCE") != NULL;
#else
	return false;
#endif
}
