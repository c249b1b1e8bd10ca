/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How init is born without a copy of the launcher's descriptors. A launcher with many jars has
 * hundreds; to copy them and close them again takes longer than most of what init does.
 *
 * So init is born with the launcher's own table (CLONE_FILES), and its first call is to take a
 * table of its own with the low numbers only. What init needs must therefore have a low number, and
 * keep it until init has said something: a few numbers are set aside for that. */
struct bj_births {
	int first;     /* of the numbers */
	uint32_t free; /* one bit each; 0: init gets a copy, which is as good */
};

enum { BJ_BIRTHS = 8 };

/* Set numbers aside, above what is open already. Without them all goes on, slower. */
void bj_births_init(struct bj_births *b);

/* Give *@fd one of the numbers: it is closed and replaced. False when none is free; then *@fd
 * stays. Give the number back with bj_births_release(). */
bool bj_births_take(struct bj_births *b, int *fd);

/* -1 is fine. */
void bj_births_release(struct bj_births *b, int fd);

/* In init: take a table with what is open up to @fd. Negative: there is still only the launcher's,
 * and nothing may be done but to end. */
int bj_births_leave(int fd);
