/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/demand.h"

#include <stdlib.h>
#include <string.h>

void bj_demand_init(struct bj_demand *d, uint32_t min, uint32_t max)
{
	*d = (struct bj_demand){ .min = min, .max = max > min ? max : min, .target = min };
	d->low = d->target;
}

void bj_demand_use(struct bj_demand *d, uint32_t waiting)
{
	const uint32_t more = d->target / 4 + 1;

	if (waiting < d->low)
		d->low = waiting;
	/* The last one is going: whoever comes next would have to wait. */
	if (d->min > 0 && waiting <= 1)
		d->target = d->target + more < d->max ? d->target + more : d->max;
}

bool bj_demand_is_short(const struct bj_demand *d)
{
	return d->min > 0 && d->low == 0;
}

void bj_demand_look(struct bj_demand *d, uint64_t now, bool short_of_memory)
{
	if (short_of_memory) {
		d->target = d->min > 1 ? d->min / 2 : d->min;
		return;
	}
	if (now - d->looked_at < BJ_DEMAND_PERIOD_NS)
		return;
	d->looked_at = now;
	if (d->target < d->min) {
		d->target = d->min;
	} else if (d->low > 0) {
		/* A quarter of what is over, so that a rhythm of bursts does not starve. */
		const uint32_t over = d->target - d->min, unused = (d->low + 3) / 4;

		d->target -= unused < over ? unused : over;
	}
	d->low = d->target;
}

static uint64_t number_after(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p ? strtoull(p + strlen(name), NULL, 10) : 0;
}

bool bj_demand_memory_short(const char *meminfo)
{
	const uint64_t total = number_after(meminfo, "MemTotal:");

	return strstr(meminfo, "MemAvailable:") &&
	       number_after(meminfo, "MemAvailable:") < total / 20;
}
