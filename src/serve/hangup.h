/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

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

/* Ask the run to stop, and take that back before the next one. */
void bj_hangup_raise(struct bj_hangup *hangup);
void bj_hangup_clear(struct bj_hangup *hangup);

/* Stop also when @fd (borrowed; negative: none) is readable. 0 or negative. */
int bj_hangup_add(struct bj_hangup *hangup, int fd);
