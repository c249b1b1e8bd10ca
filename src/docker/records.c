/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/records.h"

#include <string.h>
#include <sys/random.h>

_Static_assert(sizeof(struct bj_inside_end) <= sizeof(struct bj_wire_verdict),
	       "both records share one buffer");

void bj_records_init(struct bj_records *r, const unsigned char nonce[BJ_INSIDE_NONCE], bool verdict)
{
	*r = (struct bj_records){ .past_verdict = !verdict };
	memcpy(r->nonce, nonce, BJ_INSIDE_NONCE);
}

/* Collect a record of @want bytes; *@ret is it when it is whole. */
static size_t collect(struct bj_records *r, const char *data, size_t size, size_t want,
		      enum bj_records_part part, struct bj_records_piece *ret)
{
	const size_t take = size < want - r->have ? size : want - r->have;

	memcpy(r->record.bytes + r->have, data, take);
	r->have += take;
	if (r->have == want) {
		*ret = (struct bj_records_piece){ part, r->record.bytes, want };
		r->have = 0;
	}
	return take;
}

/* The first bytes: a verdict, or the end of a script that never came to one. */
static size_t take_first(struct bj_records *r, const char *data, size_t size,
			 struct bj_records_piece *ret)
{
	const unsigned char first =
		r->have ? (unsigned char)r->record.bytes[0] : (unsigned char)data[0];
	size_t used;

	if (first == r->nonce[0]) {
		r->past_verdict = true;
		return 0;
	}
	used = collect(r, data, size, sizeof(r->record.verdict), BJ_PART_VERDICT, ret);
	r->past_verdict = ret->part == BJ_PART_VERDICT;
	return used;
}

/* Where the nonce may start in @data: the offset, or @size when nowhere. */
static size_t find_nonce(const struct bj_records *r, const char *data, size_t size)
{
	const char *at = data;
	const char *end = data + size;

	while ((at = memchr(at, r->nonce[0], (size_t)(end - at)))) {
		const size_t left = (size_t)(end - at);

		if (memcmp(at, r->nonce, left < BJ_INSIDE_NONCE ? left : BJ_INSIDE_NONCE) == 0)
			return (size_t)(at - data);
		at++;
	}
	return size;
}

/* Part of a nonce is held. Either the next bytes go on with it, or it was the script's after all:
 * then it is given out, and since the nonce's first byte occurs in it only once, no other start
 * hides in it. */
static size_t take_held(struct bj_records *r, const char *data, size_t size,
			struct bj_records_piece *ret)
{
	if (r->have >= BJ_INSIDE_NONCE) {
		const size_t used = collect(r, data, size, sizeof(r->record.end), BJ_PART_END, ret);

		r->past_end = ret->part == BJ_PART_END;
		return used;
	}

	const size_t want = BJ_INSIDE_NONCE - r->have;
	const size_t take = size < want ? size : want;

	if (memcmp(data, r->nonce + r->have, take) == 0) {
		memcpy(r->record.bytes + r->have, data, take);
		r->have += take;
		return take;
	}
	*ret = (struct bj_records_piece){ BJ_PART_OUTPUT, r->record.bytes, r->have };
	r->have = 0;
	return 0;
}

size_t bj_records_next(struct bj_records *r, const char *data, size_t size,
		       struct bj_records_piece *ret)
{
	*ret = (struct bj_records_piece){ 0 };
	if (size == 0)
		return 0;
	if (r->past_end) {
		*ret = (struct bj_records_piece){ BJ_PART_PACK, data, size };
		return size;
	}
	if (!r->past_verdict)
		return take_first(r, data, size, ret);
	if (r->have)
		return take_held(r, data, size, ret);

	const size_t start = find_nonce(r, data, size);

	if (start > 0) {
		*ret = (struct bj_records_piece){ BJ_PART_OUTPUT, data, start };
		return start;
	}

	const size_t take = size < BJ_INSIDE_NONCE ? size : BJ_INSIDE_NONCE;

	memcpy(r->record.bytes, data, take);
	r->have = take;
	return take;
}

void bj_records_finish(struct bj_records *r, struct bj_records_piece *ret)
{
	const bool held = r->past_verdict && !r->past_end && r->have < BJ_INSIDE_NONCE;

	*ret = (struct bj_records_piece){ held && r->have ? BJ_PART_OUTPUT : BJ_PART_NONE,
					  r->record.bytes, held ? r->have : 0 };
	r->have = 0;
}

bool bj_records_nonce(unsigned char nonce[BJ_INSIDE_NONCE])
{
	if (getrandom(nonce, BJ_INSIDE_NONCE, 0) != BJ_INSIDE_NONCE)
		return false;
	for (size_t i = 1; i < BJ_INSIDE_NONCE; i++)
		nonce[i] &= 0x7f;
	nonce[0] = 0xff;
	return true;
}
