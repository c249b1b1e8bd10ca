/* SPDX-License-Identifier: Apache-2.0 */

/* What runs left, as resources: belljar://executions/ID/artifacts/NAME, with NAME percent-encoded.
 * belljar://executions/ID/artifacts lists them. Runs are found in the records, so that those of
 * other processes and earlier days are there too. */

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/core.h"
#include "record/artifact.h"
#include "record/history.h"

#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LISTED = 64,       /* artifacts of one run in the list of resources */
	READ_MAX = 4 << 20 /* clients bound their messages, and base64 takes a third more */
};

static const char PLAIN[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";

/* --- names in addresses ----------------------------------------------------------------------- */

static void encode(const char *name, struct bj_buf *to)
{
	for (const char *p = name; *p; p++)
		if (strchr(PLAIN, *p))
			bj_buf_add(to, p, 1);
		else
			bj_buf_printf(to, "%%%02X", (unsigned char)*p);
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* NULL: it is no such text. The caller frees it. */
static char *decode(const char *text)
{
	char *name = strdup(text), *to = name;

	for (const char *p = text; name && *p; p++, to++) {
		const int high = *p == '%' ? digit(p[1]) : -1;
		const int low = high >= 0 ? digit(p[2]) : -1;

		*to = low >= 0 ? (char)(high * 16 + low) : *p;
		if (*p == '%' && (low < 0 || *to == '\0')) {
			free(name);
			return NULL;
		}
		p += *p == '%' ? 2 : 0;
	}
	if (name)
		*to = '\0';
	return name;
}

/* --- runs in the records ---------------------------------------------------------------------- */

json_t *bj_mcp_recorded(const struct bj_mcp_call *call, const struct belljar *bj, const char *id)
{
	const char *tenant = bj_mcp_call_tenant(call);
	struct bj_err ignored = { 0 };
	json_t *record = bj->record.archive && strlen(id) < BJ_MCP_ID
				 ? bj_history_show(&bj->record, id, &ignored)
				 : NULL;
	const char *owner = bj_rpc_text(record, "tenant");

	/* Runs of others are not there. */
	if (record && tenant && (!owner || strcmp(owner, tenant) != 0)) {
		json_decref(record);
		return NULL;
	}
	return record;
}

/* --- the list --------------------------------------------------------------------------------- */

static json_t *to_resource(const char *id, const json_t *artifact)
{
	const char *name = bj_rpc_text(artifact, "name");
	AUTO_BUF struct bj_buf uri = { 0 }, about = { 0 };

	if (!name)
		return NULL;
	bj_buf_puts(&uri, BJ_MCP_EXECUTIONS);
	bj_buf_printf(&uri, "%s/artifacts/", id);
	encode(name, &uri);
	bj_buf_printf(&about, "What run %s left", id);
	if (uri.failed || about.failed)
		return NULL;
	return json_pack("{s:s, s:s, s:s, s:O}", "uri", uri.data, "name", name, "description",
			 about.data, "size", json_object_get(artifact, "bytes"));
}

void bj_mcp_artifacts_add(const struct belljar *bj, const char *id, json_t *list)
{
	json_t *artifacts = bj->record.archive ? bj_artifact_list(bj->record.archive, id) : NULL;

	for (size_t i = 0; i < json_array_size(artifacts) && i < LISTED; i++)
		json_array_append_new(list, to_resource(id, json_array_get(artifacts, i)));
	json_decref(artifacts);
}

void bj_mcp_artifacts_offer(struct bj_mcp_call *call, const char *id,
			    void (*offer)(json_t *values, const char *value, const char *typed),
			    json_t *values, const char *typed)
{
	struct bj_mcp_host *host = &call->mcp->host;
	void *token = NULL;
	struct belljar *bj = host->enter(host->ctx, &token);
	json_t *record = bj ? bj_mcp_recorded(call, bj, id) : NULL;
	json_t *artifacts = record ? bj_artifact_list(bj->record.archive, id) : NULL, *artifact;
	size_t i;

	json_array_foreach(artifacts, i, artifact)
	{
		const char *name = bj_rpc_text(artifact, "name");

		if (name)
			offer(values, name, typed);
	}
	json_decref(artifacts);
	json_decref(record);
	if (bj)
		host->leave(host->ctx, token);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The bytes as they go into a message: as text where they are one. */
static json_t *to_contents(const char *uri, const char *name, const struct bj_buf *bytes)
{
	const size_t n = strlen(name);
	const bool json = n > 5 && strcmp(name + n - 5, ".json") == 0;
	const size_t room = sodium_base64_encoded_len(bytes->size, sodium_base64_VARIANT_ORIGINAL);
	const char *data = bytes->data ? bytes->data : "";
	AUTO_FREE char *coded = NULL;

	if (bj_utf8_valid(data, bytes->size))
		return json_pack("{s:[{s:s, s:s, s:s%}]}", "contents", "uri", uri, "mimeType",
				 json ? "application/json" : "text/plain", "text", data,
				 bytes->size);
	coded = malloc(room);
	if (!coded)
		return NULL;
	sodium_bin2base64(coded, room, (const unsigned char *)data, bytes->size,
			  sodium_base64_VARIANT_ORIGINAL);
	return json_pack("{s:[{s:s, s:s, s:s}]}", "contents", "uri", uri, "mimeType",
			 "application/octet-stream", "blob", coded);
}

static json_t *read_bytes(int fd, const char *uri, const char *name, struct bj_rpc_error *error)
{
	AUTO_BUF struct bj_buf bytes = { 0 };
	struct stat st;
	ssize_t n = 0;

	if (fstat(fd, &st) < 0 || st.st_size > READ_MAX)
		return bj_rpc_fail(error, BJ_RPC_PARAMS,
				   "this artifact is larger than %d MiB; read it in parts with "
				   "the tool read_artifact",
				   READ_MAX >> 20);

	char *to = bj_buf_reserve(&bytes, (size_t)st.st_size + 1);

	if (to)
		n = pread(fd, to, (size_t)st.st_size, 0);
	if (!to || n < 0)
		return bj_rpc_fail(error, BJ_RPC_INTERNAL, "the artifact cannot be read");
	bytes.size = (size_t)n;
	return to_contents(uri, name, &bytes);
}

json_t *bj_mcp_artifact_read(const struct bj_mcp_call *call, const struct belljar *bj,
			     const char *uri, const char *id, const char *coded,
			     struct bj_rpc_error *error)
{
	AUTO_FREE char *name = decode(coded);
	json_t *record = name ? bj_mcp_recorded(call, bj, id) : NULL;
	struct bj_err ignored = { 0 };

	if (!record)
		return NULL;
	json_decref(record);

	AUTO_FD int fd = bj_artifact_open(bj->record.archive, id, name, &ignored);

	return fd < 0 ? NULL : read_bytes(fd, uri, name, error);
}

json_t *bj_mcp_artifacts_read(const struct bj_mcp_call *call, const struct belljar *bj,
			      const char *uri, const char *id)
{
	json_t *record = bj_mcp_recorded(call, bj, id);
	json_t *list = record ? bj_artifact_list(bj->record.archive, id) : NULL;
	AUTO_FREE char *text = list ? json_dumps(list, JSON_COMPACT) : NULL;

	json_decref(list);
	json_decref(record);
	return text ? json_pack("{s:[{s:s, s:s, s:s}]}", "contents", "uri", uri, "mimeType",
				"application/json", "text", text)
		    : NULL;
}
