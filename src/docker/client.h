/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "docker/curl.h"
#include "docker/host.h"

/* A client of the Engine API. Blocking, with a deadline on every request; one process, one
 * request at a time. */
struct bj_docker {
	struct bj_curl curl;
	struct bj_docker_host host;
	CURL *handle; /* keeps its connection between requests */
	pid_t owner;  /* a connection is not shared over fork */
	long timeout_ms;
	bool podman;           /* the engine is Podman */
	char said_version[16]; /* the engine's newest */
	char version[16];      /* agreed on, "1.41" */
};

enum { BJ_DOCKER_ANSWER_MAX = 16 << 20 };

/* A request. Path and query are made by our own code: nothing of a script goes into them. */
struct bj_docker_call {
	const char *method;
	const char *path; /* below the version, with the query */
	const void *body; /* NULL: none */
	size_t size;
	const char *type; /* of the body; NULL: JSON */
	long timeout_ms;  /* 0: the client's */
	bool unversioned;
	/* Called with all of the answer so far whenever more of it is here; NULL: nobody watches.
	 */
	void (*watch)(void *ctx, const struct bj_buf *so_far);
	void *watch_ctx;
};

/* Find the engine and agree on a version. Errors say what to do: engine missing, refused, too
 * old. The caller ends it with bj_docker_done(), also on failure. */
int bj_docker_open(struct bj_docker *docker, const char *host, long timeout_ms, struct bj_err *err);
void bj_docker_done(struct bj_docker *docker);

/* Make a call: the HTTP status, with the answer in @ret_body (may be NULL), or negative when there
 * was no whole answer. */
int bj_docker_do(struct bj_docker *docker, const struct bj_docker_call *call,
		 struct bj_buf *ret_body, struct bj_err *err);

/* Fill @err for an answer with a status that is no success: the engine's own words. */
int bj_docker_refused(const char *what, int status, const struct bj_buf *body, struct bj_err *err);

/* The highest version both speak, given the engine's newest. -BJ_E_UNSUPPORTED when there is none.
 * Pure. */
int bj_docker_agree(const char *theirs, char ret[16], struct bj_err *err);
