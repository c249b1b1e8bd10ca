/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* One descriptor that becomes readable when a run is not wanted any more: because its client hung
 * up, or because somebody asked. Made once a connection, used by one run at a time, and counted,
 * since a run may outlive the connection that began it. */
struct bj_hangup;

/* @client: the connection's socket, borrowed; -1: nobody is watched. NULL when that failed. */
struct bj_hangup *bj_hangup_new(int client);
struct bj_hangup *bj_hangup_ref(struct bj_hangup *hangup);
void bj_hangup_unref(struct bj_hangup *hangup); /* NULL is fine */

/* Readable: stop. Borrowed. */
int bj_hangup_fd(const struct bj_hangup *hangup);

/* Let the client go without stopping the run: others wait for it. False: it has gone already, and
 * the run may have seen that. One whose run was let go is of no use for the next. */
bool bj_hangup_loosen(struct bj_hangup *hangup);
bool bj_hangup_is_loose(const struct bj_hangup *hangup);

/* Take that back: its going stops the run again, also if it went meanwhile. */
void bj_hangup_tighten(struct bj_hangup *hangup);

/* Ask the run to stop, and take that back before the next one. */
void bj_hangup_raise(struct bj_hangup *hangup);
void bj_hangup_clear(struct bj_hangup *hangup);

/* Stop also when @fd (borrowed; negative: none) is readable. 0 or negative. */
int bj_hangup_add(struct bj_hangup *hangup, int fd);
