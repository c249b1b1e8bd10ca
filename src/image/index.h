/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "image/store.h"

#include <jansson.h>

/* The files of a store that are JSON. Private to src/image. */

/* Open the store's lock and take it; closing the descriptor gives it back. */
int bj_index_lock(const struct bj_images *images, struct bj_err *err);

/* The names as an object of digests; empty when there are none. The caller drops it. */
json_t *bj_index_read(const struct bj_images *images);
int bj_index_write(const struct bj_images *images, const json_t *names, struct bj_err *err);

/* image.json of the image in the directory @dir. */
int bj_index_describe(int dir, const struct bj_image_info *info, struct bj_err *err);
int bj_index_info(const struct bj_images *images, const char *digest, struct bj_image_info *ret,
		  struct bj_err *err);
