/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/jar.h"
#include "warm/zygote.h"

/* The launcher's state, shared by its loop (launch.c) and its pools (pool.c). */

/* Slots for Python that wait for scripts. */
struct pool {
	uint32_t target; /* how many to keep; 0: none, every run is cold */
	struct bj_jar_shape shape;
	const char *const *modules; /* imported ahead of time; NULL: none */
	struct bj_zygote zygote;
	uint64_t zygote_since;        /* clock nanoseconds: when it was started */
	unsigned int zygote_failures; /* in a row, without ever having been ready */
	uint64_t rest_until;          /* clock nanoseconds, after a failure: no refill before */
	uint64_t resume; /* the same after a run was started, as long as there are slots */
};

struct launcher {
	int control, caller;
	int starter; /* socket to the starter; its end of file is the starter's end */
	int epoll;
	struct bj_jar_ground ground;
	struct bj_err no_cgroups; /* why there are none */
	struct bj_jar **jars;     /* by index; NULL: free */
	uint32_t n_slots, n_live;
	uint64_t serial;
	uint64_t next_tick; /* when jars are looked at again */
	struct pool pool;
};

/* What an event of the epoll belongs to: a jar by its index, or one of these. */
#define BJ_EVENT_CONTROL     UINT32_MAX
#define BJ_EVENT_CALLER      (UINT32_MAX - 1)
#define BJ_EVENT_ZYGOTE      (UINT32_MAX - 2)
#define BJ_EVENT_ZYGOTE_DEAD (UINT32_MAX - 3)

/* A new jar in the table, not built yet; NULL when the table is full. */
struct bj_jar *launcher_new_jar(struct launcher *l);

/* Do what the jar's phase asks for, until it waits for an event or is over and gone. */
void launcher_advance(struct launcher *l, struct bj_jar *jar);

/* Whether @run can be given to a waiting interpreter. */
bool pool_fits(const struct launcher *l, const struct bj_wire_launch *run);

/* The best jar for a run that fits: one that waits, else one on its way; NULL: none. */
struct bj_jar *pool_take(struct launcher *l);

/* Fill @jar, which is empty, from the zygote. */
int pool_fill(struct launcher *l, struct bj_jar *jar, struct bj_err *err);

/* A jar of the pool failed before it waited: leave the machine in peace for a moment. */
void pool_failed(struct launcher *l);

/* A slot was given to a run: its successor can wait until that run has had the machine. */
void pool_used(struct launcher *l);

/* Start what is missing: the zygote, slots. Cheap when nothing is. Returns when to come back (clock
 * nanoseconds), 0 when there is no need. */
uint64_t pool_refill(struct launcher *l);

/* The zygote said that it is ready, or is dead. */
void pool_zygote_ready(struct launcher *l);
void pool_zygote_dead(struct launcher *l);
