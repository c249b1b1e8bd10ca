/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/jar.h"
#include "launch/demand.h"
#include "launch/launch.h"
#include "warm/zygote.h"

/* The launcher's state, shared by its loop (launch.c), its pools (pool.c), its zygotes (zygotes.c)
 * and its nursery (nursery.c). */

/* What jars are kept for. */
enum pool_kind {
	POOL_PYTHON, /* a Python that waits */
	POOL_HEAVY,  /* the same with large modules imported */
	POOL_BASH,   /* a Bash that waits */
	POOL_EMPTY,  /* nothing yet: for whoever finds none of the others, and for cold starts */
	POOL_KINDS,
};

/* Each image has a pool of each kind. A pool's number says both. */
enum { MAX_POOLS = BJ_WIRE_IMAGES * POOL_KINDS, NO_POOL = MAX_POOLS };

static inline enum pool_kind pool_kind(uint32_t pool)
{
	return (enum pool_kind)(pool % POOL_KINDS);
}

static inline uint32_t pool_image(uint32_t pool)
{
	return pool / POOL_KINDS;
}

/* What is kept for one image. */
struct shelf {
	bool kept;        /* it has pools */
	uint64_t used_at; /* clock nanoseconds: the last run that named it */
};

struct pool {
	struct bj_demand demand;
	uint64_t rest_until; /* clock nanoseconds, after a failure: no refill before */
	uint32_t owed;       /* to be built at once: a run came in vain */
	/* Of the two kinds of Python: */
	const char *const *modules; /* imported ahead of time, NULL-terminated */
	struct bj_zygote zygote;
	uint64_t zygote_since;      /* clock nanoseconds: when it was started */
	unsigned int failures;      /* of zygotes in a row that made no slot */
	unsigned int complaints;    /* slots of it in a row that failed or were slow */
	enum bj_wire_end complaint; /* what the last one was about */
	unsigned int lost;          /* scripts in a row that its slots took and did not begin */
	uint64_t filled_at;         /* clock nanoseconds: when the last of them came */
	uint32_t starts, failed;    /* zygotes started, jars that failed: for whoever counts */
};

/* A run for which there was no place in the table when it came. */
struct held {
	bool there;
	struct bj_wire_launch run;
	int fds[BJ_WIRE_FD_MAX];
	size_t n_fds;
};

struct launcher {
	int control, caller;
	bool once;    /* there will be one run */
	bool patient; /* that is answered, and nobody waits for what is left to do */
	int starter;  /* socket to the starter; its end of file is the starter's end */
	int epoll;
	struct bj_jar_ground ground;
	struct bj_nets nets;
	struct bj_nursery nursery;
	uint64_t nursery_at;      /* clock nanoseconds: none is started before */
	uint64_t nursery_heard;   /* the same: its last word */
	uint32_t nursery_vain;    /* started since then */
	struct bj_err no_cgroups; /* why there are none */
	struct bj_jar **jars;     /* by index; NULL: free */
	uint32_t n_slots, n_live;
	struct held held; /* while it is there nothing more is read from the front */
	uint64_t serial;
	uint64_t next_tick;          /* when jars are looked at again */
	struct bj_jar_shape shape;   /* what jars of the pools are built for */
	struct bj_launch_pools plan; /* of the settings */
	struct pool pools[MAX_POOLS];
	struct shelf shelves[BJ_WIRE_IMAGES];
	uint64_t resume; /* clock nanoseconds: young runs are under way, the rest waits */
	uint32_t ends[BJ_WIRE_ENDS]; /* of zygotes: for whoever counts */
	uint64_t strays_at;          /* when to look for processes that nobody knows; 0: never */
	int wait_library;            /* what makes a Bash wait */
	int wait_spec;               /* a spec without arguments and environment */
	int meminfo;                 /* -1: not readable */
	uint64_t pressure_at;        /* when memory was looked at */
	bool short_of_memory;
};

/* What an event of the epoll belongs to: a jar by its index, or one of these. */
#define BJ_EVENT_CONTROL      UINT32_MAX
#define BJ_EVENT_CALLER       (UINT32_MAX - 1)
#define BJ_EVENT_ZYGOTE       (UINT32_MAX - 2) /* with its kind, as the next one */
#define BJ_EVENT_ZYGOTE_DEAD  (UINT32_MAX - 3)
#define BJ_EVENT_NURSERY      (UINT32_MAX - 4)
#define BJ_EVENT_NURSERY_DEAD (UINT32_MAX - 5)

/* A new jar in the table that will show @image, not built yet; NULL when the table is full. */
struct bj_jar *launcher_new_jar(struct launcher *l, uint32_t image);

/* Do what the jar's phase asks for, until it waits for an event or is over and gone. */
void launcher_advance(struct launcher *l, struct bj_jar *jar);

/* --- ground ----------------------------------------------------------------------------------- */

/* Make what all jars stand on, give root up, and keep only what making jars takes. */
int ground_build(struct launcher *l, const struct bj_launch_birth *birth,
		 const struct bj_launch_image *images, struct bj_err *err);

/* --- pools ------------------------------------------------------------------------------------ */

int pools_init(struct launcher *l, const struct bj_launch_settings *settings, struct bj_err *err);

/* The pool whose interpreters @run can be given to; NO_POOL: it must be started from nothing. */
uint32_t pool_of(const struct launcher *l, const struct bj_wire_launch *run);

/* The best jar for @run: one that waits, else one on its way, else an empty one; NULL: none. */
struct bj_jar *pool_take(struct launcher *l, const struct bj_wire_launch *run);

/* What comes next for an empty jar: its run from nothing or from a zygote, or what its pool wants.
 */
int pool_fill(struct launcher *l, struct bj_jar *jar, struct bj_err *err);

/* A jar of a pool is over: with a run, or because it failed before it had one. */
void pool_over(struct launcher *l, const struct bj_jar *jar);

/* The zygote that @jar is of gave a wrong answer: it ends, and so do its slots that wait. */
void pool_found_wrong(struct launcher *l, const struct bj_jar *jar);

/* A slot of the kind that @run calls for died when it had the script, before its first line. */
void pool_lost(struct launcher *l, const struct bj_wire_launch *run);

/* A jar of a pool waits now: how long did it take? */
void pool_filled(struct launcher *l, const struct bj_jar *jar);

/* Start what is missing, end what is too much. Cheap when nothing is. Returns when to come back
 * (clock nanoseconds), 0 when there is no need. */
uint64_t pool_refill(struct launcher *l);

/* Build one empty jar for the run that is about to come. No pool replaces it. */
void pool_build_ahead(struct launcher *l);

/* What there is now. */
void pool_count(const struct launcher *l, struct bj_wire_census *ret);

/* End a jar that waits for nobody in particular: its place is wanted. */
void pool_make_room(struct launcher *l);

/* No more refills; the zygotes end. */
void pools_done(struct launcher *l);

/* --- zygotes ---------------------------------------------------------------------------------- */

/* Start, replace or leave alone the zygote of @pool. False: there is none to fork from now. */
bool zygote_keep(struct launcher *l, uint32_t pool);

/* It said that it is ready, or something else, or is dead. */
void zygote_says(struct launcher *l, uint32_t pool);
void zygote_dead(struct launcher *l, uint32_t pool);

/* It is sick: end it, and with it the wait of those who asked. The next refill starts another. */
void zygote_replace(struct launcher *l, uint32_t pool, enum bj_wire_end why);

/* It is not needed any more. */
void zygote_end(struct launcher *l, uint32_t pool);

/* How it goes wrong, in a test build that is told to. */
enum bj_sick zygote_sick(const struct pool *pool);

/* Wait for children that nobody knows: what a zygote or a nursery had forked when it was killed.
 * Soon there may be some. */
void zygote_reap_strays(struct launcher *l);
void zygote_expect_strays(struct launcher *l);

/* --- rescue ----------------------------------------------------------------------------------- */

/* What a run wants of its jar. */
struct bj_jar_shape launcher_shape(const struct bj_wire_launch *run);

/* If @jar failed for want of a zygote, a slot or a nursery, its run gets a jar of its own, with an
 * init that the launcher bears, and a cold start: that is not rescued again. Does nothing when the
 * table is full: try again when @jar has left it. */
void rescue(struct launcher *l, struct bj_jar *jar);

/* --- nursery ---------------------------------------------------------------------------------- */

/* Start one if there is none. */
void nursery_keep(struct launcher *l, uint64_t now);

/* It, or an init that it bore, said something. */
void nursery_says(struct launcher *l);

/* End it if it hangs. */
void nursery_mind(struct launcher *l, uint64_t now);

/* It is dead, sick or not needed any more. Jars that wait for it fail; the next refill starts
 * another. */
void nursery_end(struct launcher *l);
