/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* What the broker and the helper inside a container say to each other.
 *
 * The helper is a static program that is uploaded beside the script. It waits below the
 * container's init, runs the script as its child and reports how that ended. There are three
 * streams and no other channel, so the streams carry it all:
 *
 *	to the helper, on standard input
 *		a line that makes the waiting shell execute the helper, one order, then the
 *		script's own standard input in frames: a length and that many bytes; 0 ends it
 *	from the helper, on standard output
 *		the interpreter's verdict, written before the first line of the script runs and
 *		so before anything the script could write; what the script wrote; and, when no
 *		process of the script is left, the end record and the pack of out/
 *	from the helper, on standard error
 *		what the script wrote, and the end record again: with both of them here, nothing
 *		is still on its way, and nobody has to wait until the engine closes the streams
 *
 * The end record starts with a nonce of the order. The script never sees it, so it cannot write
 * an end of its own. */

#define BJ_INSIDE_DIR    "/script/.belljar"
#define BJ_INSIDE_HELPER BJ_INSIDE_DIR "/run"
#define BJ_INSIDE_SPEC   BJ_INSIDE_DIR "/spec"
#define BJ_INSIDE_INPUTS BJ_INSIDE_DIR "/in"

/* The same below /script. */
#define BJ_INSIDE_BELOW(path) ((path) + sizeof("/script"))

enum { BJ_INSIDE_MAGIC = 0x4a415221, BJ_INSIDE_NONCE = 16, BJ_INSIDE_FRAME = 16384 };

enum bj_inside_flag { BJ_INSIDE_CHECK_ONLY = 1 << 0, BJ_INSIDE_OUT = 1 << 1 };

struct bj_inside_order {
	uint32_t magic;
	uint32_t flags;
	uint32_t language;
	uint32_t out_files;
	uint64_t out_bytes;
	uint64_t timeout_ns; /* after this the helper ends it all by itself */
	unsigned char nonce[BJ_INSIDE_NONCE];
};

struct bj_inside_end {
	unsigned char nonce[BJ_INSIDE_NONCE];
	int32_t wait_status;     /* of the script, from the kernel */
	uint32_t cgroup_version; /* 0: none in sight */
	uint64_t cpu_ns;
	uint64_t peak_memory;
	uint64_t oom_kills;
	uint64_t pids_hits;
	uint64_t memory_limit, pids_limit; /* what the own cgroup says; 0: it does not */
	struct bj_err err;                 /* code 0: the interpreter was started */
};
