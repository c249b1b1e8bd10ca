/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/host.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <string.h>

enum { MAX_CONFIG = 1 << 20 };

void bj_docker_host_done(struct bj_docker_host *host)
{
	free(host->socket);
	free(host->url);
	free(host->ca);
	free(host->cert);
	free(host->key);
	free(host->text);
	*host = (struct bj_docker_host){ 0 };
}

static char *join(const char *a, const char *b)
{
	struct bj_buf buf = { 0 };

	bj_buf_printf(&buf, "%s%s", a, b);
	return bj_buf_take(&buf);
}

int bj_docker_host_parse(const char *text, struct bj_docker_host *ret, struct bj_err *err)
{
	struct bj_docker_host host = { 0 };

	if (strncmp(text, "unix://", 7) == 0 && text[7] == '/')
		host.socket = strdup(text + 7);
	else if (text[0] == '/')
		host.socket = strdup(text);
	else if (strncmp(text, "tcp://", 6) == 0 && text[6])
		host.url = join("http://", text + 6);
	else if ((strncmp(text, "http://", 7) == 0 && text[7]) ||
		 (strncmp(text, "https://", 8) == 0 && text[8]))
		host.url = strdup(text);
	else
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "cannot use the Docker host %.100s; say unix:///path or "
				  "tcp://host:port",
				  text);
	host.text = strdup(text);
	if (!host.text || (!host.socket && !host.url)) {
		bj_docker_host_done(&host);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot keep the Docker host");
	}
	if (host.url && host.url[strlen(host.url) - 1] == '/')
		host.url[strlen(host.url) - 1] = '\0';
	*ret = host;
	return 0;
}

/* --- TLS -------------------------------------------------------------------------------------- */

/* Use the files ca.pem, cert.pem and key.pem of @dir: the host is spoken to over TLS. */
static void use_tls(struct bj_docker_host *host, const char *dir)
{
	if (!host->url)
		return;
	host->ca = join(dir, "/ca.pem");
	host->cert = join(dir, "/cert.pem");
	host->key = join(dir, "/key.pem");
	if (strncmp(host->url, "http://", 7) == 0) {
		char *url = join("https://", host->url + 7);

		free(host->url);
		host->url = url;
	}
}

static const char *get(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

static char *config_dir(void)
{
	const char *dir = get("DOCKER_CONFIG"), *home = get("HOME");

	if (dir)
		return strdup(dir);
	return home ? join(home, "/.docker") : NULL;
}

/* --- contexts --------------------------------------------------------------------------------- */

static json_t *read_json(const char *dir, const char *name)
{
	AUTO_BUF struct bj_buf text = { .max = MAX_CONFIG };
	AUTO_FREE char *path = join(dir, name);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || bj_fd_read_all(fd, &text) < 0)
		return NULL;
	return json_loadb(text.data ? text.data : "", text.size, 0, NULL);
}

/* The name of the context in force; NULL: the default one. The caller frees it. */
static char *current_context(const char *dir)
{
	const char *name = get("DOCKER_CONTEXT");

	if (name)
		return strcmp(name, "default") == 0 ? NULL : strdup(name);

	json_t *config = read_json(dir, "/config.json");
	const char *current = json_string_value(json_object_get(config, "currentContext"));
	const bool named = current && current[0] && strcmp(current, "default") != 0;
	char *ret = named ? strdup(current) : NULL;

	json_decref(config);
	return ret;
}

/* The directory of a context is named by the hash of its name. */
static void context_hash(const char *name, char hex[2 * crypto_hash_sha256_BYTES + 1])
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, (const unsigned char *)name, strlen(name));
	sodium_bin2hex(hex, 2 * sizeof(hash) + 1, hash, sizeof(hash));
}

/* 1: found and used, 0: there is no context but the default. */
static int from_context(struct bj_docker_host *ret, struct bj_err *err)
{
	AUTO_FREE char *dir = config_dir();
	AUTO_FREE char *name = dir ? current_context(dir) : NULL;
	char hex[2 * crypto_hash_sha256_BYTES + 1], path[160];

	if (!name)
		return 0;
	context_hash(name, hex);
	snprintf(path, sizeof(path), "/contexts/meta/%s/meta.json", hex);

	json_t *meta = read_json(dir, path);
	const char *host = NULL;

	json_unpack(meta, "{s:{s:{s:s}}}", "Endpoints", "docker", "Host", &host);

	int r = host ? bj_docker_host_parse(host, ret, err)
		     : bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "the docker context %.60s does not exist; set docker.host", name);

	json_decref(meta);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/contexts/tls/%s/docker", hex);

	AUTO_FREE char *tls = join(dir, path);

	if (access(tls, F_OK) == 0)
		use_tls(ret, tls);
	return 1;
}

static int from_usual_places(struct bj_docker_host *ret, struct bj_err *err)
{
	const char *runtime = get("XDG_RUNTIME_DIR");
	AUTO_FREE char *rootless = runtime ? join(runtime, "/docker.sock") : NULL;
	AUTO_FREE char *unix_url = NULL;

	if (rootless && access("/var/run/docker.sock", F_OK) < 0 && access(rootless, F_OK) == 0)
		unix_url = join("unix://", rootless);
	return bj_docker_host_parse(unix_url ? unix_url : "unix:///var/run/docker.sock", ret, err);
}

int bj_docker_host_find(const char *setting, struct bj_docker_host *ret, struct bj_err *err)
{
	const char *text = setting ? setting : get("DOCKER_HOST");
	int r;

	if (!text) {
		r = from_context(ret, err);
		return r == 0 ? from_usual_places(ret, err) : r < 0 ? r : 0;
	}
	r = bj_docker_host_parse(text, ret, err);
	if (r < 0 || !get("DOCKER_TLS_VERIFY"))
		return r;

	AUTO_FREE char *config = config_dir();
	const char *certs = get("DOCKER_CERT_PATH");

	if (certs || config)
		use_tls(ret, certs ? certs : config);
	return 0;
}
