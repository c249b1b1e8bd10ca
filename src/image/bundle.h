/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "image/layer.h"

/* An image in one file: what `docker save` and `podman save` write, or an OCI archive. Its members
 * may stand in any order and be compressed as a whole, so they are first spread out as files. */

enum { BJ_BUNDLE_LAYERS = 128, BJ_BUNDLE_MEMBERS = 2048, BJ_BUNDLE_NAME = 256 };

struct bj_bundle_member {
	char name[BJ_BUNDLE_NAME];
	char link[BJ_BUNDLE_NAME]; /* "": a file */
};

struct bj_bundle {
	int spool; /* borrowed: the directory of the files, named by number */
	struct bj_bundle_member *members;
	size_t n_members;
	/* what the archive says about itself */
	char digest[BJ_DIGEST_HEX];      /* of the config: the image's id */
	char name[BJ_BUNDLE_NAME];       /* as it was saved; "": none */
	char path[512];                  /* its PATH; "": none */
	size_t layers[BJ_BUNDLE_LAYERS]; /* members, lowest first */
	char diffs[BJ_BUNDLE_LAYERS][BJ_DIGEST_HEX];
	size_t n_layers;
};

/* Spread the archive at @fd out into @spool and read what it says. The caller ends it with
 * bj_bundle_done(), also on failure. */
int bj_bundle_read(struct bj_bundle *bundle, const struct bj_archive_lib *lib, int fd, int spool,
		   uint64_t max_bytes, struct bj_err *err);
void bj_bundle_done(struct bj_bundle *bundle);

/* Open the file of a member for reading. -1: it is not there. */
int bj_bundle_open(const struct bj_bundle *bundle, size_t member);
