/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "image/archive.h"
#include "image/tree.h"

#include <sodium.h>

enum { BJ_DIGEST_HEX = 2 * crypto_hash_sha256_BYTES + 1 };

/* Lay the layer in the file @fd, compressed or not, over @tree. *@ret_digest gets the hash of the
 * uncompressed archive. With @whiteouts only the removals of the layer are done: they are for what
 * lies below it, so a layer that lies on another one is read twice. */
int bj_image_layer(const struct bj_archive_lib *lib, int fd, bool whiteouts, struct bj_tree *tree,
		   char ret_digest[BJ_DIGEST_HEX], struct bj_err *err);

/* @size bytes as hexadecimal digits of their SHA-256. */
void bj_image_digest(const void *data, size_t size, char ret[BJ_DIGEST_HEX]);

/* Whether @out bytes from @in compressed ones are more than any honest file gives. */
bool bj_image_is_bomb(uint64_t in, uint64_t out);
