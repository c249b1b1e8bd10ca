/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/wire.h"

#include <sys/types.h>

/* The front's handle on a process of ours with one job: the launcher, the broker, the host of
 * direct runs. It is forked before the front has read anything, is joined to it by a socket pair,
 * and says hello when it is up, or why it cannot be. Thread-safe once made. */
struct bj_process;

/* Fork it. @body runs in it, with its end of the socket and @self, and never returns. It comes up
 * in parallel: bj_process_ready() waits for it. @name is for messages, and static. Call this from a
 * process without other threads. The caller frees *@ret. */
int bj_process_new(const char *name, void (*body)(int control, void *self), void *self,
		   struct bj_process **ret, struct bj_err *err);

/* End it, and with it all that it runs, and wait until that is cleaned up. NULL is fine. */
void bj_process_free(struct bj_process *process);

/* The same without the wait, where that is not noticed: it cleans up by itself. */
void bj_process_leave(struct bj_process *process);

/* For a process that one starts and another one uses. bj_process_release() gives up the handle and
 * returns the socket, which the caller owns now; *@ret_pid is the child to reap.
 * bj_process_adopt() makes a handle of such a socket: freeing it closes the socket, which ends the
 * process, and waits for nothing. */
int bj_process_release(struct bj_process *process, pid_t *ret_pid);
int bj_process_adopt(const char *name, int control_take, struct bj_process **ret,
		     struct bj_err *err);

/* Wait until it is up; fails with its own words when it cannot be. *@ret_swept (may be NULL) gets
 * how many leftovers of dead belljars it removed. */
int bj_process_ready(struct bj_process *process, unsigned int *ret_swept, struct bj_err *err);

/* How many runs it has places for, once it is up; 0: it does not count them. */
unsigned int bj_process_places(const struct bj_process *process);

/* The control socket, for launch messages, which may be sent before the process is up. Borrowed. */
int bj_process_socket(const struct bj_process *process);
const char *bj_process_name(const struct bj_process *process);
