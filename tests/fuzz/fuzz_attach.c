/* SPDX-License-Identifier: Apache-2.0 */

/* What an engine sends on an attach, with a script's bytes inside, cut anywhere: the first byte
 * says how. No byte of a stream may be lost, doubled or handed out twice. */

#include "fuzz.h"

#include "docker/demux.h"
#include "docker/records.h"

#include <stdlib.h>

static const unsigned char NONCE[BJ_INSIDE_NONCE] = { 0xff, 1, 2 };

static void take(struct bj_records *records, const struct bj_demux_piece *frame)
{
	struct bj_records_piece piece;

	for (size_t at = 0, idle = 0; at < frame->size && idle < 3;) {
		const size_t used =
			bj_records_next(records, frame->data + at, frame->size - at, &piece);

		if (used > frame->size - at || (piece.part == BJ_PART_NONE && piece.size))
			abort();
		idle = used ? 0 : idle + 1;
		if (idle == 3)
			abort(); /* it stands still */
		at += used;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bj_demux demux = { 0 };
	struct bj_demux_piece frame;
	struct bj_records records;
	const size_t step = size ? (size_t)data[0] + 1 : 1;

	bj_records_init(&records, NONCE, true);
	for (size_t at = 1; at < size;) {
		const size_t n = size - at < step ? size - at : step;
		const ssize_t used = bj_demux_next(&demux, (const char *)data + at, n, &frame);

		if (used < 0)
			return 0;
		if (used == 0 || (size_t)used > n || frame.size > (size_t)used)
			abort();
		if (frame.stream == 1)
			take(&records, &frame);
		at += (size_t)used;
	}
	return 0;
}
