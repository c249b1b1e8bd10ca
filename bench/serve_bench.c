/* SPDX-License-Identifier: Apache-2.0 */

/* Send one request again and again to a service and say how long each answer took.
 *
 * usage: serve_bench SOCKET BODY COUNT CONNECTIONS PAUSE_MS [WORD]
 *
 * BODY is a file with the JSON of POST /v1/executions. Each connection is kept and has one request
 * under way at a time; after an answer it rests for PAUSE_MS. Prints a line "SECONDS WARM" for each
 * answer (WARM is 1 when an interpreter waited for the script), then "all SECONDS". An answer other
 * than 200, or one without WORD, ends the program with status 1. */

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { MAX_CONNECTIONS = 1024, ANSWER = 1 << 20 };

struct conn {
	int fd;
	uint64_t sent;
	size_t have;
	char *text;
};

struct bench {
	struct bj_buf request;
	const char *word;
	struct timespec pause;
	long to_send, to_come;
	struct conn conns[MAX_CONNECTIONS];
	struct pollfd polls[MAX_CONNECTIONS];
};

__attribute__((noreturn)) static void fail(const char *what)
{
	fprintf(stderr, "serve_bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int dial(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		fail(path);
	return fd;
}

static void send_request(struct bench *b, struct conn *c)
{
	c->have = 0;
	c->sent = 0;
	if (b->to_send == 0)
		return;
	b->to_send--;
	c->sent = bj_clock_now();
	if (bj_fd_write_all(c->fd, b->request.data, b->request.size) < 0)
		fail("send");
}

/* Whether the answer is whole; its length is in its head. */
static bool is_whole(const struct conn *c)
{
	const char *body = strstr(c->text, "\r\n\r\n");
	const char *length = strcasestr(c->text, "content-length:");

	return body && length &&
	       c->have >= (size_t)(body + 4 - c->text) + strtoull(length + 15, NULL, 10);
}

static void take_answer(struct bench *b, struct conn *c)
{
	const ssize_t n = recv(c->fd, c->text + c->have, ANSWER - 1 - c->have, 0);

	if (n <= 0)
		fail("receive");
	c->have += (size_t)n;
	c->text[c->have] = '\0';
	if (!is_whole(c))
		return;

	const uint64_t took = bj_clock_now() - c->sent;

	if (strncmp(c->text, "HTTP/1.1 200", 12) != 0 || (b->word && !strstr(c->text, b->word))) {
		fprintf(stderr, "serve_bench: not the answer that was expected: %s\n", c->text);
		exit(1);
	}
	printf("%.7f %d\n", (double)took / 1e9, strstr(c->text, "\"warm\":true") != NULL);
	b->to_come--;
	/* To sleep for no time takes the kernel 50 microseconds. */
	if (b->pause.tv_nsec > 0)
		nanosleep(&b->pause, NULL);
	send_request(b, c);
}

static void make_request(struct bench *b, const char *file)
{
	AUTO_BUF struct bj_buf body = { 0 };
	AUTO_FD int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || bj_fd_read_all(fd, &body) < 0)
		fail(file);
	bj_buf_printf(&b->request,
		      "POST /v1/executions HTTP/1.1\r\nHost: localhost\r\n"
		      "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
		      body.size);
	bj_buf_add(&b->request, body.data, body.size);
}

int main(int argc, char **argv)
{
	static struct bench b;
	const nfds_t n = argc < 6 ? 0 : (nfds_t)strtoul(argv[4], NULL, 10);

	if (n < 1 || n > MAX_CONNECTIONS) {
		fprintf(stderr,
			"usage: serve_bench SOCKET BODY COUNT CONNECTIONS PAUSE_MS [WORD]\n");
		return 2;
	}
	make_request(&b, argv[2]);
	b.to_send = b.to_come = strtol(argv[3], NULL, 10);
	b.pause.tv_nsec = strtol(argv[5], NULL, 10) * 1000000L;
	b.word = argc > 6 ? argv[6] : NULL;
	for (nfds_t i = 0; i < n; i++) {
		b.conns[i] = (struct conn){ .fd = dial(argv[1]), .text = malloc(ANSWER) };
		b.polls[i] = (struct pollfd){ .fd = b.conns[i].fd, .events = POLLIN };
		if (!b.conns[i].text)
			fail("memory");
	}

	const uint64_t start = bj_clock_now();

	for (nfds_t i = 0; i < n; i++)
		send_request(&b, &b.conns[i]);
	while (b.to_come > 0) {
		if (poll(b.polls, n, 60000) <= 0)
			fail("wait");
		for (nfds_t i = 0; i < n; i++)
			if (b.polls[i].revents)
				take_answer(&b, &b.conns[i]);
	}
	printf("all %.6f\n", (double)(bj_clock_now() - start) / 1e9);
	return 0;
}
