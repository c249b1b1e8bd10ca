/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/demux.h"

#include <string.h>

static bool head_ok(const unsigned char *head)
{
	return head[0] <= 2 && head[1] == 0 && head[2] == 0 && head[3] == 0;
}

ssize_t bj_demux_next(struct bj_demux *d, const char *data, size_t size, struct bj_demux_piece *ret)
{
	size_t used = 0;

	*ret = (struct bj_demux_piece){ 0 };
	if (d->left == 0) {
		used = BJ_DEMUX_HEAD - d->head_have;
		if (used > size)
			used = size;
		memcpy(d->head + d->head_have, data, used);
		d->head_have += used;
		if (d->head_have < BJ_DEMUX_HEAD)
			return (ssize_t)used;
		if (!head_ok(d->head))
			return -BJ_E_PROTOCOL;
		d->left = (uint32_t)d->head[4] << 24 | (uint32_t)d->head[5] << 16 |
			  (uint32_t)d->head[6] << 8 | d->head[7];
		d->head_have = 0;
	}

	const size_t take = size - used < d->left ? size - used : d->left;

	/* Stream 0 is what goes in, which some engines echo: it is output too. */
	*ret = (struct bj_demux_piece){ .stream = d->head[0] == 2 ? 2 : 1,
					.data = data + used,
					.size = take };
	d->left -= (uint32_t)take;
	return (ssize_t)(used + take);
}
