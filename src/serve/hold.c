/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/hold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bj_hold {
	struct bj_holds *holds;
	atomic_uint refs;
	atomic_size_t size;
	char tenant[64]; /* "": none, and it is in no list */
	struct bj_hold *next, **at;
};

static size_t counted(size_t size)
{
	return size > BJ_HOLD_FREE ? size - BJ_HOLD_FREE : 0;
}

struct bj_hold *bj_hold_new(struct bj_holds *holds)
{
	struct bj_hold *hold = malloc(sizeof(*hold));

	if (hold)
		*hold = (struct bj_hold){ .holds = holds, .refs = 1 };
	return hold;
}

struct bj_hold *bj_hold_ref(struct bj_hold *hold)
{
	if (hold)
		hold->refs++;
	return hold;
}

void bj_hold_belong(struct bj_hold *hold, const char *tenant)
{
	struct bj_holds *all = hold->holds;

	if (!tenant[0])
		return;
	snprintf(hold->tenant, sizeof(hold->tenant), "%s", tenant);
	pthread_mutex_lock(&all->lock);
	hold->at = &all->first;
	hold->next = all->first;
	if (hold->next)
		hold->next->at = &hold->next;
	all->first = hold;
	pthread_mutex_unlock(&all->lock);
}

static void leave(struct bj_hold *hold)
{
	pthread_mutex_lock(&hold->holds->lock);
	*hold->at = hold->next;
	if (hold->next)
		hold->next->at = hold->at;
	pthread_mutex_unlock(&hold->holds->lock);
}

/* What the tenant of @hold has together. */
static size_t theirs(const struct bj_hold *hold)
{
	size_t sum = 0;

	pthread_mutex_lock(&hold->holds->lock);
	for (const struct bj_hold *h = hold->holds->first; h; h = h->next)
		if (strcmp(h->tenant, hold->tenant) == 0)
			sum += counted(h->size);
	pthread_mutex_unlock(&hold->holds->lock);
	return sum;
}

void bj_hold_unref(struct bj_hold *hold)
{
	if (!hold || --hold->refs > 0)
		return;
	hold->holds->bytes -= counted(hold->size);
	if (hold->tenant[0])
		leave(hold);
	free(hold);
}

bool bj_hold_more(struct bj_hold *hold, size_t size)
{
	const size_t more = counted(hold->size + size) - counted(hold->size);
	const size_t all = more > 0 ? atomic_fetch_add(&hold->holds->bytes, more) + more : 0;

	/* Two at once may both be told no where one would fit: the next try will. */
	if (all > hold->holds->most) {
		hold->holds->bytes -= more;
		return false;
	}
	hold->size += size;
	if (more > 0 && hold->tenant[0] &&
	    theirs(hold) > hold->holds->most - hold->holds->most / 4) {
		hold->size -= size;
		hold->holds->bytes -= more;
		return false;
	}
	return true;
}
