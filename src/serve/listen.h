/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/settings.h"

#include <limits.h>

/* The sockets of the service, made or inherited while it still has its rights. */

#define BJ_LISTEN_SYSTEM "/run/belljar/belljar.sock"

enum { BJ_LISTEN_MAX = 4 };

struct bj_listen {
	int sockets[BJ_LISTEN_MAX];
	size_t n;
	char path[PATH_MAX]; /* of the Unix socket that we made; "": none */
	int lock;            /* held as long as the path is ours; -1: none */
};

/* Where the Unix socket is: @set, or the usual place of this user. Whether that fits in a path is
 * told by the return value. */
bool bj_listen_path(const char *set, char path[PATH_MAX]);

/* Take the sockets that the service manager passed (LISTEN_FDS), or make them. A path that another
 * service holds is refused; what a dead one left is replaced. The caller ends *@ret with
 * bj_listen_done(). */
int bj_listen_open(const struct bj_serve_settings *settings, struct bj_listen *ret,
		   struct bj_err *err);
void bj_listen_done(struct bj_listen *listen);

/* Nobody can connect any more, now that the path is gone, and the place is ours still. */
void bj_listen_close(struct bj_listen *listen);

/* For a child: close without removing anything. */
void bj_listen_forget(struct bj_listen *listen);

/* Whether one of them is a TCP socket. */
bool bj_listen_has_tcp(const struct bj_listen *listen);
