/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Who may run now: at most @running at once, at most @waiting in line. Each tenant has a line of
 * its own, in which first come is first served; between lines, the next turn goes to the one whose
 * runs took the least time so far. Thread-safe. */
struct bj_turns;
struct bj_line;

struct bj_turns *bj_turns_new(unsigned int running, unsigned int waiting); /* NULL: no memory */
void bj_turns_free(struct bj_turns *turns);                                /* nobody is in it */

/* Change both limits; those who are in stay. */
void bj_turns_resize(struct bj_turns *turns, unsigned int running, unsigned int waiting);

/* One turn, for bj_turns_leave(). */
struct bj_turn {
	struct bj_line *line;
	uint64_t began;   /* monotonic ns */
	uint64_t charged; /* ns that its line has paid ahead */
};

/* Wait for a turn in the line of @tenant (NULL: nobody's). 0: go, and call bj_turns_leave() after.
 * -BJ_E_LIMIT: the line is full. -BJ_E_CANCELLED: @cancel_fd became readable. -BJ_E_SYSTEM: no
 * memory or no descriptor to wait with. */
int bj_turns_enter(struct bj_turns *turns, const char *tenant, int cancel_fd, struct bj_turn *ret);
void bj_turns_leave(struct bj_turns *turns, struct bj_turn *turn);

/* Whether bj_turns_enter() would say that the line is full. */
bool bj_turns_full(struct bj_turns *turns, const char *tenant);

void bj_turns_count(struct bj_turns *turns, unsigned int *ret_running, unsigned int *ret_waiting);
