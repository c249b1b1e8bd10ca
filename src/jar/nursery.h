/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/seal.h"
#include "jar/userns.h"

#include <stddef.h>

/* The process that the inits of a service's jars are forked from.
 *
 * An init that the launcher bears is a copy of the launcher, whose memory the kernel copies for it
 * and throws away again when it executes jar-init. A nursery is a small static program with next to
 * no memory. What it bears is the launcher's child, builds its jar with the same code, and is
 * jar-init already then; nothing of the launcher was ever in it.
 *
 * It has the launcher's rights and namespaces, but stands in a mount namespace with nothing in it
 * but a template (roots.h). It reads one fixed message at a time, from the launcher, and never runs
 * foreign code. */

/* Its descriptors: where requests come from and answers go, inits' reports included; the /procs of
 * the launcher. */
enum { BJ_NURSERY_SOCKET = 3, BJ_NURSERY_PROCS = 4 };

/* The first message: what there is. */
struct bj_nursery_ground {
	uint32_t images;  /* templates, one bit each */
	uint32_t n_procs; /* from BJ_NURSERY_PROCS on */
	bool want_proc;   /* jars have a /proc */
};

/* A request for one init. With it come a spec and a network namespace, if it has them. */
struct bj_nursery_ask {
	struct bj_seal_build plan; /* but for its descriptors and what it is born with */
	struct bj_userns_ids ids;
	uint32_t proc; /* which of the /procs */
	bool has_spec, has_net;
	bool wants_pid_ns;
};

/* The answers are struct bj_seal_report: first one with @born and the init's pidfd, its pid
 * namespace too if that was asked for; then, from the init itself, one with a directory for the
 * script. One that failed may have none of these. */
enum { BJ_NURSERY_FDS = 2 };

struct bj_nursery {
	pid_t pid; /* 0: none */
	int pidfd; /* readable when it is dead */
	int sock;
};

/* Start one for @ground, with the descriptors @procs. */
int bj_nursery_start(struct bj_nursery *n, const struct bj_nursery_ground *ground, const int *procs,
		     struct bj_err *err);

/* Ask for an init. @spec_fd and @net_fd are borrowed; -1: none. Waits for nobody. 0 or -errno. */
int bj_nursery_ask(const struct bj_nursery *n, const struct bj_nursery_ask *ask, int spec_fd,
		   int net_fd);

/* Take one answer, without waiting. Descriptors that are not there are -1. 1: there was one, 0:
 * there is none. Negative: one came without its descriptors, for which there was no room, and an
 * init that it told of is killed: whoever waits for it waits in vain. */
int bj_nursery_hear(const struct bj_nursery *n, struct bj_seal_report *ret, int *ret_fds);

/* Kill it and wait for it. What it and its inits said before can still be heard; its inits live on.
 */
void bj_nursery_kill(const struct bj_nursery *n);

/* The same, and forget it. */
void bj_nursery_stop(struct bj_nursery *n);
