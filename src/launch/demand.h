/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many of a kind should wait: more when runs find none, fewer when many are never needed, the
 * least when memory is short. Plain arithmetic on a plain value. */
struct bj_demand {
	uint32_t min, max;  /* of the settings; min 0: none at all */
	uint32_t target;    /* between the two */
	uint32_t low;       /* the fewest that waited since the last look */
	uint64_t looked_at; /* clock nanoseconds */
};

/* How long an unneeded one is kept. */
#define BJ_DEMAND_PERIOD_NS UINT64_C(5000000000)

void bj_demand_init(struct bj_demand *demand, uint32_t min, uint32_t max);

/* A run came; @waiting were there before it. */
void bj_demand_use(struct bj_demand *demand, uint32_t waiting);

/* Whether a run of this period found none waiting: more are asked for than there are. */
bool bj_demand_is_short(const struct bj_demand *demand);

/* Look at the last period, when it is over; with @short_of_memory at once. */
void bj_demand_look(struct bj_demand *demand, uint64_t now, bool short_of_memory);

/* Whether the text of /proc/meminfo says that memory is short: less than a twentieth is there for
 * new programs. Unreadable: no. */
bool bj_demand_memory_short(const char *meminfo);
