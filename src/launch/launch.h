/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"
#include "jar/jar.h"

#include <sys/types.h>

/* The launcher: the only process with privilege, and the front's handle on it. */

/* What the launcher must know from the start. Borrowed until bj_launcher_new() returns. */
struct bj_launch_settings {
	const char *cgroup; /* parent cgroup; NULL: the own one */
	uint32_t uid_base, uid_count;
	uint64_t required; /* layers that must hold */
	const char *python, *bash;
	enum bj_mounts_proc proc;
	bool bound;                 /* the death of the caller ends the launcher */
	uint32_t slots;             /* Python interpreters that wait for scripts; 0: none */
	struct bj_jar_shape shape;  /* what their jars are built for */
	const char *const *modules; /* imported ahead of time, NULL-terminated; NULL: none */
};

/* Front's side. Thread-safe once made. */
struct bj_launcher;

/* Start the launcher. It comes up in parallel: bj_launcher_ready() waits for it. The caller
 * frees *@ret. Call it from a process without other threads. */
int bj_launcher_new(const struct bj_launch_settings *settings, struct bj_launcher **ret,
		    struct bj_err *err);

/* Wait until the launcher is up; fails with its own words when it cannot be. *@ret_swept (may be
 * NULL) gets how many leftovers of dead belljars it removed. */
int bj_launcher_ready(struct bj_launcher *launcher, unsigned int *ret_swept, struct bj_err *err);

/* End the launcher and with it every jar. NULL is fine. */
void bj_launcher_free(struct bj_launcher *launcher);

/* For a launcher that one process starts and another one uses. bj_launcher_release() gives up the
 * handle and returns the control socket, which the caller owns now; *@ret_starter is the child to
 * reap. bj_launcher_adopt() makes a handle of such a socket: freeing it closes the socket, which
 * ends the launcher, and waits for nothing. */
int bj_launcher_release(struct bj_launcher *launcher, pid_t *ret_starter);
int bj_launcher_adopt(int control_take, struct bj_launcher **ret, struct bj_err *err);

/* The control socket, for sending launch messages. Borrowed. */
int bj_launcher_socket(const struct bj_launcher *launcher);

/* What a launcher is born with. Borrowed from the process that forked it. */
struct bj_cgroups;
struct bj_launch_birth {
	int control;
	int caller;    /* pidfd of the process whose death ends us; -1: none */
	int sync;      /* asks the starter to write our identity maps; its end ends us */
	bool root;     /* we are the machine's root, until the tree is built */
	uint32_t uids; /* uids from 1 on that jars may have; 0: they share ours */
	struct bj_cgroups *cgroups; /* NULL: none, for the reason in @why */
	const struct bj_err *why;
};

/* The launcher's whole life, in its own process. Never returns. */
__attribute__((noreturn)) void bj_launch_main(const struct bj_launch_birth *birth,
					      const struct bj_launch_settings *settings);
