/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Where the engine listens: what the settings say, else DOCKER_HOST, else the context that the
 * docker command would use, else the usual sockets. */
struct bj_docker_host {
	char *socket;          /* a Unix socket; NULL: @url */
	char *url;             /* http://host:port or https://host:port */
	char *ca, *cert, *key; /* files for TLS; NULL: none */
	char *text;            /* as a person would write it, for messages */
};

int bj_docker_host_find(const char *setting, struct bj_docker_host *ret, struct bj_err *err);
void bj_docker_host_done(struct bj_docker_host *host);

/* Read "unix:///path", "tcp://host:port", "http://..." or "https://...". */
int bj_docker_host_parse(const char *text, struct bj_docker_host *ret, struct bj_err *err);
