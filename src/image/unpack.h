/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "image/bundle.h"

/* Unpacking a foreign archive, in a process that can do nothing else: nobody where we are root, no
 * capabilities, no network, its files below one directory (Landlock), and a handful of system
 * calls (profiles/import.json). */

struct bj_unpack_plan {
	int archive;
	bool rootfs; /* a plain tree of files, not a saved image */
	int dir;     /* has the empty directories root and spool */
	struct bj_tree_limits limits;
};

/* What that process says at its end, in one write. */
struct bj_unpack_report {
	struct bj_err err; /* code 0: all is well */
	char digest[BJ_DIGEST_HEX];
	char name[BJ_BUNDLE_NAME]; /* as the archive has it; "": none */
	char path[512];            /* the image's PATH; "": none */
	uint64_t bytes, files, dropped;
	uint32_t layers;
	uint32_t landlock_abi;
};

/* Unpack; waits for the process. *@ret is what it said, checked. */
int bj_unpack(const struct bj_unpack_plan *plan, struct bj_unpack_report *ret, struct bj_err *err);

/* The work of that process, without the process: for it and for the fuzzer. */
int bj_unpack_here(const struct bj_archive_lib *lib, const struct bj_unpack_plan *plan, int root,
		   int spool, struct bj_unpack_report *ret, struct bj_err *err);
