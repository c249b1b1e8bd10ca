/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "docker/client.h"

/* The streams of a container: a connection that HTTP was spoken on once and that carries raw
 * bytes both ways from then on. */
struct bj_attach {
	struct bj_docker *docker;
	CURL *handle;    /* NULL: not attached */
	int fd;          /* for poll only */
	char rest[4096]; /* what came behind the head of the answer */
	size_t rest_at, rest_size;
};

int bj_attach_open(struct bj_attach *attach, struct bj_docker *docker, const char *container,
		   struct bj_err *err);

/* POST @what to the container on a connection of its own, and do not wait for the answer: it is
 * thrown away when the connection is closed. */
int bj_attach_ask(struct bj_attach *ask, struct bj_docker *docker, const char *container,
		  const char *what, struct bj_err *err);
void bj_attach_close(struct bj_attach *attach); /* zero is fine */

/* Read or write what is possible now: the count, 0 at the end (reading), -EAGAIN, -EIO. */
ssize_t bj_attach_read(struct bj_attach *attach, void *data, size_t size);
ssize_t bj_attach_write(struct bj_attach *attach, const void *data, size_t size);

/* Write all of it, for as long as the client's deadline allows. 0 or negative errno. */
int bj_attach_write_all(struct bj_attach *attach, const void *data, size_t size);
