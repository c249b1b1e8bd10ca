/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "serve/listen.h"

#include <sys/types.h>

/* The front: the process that reads requests. It has no rights of its own. */
struct bj_front_init {
	const struct bj_settings *settings; /* borrowed; for what is opened before rights go */
	int channel;                        /* to the keeper */
	struct bj_listen *listen;           /* the sockets; the front closes the lock */
	uid_t owner;                        /* who started the service */
	bool change_user;                   /* root started it: become @uid and @gid */
	uid_t uid;
	gid_t gid;
};

/* Its whole life. Returns the exit status. */
int bj_front_main(struct bj_front_init *init);
