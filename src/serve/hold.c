/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/hold.h"

#include <stdlib.h>

struct bj_hold {
	struct bj_holds *holds;
	atomic_uint refs;
	size_t size;
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

void bj_hold_unref(struct bj_hold *hold)
{
	if (!hold || --hold->refs > 0)
		return;
	hold->holds->bytes -= counted(hold->size);
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
	return true;
}
