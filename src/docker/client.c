/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/client.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* We speak 1.41, the first with all we ask for, up to 1.51; newer engines still speak that. */
enum { VERSION_MIN = 41, VERSION_MAX = 51 };

/* --- one request ------------------------------------------------------------------------------ */

struct answer {
	struct bj_buf *body;
	const struct bj_docker_call *call;
};

static size_t take_body(char *data, size_t one, size_t n, void *ctx)
{
	const struct answer *answer = ctx;

	bj_buf_add(answer->body, data, n * one);
	if (answer->body->failed)
		return 0;
	if (answer->call->watch)
		answer->call->watch(answer->call->watch_ctx, answer->body);
	return n * one;
}

/* The value of the header @name in the line @data, cut to @size; false when it is another one. */
static bool header_value(const char *data, size_t n, const char *name, char *ret, size_t size)
{
	const size_t skip = strlen(name);

	if (n <= skip || strncasecmp(data, name, skip) != 0)
		return false;

	/* libcurl ends a line as it came, and not by a NUL. */
	const char *value = data + skip, *end = data + n;
	size_t length = 0;

	while (value < end && *value == ' ')
		value++;
	while (value + length < end && length + 1 < size && value[length] != '\r' &&
	       value[length] != '\n')
		length++;
	snprintf(ret, size, "%.*s", (int)length, value);
	return true;
}

/* The engine names its newest version in a header of every answer; Podman adds one of its own. */
static size_t take_header(char *data, size_t one, size_t n, void *ctx)
{
	struct bj_docker *d = ctx;
	char other[16];

	header_value(data, one * n, "Api-Version:", d->said_version, sizeof(d->said_version));
	d->podman |= header_value(data, one * n, "Libpod-API-Version:", other, sizeof(other));
	return one * n;
}

struct upload {
	const char *data;
	size_t left;
};

static size_t give_body(char *to, size_t one, size_t n, void *ctx)
{
	struct upload *up = ctx;
	const size_t take = up->left < one * n ? up->left : one * n;

	memcpy(to, up->data, take);
	up->data += take;
	up->left -= take;
	return take;
}

static void set_host(struct bj_docker *d)
{
	const struct bj_docker_host *host = &d->host;

	if (host->socket)
		d->curl.easy_setopt(d->handle, CURLOPT_UNIX_SOCKET_PATH, host->socket);
	if (!host->ca)
		return;
	d->curl.easy_setopt(d->handle, CURLOPT_CAINFO, host->ca);
	d->curl.easy_setopt(d->handle, CURLOPT_SSLCERT, host->cert);
	d->curl.easy_setopt(d->handle, CURLOPT_SSLKEY, host->key);
}

static char *make_url(const struct bj_docker *d, const struct bj_docker_call *call)
{
	struct bj_buf url = { 0 };

	bj_buf_puts(&url, d->host.socket ? "http://docker" : d->host.url);
	if (!call->unversioned)
		bj_buf_printf(&url, "/v%s", d->version);
	bj_buf_puts(&url, call->path);
	return bj_buf_take(&url);
}

static void set_request(struct bj_docker *d, const struct bj_docker_call *call, const char *url,
			struct upload *up, struct answer *answer)
{
	const struct bj_curl *c = &d->curl;

	c->easy_reset(d->handle);
	set_host(d);
	c->easy_setopt(d->handle, CURLOPT_URL, url);
	c->easy_setopt(d->handle, CURLOPT_NOSIGNAL, 1L);
	c->easy_setopt(d->handle, CURLOPT_PROXY, "");
	c->easy_setopt(d->handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	c->easy_setopt(d->handle, CURLOPT_CONNECTTIMEOUT_MS, d->timeout_ms);
	c->easy_setopt(d->handle, CURLOPT_TIMEOUT_MS,
		       call->timeout_ms ? call->timeout_ms : d->timeout_ms);
	c->easy_setopt(d->handle, CURLOPT_WRITEFUNCTION, take_body);
	c->easy_setopt(d->handle, CURLOPT_WRITEDATA, answer);
	c->easy_setopt(d->handle, CURLOPT_HEADERFUNCTION, take_header);
	c->easy_setopt(d->handle, CURLOPT_HEADERDATA, d);
	if (call->body) {
		c->easy_setopt(d->handle, CURLOPT_UPLOAD, 1L);
		c->easy_setopt(d->handle, CURLOPT_READFUNCTION, give_body);
		c->easy_setopt(d->handle, CURLOPT_READDATA, up);
		c->easy_setopt(d->handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)call->size);
	}
	c->easy_setopt(d->handle, CURLOPT_CUSTOMREQUEST, call->method);
}

static int transport_failed(const struct bj_docker *d, CURLcode code, struct bj_err *err)
{
	long os_errno = 0;

	d->curl.easy_getinfo(d->handle, CURLINFO_OS_ERRNO, &os_errno);
	if (code == CURLE_OPERATION_TIMEDOUT)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "the Docker engine at %.100s does not answer within %ld ms; see "
				  "docker.timeout",
				  d->host.text, d->timeout_ms);
	if (code == CURLE_COULDNT_CONNECT && (os_errno == EACCES || os_errno == EPERM))
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "you may not use the Docker engine at %.100s; use rootless "
				  "Docker or ask for access (the group docker is as good as root)",
				  d->host.text);
	if (code == CURLE_COULDNT_CONNECT)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "no Docker engine at %.100s; start it, set docker.host, or use "
				  "--backend native",
				  d->host.text);
	if (code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_CERTPROBLEM ||
	    code == CURLE_PEER_FAILED_VERIFICATION)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "no TLS with the Docker engine at %.60s: %s; see %.120s, and "
				  "cert.pem and key.pem beside it",
				  d->host.text, d->curl.easy_strerror(code),
				  d->host.ca ? d->host.ca : "ca.pem in DOCKER_CERT_PATH");
	return bj_err_set(err, BJ_E_UNSUPPORTED, 0, "the Docker engine at %.100s broke off: %s",
			  d->host.text, d->curl.easy_strerror(code));
}

/* A handle of this process: a connection made before a fork belongs to the parent. The parent's
 * handle is left alone, since closing it would end a TLS session of the parent's. */
static int own_handle(struct bj_docker *d, struct bj_err *err)
{
	if (d->handle && d->owner == getpid())
		return 0;
	d->owner = getpid();
	d->handle = d->curl.easy_init();
	return d->handle ? 0 : bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for a request");
}

int bj_docker_do(struct bj_docker *d, const struct bj_docker_call *call, struct bj_buf *ret_body,
		 struct bj_err *err)
{
	AUTO_BUF struct bj_buf body = { .max = BJ_DOCKER_ANSWER_MAX };
	AUTO_FREE char *url = make_url(d, call);
	struct upload up = { call->body, call->size };
	struct answer answer = { &body, call };
	struct curl_slist *headers = NULL;
	char type[64];
	long status = 0;

	if (!url)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for a request");
	if (own_handle(d, err) < 0)
		return -BJ_E_SYSTEM;
	set_request(d, call, url, &up, &answer);
	snprintf(type, sizeof(type), "Content-Type: %s",
		 call->type ? call->type : "application/json");
	headers = d->curl.slist_append(headers, type);
	headers = d->curl.slist_append(headers, "Expect:");
	d->curl.easy_setopt(d->handle, CURLOPT_HTTPHEADER, headers);

	const CURLcode code = d->curl.easy_perform(d->handle);

	d->curl.easy_getinfo(d->handle, CURLINFO_RESPONSE_CODE, &status);
	d->curl.slist_free_all(headers);
	if (code != CURLE_OK)
		return transport_failed(d, code, err);
	if (ret_body) {
		bj_buf_done(ret_body);
		*ret_body = body;
		body = (struct bj_buf){ 0 };
	}
	return (int)status;
}

int bj_docker_refused(const char *what, int status, const struct bj_buf *body, struct bj_err *err)
{
	json_t *answer = body->data ? json_loadb(body->data, body->size, 0, NULL) : NULL;
	const char *message = json_string_value(json_object_get(answer, "message"));
	const int r =
		bj_err_set(err, BJ_E_UNSUPPORTED, 0, "the Docker engine refused to %s: %.120s (%d)",
			   what, message ? message : "it gave no reason", status);

	json_decref(answer);
	return r;
}

/* --- the version ------------------------------------------------------------------------------ */

/* The minor number of "1.N"; -1 when it is something else. */
static int minor_of(const char *text)
{
	char *end;

	if (strncmp(text, "1.", 2) != 0 || text[2] < '0' || text[2] > '9')
		return -1;

	const long minor = strtol(text + 2, &end, 10);

	return *end || minor > 100000 ? -1 : (int)minor;
}

int bj_docker_agree(const char *theirs, char ret[16], struct bj_err *err)
{
	const int newest = minor_of(theirs);

	if (newest < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "what answers is no Docker engine: it names no API version");
	if (newest < VERSION_MIN)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "the Docker engine is too old: it speaks API 1.%d, belljar needs "
				  "1.%d; upgrade to Docker 20.10 or newer",
				  newest, VERSION_MIN);
	snprintf(ret, 16, "1.%d", newest < VERSION_MAX ? newest : VERSION_MAX);
	return 0;
}

/* What an engine that wants TLS says to those who speak without. */
static const char TLS_ONLY[] = "HTTP request to an HTTPS server";

static int negotiate(struct bj_docker *d, struct bj_err *err)
{
	AUTO_BUF struct bj_buf body = { 0 };
	const struct bj_docker_call call = { .method = "GET", "/_ping", .unversioned = true };
	const int status = bj_docker_do(d, &call, &body, err);

	if (status < 0)
		return status;
	if (status == 400 && body.data && memmem(body.data, body.size, TLS_ONLY, strlen(TLS_ONLY)))
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "the Docker engine at %.100s speaks TLS; set DOCKER_TLS_VERIFY=1 "
				  "and DOCKER_CERT_PATH",
				  d->host.text);
	if (status != 200)
		return bj_docker_refused("answer", status, &body, err);
	return bj_docker_agree(d->said_version, d->version, err);
}

int bj_docker_open(struct bj_docker *d, const char *host, long timeout_ms, struct bj_err *err)
{
	int r = bj_docker_host_find(host, &d->host, err);

	d->timeout_ms = timeout_ms;
	if (r == 0)
		r = bj_curl_load(&d->curl, err);
	return r < 0 ? r : negotiate(d, err);
}

void bj_docker_done(struct bj_docker *d)
{
	if (d->handle && d->owner == getpid())
		d->curl.easy_cleanup(d->handle);
	d->handle = NULL;
	bj_docker_host_done(&d->host);
}
