/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Who may run now: at most @running at once, at most @waiting in line, first come first served.
 * Thread-safe. */
struct bj_turns;

struct bj_turns *bj_turns_new(unsigned int running, unsigned int waiting); /* NULL: no memory */
void bj_turns_free(struct bj_turns *turns);                                /* nobody is in it */

/* Change both limits; those who are in stay. */
void bj_turns_resize(struct bj_turns *turns, unsigned int running, unsigned int waiting);

/* Wait for a turn. 0: go, and call bj_turns_leave() after. -BJ_E_LIMIT: the line is full.
 * -BJ_E_CANCELLED: @cancel_fd became readable. -BJ_E_SYSTEM: no descriptor to wait with. */
int bj_turns_enter(struct bj_turns *turns, int cancel_fd);
void bj_turns_leave(struct bj_turns *turns);

/* Whether bj_turns_enter() would say that the line is full. */
bool bj_turns_full(struct bj_turns *turns);

void bj_turns_count(struct bj_turns *turns, unsigned int *ret_running, unsigned int *ret_waiting);
