/* SPDX-License-Identifier: Apache-2.0 */

/* What an engine answers, and what stands on disk about it: a libcurl of our own plays the engine.
 * The first byte picks what is asked. For most the rest is the answers, one after the other, each
 * ended by the byte 0x1e:
 *
 *	STATUS               0: there is no connection
 *	header: value        any number of lines
 *
 *	body                 after the first empty line
 *
 * Whatever comes back, each path that is asked for next is one of ours, and each failure has its
 * words. */

#include "fuzz.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "docker/container.h"
#include "docker/image.h"
#include "docker/track.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME  BJ_CONTAINER_PREFIX "0123456789abcdef0123456789abcdef"
#define OWNER "ffffffffffffffff0000000000000000"

enum { PIECE = 700 };

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* --- the engine ------------------------------------------------------------------------------- */

static struct engine {
	const char *at;
	size_t left;
	long status;
	const char *method;
	char url[1024];
	size_t (*take_body)(char *data, size_t one, size_t n, void *ctx);
	size_t (*take_header)(char *data, size_t one, size_t n, void *ctx);
	void *body_ctx, *header_ctx;
} engine;

static CURL *new_handle(void)
{
	return (CURL *)&engine;
}

static void reset(CURL *handle)
{
	(void)handle;
}

static CURLcode set(CURL *handle, CURLoption option, ...)
{
	va_list ap;

	(void)handle;
	va_start(ap, option);
	if (option == CURLOPT_URL)
		snprintf(engine.url, sizeof(engine.url), "%s", va_arg(ap, const char *));
	else if (option == CURLOPT_CUSTOMREQUEST)
		engine.method = va_arg(ap, const char *);
	else if (option == CURLOPT_WRITEFUNCTION)
		engine.take_body = va_arg(ap, size_t(*)(char *, size_t, size_t, void *));
	else if (option == CURLOPT_WRITEDATA)
		engine.body_ctx = va_arg(ap, void *);
	else if (option == CURLOPT_HEADERFUNCTION)
		engine.take_header = va_arg(ap, size_t(*)(char *, size_t, size_t, void *));
	else if (option == CURLOPT_HEADERDATA)
		engine.header_ctx = va_arg(ap, void *);
	va_end(ap);
	return CURLE_OK;
}

static CURLcode get_info(CURL *handle, CURLINFO info, ...)
{
	va_list ap;

	(void)handle;
	va_start(ap, info);
	*va_arg(ap, long *) = info == CURLINFO_RESPONSE_CODE ? engine.status : 0;
	va_end(ap);
	return CURLE_OK;
}

static const char *error_text(CURLcode code)
{
	(void)code;
	return "it broke off";
}

static struct curl_slist *append(struct curl_slist *list, const char *text)
{
	(void)text;
	return list;
}

static void free_list(struct curl_slist *list)
{
	(void)list;
}

/* A path that our own code made. What it names are containers and images of ours. */
static void check_url(void)
{
	static const char start[] = "http://docker/v1.41/";
	const char *path = engine.url + strlen(start);

	require(strncmp(engine.url, start, strlen(start)) == 0);
	for (const char *c = engine.url; *c; c++)
		require(*c > ' ' && *c < 0x7f);
	if (strcmp(engine.method, "DELETE") == 0) {
		const char *name = path + strlen("containers/");
		const bool ours =
			strncmp(name, BJ_CONTAINER_PREFIX, strlen(BJ_CONTAINER_PREFIX)) == 0;

		name += ours ? strlen(BJ_CONTAINER_PREFIX) : 0;
		require(strspn(name, "0123456789abcdef") > 0 &&
			name[strspn(name, "0123456789abcdef")] == '?');
	}
}

/* Hand out @size bytes that end where their memory does. */
static bool give(const char *data, size_t size,
		 size_t (*take)(char *data, size_t one, size_t n, void *ctx), void *ctx)
{
	AUTO_FREE char *copy = malloc(size + !size);

	require(copy != NULL);
	memcpy(copy, data, size);
	return take(copy, 1, size, ctx) == size;
}

static const char *give_headers(const char *at, const char *end)
{
	while (at < end && *at != '\n') {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		const size_t n = line_end ? (size_t)(line_end - at) + 1 : (size_t)(end - at);

		give(at, n, engine.take_header, engine.header_ctx);
		at += n;
	}
	return at < end ? at + 1 : end;
}

static CURLcode perform(CURL *handle)
{
	const char *end = engine.left ? memchr(engine.at, 0x1e, engine.left) : NULL;
	const size_t n = end ? (size_t)(end - engine.at) : engine.left;
	const char *at = engine.at, *stop = at + n;

	(void)handle;
	check_url();
	/* What is to be removed is gone at once: else we would sit and wait. */
	engine.status = 204;
	if (strcmp(engine.method, "DELETE") == 0)
		return CURLE_OK;
	engine.status = 0;
	while (at < stop && *at >= '0' && *at <= '9' && engine.status < 1000)
		engine.status = engine.status * 10 + *at++ - '0';
	engine.at += n + !!end;
	engine.left -= n + !!end;
	if (engine.status == 0)
		return CURLE_COULDNT_CONNECT;
	at = at < stop ? at + 1 : stop;
	for (at = give_headers(at, stop); at < stop; at += PIECE) {
		const size_t left = (size_t)(stop - at), piece = left < PIECE ? left : PIECE;

		if (!give(at, piece, engine.take_body, engine.body_ctx))
			return CURLE_WRITE_ERROR;
		if (piece == left)
			break;
	}
	return CURLE_OK;
}

static struct bj_docker new_docker(void)
{
	return (struct bj_docker){ .curl = { .easy_init = new_handle,
					     .easy_reset = reset,
					     .easy_setopt = set,
					     .easy_getinfo = get_info,
					     .easy_perform = perform,
					     .easy_strerror = error_text,
					     .slist_append = append,
					     .slist_free_all = free_list },
				   .host = { .socket = (char *)"/engine",
					     .text = (char *)"engine" },
				   .timeout_ms = 1000,
				   .version = "1.41" };
}

/* --- what is asked ---------------------------------------------------------------------------- */

static void check_result(int r, const struct bj_err *err)
{
	require(r >= 0 ||
		(err->code == -r && err->msg[0] && memchr(err->msg, 0, sizeof(err->msg))));
}

static void ask_create(struct bj_docker *d)
{
	static const struct bj_wire_launch launch = { .memory = 1 << 26, .pids = 10 };
	const struct bj_container_plan plan = { .launch = &launch,
						.image = "image",
						.share = "/share",
						.owner = OWNER,
						.run_id = "",
						.required = true };
	struct bj_err err = { 0 };

	check_result(bj_container_create(d, NAME, &plan, &err), &err);
	check_result(bj_container_start(d, NAME, &err), &err);
	check_result(bj_container_kill(d, NAME, &err), &err);
	check_result(bj_container_wait(d, NAME, 5, &err), &err);
}

static void ask_state(struct bj_docker *d)
{
	struct bj_container_usage usage = { 0 };
	struct bj_container_state state = { 0 };
	struct bj_err err = { 0 };

	check_result(bj_container_stats(d, NAME, 5, &usage, &err), &err);
	require(usage.cpu_ns <= INT64_MAX && usage.memory <= INT64_MAX);
	check_result(bj_container_inspect(d, NAME, &state, &err), &err);
	check_result(bj_container_had_oom(d, NAME, 0, &err), &err);
}

static void check_note(void *ctx, const char *text)
{
	(void)ctx;
	require(text[0] && strncmp(text, "pulling ", 8) == 0);
}

static void ask_image(struct bj_docker *d)
{
	struct bj_err err = { 0 };

	check_result(bj_image_pull(d, "some/image", check_note, NULL, &err), &err);
	check_result(bj_image_exists(d, "some/image", &err), &err);
	check_result(bj_image_missing(d, "python:3.11-slim", &err), &err);

	AUTO_FD int archive = bj_fd_memfile("tar", "x", 1);

	check_result(bj_image_import(d, "belljar/x:1", "sh", archive, &err), &err);
}

static void ask_version(struct bj_docker *d)
{
	const struct bj_docker_call call = { .method = "GET", .path = "/_ping" };
	struct bj_err err = { 0 };
	char version[16] = "";
	const int r = bj_docker_do(d, &call, NULL, &err);

	check_result(r, &err);
	require(strlen(d->said_version) < sizeof(d->said_version));
	if (r >= 0 && bj_docker_agree(d->said_version, version, &err) == 0)
		require(strncmp(version, "1.4", 3) == 0 || strncmp(version, "1.5", 3) == 0);
}

/* --- what stands on disk ---------------------------------------------------------------------- */

static char top[] = "/tmp/bj-fuzz-engine-XXXXXX";

static void remove_top(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	(void)!system(command);
}

static void write_file(const char *name, const char *data, size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	require(fd >= 0 && bj_fd_write_all(fd, data, size) == 0);
}

/* What a dead owner left, up to the first 0x1e; then what the engine says is there. */
static void sweep(struct bj_docker *d)
{
	const char *end = engine.left ? memchr(engine.at, 0x1e, engine.left) : NULL;
	const size_t n = end ? (size_t)(end - engine.at) : engine.left;
	struct bj_err err = { 0 };
	struct bj_track track;

	require(bj_track_open(&track, top, &err) == 0);
	write_file("docker/" OWNER ".active", engine.at, n);
	engine.at += n + !!end;
	engine.left -= n + !!end;
	check_result(bj_track_sweep(&track, d, true, &err), &err);
	bj_track_close(&track);
}

static void check_host(const struct bj_docker_host *host)
{
	require(host->text && !host->socket != !host->url);
	require(!host->socket || host->socket[0] == '/');
	require(!host->url || strncmp(host->url, "http://", 7) == 0 ||
		strncmp(host->url, "https://", 8) == 0);
	require(!host->ca == !host->cert && !host->ca == !host->key);
}

/* The configuration of the docker command and, after a 0x1e, that of the context "fuzz". */
static void read_context(struct bj_docker *d)
{
	/* The hash of the name. */
	static const char *const dir =
		"contexts/meta/"
		"93850b707585e404e4951a3ddc1f05a34b3d4f5fc081d616f46d8a2e8f1c8e68";
	const char *end = engine.left ? memchr(engine.at, 0x1e, engine.left) : NULL;
	const size_t n = end ? (size_t)(end - engine.at) : engine.left;
	struct bj_docker_host host = { 0 };
	struct bj_err err = { 0 };
	char path[160];

	(void)d;
	snprintf(path, sizeof(path), "%s/meta.json", dir);
	write_file("config.json", engine.at, n);
	write_file(path, end ? end + 1 : "", end ? engine.left - n - 1 : 0);

	const int r = bj_docker_host_find(NULL, &host, &err);

	check_result(r, &err);
	if (r == 0)
		check_host(&host);
	bj_docker_host_done(&host);
}

static void read_host(struct bj_docker *d)
{
	AUTO_FREE char *text = strndup(engine.at, engine.left);
	struct bj_docker_host host = { 0 };
	struct bj_err err = { 0 };

	(void)d;
	require(text != NULL);
	if (bj_docker_host_parse(text, &host, &err) == 0)
		check_host(&host);
	else
		require(err.code == BJ_E_INVALID);
	bj_docker_host_done(&host);
}

static void set_up(void)
{
	static const char *const dirs[] = {
		"contexts", "contexts/meta",
		"contexts/meta/93850b707585e404e4951a3ddc1f05a34b3d4f5fc081d616f46d8a2e8f1c8e68"
	};
	char path[256];

	require(mkdtemp(top) != NULL);
	atexit(remove_top);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, dirs[i]);
		require(mkdir(path, 0700) == 0);
	}
	unsetenv("DOCKER_HOST");
	unsetenv("DOCKER_CONTEXT");
	unsetenv("DOCKER_TLS_VERIFY");
	setenv("DOCKER_CONFIG", top, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const questions[])(struct bj_docker *) = {
		ask_create, ask_state, ask_image, ask_version, sweep, read_context, read_host,
	};
	static bool ready;
	struct bj_docker docker = new_docker();

	if (!ready)
		set_up();
	ready = true;
	if (size == 0)
		return 0;
	engine = (struct engine){ .at = (const char *)data + 1, .left = size - 1 };
	questions[data[0] % BJ_ARRAY_SIZE(questions)](&docker);
	return 0;
}
