/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/client.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "serve/auth.h"
#include "serve/listen.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { HEAD_MAX = 64 << 10, LINE_MAX_SIZE = 64 << 20, BODY_MAX = 256 << 20, READ_SIZE = 64 << 10 };

/* --- connecting ------------------------------------------------------------------------------- */

static int connect_to(const char *path, struct bj_err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		return bj_err_set(err, BJ_E_SYSTEM, fd < 0 ? errno : ENAMETOOLONG,
				  "cannot connect to %.150s", path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "no service answers at %.150s; `belljar serve` starts one", path);
	/* The kernel tells who listens; a path could be anybody's. */
	uid_t peer;

	if (!bj_auth_peer(fd, geteuid(), &peer))
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "the service at %.150s is neither root's nor yours", path);
	return bj_take_fd(&fd);
}

int bj_client_open(const char *path, struct bj_client *ret, struct bj_err *err)
{
	char place[PATH_MAX];

	if (!bj_listen_path(path, place))
		return bj_err_set(err, BJ_E_LIMIT, 0, "the path of the socket is too long");

	int fd = connect_to(place, err);

	if (fd < 0 && !path && strcmp(place, BJ_LISTEN_SYSTEM) != 0) {
		snprintf(place, sizeof(place), BJ_LISTEN_SYSTEM);
		fd = connect_to(place, err);
	}
	if (fd < 0)
		return fd;
	*ret = (struct bj_client){ .fd = fd, .wake_fd = -1 };
	snprintf(ret->path, sizeof(ret->path), "%s", place);
	return 0;
}

void bj_client_done(struct bj_client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	bj_buf_done(&c->in);
	bj_buf_done(&c->stream);
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* Wait until there is something to read. */
static void wait_readable(struct bj_client *c)
{
	struct pollfd polls[] = { { .fd = c->fd, .events = POLLIN },
				  { .fd = c->wake_fd, .events = POLLIN } };

	while (c->wake_fd >= 0) {
		const int n = poll(polls, 2, -1);

		if (n > 0 && polls[1].revents) {
			c->wake_fd = -1;
			c->on_wake(c->wake_ctx);
		}
		if (n > 0 && polls[0].revents)
			return;
	}
}

/* Read some more into the buffer. 0 at the end of the connection. */
static ssize_t fill(struct bj_client *c)
{
	ssize_t n;

	if (c->at == c->in.size)
		c->at = c->in.size = 0;

	char *to = bj_buf_reserve(&c->in, READ_SIZE);

	if (!to)
		return -1;
	wait_readable(c);
	do
		n = recv(c->fd, to, READ_SIZE, 0);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		c->in.size += (size_t)n;
	return n;
}

static int gone(struct bj_err *err)
{
	return bj_err_set(err, BJ_E_PROTOCOL, 0, "the service went away during its answer");
}

/* One line without its end, into @line. */
static int read_line(struct bj_client *c, struct bj_buf *line, struct bj_err *err)
{
	line->size = 0;
	for (;;) {
		const char *from = c->in.data ? c->in.data + c->at : "";
		const size_t have = c->in.size - c->at;
		const char *end = have ? memchr(from, '\n', have) : NULL;
		const size_t n = end ? (size_t)(end - from) : have;

		bj_buf_add(line, from, n);
		c->at += n + (end ? 1 : 0);
		if (line->failed || line->size > HEAD_MAX)
			return bj_err_set(err, BJ_E_PROTOCOL, 0,
					  "a line of the service is too long");
		if (end)
			break;
		if (fill(c) <= 0)
			return gone(err);
	}
	if (line->size > 0 && line->data[line->size - 1] == '\r')
		line->data[--line->size] = '\0';
	return 0;
}

/* --- the head --------------------------------------------------------------------------------- */

static const char *value_of(const char *line, const char *name)
{
	const size_t n = strlen(name);

	if (strncasecmp(line, name, n) != 0 || line[n] != ':')
		return NULL;
	return line + n + 1 + strspn(line + n + 1, " ");
}

static void take_header(struct bj_client *c, const char *line)
{
	const char *v;

	if ((v = value_of(line, "Content-Length")))
		c->left = strtoull(v, NULL, 10);
	else if ((v = value_of(line, "Transfer-Encoding")))
		c->chunked = strcasecmp(v, "chunked") == 0;
	else if ((v = value_of(line, "X-Execution-Id")))
		snprintf(c->id, sizeof(c->id), "%s", v);
}

static int read_head(struct bj_client *c, struct bj_err *err)
{
	AUTO_BUF struct bj_buf line = { .max = HEAD_MAX + 1 };
	int r = read_line(c, &line, err);

	if (r < 0)
		return r;
	if (line.size < 12 || strncmp(line.data, "HTTP/1.", 7) != 0)
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "this is no answer of a service");
	c->status = (unsigned int)strtoul(line.data + 9, NULL, 10);
	c->chunked = c->ended = false;
	c->left = 0;
	c->id[0] = '\0';
	while ((r = read_line(c, &line, err)) == 0 && line.size > 0)
		take_header(c, line.data);
	return r;
}

int bj_client_ask(struct bj_client *c, const char *method, const char *target, const char *headers,
		  const char *body, size_t size, struct bj_err *err)
{
	AUTO_BUF struct bj_buf out = { 0 };

	bj_buf_printf(&out, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, target);
	bj_buf_puts(&out, headers);
	if (body)
		bj_buf_printf(&out, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
			      size);
	bj_buf_puts(&out, "\r\n");
	if (body)
		bj_buf_add(&out, body, size);
	if (out.failed)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot hold the request");

	const char *p = out.data;
	size_t left = out.size;

	while (left > 0) {
		const ssize_t n = send(c->fd, p, left, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break; /* it may have answered already: too large, and the like */
		p += n;
		left -= (size_t)n;
	}
	return read_head(c, err);
}

/* --- the body --------------------------------------------------------------------------------- */

/* Find out how long the next chunk is. */
static int next_chunk(struct bj_client *c, struct bj_err *err)
{
	AUTO_BUF struct bj_buf line = { .max = HEAD_MAX + 1 };
	int r;

	/* A chunk ends with an empty line, which stands before the size of the next. */
	do
		r = read_line(c, &line, err);
	while (r == 0 && line.size == 0);
	if (r < 0)
		return r;
	c->left = strtoull(line.data, NULL, 16);
	if (c->left == 0) {
		c->ended = true;
		return read_line(c, &line, err);
	}
	return 0;
}

/* Add what there is of the body to @to: 1 when something came, 0 at the end. */
static int read_some(struct bj_client *c, struct bj_buf *to, struct bj_err *err)
{
	if (c->chunked && c->left == 0 && !c->ended) {
		const int r = next_chunk(c, err);

		if (r < 0)
			return r;
	}
	if (c->left == 0)
		return 0;
	if (c->at == c->in.size && fill(c) <= 0)
		return gone(err);

	const size_t have = c->in.size - c->at;
	const size_t n = have < c->left ? have : (size_t)c->left;

	bj_buf_add(to, c->in.data + c->at, n);
	c->at += n;
	c->left -= n;
	if (to->failed)
		return bj_err_set(err, BJ_E_LIMIT, 0, "the answer of the service is too large");
	return 1;
}

int bj_client_body(struct bj_client *c, struct bj_buf *ret, struct bj_err *err)
{
	int r;

	while ((r = read_some(c, ret, err)) > 0)
		;
	return r;
}

/* --- events ----------------------------------------------------------------------------------- */

static void take_field(const char *line, size_t size, struct bj_buf *event, struct bj_buf *data)
{
	if (size >= 7 && memcmp(line, "event: ", 7) == 0)
		bj_buf_add(event, line + 7, size - 7);
	else if (size >= 6 && memcmp(line, "data: ", 6) == 0)
		bj_buf_add(data, line + 6, size - 6);
}

/* The event that ends at @end, an empty line, in the first bytes of @text. */
static void take_event(const char *text, const char *end, struct bj_buf *event, struct bj_buf *data)
{
	event->size = data->size = 0;
	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		const size_t n = line_end ? (size_t)(line_end - text) : (size_t)(end - text);

		take_field(text, n, event, data);
		text += n + 1;
	}
}

int bj_client_event(struct bj_client *c, struct bj_buf *event, struct bj_buf *data,
		    struct bj_err *err)
{
	struct bj_buf *text = &c->stream;

	text->max = LINE_MAX_SIZE;
	for (;;) {
		const size_t have = text->size - c->stream_at;
		const char *from = text->data ? text->data + c->stream_at : "";
		const char *end = have ? memmem(from, have, "\n\n", 2) : NULL;

		if (end) {
			take_event(from, end, event, data);
			c->stream_at += (size_t)(end - from) + 2;
			if (event->size == 0)
				continue; /* a comment that keeps the line alive */
			return event->failed || data->failed
				       ? bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory")
				       : 1;
		}
		if (c->stream_at > 0 && text->data) {
			memmove(text->data, text->data + c->stream_at, have);
			text->size = have;
			c->stream_at = 0;
		}

		const int r = read_some(c, text, err);

		if (r <= 0)
			return r;
	}
}

/* --- one call --------------------------------------------------------------------------------- */

static int problem(const struct bj_client *c, const struct bj_buf *body, struct bj_err *err)
{
	json_t *object = json_loadb(body->data ? body->data : "", body->size, 0, NULL);
	const char *detail = json_string_value(json_object_get(object, "detail"));

	bj_err_set(err, c->status == 404 ? BJ_E_NOT_FOUND : BJ_E_DENIED, 0,
		   "the service says: %.180s", detail ? detail : "no");
	json_decref(object);
	return -err->code;
}

int bj_client_call(struct bj_client *c, const char *method, const char *target, struct bj_buf *ret,
		   struct bj_err *err)
{
	int r = bj_client_ask(c, method, target, "", NULL, 0, err);

	ret->max = BODY_MAX;
	if (r == 0)
		r = bj_client_body(c, ret, err);
	if (r == 0 && c->status / 100 != 2)
		r = problem(c, ret, err);
	return r;
}
