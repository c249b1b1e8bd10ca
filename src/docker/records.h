/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "docker/inside.h"
#include "jar/wire.h"

/* Standard output of a container, taken apart: the verdict in front, the script's own bytes, the
 * end record and the pack of out/ behind. Pure, fed with any chunks, cut anywhere. */

enum bj_records_part {
	BJ_PART_NONE,    /* nothing to pass on */
	BJ_PART_VERDICT, /* one struct bj_wire_verdict */
	BJ_PART_OUTPUT,  /* bytes of the script */
	BJ_PART_END,     /* one struct bj_inside_end */
	BJ_PART_PACK,    /* bytes of the pack */
};

struct bj_records {
	unsigned char nonce[BJ_INSIDE_NONCE];
	bool past_verdict, past_end;
	size_t have; /* bytes of the record being collected, or of a nonce that may be one */
	union {
		char bytes[sizeof(struct bj_wire_verdict)];
		struct bj_wire_verdict verdict;
		struct bj_inside_end end;
	} record;
};

struct bj_records_piece {
	enum bj_records_part part;
	const char *data; /* into the input or into the struct; good until the next call */
	size_t size;
};

/* Start. The nonce's first byte is never that of a verdict. Standard error has none in front: then
 * @verdict is false. */
void bj_records_init(struct bj_records *records, const unsigned char nonce[BJ_INSIDE_NONCE],
		     bool verdict);

/* Take one piece from the front of @data; returns the bytes used, which may be 0 when a piece is
 * handed out that was held back. */
size_t bj_records_next(struct bj_records *records, const char *data, size_t size,
		       struct bj_records_piece *ret);

/* The stream is over: what is still held back was the script's. */
void bj_records_finish(struct bj_records *records, struct bj_records_piece *ret);

/* A fresh nonce: its first byte is no verdict's and occurs in it only once. False: no random. */
bool bj_records_nonce(unsigned char nonce[BJ_INSIDE_NONCE]);
