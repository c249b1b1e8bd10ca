/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "serve/mhd.h"
#include "serve/service.h"

#include <stdatomic.h>

/* The service's doors: one HTTP server for each listening socket. Every connection has a thread
 * of its own, in which its runs happen. */

/* One listening socket. */
struct bj_door {
	struct bj_http *http;
	struct MHD_Daemon *daemon;
	bool tcp; /* needs a key; else the peer's user is looked at */
};

enum { BJ_HTTP_DOORS = 4 };

struct bj_http {
	struct bj_mhd mhd;
	struct bj_service *service;
	struct bj_door doors[BJ_HTTP_DOORS];
	size_t n_doors;
	uid_t owner;
	pthread_mutex_t lock; /* over what follows */
	struct bj_conn *conns;
	char *api_key;
	atomic_size_t max_body;
	unsigned int max_connections;
	atomic_ullong request_timeout_ms;
	atomic_uint answering; /* requests that are whole and not yet answered */
};

int bj_http_init(struct bj_http *http, struct bj_service *service, uid_t owner, struct bj_err *err);

/* Take over what of the settings can change: key, sizes, times. */
void bj_http_configure(struct bj_http *http, const struct bj_serve_settings *settings);

/* Answer on @socket, which listens already. It stays open when the server stops. */
int bj_http_open(struct bj_http *http, int socket, struct bj_err *err);

/* Hang up on clients that take too long to say or to hear something. Call it now and then. */
void bj_http_watch(struct bj_http *http);

/* Take no new connections; then wait for those that there are and close. */
void bj_http_quiesce(struct bj_http *http);
void bj_http_done(struct bj_http *http);
