/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/attach.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

static ssize_t raw_read(struct bj_attach *a, void *data, size_t size)
{
	size_t n = 0;
	const CURLcode code = a->docker->curl.easy_recv(a->handle, data, size, &n);

	if (code == CURLE_AGAIN)
		return -EAGAIN;
	return code == CURLE_OK ? (ssize_t)n : -EIO;
}

ssize_t bj_attach_read(struct bj_attach *a, void *data, size_t size)
{
	const size_t left = a->rest_size - a->rest_at;

	if (left == 0)
		return raw_read(a, data, size);

	const size_t take = left < size ? left : size;

	memcpy(data, a->rest + a->rest_at, take);
	a->rest_at += take;
	return (ssize_t)take;
}

ssize_t bj_attach_write(struct bj_attach *a, const void *data, size_t size)
{
	size_t n = 0;
	const CURLcode code = a->docker->curl.easy_send(a->handle, data, size, &n);

	if (code == CURLE_AGAIN)
		return -EAGAIN;
	return code == CURLE_OK ? (ssize_t)n : -EIO;
}

/* Wait until @deadline for @events. */
static bool wait_for(const struct bj_attach *a, short events, uint64_t deadline)
{
	struct pollfd p = { .fd = a->fd, .events = events };
	const uint64_t now = bj_clock_now();

	if (now >= deadline)
		return false;
	return poll(&p, 1, (int)((deadline - now) / 1000000u) + 1) > 0 || errno == EINTR;
}

static uint64_t deadline_of(const struct bj_attach *a)
{
	return bj_clock_now() + (uint64_t)a->docker->timeout_ms * 1000000u;
}

int bj_attach_write_all(struct bj_attach *a, const void *data, size_t size)
{
	const uint64_t deadline = deadline_of(a);
	const char *p = data;

	while (size > 0) {
		const ssize_t n = bj_attach_write(a, p, size);

		if (n == -EAGAIN) {
			if (!wait_for(a, POLLOUT, deadline))
				return -ETIMEDOUT;
			continue;
		}
		if (n <= 0)
			return -EIO;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int broke_off(const struct bj_attach *a, struct bj_err *err)
{
	return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
			  "the Docker engine at %.100s broke off while attaching",
			  a->docker->host.text);
}

static int connect_raw(struct bj_attach *a, struct bj_err *err)
{
	struct bj_docker *d = a->docker;
	const struct bj_docker_host *host = &d->host;
	curl_socket_t fd = CURL_SOCKET_BAD;

	a->handle = d->curl.easy_init();
	if (!a->handle)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory to attach");
	d->curl.easy_setopt(a->handle, CURLOPT_URL, host->socket ? "http://docker" : host->url);
	d->curl.easy_setopt(a->handle, CURLOPT_CONNECT_ONLY, 1L);
	d->curl.easy_setopt(a->handle, CURLOPT_NOSIGNAL, 1L);
	d->curl.easy_setopt(a->handle, CURLOPT_PROXY, "");
	d->curl.easy_setopt(a->handle, CURLOPT_CONNECTTIMEOUT_MS, d->timeout_ms);
	if (host->socket)
		d->curl.easy_setopt(a->handle, CURLOPT_UNIX_SOCKET_PATH, host->socket);
	if (host->ca) {
		d->curl.easy_setopt(a->handle, CURLOPT_CAINFO, host->ca);
		d->curl.easy_setopt(a->handle, CURLOPT_SSLCERT, host->cert);
		d->curl.easy_setopt(a->handle, CURLOPT_SSLKEY, host->key);
	}
	if (d->curl.easy_perform(a->handle) != CURLE_OK ||
	    d->curl.easy_getinfo(a->handle, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK)
		return broke_off(a, err);
	a->fd = fd;
	return 0;
}

/* Read the head of the answer; what follows it belongs to the streams. */
static int read_head(struct bj_attach *a, struct bj_err *err)
{
	const uint64_t deadline = deadline_of(a);
	int status = 0;
	char *end = NULL;

	while (!end) {
		const ssize_t n = a->rest_size + 1 < sizeof(a->rest)
					  ? raw_read(a, a->rest + a->rest_size,
						     sizeof(a->rest) - 1 - a->rest_size)
					  : -EIO;

		if (n == -EAGAIN && wait_for(a, POLLIN, deadline))
			continue;
		if (n <= 0)
			return broke_off(a, err);
		a->rest_size += (size_t)n;
		a->rest[a->rest_size] = '\0';
		end = memmem(a->rest, a->rest_size, "\r\n\r\n", 4);
	}
	a->rest_at = (size_t)(end + 4 - a->rest);
	if (sscanf(a->rest, "HTTP/1.%*1d %3d", &status) != 1 || (status != 101 && status != 200))
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "the Docker engine refused to attach (%d)", status);
	return 0;
}

/* Connect and send a POST without a body to the container. @headers end with a line break each. */
static int send_post(struct bj_attach *a, struct bj_docker *docker, const char *container,
		     const char *what, const char *headers, struct bj_err *err)
{
	char head[512];

	*a = (struct bj_attach){ .docker = docker, .fd = -1 };

	const int r = connect_raw(a, err);

	if (r < 0)
		return r;

	const int n = snprintf(head, sizeof(head),
			       "POST /v%s/containers/%s/%s HTTP/1.1\r\nHost: docker\r\n%s"
			       "Content-Length: 0\r\n\r\n",
			       docker->version, container, what, headers);

	return bj_attach_write_all(a, head, (size_t)n) < 0 ? broke_off(a, err) : 0;
}

int bj_attach_open(struct bj_attach *a, struct bj_docker *docker, const char *container,
		   struct bj_err *err)
{
	const int r = send_post(a, docker, container, "attach?stream=1&stdin=1&stdout=1&stderr=1",
				"Connection: Upgrade\r\nUpgrade: tcp\r\n", err);

	return r < 0 ? r : read_head(a, err);
}

int bj_attach_ask(struct bj_attach *ask, struct bj_docker *docker, const char *container,
		  const char *what, struct bj_err *err)
{
	return send_post(ask, docker, container, what, "", err);
}

void bj_attach_close(struct bj_attach *a)
{
	if (a->handle)
		a->docker->curl.easy_cleanup(a->handle);
	a->handle = NULL;
}
