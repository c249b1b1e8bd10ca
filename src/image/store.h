/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "image/layer.h"

/* Images for the native jar, as trees of files in one directory:
 *
 *	index.json    the names, each with the digest it means
 *	HEX/          an image: its tree in root/, what is known about it in image.json
 *	.new-*        an image on its way; a dead import's is removed by the next one
 *
 * An image is made aside and renamed when it is whole. Who runs one holds a shared lock on its
 * root, and a removal wants that lock for itself. */

enum { BJ_IMAGE_NAME = 128, BJ_IMAGE_PATH = 256 };

struct bj_images {
	int dir;
	char path[512];
};

struct bj_image_info {
	char name[BJ_IMAGE_NAME]; /* with its tag; "": none */
	char digest[BJ_DIGEST_HEX];
	char python[BJ_IMAGE_PATH], bash[BJ_IMAGE_PATH]; /* inside the image; "": none */
	uint64_t size, files;
	uint64_t created; /* unix seconds of the import */
	uint32_t layers;
};

/* Open the store: @dir, else below @state_dir, else where it belongs for who we are. With @make it
 * is made when it is missing. 0; 1 when there is none (and @images is empty); negative. The caller
 * closes it. */
int bj_images_open(struct bj_images *images, const char *dir, const char *state_dir, bool make,
		   struct bj_err *err);
void bj_images_close(struct bj_images *images);

/* Give @ret the name @text in full ("a" is "a:latest"). -BJ_E_INVALID when it is none. Pure. */
int bj_image_name(const char *text, char ret[BJ_IMAGE_NAME], struct bj_err *err);

/* Find an image by "name", "name:tag", "name@sha256:HEX", "sha256:HEX" or the first twelve or more
 * digits. -BJ_E_NOT_FOUND says which command makes it. */
int bj_images_find(const struct bj_images *images, const char *text, struct bj_image_info *ret,
		   struct bj_err *err);

/* Call @see for every name, and for every image without one; stops when it returns other than
 * 0. */
int bj_images_each(const struct bj_images *images,
		   int (*see)(void *ctx, const struct bj_image_info *info), void *ctx,
		   struct bj_err *err);

/* Forget a name, and remove its image when no other name means it; by digest, all names of it.
 * -BJ_E_DENIED while it is in use. */
int bj_images_remove(const struct bj_images *images, const char *text, struct bj_err *err);

/* Remove what dead imports left. How many. */
int bj_images_sweep(const struct bj_images *images);

struct bj_image_source {
	int archive;      /* borrowed */
	const char *name; /* NULL: as the archive has it */
	bool rootfs;      /* a tree of files, not a saved image */
	uint64_t max_size, max_files;
};

/* Import an image; one that is there already only gets the name. */
int bj_images_import(const struct bj_images *images, const struct bj_image_source *source,
		     struct bj_image_info *ret, uint64_t *ret_dropped, struct bj_err *err);
